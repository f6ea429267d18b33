from __future__ import annotations

import re

import pytest

from hookline.cli.decision_text import answer_text, exit_code, show_decision
from hookline.hooks.event import Event
from hookline.project import load_text

HOOKS = """\
hooks:
  - {id: no, on: tool.before, when: {input: {command: rm}}, then: {deny: Never.}}
  - {id: sure, on: tool.before, when: {input: {command: push}}, then: {ask: Sure?}}
  - {id: fine, on: tool.before, when: {input: {command: cat}}, then: allow}
  - {id: tidy, on: tool.before, when: {input: {command: ls}}, then: {set: {input.command: ls -a, input.all: true}}}
  - {id: hint, on: prompt.submit, then: {tell: be careful}}
  - {id: end, on: session.start, then: {halt: enough}}
"""


def decide(command: str = "", name: str = "tool.before"):
    facts = {"tool": {"name": "bash", "kind": "shell", "input": {"command": command}}} if command else {"prompt": "x"}
    event = Event(name, facts)
    return load_text(HOOKS, "hooks.yaml").decide_now(event, explain=True), event


def shown(capsys, *decided, explain=False):
    show_decision(*decided, explain=explain)
    return capsys.readouterr().out


@pytest.mark.parametrize(("command", "code"), [("rm x", 2), ("git push", 3), ("cat x", 0), ("echo", 0)])
def test_the_exit_code_follows_the_verdict(command, code):
    assert exit_code(decide(command)[0]) == code


def test_a_halt_exits_like_a_deny(capsys):
    decided = decide(name="session.start")
    assert exit_code(decided[0]) == 2
    assert shown(capsys, *decided) == "halt: enough\n  by end  hooks.yaml:7\n"


def test_the_reason_and_the_place_of_the_hook_come_first(capsys):
    assert shown(capsys, *decide("rm x")) == "deny: Never.\n  by no  hooks.yaml:2\n"


def test_without_a_reason_the_verdict_is_explained(capsys):
    assert shown(capsys, *decide("echo")) == "silent: no hook decided; the event proceeds\n"


def test_changes_are_shown_with_the_old_and_the_new_value(capsys):
    text = shown(capsys, *decide("ls"))
    assert '  changed tool.input.command: "ls" → "ls -a"\n' in text
    assert "  changed tool.input.all: (unset) → true\n" in text


def test_each_hook_is_shown_with_its_whole_answer(capsys):
    assert "end  hooks.yaml:7  halt\n" in shown(capsys, *decide(name="session.start"), explain=True)
    assert "hint  hooks.yaml:6  a note\n" in shown(capsys, *decide(name="prompt.submit"), explain=True)
    text = shown(capsys, *decide("ls"), explain=True)
    assert "tidy  hooks.yaml:5  changed tool.input.command, tool.input.all  " in text


def test_a_change_is_shown_in_the_words_of_the_hooks_file(capsys):
    hook = "{id: slow, on: tool_start, action: {type: transform_params, transformation: {set: {timeout: 60}}}}"
    event = Event("tool.before", {"tool": {"name": "shell.run", "input": {"command": "ls"}}})
    decision = load_text(f"runtime:\n  hooks:\n    - {hook}\n", "digitorn.yaml").decide_now(event, explain=True)
    assert "slow  digitorn.yaml:3  changed tool.params.timeout  " in shown(capsys, decision, event, explain=True)


def test_an_answer_with_many_changes_is_shortened():
    changes = {f"tool.input.{letter}": 1 for letter in "abcde"}
    answer = {"verdict": "ask", "changes": changes, "notes": [{}], "requests": ["compact"]}
    assert answer_text(answer) == "ask, changed tool.input.a, tool.input.b, tool.input.c and 2 more, a note, compact"


def test_notes_name_their_reader(capsys):
    assert "  note for the agent: be careful\n" in shown(capsys, *decide(name="prompt.submit"))


def test_explain_lists_the_hooks_that_did_not_match_too(capsys):
    text = shown(capsys, *decide("rm x"), explain=True)
    assert re.search(r"^no  \S+  deny", text, re.MULTILINE)
    skipped = text.partition("skipped: no already stopped the event\n")[2].splitlines()
    assert [line.split()[0] for line in skipped] == ["sure", "fine", "tidy"]


def test_explain_says_that_no_hook_listens(capsys):
    assert "no hook listens to this event" in shown(capsys, *decide(name="session.end"), explain=True)
