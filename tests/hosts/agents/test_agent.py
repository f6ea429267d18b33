"""What holds for every coding agent, whatever its protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent_payloads import KINDS, build_golden, decisions, event_name, payloads, read_golden
from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Note, Verdict
from hookline.hooks.protocols import May
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import Reply
from hookline.hosts.agents.agent_event import ABILITY_EFFECTS

AGENTS = [get_agent(name) for name in AGENT_NAMES]
SENT = [pytest.param(each, file, id=f"{each.name}-{file}") for each in AGENTS for file in payloads(each.name)]
DENYING = {each.name: each.sample_call("/p")[0] for each in AGENTS}


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_payloads_and_replies_match_the_golden_file(name: str) -> None:
    found, expected = build_golden(get_agent(name)), read_golden(name)
    assert found.keys() == expected.keys()
    for file in found:
        assert found[file] == expected[file], file


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_event_has_a_payload(name: str) -> None:
    assert {each.name for each in get_agent(name).events} <= {event_name(file) for file in payloads(name)}


@pytest.mark.parametrize("each", AGENTS, ids=AGENT_NAMES)
def test_every_event_maps_to_a_hookline_event(each: Any) -> None:
    assert {event.event for event in each.events} <= EVENTS.keys()


def test_an_unknown_agent_is_an_error_that_lists_the_agents() -> None:
    with pytest.raises(HooklineError, match="claude-code"):
        get_agent("eliza")


@pytest.mark.parametrize(("each", "file"), SENT)
def test_facts_name_the_host_and_the_session(each: Any, file: str) -> None:
    for event in each.read(event_name(file), payloads(each.name)[file], "/elsewhere").events:
        assert event.facts["host"] == {"name": each.name}
        assert event.facts["session"]["id"]
        assert event.facts["workspace"] == "/elsewhere"


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_silent_decision_leaves_everything_to_the_agent(name: str) -> None:
    each = get_agent(name)
    for file, payload in payloads(name).items():
        events = each.read(event_name(file), payload).events
        reply = each.reply(each.read(event_name(file), payload), [Decision(event) for event in events])
        assert reply in (Reply(), Reply("{}"), Reply('{"cancel":false}'))


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_deny_always_says_why(name: str) -> None:
    each, event = get_agent(name), DENYING[name]
    payload = payloads(name)[event]
    for reason in ("", " \n", "because"):
        denied = [Decision(item, Verdict.DENY, reason) for item in each.read(event, payload).events]
        reply = each.reply(each.read(event, payload), denied)
        assert reply.exit_code in (0, 2)
        output = reply.stdout + reply.stderr
        assert (reason if reason.strip() else "Blocked by a hook") in output
        assert not (reply.exit_code == 2 and not reply.stderr.strip())


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_payload_is_read_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, event = get_agent(name), DENYING[name]
    parsed = agent.read(event, payloads(name)[event])
    monkeypatch.setattr(type(agent), "facts", None)
    denied = [Decision(each, Verdict.DENY, "not here") for each in parsed.events]
    assert "not here" in str(agent.reply(parsed, denied))


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_call_without_a_decision_is_denied(name: str) -> None:
    each, event = get_agent(name), DENYING[name]
    payload = payloads(name)[event]
    reply = each.reply(each.read(event, payload), ())
    assert "could not check all of this" in reply.stdout + reply.stderr


def test_one_deny_denies_all_calls_of_a_payload() -> None:
    codex, payload = get_agent("codex"), payloads("codex")["PreToolUse-apply_patch"]
    events = codex.read("PreToolUse", payload).events
    results = [Decision(event, Verdict.ALLOW) for event in events]
    results[2] = Decision(events[2], Verdict.DENY, "no secrets in .env")
    assert "no secrets in .env" in codex.reply(codex.read("PreToolUse", payload), results).stdout


def test_a_payload_is_allowed_only_if_all_its_calls_are() -> None:
    claude, payload = get_agent("claude-code"), payloads("claude-code")["PreToolUse-MultiEdit"]
    one, other = claude.read("PreToolUse", payload).events
    allowed = [Decision(one, Verdict.ALLOW), Decision(other, Verdict.ALLOW)]
    assert '"allow"' in claude.reply(claude.read("PreToolUse", payload), allowed).stdout
    assert claude.reply(claude.read("PreToolUse", payload), [allowed[0], Decision(other)]) == Reply()


def test_equal_notes_of_several_calls_are_sent_once() -> None:
    claude, payload = get_agent("claude-code"), payloads("claude-code")["PreToolUse-MultiEdit"]
    noted = [
        Decision(event, notes=(Note("a"), Note(text)))
        for event, text in zip(claude.read("PreToolUse", payload).events, "bc", strict=True)
    ]
    output = json.loads(claude.reply(claude.read("PreToolUse", payload), noted).stdout)
    assert output["hookSpecificOutput"]["additionalContext"] == "a\n\nb\n\nc"


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_output_is_one_line_of_utf8(name: str) -> None:
    each, event = get_agent(name), DENYING[name]
    payload = payloads(name)[event]
    denied = [Decision(item, Verdict.DENY, "grün\n\ud800\x00") for item in each.read(event, payload).events]
    reply = each.reply(each.read(event, payload), denied)
    (reply.stdout + reply.stderr).encode("utf-8")
    assert "\n" not in reply.stdout
    assert "grün" in reply.stdout + reply.stderr


@pytest.mark.parametrize("new", [float("nan"), float("inf"), {1, 2}, object()], ids=["nan", "inf", "set", "object"])
@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_change_that_is_not_json_is_denied(name: str, new: object) -> None:
    each, event = get_agent(name), DENYING[name]
    payload = payloads(name)[event]
    changed = [
        Decision(item.with_changes(((("tool", "input", "x"), new),))) for item in each.read(event, payload).events
    ]
    reply = each.reply(each.read(event, payload), changed)
    assert "A hook changed the input" in reply.stdout + reply.stderr


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_change_to_an_input_that_is_not_an_object_is_denied(name: str) -> None:
    each, event = get_agent(name), DENYING[name]
    payload = payloads(name)[event]
    changed = [Decision(item.with_changes(((("tool", "input"), "ls"),))) for item in each.read(event, payload).events]
    reply = each.reply(each.read(event, payload), changed)
    assert "A hook changed the input" in reply.stdout + reply.stderr


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_missing_ability_has_a_substitute(name: str) -> None:
    for each in get_agent(name).events:
        takes = EVENTS[each.event].accepts
        for word, answer in ABILITY_EFFECTS.items():
            if takes & answer and not getattr(each.ability, word):
                assert each.ability.instead[word]


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_abilities_match_the_replies(name: str) -> None:
    """A supported answer changes the reply, and a supported deny denies."""
    each = get_agent(name)
    for event in each.events:
        sent = payloads(name)
        payload = sent.get(event.name) or next(sent[file] for file in sent if event_name(file) == event.name)
        events = each.read(event.name, payload).events
        if len(events) != 1:
            continue
        quiet = each.reply(each.read(event.name, payload), [Decision(events[0])])
        for kind, decide in decisions(events[0]):
            word = {"note for the user": "user"}.get(kind, kind)
            if (
                word in ABILITY_EFFECTS
                and getattr(event.ability, word)
                and not (word == "allow" and event.event in _UNASKED)
            ):
                assert each.reply(each.read(event.name, payload), [decide(events[0])]) != quiet, (event.name, kind)


_UNASKED = {"prompt.submit", "stop"}

_JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8),
    lambda item: some.lists(item, max_size=3) | some.dictionaries(some.text(max_size=6), item, max_size=3),
    max_leaves=8,
)


def _keys(payload: Any) -> set[str]:
    if isinstance(payload, dict):
        return set(payload).union(*(_keys(value) for value in payload.values()))
    return set().union(*(_keys(value) for value in payload)) if isinstance(payload, list) else set()


@pytest.mark.parametrize("name", AGENT_NAMES)
@given(data=some.data())
def test_any_payload_gives_events_or_none(name: str, data: some.DataObject) -> None:
    each, known = get_agent(name), payloads(name)
    keys = sorted(set().union(*(_keys(payload) for payload in known.values())))
    payload = data.draw(some.dictionaries(some.sampled_from(keys), _JSON | _nested(keys), max_size=8))
    event = data.draw(some.sampled_from(sorted({event_name(file) for file in known})))
    events = each.read(event, payload).events
    assert all(isinstance(item, Event) and item.name in EVENTS for item in events)
    for kind, decide in decisions(events[0]) if events else ():
        if kind == "append" or (kind == "remove" and not isinstance(events[0].facts["tool"]["input"], dict)):
            continue
        reply = each.reply(each.read(event, payload), [decide(item) for item in events])
        (reply.stdout + reply.stderr).encode("utf-8")


def _nested(keys: list[str]) -> some.SearchStrategy[Any]:
    return some.dictionaries(some.sampled_from(keys), _JSON, max_size=5)


@pytest.mark.parametrize("payload", [None, [], "x", 3, [{"tool_name": "Bash"}]])
@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_payload_that_is_not_an_object_has_no_events(name: str, payload: Any) -> None:
    assert get_agent(name).read(DENYING[name], payload).events == ()


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_an_empty_call_is_still_an_event(name: str) -> None:
    """An agent whose payload changed its keys must not slip past the hooks that hear every tool."""
    events = get_agent(name).read(DENYING[name], {}).events
    assert [event.name for event in events] == ["tool.before"]


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_an_unknown_event_is_ignored(name: str) -> None:
    assert get_agent(name).read("Nothing", {"tool_name": "Bash"}).events == ()
    assert get_agent(name).reply(get_agent(name).read("Nothing", {}), ()) in (
        Reply(),
        Reply("{}"),
        Reply('{"cancel":false}'),
    )


def test_every_kind_of_decision_is_tested() -> None:
    tried = May.NOTHING
    for needs, _ in KINDS.values():
        tried |= needs
    assert tried == May.DENY | May.ASK | May.ALLOW | May.CHANGE | May.NOTES | May.HALT


GEMINI_READS = "<untrusted_context>\nOutput: oops\nExit Code: {}\nProcess Group PGID: 8715\n</untrusted_context>"


@pytest.mark.parametrize(
    ("name", "event", "payload"),
    [
        (
            "opencode",
            "tool.execute.after",
            lambda code: {"input": {"tool": "bash"}, "output": {"output": "oops\n", "metadata": {"exit": code}}},
        ),
        (
            "copilot-cli",
            "postToolUse",
            lambda code: {
                "toolName": "bash",
                "toolResult": {
                    "resultType": "success",
                    "textResultForLlm": f"<shellId: 0 completed with exit code 9>\n<shellId: 0 completed with exit code {code}>",
                },
            },
        ),
        (
            "gemini-cli",
            "AfterTool",
            lambda code: {
                "tool_name": "run_shell_command",
                "tool_response": {"llmContent": GEMINI_READS.format(code), "returnDisplay": "oops"},
            },
        ),
    ],
)
def test_a_failed_command_is_a_failure_if_the_agent_reports_its_exit_code(
    name: str, event: str, payload: Callable[[int], dict[str, Any]]
) -> None:
    (failed,), (worked,) = (get_agent(name).read(event, payload(code)).events for code in (3, 0))
    assert (failed.facts["tool"]["ok"], failed.facts["tool"]["error"]) == (False, "exit code 3")
    assert worked.facts["tool"]["ok"] is True


LOAD_AT_ONCE = """
import sys, threading
from hookline.hosts.agents import AGENT_NAMES, get_agent
sys.setswitchinterval(1e-6)
ready = threading.Barrier(4, timeout=30)
loaded = []

def load():
    for name in AGENT_NAMES:
        ready.wait()
        loaded.append(get_agent(name).name)

threads = [threading.Thread(target=load) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join(60)
assert len(loaded) == 4 * len(AGENT_NAMES), len(loaded)
"""


def test_threads_load_an_agent_at_once() -> None:
    """An engine's first calls come together."""
    done = subprocess.run([sys.executable, "-c", LOAD_AT_ONCE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
