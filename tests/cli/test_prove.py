from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path

import pytest
from click.testing import _NamedTextIOWrapper

from hookline.cli import progress
from hookline.cli import prove as prove_module
from hookline.prove.properties import parse_property

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

HOOKS = r"""hooks:
  - {id: env, on: tool.before, when: {tool: [write_file, edit_file], input: {path: '\.env$'}}, then: {deny: no}}
  - {id: ask, on: tool.before, when: {kind: shell, input: {command: ^git push}}, then: {ask: sure?}}
  - {id: program, on: tool.before, when: {kind: fetch}, then: {run: check.sh}, on_error: closed}
"""
PROVED = r'tool: [write_file, edit_file], input: {path: "\.env$"}'
REFUTED = r"kind: [write, edit], input: {path: '\.env'}"


@pytest.fixture(autouse=True)
def _hooks(project):
    Path("hooks.yaml").write_text(HOOKS)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_printed_command_reads_the_files_as_the_same_dialect(hookline, options):
    Path("e.json").write_text('{"hooks": {}}')
    proving = ("prove", "--config", "e.json", "--dialect", "flo", "--denied", "kind: shell", *options)
    shown = hookline(*proving).stdout
    command = shlex.split(json.loads(shown)["command"] if options else shown.splitlines()[-1])
    assert command[command.index("--dialect") + 1] == "flo"
    assert hookline(*command[1:]).exit_code == 0


def test_a_property_of_a_case_prints_the_dialect_of_its_file(hookline):
    Path("e.json").write_text('{"hooks": {}}')
    Path("case.yaml").write_text("file: e.json\ndialect: flo\nproperties:\n- {id: safe, never: {kind: shell}}\n")
    assert "--dialect flo" in " ".join(hookline("test", "case.yaml").stdout.split())


def test_a_proof(hookline):
    result = hookline("prove", "--config", "hooks.yaml", "--denied", PROVED)
    assert (result.exit_code, result.stdout) == (0, f"proved: {PROVED} is denied\n")


@pytest.mark.parametrize(
    ("wanted", "exit_code"), [("kind: shell, input: {command: ^rm}", 0), ("kind: shell, input: {command: ^ls}", 2)]
)
def test_hooks_of_a_trusted_project_are_proved_as_those_of_a_named_file(hookline, wanted, exit_code):
    Path("hookline.yaml").write_text(
        "hooks:\n"
        "  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: ^rm}}, then: {deny: 'No {{tool.name}}.'}}\n"
        "  - {id: slow, on: tool.before, when: {kind: shell}, then: {set: {input.timeout: 60}}}\n"
    )
    assert hookline("trust", "--yes").exit_code == 0
    assert hookline("prove", "--config", "hookline.yaml", "--denied", wanted).exit_code == exit_code
    assert hookline("prove", "--denied", wanted).exit_code == exit_code


def test_a_counter_example_is_a_command_that_shows_it(hookline):
    result = hookline("prove", "--config", "hooks.yaml", "--denied", REFUTED)
    assert result.exit_code == 2
    assert result.stdout.startswith("counter-example: ")
    command = shlex.split(result.stdout.splitlines()[1])
    assert command[:2] == ["hookline", "fire"]
    fired = hookline(*command[1:])
    assert fired.exit_code == 0
    assert "env" not in fired.stdout


def test_what_is_not_proved_is_explained(hookline):
    result = hookline("prove", "--config", "hooks.yaml", "--denied", "kind: fetch")
    assert result.exit_code == 3
    assert "program (hooks.yaml:4): its answer comes from the action run" in result.stdout


def test_stopped_counts_asks(hookline):
    text = "kind: shell, input: {command: '^git push --force'}"
    assert hookline("prove", "--config", "hooks.yaml", "--denied", text).exit_code == 2
    assert hookline("prove", "--config", "hooks.yaml", "--stopped", text).exit_code == 0


def test_json_and_several_properties(hookline):
    result = hookline(
        "prove", "--json", "--config", "hooks.yaml", "--denied", PROVED, "--denied", "kind: fetch", "--denied", REFUTED
    )
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["result"] for each in found] == ["proved", "not proved", "counter-example"]
    assert found[2]["facts"]["tool"]["input"]
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "there is nothing to prove"),
        (["--denied", "tol: x"], "Did you mean tool?"),
        (["--denied", "tool: x", "--timeout", "5"], "write 5s"),
        (["--denied", "result: x", "--event", "tool.after"], "no hook can deny tool.after"),
    ],
)
def test_a_wrong_call(hookline, options, message):
    result = hookline("prove", "--config", "hooks.yaml", *options)
    assert result.exit_code == 1
    assert message in result.stderr


def test_properties_in_a_test_file(hookline):
    Path("case.yaml").write_text(
        "note: env files\nfile: hooks.yaml\nproperties:\n"
        r"- {id: env-is-safe, never: {tool: write_file, input: {path: '\.env$'}}}"
        "\n"
        "- {id: push, never: {kind: shell, input: {command: ^git push}}, ask_is_enough: true}\n"
    )
    assert hookline("test", "case.yaml").exit_code == 0
    Path("case.yaml").write_text("file: hooks.yaml\nproperties:\n- {id: all-safe, never: {kind: write}}\n")
    result = hookline("test", "case.yaml")
    assert result.exit_code == 1
    assert "all-safe" in result.stdout
    assert "hookline fire tool.before" in result.stdout


def test_prove_reads_the_properties_of_test_files(hookline):
    """Each of the hooks of its own case, with the exit code of the worst answer."""
    Path("cases").mkdir()
    proved = r"{id: env-is-safe, never: {tool: write_file, input: {path: '\.env$'}}}"
    Path("cases/good.yaml").write_text(f"file: ../hooks.yaml\nproperties:\n- {proved}\n")
    result = hookline("prove", "cases")
    assert (result.exit_code, result.stdout) == (0, "proved: env-is-safe (cases/good.yaml:3)\n")
    Path("cases/other.yaml").write_text(f"config: {{hooks: []}}\nproperties:\n- {proved}\n")
    result = hookline("prove", "cases")
    assert result.exit_code == 2
    assert "counter-example: env-is-safe (cases/other.yaml:3)\n  event: {" in result.stdout
    Path("cases/other.yaml").write_text("file: ../hooks.yaml\nproperties:\n- {id: all, never: {kind: write}}\n")
    rows = [json.loads(line) for line in hookline("prove", "cases", "--json").stdout.splitlines()]
    assert [(row["id"], row["result"]) for row in rows] == [("env-is-safe", "proved"), ("all", "counter-example")]
    assert hookline(*shlex.split(rows[1]["command"])[1:]).exit_code == 0
    assert hookline("prove", "cases/good.yaml", "--denied", "kind: write", "--config", "hooks.yaml").exit_code == 2
    Path("cases/none.yaml").write_text("config: {hooks: []}\nevent: {name: tool.before}\nexpect: {verdict: silent}\n")
    result = hookline("prove", "cases/none.yaml")
    assert (result.exit_code, "no property in these files" in result.stderr) == (1, True)


@pytest.mark.parametrize("option", [("--config", "hooks.yaml"), ("--dialect", "native"), ("--event", "tool.before")])
def test_options_of_a_condition_do_not_change_the_properties_of_files(hookline, option):
    Path("case.yaml").write_text("config: {hooks: []}\nproperties:\n- {id: safe, never: {kind: write}}\n")
    result = hookline("prove", "case.yaml", *option)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{option[0]} is for --denied and --stopped" in result.stderr


def test_a_counter_example_without_any_fact(hookline):
    result = hookline("prove", "--config", "hooks.yaml", "--event", "prompt.submit", "--denied", "not: {prompt: x}")
    assert result.exit_code == 2
    assert hookline(*shlex.split(result.stdout.splitlines()[1])[1:]).exit_code == 0
    Path("case.yaml").write_text(
        "note: every other prompt is denied\nfile: hooks.yaml\n"
        "properties: [{id: none, on: prompt.submit, never: {not: {prompt: x}}}]\n"
    )
    result = hookline("test", "case.yaml")
    assert (result.exit_code, "counter-example: hookline fire" in result.stdout) == (1, True)


def test_a_condition_that_no_event_meets(hookline):
    result = hookline("prove", "--config", "hooks.yaml", "--denied", "kind: shell, tool: write_file")
    assert (result.exit_code, "No event meets this condition" in result.stdout) == (0, True)


def test_a_terminal_sees_how_long_it_takes(hookline, monkeypatch):
    """Each rule denies one combination of three of 40 letters, so the solver is at one question all the time."""
    chance = random.Random(5)
    rows = []
    for n in range(190):
        first, second, third = sorted(chance.sample(range(40), 3))
        gaps = (first, second - first - 1, third - second - 1)
        pattern = "^" + "".join(f".{{{gap}}}{chance.choice('ab')}" for gap in gaps)
        rows.append(f"  - {{id: r{n}, on: tool.before, when: {{input: {{command: '{pattern}'}}}}, then: deny}}")
    Path("hard.yaml").write_text("\n".join(["hooks:", *rows, ""]))
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.1)
    monkeypatch.setattr(progress, "_NEXT_SECONDS", 0.1)
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: True, raising=False)
    result = hookline(
        "prove", "--config", "hard.yaml", "--timeout", "2s", "--denied", "tool: bash, input: {command: '^[ab]{40}$'}"
    )
    assert (result.exit_code, "no answer within 2 s" in result.output) == (3, True)
    assert re.search(r"^1 of 2 s: (searching|proving)", result.stderr, re.MULTILINE)


def test_the_conditions_of_its_help_can_be_read():
    shown = re.findall(r"--(?:denied|stopped) '(.+?)'", prove_module.verb.help or "")
    assert len(shown) == 2
    for text in shown:
        parse_property(text.replace("\\\\", "\\"))
