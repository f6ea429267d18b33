from __future__ import annotations

import asyncio
import json
from pathlib import Path

from click.testing import _NamedTextIOWrapper

from cli.recorded_events import HOOKS, prompt_event, record, record_a_few, tool_event, write_hooks
from hookline.hooks.event import Event
from hookline.project import load

PYTHON_HOOK = """\
from hookline.standard_agents import define_agent, define_hook


@define_hook(hook="after_system_message", id="be_brief")
async def be_brief(state, text):
    return f"{text} Be brief."


define_agent(name="helper", hooks=["be_brief"])
"""


def first_id(hookline) -> str:
    return json.loads(hookline("log", "--json").stdout.splitlines()[0])["id"]


def test_the_last_decision_on_which_a_hook_spoke(hookline, recorder):
    record_a_few(recorder)
    record(recorder, write_hooks(), tool_event("ls"), prompt_event("hello"))
    shown = hookline("why").stdout
    assert "prompt.submit" in shown
    assert "deploy it" in shown
    assert "note for the agent: be careful" in shown


def test_every_hook_says_why_it_did_or_did_not_act(hookline, recorder):
    record_a_few(recorder)
    shown = hookline("why", first_id(hookline)).stdout
    assert "  rm x\n  decided: deny: Do not remove. (hook no-rm, hookline.yaml:2)" in shown
    assert "Under the hooks that were in force:\ndeny: Do not remove.\n  by no-rm  hookline.yaml:2" in shown
    assert "ask-push  hookline.yaml:3  did not run\n    skipped: no-rm already stopped the event" in shown
    push = json.loads(hookline("log", "--json", "--verdict", "ask").stdout)["id"]
    assert "no-rm  hookline.yaml:2  did not run\n    a command in input.command" in hookline("why", push).stdout


def test_hooks_that_are_skipped_for_one_reason_are_listed_below_it(hookline, recorder):
    later = "".join(f"  - {{id: later-{n}, on: tool.before, then: {{ask: Sure?}}}}\n" for n in (1, 2))
    record(
        recorder, write_hooks("hooks:\n  - {id: first, on: tool.before, then: {deny: no}}\n" + later), tool_event("ls")
    )
    shown = hookline("why").stdout
    below = "    later-1  hookline.yaml:3\n    later-2  hookline.yaml:4\n"
    assert f"skipped: first already stopped the event\n{below}" in shown


def test_the_hooks_of_then_and_of_today(hookline, recorder):
    record_a_few(recorder)
    id = first_id(hookline)
    Path("hookline.yaml").write_text(HOOKS.replace("rm *", "shred *"))
    then, now = hookline("why", id, "--json"), hookline("why", id, "--now", "--json")
    assert json.loads(then.stdout)["decision"]["verdict"] == "deny"
    assert (json.loads(now.stdout)["under"], json.loads(now.stdout)["decision"]["verdict"]) == ("now", "silent")
    assert "Under today's hooks:\nsilent" in hookline("why", id, "--now").stdout


def test_a_program_is_not_run_again(hookline, recorder):
    book = write_hooks("hooks: [{id: touch, on: tool.before, then: {run: 'echo x >> ran; exit 3'}, on_error: closed}]")
    asyncio.run(recorder.decide(book, tool_event("ls")))
    assert Path("ran").read_text() == "x\n"
    shown = json.loads(hookline("why", "--json").stdout)
    assert shown["decision"]["verdict"] == "deny"
    assert shown["decision"]["trace"][0]["ms"] == shown["record"]["trace"][0]["ms"]
    assert Path("ran").read_text() == "x\n"


def test_a_long_command_is_shown_whole(hookline, recorder):
    command = f"rm {'x' * 1000} end"
    record(recorder, write_hooks(), tool_event(command))
    assert command in hookline("why").stdout


def test_an_id_can_be_shortened(hookline, recorder):
    record_a_few(recorder)
    id = first_id(hookline)
    assert hookline("why", f"{id[:4]}-{id.split('-')[1]}").stdout == hookline("why", id).stdout


def test_an_unknown_id(hookline, recorder):
    record_a_few(recorder)
    assert "there is no decision 0000-2" in hookline("why", "0000-2").stderr
    assert "there is no decision what" in hookline("why", "what").stderr
    assert hookline("why", first_id(hookline).split("-")[0] + "-1").exit_code == 1  # the record of the start


def test_facts_that_were_not_recorded(hookline, recorder):
    record(recorder, write_hooks("record: {facts: none}\n" + HOOKS), tool_event("rm x"))
    result = hookline("why")
    assert result.exit_code == 1
    assert "were not recorded" in result.stderr


def test_facts_that_were_masked(hookline, recorder):
    record(recorder, write_hooks(), tool_event("rm --token=abcdef123456"))
    assert "shortened or masked" in hookline("why").stdout


def test_the_recorded_answer_stands_if_what_it_was_about_was_masked(hookline, recorder):
    hooks = "hooks:\n  - {id: secret, on: tool.before, when: {secrets: true}, then: {deny: A secret.}}\n"
    record(recorder, write_hooks(hooks), tool_event("echo ghp_" + "a1B2c3D4e" * 4))
    for options in ((), ("--now",)):
        shown = " ".join(hookline("why", *options).stdout.split())
        assert "decided: deny: A secret." in shown
        assert "the recorded answer stands" in shown
        assert "secret hookline.yaml:2 deny it took part" in shown
        assert "has no secret" not in shown
        assert json.loads(hookline("why", "--json", *options).stdout)["difference"] == "undecided"


def test_hooks_whose_texts_are_gone(hookline, recorder):
    record_a_few(recorder)
    id = first_id(hookline)
    for path in Path("../home/.local/state/hookline/record/hooks").iterdir():
        path.unlink()
    shown = hookline("why", id).stdout
    assert "no-rm  hookline.yaml:2  deny\n    it took part, but its text is not kept" in shown
    assert "This is not what was decided then" in shown


def test_a_python_hook_is_named_and_not_pretended(hookline, recorder):
    Path("agents").mkdir()
    Path("agents/brief.py").write_text(PYTHON_HOOK)
    Path("hookline.yaml").write_text("standard_agents: agents\nhooks: []\n")
    book = load("hookline.yaml", "native")
    event = Event("history.system", {"agent": {"name": "helper"}, "system": "You help."})
    assert asyncio.run(recorder.decide(book, event)).event.facts["system"] == "You help. Be brief."
    shown = hookline("why", first_id(hookline)).stdout
    assert "be_brief  agents/brief.py:4  changed system\n    it took part, but its text is not kept" in shown
    assert "This is not what was decided then" in shown
    counts = json.loads(hookline("replay", "--with", "hookline.yaml", "--json").stdout.splitlines()[-1])
    assert (counts["same"], counts["unknown"]) == (1, {})  # its answer is taken from the record


def test_nothing_spoken_yet(hookline, recorder):
    record(recorder, write_hooks(), tool_event("ls"))
    assert "no hook has answered yet" in hookline("why").stderr


def test_what_hooks_remember_of_the_session_counts(hookline, recorder):
    """A hook that acts from the third call on, one that acts once, and one that asks what happened before."""
    book = write_hooks(
        "hooks:\n"
        "  - {id: few, on: tool.before, when: {kind: shell, count: {more_than: 2}}, then: {deny: Enough.}}\n"
        "  - {id: hello, on: prompt.submit, then: {tell: Hello.}, max_fires: 1}\n"
        "  - {id: tests-first, on: stop, when: {not: {after: {runs: pytest, ok: true}}}, then: {deny: Test it.}}\n"
    )
    record(recorder, book, *(tool_event(f"ls {n}") for n in range(3)))
    other = tool_event("ls", session={"id": "other"})
    record(recorder, book, other, tool_event("pytest -q", name="tool.after", ok=True), Event("stop", other.facts))
    ids = [json.loads(line)["id"] for line in hookline("log", "--verdict", "deny", "--json").stdout.splitlines()]
    assert len(ids) == 2
    for id in ids:
        assert "This is not what was decided then" not in hookline("why", id).stdout
    assert "few  hookline.yaml:2  deny" in hookline("why", ids[0]).stdout


def test_many_hooks_are_shown_by_the_pager(hookline, recorder, monkeypatch):
    rules = "".join(f"  - {{id: r{n}, on: tool.before, when: {{tool: none-{n}}}, then: deny}}\n" for n in range(30))
    record(recorder, write_hooks(HOOKS + rules), tool_event("rm x"))
    paged: list[str] = []
    monkeypatch.setattr("click.echo_via_pager", paged.append)
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: True, raising=False)
    assert hookline("why").exit_code == 0
    assert "Do not remove." in paged[0]
