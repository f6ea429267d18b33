from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cli.recorded_events import HOOKS, record, record_a_few, tool_event, write_hooks

LOOSER = HOOKS.replace("rm *", "shred *")
ALLOWS = HOOKS + "  - {id: fine, on: tool.before, when: {tool: bash, input: {command: ^ls}}, then: allow}\n"
TIGHTER = HOOKS + "  - {id: no-ls, on: tool.before, when: {tool: bash, input: {command: ^ls}}, then: {deny: No.}}\n"


def replayed(hookline: Any, *options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in hookline("replay", "--json", *options).stdout.splitlines()]


def test_the_same_hooks_decide_the_same(hookline, recorder):
    record_a_few(recorder)
    (counts,) = replayed(hookline, "--with", "hookline.yaml")
    assert counts == {
        "decisions": 7,
        "loosened": 0,
        "tightened": 0,
        "changed": 0,
        "undecided": 0,
        "same": 7,
        "skipped": 0,
        "unknown": {},
    }


@pytest.mark.parametrize(
    ("text", "kind", "before", "after"),
    [
        (LOOSER, "loosened", ("deny", "no-rm"), ("silent", None)),
        (TIGHTER, "tightened", ("silent", None), ("deny", "no-ls")),
        (HOOKS.replace("Do not", "Never"), "changed", ("deny", "no-rm"), ("deny", "no-rm")),
        (HOOKS.replace("deny: Do not remove.", "ask: Sure?"), "loosened", ("deny", "no-rm"), ("ask", "no-rm")),
        (ALLOWS, "loosened", ("silent", None), ("allow", "fine")),
    ],
    ids=["loosened", "tightened", "changed", "deny to ask", "silent to allow"],
)
def test_differences(hookline, recorder, text, kind, before, after):
    record_a_few(recorder)
    Path("new.yaml").write_text(text)
    difference, counts = replayed(hookline, "--with", "new.yaml")
    assert difference["difference"] == kind
    assert (difference["before"]["verdict"], difference["before"]["hook"]) == before
    assert (difference["after"]["verdict"], difference["after"]["hook"]) == after
    assert counts[kind] == 1


def test_an_allow_that_is_gone_is_tightened(hookline, recorder):
    record(recorder, write_hooks(ALLOWS), tool_event("ls"))
    Path("new.yaml").write_text(HOOKS)
    difference, _ = replayed(hookline, "--with", "new.yaml")
    assert (difference["difference"], difference["before"]["verdict"]) == ("tightened", "allow")


def test_a_deny_in_place_of_a_halt_is_told_apart(hookline, recorder):
    record(recorder, write_hooks(HOOKS.replace("{deny: Do", "{halt: Do")), tool_event("rm x"))
    Path("new.yaml").write_text(HOOKS)
    difference, _ = replayed(hookline, "--with", "new.yaml")
    assert (difference["difference"], difference["before"]["halt"], difference["after"]["halt"]) == (
        "loosened",
        True,
        False,
    )


def test_loosened_ones_come_first(hookline, recorder):
    record_a_few(recorder)
    Path("new.yaml").write_text(TIGHTER.replace("rm *", "shred *").replace("command: push", "command: pull"))
    kinds = [each["difference"] for each in replayed(hookline, "--with", "new.yaml")[:-1]]
    assert kinds == ["loosened", "loosened", "tightened"]
    lines = hookline("replay", "--with", "new.yaml").stdout.splitlines()
    assert lines[0].startswith("loosened  deny (no-rm) → silent")
    assert lines[1] == "          rm x"
    assert lines[-1] == "7 decisions: 2 loosened, 1 tightened, 0 changed, 4 same"


def test_todays_hooks_are_those_of_the_recorded_directory(hookline, recorder, project):
    book = write_hooks()
    record(recorder, book, tool_event("rm x", cwd=str(project)))
    Path("hookline.yaml").write_text(LOOSER)
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    record(recorder, book, tool_event("rm y", cwd=str(elsewhere)))
    difference, other, _ = replayed(hookline)
    assert (difference["difference"], other["difference"]) == ("loosened", "loosened")
    Path("hookline.yaml").write_text(HOOKS)
    assert [each["before"]["hook"] for each in replayed(hookline)[:-1]] == [
        "no-rm",
        "no-rm",
    ]  # not trusted: other words


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (LOOSER, "loosened", 2),
        (LOOSER, "changed", 2),
        (TIGHTER, "loosened", 0),
        (TIGHTER, "changed", 2),
        (HOOKS, "changed", 0),
    ],
)
def test_the_exit_code(hookline, recorder, text, fail_on, code):
    record_a_few(recorder)
    Path("new.yaml").write_text(text)
    assert hookline("replay", "--with", "new.yaml", "--fail-on", fail_on).exit_code == code
    assert hookline("replay", "--with", "new.yaml").exit_code == 0


def test_programs_are_not_run_and_new_ones_are_named(hookline, recorder):
    text = "hooks: [{id: scan, on: tool.before, then: {run: 'echo x >> ran; exit 3'}, on_error: closed}]"
    asyncio.run(recorder.decide(write_hooks(text), tool_event("ls")))
    Path("new.yaml").write_text(text.replace("exit 3", "exit 4"))
    (same,) = replayed(hookline, "--with", "hookline.yaml")
    assert same["same"] == 1
    loosened, counts = replayed(hookline, "--with", "new.yaml")
    assert (loosened["difference"], loosened["unknown"], counts["unknown"]) == ("loosened", ["scan"], {"scan": 1})
    assert "scan: its answer to 1 event is not in the record" in hookline("replay", "--with", "new.yaml").stdout
    assert Path("ran").read_text() == "x\n"


def test_a_file_with_errors_is_refused(hookline, recorder):
    record_a_few(recorder)
    Path("new.yaml").write_text("hooks: [{id: a, on: nowhere, then: deny}]")
    assert hookline("replay", "--with", "new.yaml").exit_code == 1


def test_only_after_a_time(hookline, recorder):
    record_a_few(recorder)
    (counts,) = replayed(hookline, "--with", "hookline.yaml", "--since", "2999-01-01")
    assert counts["decisions"] == 0


def test_records_without_facts_are_counted(hookline, recorder):
    record(recorder, write_hooks("record: {facts: none}\n" + HOOKS), tool_event("rm x"))
    assert "1 could not be replayed" in hookline("replay").stdout


@pytest.mark.parametrize(
    "command", ["echo ghp_" + "a1B2c3D4e" * 4, "echo " + "z" * 5000 + "; rm x"], ids=["masked", "cut"]
)
def test_what_has_masked_or_cut_facts_is_counted_apart(hookline, recorder, command):
    hooks = """\
hooks:
  - {id: secret, on: tool.before, when: {secrets: true}, then: {deny: A secret.}}
  - {id: end, on: tool.before, when: {tool: bash, input: {command: 'rm x$'}}, then: {deny: Not rm.}}
"""
    record(recorder, write_hooks(hooks), tool_event(command))
    difference, counts = replayed(hookline, "--with", "hookline.yaml")
    assert (difference["difference"], difference["uncertain"]) == ("undecided", True)
    assert (counts["undecided"], counts["loosened"]) == (1, 0)
    for kind in ("loosened", "changed"):
        result = hookline("replay", "--with", "hookline.yaml", "--fail-on", kind)
        assert result.exit_code == 0
        assert "1 cannot be decided again: facts were masked or cut" in result.stdout


def test_a_rule_that_is_gone_is_loosened_although_facts_were_masked(hookline, recorder):
    hooks = "hooks: [{id: end, on: tool.before, when: {tool: bash, input: {command: 'rm x$'}}, then: {deny: Not rm.}}]"
    record(recorder, write_hooks(hooks), tool_event("echo ghp_" + "a1B2c3D4e" * 4 + "; rm x"))
    Path("new.yaml").write_text("hooks: []")
    difference, counts = replayed(hookline, "--with", "new.yaml")
    assert (difference["difference"], counts["loosened"], counts["undecided"]) == ("loosened", 1, 0)
    assert hookline("replay", "--with", "new.yaml", "--fail-on", "loosened").exit_code == 2


def test_a_difference_fits_into_80_columns(hookline, recorder):
    name = "no-" + "very-" * 8 + "long-name"
    write_hooks(HOOKS.replace("no-rm", name))
    record(recorder, write_hooks(HOOKS.replace("no-rm", name)), tool_event("rm x"))
    Path("new.yaml").write_text("hooks: []")
    shown = hookline("replay", "--with", "new.yaml").stdout
    assert f"deny ({name}) → silent\n" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "1 decision: 1 loosened" in shown


def test_a_long_input_is_cut_to_80_columns(hookline, recorder):
    record(recorder, write_hooks(), tool_event(f"rm {'x' * 300}"))
    Path("new.yaml").write_text("hooks: []")
    shown = hookline("replay", "--with", "new.yaml").stdout
    assert max(map(len, shown.splitlines())) == 80
    assert "rm xxx" in shown
    Path("new.yaml").write_text(HOOKS.replace("no-rm", "no-" + "x" * 200))
    assert max(map(len, hookline("replay", "--with", "new.yaml").stdout.splitlines())) <= 80


def test_a_change_says_what_differs(hookline, recorder):
    text = "hooks: [{id: a, on: tool.before, then: {set: {input.timeout: 60}}}]"
    record(recorder, write_hooks(text), tool_event("ls"))
    Path("new.yaml").write_text(text.replace("60", "61"))
    process = hookline("replay", "--with", "new.yaml", "--fail-on", "changed")
    assert "changed   silent → silent" in process.stdout
    assert "          differs in tool.input.timeout\n" in process.stdout
    assert process.exit_code == 2
    difference, _ = replayed(hookline, "--with", "new.yaml")
    assert difference["parts"] == ["tool.input.timeout"]


def test_what_a_program_answered_holds_for_a_copy_of_its_file(hookline, recorder):
    text = "hooks: [{id: a, on: tool.before, then: {run: 'echo no >&2; exit 2'}, on_error: closed}]"
    asyncio.run(recorder.decide(write_hooks(text), tool_event("ls")))
    Path("new.yaml").write_text(text)
    (counts,) = replayed(hookline, "--with", "new.yaml")
    assert (counts["same"], counts["unknown"]) == (1, {})
    Path("new.yaml").write_text(text.replace("echo no", "echo never"))
    assert replayed(hookline, "--with", "new.yaml")[-1]["unknown"] == {"a": 1}


def test_a_file_that_was_changed_since_it_was_trusted_is_named(hookline, recorder, project):
    book = write_hooks()
    record(recorder, book, tool_event("rm x", cwd=str(project)))
    hookline("trust", "--yes")
    assert "since you trusted it" not in hookline("replay").stderr
    Path("hookline.yaml").write_text(LOOSER)
    for arguments in (("replay",), ("why", "--now")):
        assert "this file was changed since you trusted it" in hookline(*arguments).stderr
