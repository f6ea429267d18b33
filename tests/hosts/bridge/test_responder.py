"""One call of an agent, decided: what is judged, within which time, and what becomes of what cannot be."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bridge_sandbox import GUARD, BridgeSandbox, deny_reason
from hookline.engine.book import Book
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import Reply
from hookline.hosts.agents.agent_tools import SeenTools
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.bridge.hook_cache import CacheKey, Engine, HookCache, LoadOnce
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.responder import respond, respond_now
from hookline.hosts.install.plan import apply_changes, plan_install
from hookline.project import SourceLayer
from hookline.record.record_log import LogFilter, RecordLog
from hookline.record.segment import record_directory

pytestmark = pytest.mark.slow


SLOW = "{run: sleep 30, reads: nonzero}"


def decided(call: AgentCall, engine: Engine | None = None) -> Reply:
    return asyncio.run(respond(call, engine or LoadOnce()))


def left(seconds: float) -> timedelta:
    """What was spent already if the hooks of a tool call in Claude Code have so long."""
    return timedelta(seconds=590 - seconds)


def test_the_project_s_guard_denies(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    assert deny_reason(decided(desk.call()).stdout) == "Never."
    assert decided(desk.call(desk.payload("ls"))) == Reply()


@pytest.mark.parametrize(
    ("agent", "event", "users", "projects"),
    [
        ("claude-code", "PreToolUse", False, False),
        ("copilot-cli", "preToolUse", True, False),
        ("cursor", "preToolUse", True, True),
        ("codex", "PreToolUse", True, True),
    ],
)
def test_settings_that_the_agent_obeys_itself_are_left_to_it(
    desk: BridgeSandbox, agent: str, event: str, users: bool, projects: bool
) -> None:
    command = {"type": "command", "command": "echo From home. >&2; exit 2"}
    hooks = json.dumps({"hooks": {"PreToolUse": [{"hooks": [command]}]}})
    for place, acts, said in ((desk.home, users, "From home."), (desk.project, projects, "not trusted")):
        (place / ".claude").mkdir(parents=True)
        (place / ".claude/settings.json").write_text(hooks)
        payload = desk.payload("ls", toolName="bash", toolArgs={"command": "ls"})
        reply = decided(desk.call(payload, event, agent=agent))
        assert (said in reply.stdout + reply.stderr) is acts
        (place / ".claude/settings.json").unlink()


@pytest.mark.parametrize(("agent", "outcome"), [("codex", "refused"), ("claude-code", None)])
def test_an_agent_that_cannot_ask_refuses_in_the_record_too(
    desk: BridgeSandbox, agent: str, outcome: str | None
) -> None:
    desk.write_hooks("hooks: [{id: ask, on: tool.before, then: {ask: Really?}}]\n")
    decided(desk.call(desk.payload("ls", turn_id="1", tool_use_id="t"), agent=agent))
    record = record_directory(desk.home / ".local/state/hookline")
    rows = RecordLog(record, LogFilter(event="tool.before")).latest(20)
    assert [(row["verdict"], row["outcome"]) for row in rows] == [("ask", outcome)]


def test_a_prompt_begins_a_turn(desk: BridgeSandbox) -> None:
    desk.write_hooks(
        "hooks: [{id: few, on: tool.before, when: {tool: bash, count: {more_than: 1, per: turn}}, then: {deny: Enough.}}]\n"
    )
    prompt = desk.call(
        json.dumps({"session_id": "s", "cwd": str(desk.project), "prompt": "x"}).encode(), "UserPromptSubmit"
    )
    calls = [desk.call(), desk.call(), prompt, desk.call(), desk.call()]
    assert [deny_reason(decided(call).stdout) for call in calls] == ["", "Enough.", "", "", "Enough."]


def test_that_a_hook_waits_for_trust_is_said_once(desk: BridgeSandbox) -> None:
    (desk.project / ".claude").mkdir()
    settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    (desk.project / ".claude/settings.json").write_text(json.dumps(settings))
    first = decided(desk.call(agent="codex")).stdout
    assert first.count("is not trusted yet") == 1
    assert decided(desk.call(agent="codex")) == Reply()


@pytest.mark.timing
def test_at_the_deadline_each_hook_s_own_on_error_speaks(desk: BridgeSandbox) -> None:
    desk.write_hooks(
        f"hooks:\n  - {{id: first, on: tool.before, then: {SLOW}, on_error: open}}\n"
        f"  - {{id: second, on: tool.before, then: {SLOW}, on_error: closed}}\n",
        users=True,
    )
    begun = time.monotonic()
    reply = decided(desk.call(spent=left(0.5)))
    assert "second" in deny_reason(reply.stdout)
    assert time.monotonic() - begun < 10


def test_slow_hooks_that_may_fail_let_the_tool_run(desk: BridgeSandbox) -> None:
    hooks = [f"  - {{id: h{n}, on: tool.before, then: {SLOW}, on_error: open}}\n" for n in range(3)]
    desk.write_hooks("hooks:\n" + "".join(hooks), users=True)
    reply = decided(desk.call(spent=left(0.3)))
    assert not deny_reason(reply.stdout)
    assert "h2" in json.loads(reply.stdout)["systemMessage"]


def test_a_guard_that_answers_at_once_is_heard_after_the_deadline(desk: BridgeSandbox) -> None:
    slow = f"  - {{id: slow, on: tool.before, order: -1, then: {SLOW}, on_error: open}}\n"
    desk.write_hooks(GUARD + slow, users=True)
    assert deny_reason(decided(desk.call(spent=left(0.2))).stdout) == "Never."


def test_background_work_keeps_its_own_time(desk: BridgeSandbox) -> None:
    done = desk.root / "done"
    desk.write_hooks(
        f"hooks:\n  - {{id: later, on: tool.before, then: {{run: 'sleep 0.6; touch {done}'}}, background: true, on_error: open}}\n",
        users=True,
    )

    async def call_and_drain() -> Reply:
        engine = LoadOnce()
        reply = await respond(desk.call(spent=left(0.1)), engine)
        await engine.local_host.drain(timedelta(seconds=10))
        return reply

    assert asyncio.run(call_and_drain()) == Reply()
    assert done.exists()


class Stuck(LoadOnce):
    async def book(self, where: CacheKey) -> Book:
        await asyncio.sleep(60)
        raise AssertionError("it was waited for")


class Buggy(LoadOnce):
    async def book(self, where: CacheKey) -> Book:
        raise ZeroDivisionError("of ours")


def test_what_nobody_judged_in_time_does_not_run(desk: BridgeSandbox) -> None:
    payload = b'{"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "ls"}}'
    reply = decided(desk.call(payload, "preToolUse", agent="copilot-cli", spent=timedelta(seconds=30)), Stuck())
    assert json.loads(reply.stdout)["permissionDecision"] == "deny"


@pytest.mark.parametrize(("event", "denied"), [("PreToolUse", True), ("Stop", False), ("PostToolUse", False)])
def test_a_bug_of_ours_denies_what_would_run_and_nothing_else(desk: BridgeSandbox, event: str, denied: bool) -> None:
    reply = decided(desk.call(event=event), Buggy())
    assert ("deny" in reply.stdout) is denied
    assert "Traceback" not in reply.stdout + reply.stderr
    assert "of ours" not in reply.stdout + reply.stderr
    assert reply.exit_code == 0


def test_an_agent_whose_words_are_broken_is_held_back_by_the_exit_code(
    desk: BridgeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hookline.hosts.agents.kiro", None)
    for event, code in (("preToolUse", 2), ("stop", 1)):
        reply = decided(desk.call(event=event, agent="kiro"))
        assert (reply.exit_code, reply.stdout) == (code, "")
        assert "bug" in reply.stderr


GARBAGE = {
    "nothing": b"",
    "no JSON": b"hello",
    "a list": b"[1]",
    "half": b'{"tool_name": "Ba',
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "a long number": b'{"tool_name": "Bash", "tool_input": {"command": ' + b"9" * 5_000 + b"}}",
    "not a number": b'{"tool_input": NaN}',
    "too large": b" " * (32 * 1024 * 1024 + 1),
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_cannot_be_read_is_denied_where_a_hook_should_have_judged_it(desk: BridgeSandbox, garbage: bytes) -> None:
    assert decided(desk.call(garbage)) == Reply()
    desk.write_hooks(GUARD)
    assert "payload" in deny_reason(decided(desk.call(garbage)).stdout)
    assert decided(desk.call(garbage, "Stop")) == Reply()


def test_what_cannot_be_read_and_comes_from_no_known_directory_is_denied(desk: BridgeSandbox) -> None:
    assert "payload" in deny_reason(decided(desk.call(b"[]", cwd="/nonexistent")).stdout)


def test_bytes_that_are_no_text_are_judged_as_they_look(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    payload = desk.payload("rm \x01").replace(b"\\u0001", b"\xff\xfe")
    assert deny_reason(decided(desk.call(payload)).stdout) == "Never."


@pytest.mark.parametrize("cwd", ["/does/not/exist", "relative", "", None, ["/"], "/etc/passwd", "/\0", "x" * 100_000])
def test_a_directory_that_is_none_counts_for_nothing(desk: BridgeSandbox, cwd: object) -> None:
    desk.write_hooks(GUARD)
    assert deny_reason(decided(desk.call(desk.payload(cwd=cwd))).stdout) == "Never."


def test_leaving_the_project_does_not_leave_its_guards(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    desk.variables["CLAUDE_PROJECT_DIR"] = str(desk.project)
    below = desk.project / "a" / "b"
    below.mkdir(parents=True)
    for elsewhere in (below, desk.home, Path("/")):
        assert deny_reason(decided(desk.call(desk.payload(cwd=str(elsewhere)))).stdout) == "Never."


def test_a_project_that_is_merely_opened_runs_nothing(desk: BridgeSandbox) -> None:
    ran = desk.root / "ran"
    hooks = f"hooks:\n  - {{id: run, on: tool.before, then: {{run: 'touch {ran}'}}, on_error: open}}\n"
    desk.write_hooks(hooks, trusted=False)
    first, second = decided(desk.call()), decided(desk.call())
    assert not ran.exists()
    assert "hookline trust" in json.loads(first.stdout)["systemMessage"]
    assert second == Reply(), "the user is told once in a session"


def test_programs_get_the_agent_s_environment_and_directory(desk: BridgeSandbox) -> None:
    seen = desk.root / "seen"
    desk.variables["TOLD"] = "by the agent"
    desk.write_hooks(
        f"""hooks:\n  - {{id: env, on: tool.before, then: {{run: 'echo "$TOLD|$PWD" > {seen}'}}, on_error: closed}}\n""",
        users=True,
    )
    decided(desk.call(b'{"tool_name": "Bash", "tool_input": {"command": "ls"}}'))
    assert seen.read_text() == f"by the agent|{desk.project}\n"


def test_an_agent_that_obeys_another_s_settings_is_answered_once(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    desk.variables["COPILOT_CLI"] = "1"
    assert deny_reason(decided(desk.call()).stdout) == "Never.", "Claude Code, started from Copilot's shell"
    call = desk.call(desk.payload(timestamp="2026-01-01T00:00:00Z"))
    assert deny_reason(decided(call).stdout) == "Never.", "Copilot, which has no entry of its own"
    machine = Machine(call.user_directories.home, desk.project)
    apply_changes(plan_install(get_agent("copilot-cli"), machine, InstallScope.PROJECT), machine)
    assert deny_reason(decided(call).stdout) == "Never.", "a project could switch its entry off"
    apply_changes(plan_install(get_agent("copilot-cli"), machine, InstallScope.USER), machine)
    assert decided(call) == Reply(), "Copilot is answered where it calls us itself"
    assert deny_reason(decided(desk.call()).stdout) == "Never."


CURSOR_CALLS = [
    ("PreToolUse", {"tool_name": "Shell", "tool_input": {"command": "rm x"}}, "permission", "deny"),
    ("PreToolUse", {"tool_name": "Shell", "tool_input": {}}, "permission", "deny"),
    ("UserPromptSubmit", {"prompt": "rm"}, "continue", "False"),
    ("PostToolUse", {"tool_name": "Shell", "tool_input": {"command": "rm x"}}, "additional_context", "Seen."),
    ("Stop", {"status": "completed"}, "followup_message", "Go on."),
]


@pytest.mark.parametrize(("event", "facts", "name", "start"), CURSOR_CALLS)
def test_cursor_is_answered_in_its_own_words_for_an_entry_of_claude_code(
    desk: BridgeSandbox, event: str, facts: dict[str, object], name: str, start: str
) -> None:
    """It ignores Claude Code's."""
    desk.write_hooks(
        GUARD + "  - {id: prompt, on: prompt.submit, then: {deny: Not so.}}\n"
        "  - {id: seen, on: tool.after, then: {tell: Seen.}}\n  - {id: more, on: stop, then: {deny: Go on.}}\n"
    )
    sent = {"conversation_id": "c", "workspace_roots": [str(desk.project)], **facts}
    given = json.loads(decided(desk.call(json.dumps(sent).encode(), event)).stdout)
    assert str(given[name]).startswith(start)


def test_cursor_obeys_a_denial_because_of_a_bug_for_an_entry_of_claude_code(desk: BridgeSandbox) -> None:
    sent = {"conversation_id": "c", "tool_name": "Shell", "tool_input": {"command": "rm x"}}
    assert json.loads(decided(desk.call(json.dumps(sent).encode()), Buggy()).stdout)["permission"] == "deny"


def test_files_that_the_agent_obeys_itself_are_left_to_it(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    place = desk.call().user_directories
    assert [source.dialect for source in CacheKey(desk.project, place).sources()] == ["native"]
    assert CacheKey(desk.project, place, frozenset({("native", SourceLayer.PROJECT)})).sources() == []


@pytest.mark.parametrize(("file", "denied"), [(".kimi/config.toml", True), (".kimi-code/config.toml", False)])
def test_kimi_code_s_hooks_are_left_to_it_but_not_those_of_kimi_cli(
    desk: BridgeSandbox, file: str, denied: bool
) -> None:
    path = desk.home / file
    path.parent.mkdir(parents=True)
    path.write_text("[[hooks]]\nevent = 'PreToolUse'\ncommand = 'echo Never. >&2; exit 2'\n")
    assert ("Never." in decided(desk.call(agent="kimi-code")).stderr) is denied
    assert "Never." in decided(desk.call()).stdout


_REFUSE = "echo Never. >&2; exit 2"
_EDITOR_HOOK = {"name": "a", "when": {"type": "preToolUse"}, "then": {"type": "runCommand", "command": _REFUSE}}
_HOOK = {"name": "a", "trigger": "PreToolUse", "action": {"type": "command", "command": _REFUSE}}


@pytest.mark.parametrize(
    ("file", "value", "denied"),
    [
        ("a.kiro.hook", _EDITOR_HOOK, True),
        ("a.json", _EDITOR_HOOK, True),
        ("a.json", {"version": "v1", "hooks": [_HOOK]}, False),
    ],
)
def test_kiro_s_hooks_are_left_to_it_but_not_those_of_its_older_editor(
    desk: BridgeSandbox, file: str, value: dict[str, object], denied: bool
) -> None:
    path = desk.home / ".kiro" / "hooks" / file
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(value))
    assert ("Never." in decided(desk.call(agent="kiro")).stderr) is denied
    assert "Never." in decided(desk.call()).stdout


@pytest.mark.parametrize(("matcher", "denied"), [("", True), ("*", False), ("Bash", False), (None, False)])
def test_hooks_of_a_file_that_copilot_rejects_are_run_for_it_and_no_other(
    desk: BridgeSandbox, matcher: str | None, denied: bool
) -> None:
    ran = desk.root / "ran"
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"echo x >> {ran}; echo Never. >&2; exit 2"}]}
    beside = {"hooks": [{"type": "command", "command": "true"}]}
    groups = [beside if matcher is None else {"matcher": matcher, **beside}, guard]
    _trust_claude_settings(desk, {"hooks": {"PreToolUse": groups}})
    reply = decided(desk.call(event="preToolUse", agent="copilot-cli"))
    assert ("Never." in reply.stdout) is denied
    assert ran.exists() is denied


_TRUE = {"type": "command", "command": "true"}


@pytest.mark.parametrize(
    ("beside", "denied"),
    [
        ({"matcher": "Bash"}, True),
        ({"matcher": "Bash", "hooks": None}, True),
        ("x", True),
        ({"hooks": [{"type": "command"}]}, True),
        ({"hooks": [{"type": "command", "command": ["true"]}]}, True),
        ({"hooks": [{**_TRUE, "env": {"A": 1}}]}, True),
        ({"hooks": [{**_TRUE, "cwd": 5}]}, True),
        ({"hooks": [{**_TRUE, "env": {"A": "1"}, "cwd": "."}]}, False),
        ({"hooks": [{"type": "command", "command": ""}]}, False),
        ({"hooks": []}, False),
        (_TRUE, False),
    ],
)
def test_hooks_beside_one_that_copilot_cannot_read_are_run_for_it(
    desk: BridgeSandbox, beside: object, denied: bool
) -> None:
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo Never. >&2; exit 2"}]}
    _trust_claude_settings(desk, {"hooks": {"PreToolUse": [beside, guard]}})
    reply = decided(desk.call(event="preToolUse", agent="copilot-cli"))
    assert ("Never." in reply.stdout) is denied


def test_hooks_of_a_file_with_a_byte_order_mark_are_run_for_copilot(desk: BridgeSandbox) -> None:
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo Never. >&2; exit 2"}]}
    _trust_claude_settings(desk, {"hooks": {"PreToolUse": [guard]}})
    file = desk.project / ".claude" / "settings.json"
    file.write_text("\ufeff" + file.read_text())
    desk.write_hooks("hooks: []")
    assert "Never." in decided(desk.call(event="preToolUse", agent="copilot-cli")).stdout


@pytest.mark.parametrize("agent", ["copilot-cli", "cursor", "codex", "grok-build", "vscode-copilot"])
def test_claude_codes_permission_rules_hold_where_the_agent_does_not_know_them(desk: BridgeSandbox, agent: str) -> None:
    settings = json.dumps({"permissions": {"deny": ["Bash(rm:*)"]}})
    (desk.home / ".claude").mkdir()
    (desk.home / ".claude" / "settings.json").write_text(settings)
    desk.write_hooks("hooks: []")
    event = "preToolUse" if agent in ("copilot-cli", "cursor") else "PreToolUse"
    reply = decided(desk.call(desk.payload("rm -rf x"), event=event, agent=agent))
    assert "The permission rule Bash(rm:*) says deny." in reply.stdout + reply.stderr
    assert decided(desk.call(desk.payload("rm -rf x"))) == Reply(), "Claude Code itself obeys them"


@pytest.mark.parametrize(
    "command",
    [
        "echo Never. >&2; exit 2",
        """echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "Never."}}'""",
    ],
)
def test_claude_codes_guards_act_in_cursor_and_its_other_hooks_are_left_to_it(
    desk: BridgeSandbox, command: str
) -> None:
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    other = {"hooks": [{"type": "command", "command": f"touch {desk.root}/ran"}]}
    events = {"PreToolUse": [guard], "UserPromptSubmit": [{"hooks": guard["hooks"]}], "PostToolUse": [other]}
    _trust_claude_settings(desk, {"hooks": events})
    base = {"conversation_id": "c", "workspace_roots": [str(desk.project)]}
    call = {**base, "tool_name": "Shell", "tool_input": {"command": "ls"}}
    assert "Never." in decided(desk.call(json.dumps(call).encode(), event="preToolUse", agent="cursor")).stdout
    prompt = json.dumps({**base, "prompt": "Go."}).encode()
    if "exit 2" in command:
        assert "Never." in decided(desk.call(prompt, event="beforeSubmitPrompt", agent="cursor")).stdout
    after = json.dumps({**call, "tool_output": "a"}).encode()
    decided(desk.call(after, event="postToolUse", agent="cursor"))
    assert not (desk.root / "ran").exists()


def _trust_claude_settings(desk: BridgeSandbox, settings: object) -> None:
    file = desk.project / ".claude" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(settings))
    desk.write_hooks("hooks: []")


def _agent_file(event: str, *, groups: bool) -> dict[str, object]:
    hook = {"type": "command", "command": "echo '{}' > /dev/null; echo Never. >&2; exit 2"}
    return {"hooks": {event: [{"hooks": [hook]} if groups else hook]}}


AGENT_FILES = [
    ("codex", "PreToolUse", ".codex/hooks.json", _agent_file("PreToolUse", groups=True)),
    ("gemini-cli", "BeforeTool", ".gemini/settings.json", _agent_file("BeforeTool", groups=True)),
    ("qwen-code", "PreToolUse", ".qwen/settings.json", _agent_file("PreToolUse", groups=True)),
    ("droid", "PreToolUse", ".factory/settings.json", _agent_file("PreToolUse", groups=True)),
    ("cursor", "preToolUse", ".cursor/hooks.json", _agent_file("beforeShellExecution", groups=False)),
    ("copilot-cli", "preToolUse", ".github/hooks/a.json", _agent_file("preToolUse", groups=False)),
    ("windsurf", "pre_run_command", ".windsurf/hooks.json", _agent_file("pre_run_command", groups=False)),
    ("kiro", "preToolUse", ".kiro/agents/dev.json", _agent_file("preToolUse", groups=False)),
    ("cline", "PreToolUse", ".clinerules/hooks/PreToolUse", '#!/bin/sh\necho \'{"cancel": true, "errorMessage": "Never."}\'\n'),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "event", "file", "content"), AGENT_FILES, ids=[each[0] for each in AGENT_FILES])
def test_the_hooks_of_another_agents_file_act_and_an_agents_own_are_left_to_it(
    desk: BridgeSandbox, agent: str, event: str, file: str, content: object
) -> None:
    path = desk.project / file
    path.parent.mkdir(parents=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    desk.write_hooks("hooks: []")
    assert deny_reason(decided(desk.call()).stdout) == "Never.", "Claude Code obeys the other agent's hook"
    own = decided(desk.call(get_agent(agent).sample_call(str(desk.project))[1], event=event, agent=agent))
    assert "Never." not in own.stdout + own.stderr, "the agent runs its own file itself"


def test_a_misspelt_agent_blocks_a_tool_and_lists_the_agents(desk: BridgeSandbox) -> None:
    reply = decided(desk.call(agent="claud-code"))
    assert reply.exit_code == 2
    assert "claude-code" in reply.stderr
    assert decided(desk.call(agent="claud-code", event="Stop")).exit_code == 1


def test_a_file_with_errors_is_told_once(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks: [{id: x, on: nowhere}]\n")
    told = json.loads(decided(desk.call()).stdout)["systemMessage"]
    assert "hookline check" in told
    assert "hookline.yaml:1" in told
    assert decided(desk.call()) == Reply()


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_agent_tells_of_a_file_with_errors_at_the_first_event_that_shows_it(
    desk: BridgeSandbox, name: str
) -> None:
    desk.write_hooks("hooks: [{id: x, on: nowhere}]\n", users=True)
    agent = get_agent(name)
    event, payload = agent.sample_call(str(desk.project))
    call = json.dumps(payload).encode()
    for quiet in (each for each in agent.events if each.event == "notification"):
        decided(desk.call(call, event=quiet.name, agent=name))
    reply = decided(desk.call(call, event=event, agent=name))
    assert "hookline.yaml:1" in reply.stdout + reply.stderr


def test_the_last_hooks_of_a_session_run_after_those_in_the_background(desk: BridgeSandbox) -> None:
    desk.write_hooks(
        "hooks:\n"
        "  - {id: slow, on: tool.after, background: true, then: {run: 'sleep 0.4; echo slow >> order'}}\n"
        "  - {id: last, on: session.end, then: {run: 'echo last >> order'}}\n",
        users=True,
    )

    async def both() -> None:
        engine = LoadOnce()
        await respond(desk.call(desk.payload("ls"), "PostToolUse"), engine)
        await respond(desk.call(desk.payload("ls"), "SessionEnd"), engine)

    asyncio.run(both())
    assert (desk.project / "order").read_text() == "slow\nlast\n"


def test_a_failure_that_the_user_is_told_is_told_once(desk: BridgeSandbox) -> None:
    (desk.home / ".ai_agents").mkdir(parents=True)
    command = {"type": "command", "command": "echo oops >&2; exit 1"}
    (desk.home / ".ai_agents/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [command]}]}}))
    assert decided(desk.call(desk.payload("ls"))).stdout.count("oops") == 1


def test_a_tool_that_no_table_knows_is_remembered(desk: BridgeSandbox) -> None:
    call = desk.call(desk.payload("ls", tool_name="shellTool", tool_input={"cmd": "ls"}))
    decided(call)
    decided(desk.call())
    seen = SeenTools(call.user_directories.hookline_state / "tools")
    assert seen.read("claude-code") == {"shellTool": ("cmd",)}


CWD_FIELDS = ("cwd", "workdir", "working_directory", "directory", "dir_path", "path", "workspace")


@pytest.mark.parametrize("name", AGENT_NAMES)
@pytest.mark.parametrize("elsewhere", ["other", "other/below", "/"])
def test_a_directory_that_a_tool_call_names_does_not_choose_the_hooks(
    desk: BridgeSandbox, name: str, elsewhere: str
) -> None:
    desk.write_hooks("hooks: [{id: all, on: tool.before, then: {deny: Never.}}]\n")
    there = desk.root / elsewhere
    (desk.root / "other" / ".git").mkdir(parents=True, exist_ok=True)
    (desk.root / "other" / "below").mkdir(exist_ok=True)
    event, payload = get_agent(name).sample_call(str(desk.project))
    for key in ("tool_input", "toolArgs", "tool_info", "args", "input", "preToolUse"):
        place = payload.get(key)
        if isinstance(place, dict):
            payload[key] = {**place, **dict.fromkeys(CWD_FIELDS, str(there))}
    if name == "cursor":  # where the command runs
        payload["cwd"] = str(there)
    reply = decided(desk.call(json.dumps(payload).encode(), event, agent=name))
    assert "Never." in reply.stdout + reply.stderr


@pytest.mark.parametrize("name", AGENT_NAMES)
@pytest.mark.parametrize("then", ["moved", "deleted", "a file in its place", "a link to nothing"])
def test_a_trusted_projects_hooks_stay_if_its_directory_is_gone(desk: BridgeSandbox, name: str, then: str) -> None:
    desk.write_hooks(
        "hooks: [{id: all, on: tool.before, then: {deny: Never.}}, {id: x, on: tool.after, then: {run: x}}]"
    )
    agent = get_agent(name)
    event, payload = agent.sample_call(str(desk.project))
    for number, variable in enumerate(agent.project_variables):  # the others may be set by the project, in a .env file
        desk.variables[variable] = str(desk.home if number else desk.project)
    match then:
        case "moved":
            desk.project.rename(desk.root / "moved")
        case _:
            shutil.rmtree(desk.project)
            if then == "a file in its place":
                desk.project.write_text("")
            elif then == "a link to nothing":
                desk.project.symlink_to("nothing")
    reply = decided(desk.call(json.dumps(payload).encode(), event, agent=name))
    assert "Never." in reply.stdout + reply.stderr


def test_an_event_that_nobody_knows_is_visible(desk: BridgeSandbox, caplog: pytest.LogCaptureFixture) -> None:
    desk.write_hooks(GUARD)
    reply = decided(desk.call(event="PreToolUsed"))
    assert (reply.stdout, reply.exit_code) == ("", 0)
    assert "'PreToolUsed' is not an event of claude-code" in reply.stderr
    assert "PreToolUsed" in caplog.text


def test_the_user_is_told_that_a_trusted_file_was_changed(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    (desk.project / "hookline.yaml").unlink()
    first, second = decided(desk.call()), decided(desk.call())
    assert deny_reason(first.stdout).startswith("Never.")
    assert deny_reason(second.stdout).startswith("Never.")
    assert "was deleted since you trusted it" in json.loads(first.stdout)["systemMessage"]
    assert "systemMessage" not in json.loads(second.stdout)


def test_the_user_is_told_each_time_that_a_changed_program_did_not_run(desk: BridgeSandbox) -> None:
    audit = desk.project / "audit.sh"
    audit.write_text("exit 0\n")
    desk.write_hooks(
        "hooks:\n  - {id: audit, on: tool.before, then: {run: sh audit.sh, reads: never}, on_error: open}\n"
    )
    assert decided(desk.call()).stdout == ""
    audit.write_text("exit 1\n")
    for _ in range(2):
        said = json.loads(decided(desk.call()).stdout)["systemMessage"]
        assert "audit.sh was changed since you trusted it" in said


def test_the_user_is_told_of_each_change_of_a_trusted_file_once(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    told = []
    for comment in ("", "# first\n", "# first\n", "# second\n", "# second\n"):
        (desk.project / "hookline.yaml").write_text(comment + GUARD)
        reply = json.loads(decided(desk.call()).stdout)
        told.append(str(reply.get("systemMessage", "")).count("was changed since you trusted it"))
    assert told == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("agent", "event", "call"),
    [
        ("claude-code", "PreToolUse", {}),
        ("claude-code", "PreToolUse", {"toolName": "Bash", "toolInput": {"command": "rm -rf /"}}),
        ("claude-code", "PreToolUse", {"tool_name": "Bash", "input": {"command": "rm -rf /"}}),
        ("cursor", "beforeShellExecution", {"cmd": "rm -rf /"}),
        ("cursor", "beforeShellExecution", {"command": ["rm", "-rf", "/"]}),
        ("windsurf", "pre_run_command", {"tool_info": {"command_line": ["rm", "-rf", "/"]}}),
        ("windsurf", "pre_run_command", {"tool_info": "rm -rf /"}),
        ("cline", "PreToolUse", {"preToolUse": {"tool": "execute_command", "params": {"command": "rm -rf /"}}}),
        ("copilot-cli", "preToolUse", {"toolCalls": [{"name": "bash", "args": {"command": "rm -rf /"}}]}),
    ],
)
def test_a_call_that_cannot_be_read_is_not_let_through(
    desk: BridgeSandbox, agent: str, event: str, call: dict[str, object]
) -> None:
    desk.write_hooks(
        "hooks: [{id: g, on: tool.before, when: {kind: shell, input: {command: 'rm -rf'}}, then: {deny: Never.}}]"
    )
    reply = decided(desk.call(json.dumps({"cwd": str(desk.project), **call}).encode(), event, agent=agent))
    said = reply.stdout + reply.stderr
    assert "Never." in said or "payload does not say" in said


def test_a_call_that_cannot_be_read_concerns_nobody_without_hooks(desk: BridgeSandbox) -> None:
    assert decided(desk.call(b"{}")) == Reply()


TOO_MANY: list[dict[str, object]] = [
    {"tool_name": "Bash", "tool_input": {"commands": ["ls"] * 250_000}},
    {"tool_name": "Bash", "tool_input": {"commands": ["ls"] * 1_000, **{f"k{n}": n for n in range(20_000)}}},
    {"tool_name": "MultiEdit", "tool_input": {"edits": [{"file_path": "a"}] * 20_000}},
    {
        "tool_name": "apply_patch",
        "tool_input": {"patch": "*** Begin Patch\n" + "*** Delete File: a\n" * 20_000 + "*** End Patch"},
    },
]


@pytest.mark.parametrize("call", TOO_MANY)
def test_a_call_of_too_many_parts_is_not_let_through(desk: BridgeSandbox, call: dict[str, object]) -> None:
    """Each part is an event of its own: a list of 250,000 commands kept the bridge busy for minutes."""
    payload = desk.payload(**call)
    assert decided(desk.call(payload)) == Reply()  # there is no hook
    desk.write_hooks(GUARD)
    assert "hooks check at most 1,000" in deny_reason(decided(desk.call(payload)).stdout)


def test_every_part_of_a_long_call_is_judged(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    many = ["ls"] * 999
    assert decided(desk.call(desk.payload(tool_name="Bash", tool_input={"commands": [*many, "ls"]}))) == Reply()
    payload = desk.payload(tool_name="Bash", tool_input={"commands": [*many, "rm -rf /"]})
    assert deny_reason(decided(desk.call(payload)).stdout) == "Never."


def test_a_hook_of_type_http_is_posted(desk: BridgeSandbox) -> None:
    async def work() -> Reply:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            body = b'{"decision": "block", "reason": "Not from here."}'
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": url}]}]}}
            (desk.home / ".claude").mkdir()
            (desk.home / ".claude/settings.json").write_text(json.dumps(settings))
            return await respond(desk.call(agent="codex"), LoadOnce())

    assert deny_reason(asyncio.run(work()).stdout) == "Not from here."


@pytest.mark.parametrize(
    ("agent", "event", "payload", "message"),
    [
        ("qwen-code", "Notification", {"message": "Hello", "notification_type": "idle_prompt"}, "Hello"),
        ("copilot-cli", "notification", {"message": "Hello", "notification_type": "idle_prompt"}, "Hello"),
        ("codex", "PermissionRequest", {}, "Codex CLI needs your permission to use Bash"),
        (
            "gemini-cli",
            "Notification",
            {"notification_type": "ToolPermission", "details": {"type": "exec", "command": "rm x"}},
            "Gemini CLI needs your permission to use run_shell_command",
        ),
    ],
)
def test_hooks_are_told_of_notifications(
    desk: BridgeSandbox, agent: str, event: str, payload: dict[str, object], message: str
) -> None:
    """An agent that has none of its own is about to ask the person when it requests an approval."""
    (desk.home / ".claude").mkdir()
    command = {"type": "command", "command": f"cat >> {desk.root}/told"}
    settings = {"hooks": {"Notification": [{"hooks": [command]}]}}
    (desk.home / ".claude/settings.json").write_text(json.dumps(settings))
    decided(desk.call(desk.payload(**payload), event, agent=agent))
    (told,) = (desk.root / "told").read_text().splitlines()
    assert json.loads(told)["message"] == message


def test_a_decided_approval_needs_nobody(desk: BridgeSandbox) -> None:
    desk.write_hooks(
        "hooks:\n  - {id: yes, on: approval.request, then: allow}\n"
        f"  - {{id: tell, on: notification, then: {{run: 'touch {desk.root}/told'}}, on_error: open}}\n",
        users=True,
    )
    decided(desk.call(event="PermissionRequest", agent="codex"))
    assert not (desk.root / "told").exists()


async def answered_now(call: AgentCall, cache: HookCache) -> Reply | None:
    """After the hooks of the directory have been read, as the engine does while an agent works there."""
    await respond(replace(call, event="Notification", payload=b'{"message": "m"}'), cache)
    return respond_now(call, cache)


def recorded_verdicts(call: AgentCall) -> list[str]:
    live = call.user_directories.hookline_state / "record" / "live"
    records = [json.loads(line) for file in live.glob("*.jsonl") for line in file.read_text().splitlines()]
    return [each["verdict"] for each in records if each["kind"] == "decision"]


def test_a_call_for_which_nothing_waits_is_answered_now(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    reply = asyncio.run(answered_now(desk.call(), HookCache()))
    assert reply is not None
    assert deny_reason(reply.stdout) == "Never."
    assert recorded_verdicts(desk.call()) == ["deny"]
    assert asyncio.run(answered_now(desk.call(desk.payload("ls")), HookCache())) == Reply()


@pytest.mark.parametrize("how", ["", ", background: true"])
def test_where_a_hook_waits_nothing_has_happened(desk: BridgeSandbox, how: str) -> None:
    desk.write_hooks(
        f"hooks:\n  - {{id: waits, on: tool.before, then: {{run: touch ran}}, on_error: open{how}}}\n"
        "  - {id: once, on: tool.before, then: {deny: Once.}, max_fires: 1}\n",
        users=True,
    )

    async def twice() -> tuple[Reply | None, Reply]:
        cache = HookCache()
        now = await answered_now(desk.call(), cache)
        assert not (desk.project / "ran").exists()
        assert recorded_verdicts(desk.call()) == []
        return now, await respond(desk.call(), cache)

    now, later = asyncio.run(twice())
    assert now is None
    assert deny_reason(later.stdout) == "Once."
    assert recorded_verdicts(desk.call()) == ["deny"]


def test_hooks_that_have_not_been_read_have_to_be_waited_for(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)

    async def unread() -> Reply | None:
        return respond_now(desk.call(), HookCache())

    assert asyncio.run(unread()) is None


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "PermissionRequest"])
def test_events_that_may_wait_without_a_hook_are_not_answered_now(desk: BridgeSandbox, event: str) -> None:
    assert asyncio.run(answered_now(desk.call(event=event), HookCache())) is None


def test_a_patch_of_several_files_is_not_answered_now(desk: BridgeSandbox) -> None:
    patch = "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch"
    payload = desk.payload(tool_name="apply_patch", tool_input={"patch": patch})
    assert asyncio.run(answered_now(desk.call(payload), HookCache())) is None


def test_a_call_that_cannot_be_read_is_not_answered_now(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    assert asyncio.run(answered_now(desk.call(b"no JSON"), HookCache())) is None


def test_a_bug_of_ours_denies_now_too(desk: BridgeSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Reply:
        raise ZeroDivisionError

    async def broken() -> Reply | None:
        cache = HookCache()
        await respond(desk.call(desk.payload("ls")), cache)
        monkeypatch.setattr(cache, "fresh_book", fail)
        return respond_now(desk.call(desk.payload("ls")), cache)

    reply = asyncio.run(broken())
    assert reply is not None
    assert "bug" in deny_reason(reply.stdout)


def test_an_agent_that_was_halted_is_denied_now_too(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks:\n  - {id: stop, on: tool.after, then: {halt: Enough.}}\n", users=True)
    payload = json.dumps({"tool_info": {"command_line": "ls", "cwd": str(desk.project)}}).encode()

    async def halted() -> Reply | None:
        cache = HookCache()
        await respond(desk.call(payload, "post_run_command", agent="windsurf"), cache)
        return respond_now(desk.call(payload, "pre_run_command", agent="windsurf"), cache)

    reply = asyncio.run(halted())
    assert reply is not None
    assert (reply.exit_code, "Enough." in reply.stderr) == (2, True)
