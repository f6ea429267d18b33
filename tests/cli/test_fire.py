from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

KEYS = ["event", "verdict", "reason", "by", "halt", "facts", "notes", "trace"]
TRACE = ["hook", "file", "line", "applied", "why", "outcome", "error", "ms"]
CONFIG = """\
hooks:
  - {id: push, on: tool.before, when: {tool: bash, input: {command: push}}, then: {ask: sure?}}
  - {id: rm, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {deny: no}}
  - {id: ok, on: tool.before, when: {tool: read_file}, then: allow}
  - {id: tidy, on: tool.before, when: {tool: bash, input: {command: ls}}, then: {set: {input.command: ls -a}}}
  - {id: hint, on: prompt.submit, when: {prompt: deploy}, then: {tell: be careful}}
  - {id: end, on: session.start, then: {halt: enough}}
"""


@pytest.fixture(autouse=True)
def _config(project):
    Path("hooks.yaml").write_text(CONFIG)


@pytest.fixture
def fire(hookline):
    return lambda event, *more, **given: hookline("fire", event, "--config", "hooks.yaml", *more, **given)


@pytest.mark.parametrize(
    ("text", "code"), [("git push", 3), ("rm x", 2), ("echo", 0)], ids=["ask", "deny", "nobody objects"]
)
def test_the_exit_code_is_the_decisions(process, text, code):
    arguments = (
        "fire",
        "PreToolUse",
        "--config",
        "hooks.yaml",
        "--tool",
        "Bash",
        "--input",
        json.dumps({"command": text}),
    )
    assert process(*arguments).returncode == code


@pytest.mark.parametrize(("text", "code"), [("git push", 3), ("rm x", 2), ("echo", 0)])
def test_the_calls_in_a_call_are_decided(fire, text, code):
    calls = json.dumps(
        {"calls": [{"name": "bash", "input": {"command": "echo"}}, {"name": "bash", "input": {"command": text}}]}
    )
    assert fire("tool.before", "--tool", "batch", "--input", calls).exit_code == code


def test_an_allow_is_0_and_a_halt_is_2(fire):
    assert fire("tool.before", "--tool", "Read").exit_code == 0
    result = fire("SessionStart")
    assert result.exit_code == 2
    assert result.stdout.startswith("halt: enough\n  by end  hooks.yaml:7\n")


def test_json_is_the_exact_object(fire):
    result = fire("PreToolUse", "--tool", "bash", "--input", '{"command": "rm x"}', "--json")
    read = json.loads(result.stdout)
    assert list(read) == KEYS
    assert (read["event"], read["verdict"], read["reason"], read["by"], read["halt"]) == (
        "tool.before",
        "deny",
        "no",
        "rm",
        False,
    )
    assert [list(row) for row in read["trace"]] == [TRACE]
    assert (read["trace"][0]["file"], read["trace"][0]["line"]) == ("hooks.yaml", 3)
    assert result.stderr == ""


def test_with_explain_every_hook_on_the_event_is_accounted_for(fire):
    result = fire("tool.before", "--tool", "bash", "--input", '{"command": "git push"}', "--json", "--explain")
    rows = json.loads(result.stdout)["trace"]
    assert [(row["hook"], row["applied"]) for row in rows] == [
        ("push", True),
        ("rm", False),
        ("ok", False),
        ("tidy", False),
    ]
    assert all(row["why"] for row in rows)
    table = fire("tool.before", "--tool", "bash", "--input", '{"command": "git push"}', "--explain").stdout
    assert "hooks.yaml:4" in table


def test_with_explain_no_line_is_longer_than_the_terminal(fire, project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    pattern, id = "(main|master|trunk|develop|production|release|staging|live)$", "a-guard-with-quite-a-long-name"
    when = f"{{runs: {{program: git, subcommand: push, argument: '{pattern}'}}}}"
    reason = "Somebody else works on this branch, so ask before you push."
    (project / "long.yaml").write_text(
        f"hooks: [{{id: {id}, on: tool.before, when: {when}, then: {{deny: '{reason}'}}}}]"
    )
    given = ("tool.before", "--tool", "bash", "--input", '{"command": "git push origin main"}', "--config", "long.yaml")
    shown = fire(*given, "--explain").stdout
    assert max(map(len, shown.splitlines())) <= 60
    assert id in shown
    assert pattern in shown.replace("\n    ", "")
    assert f"deny: {reason}" in fire(*given).stdout.splitlines()


def test_people_see_the_verdict_first_then_what_changed(fire):
    result = fire("tool.before", "--tool", "bash", "--input", '{"command": "ls"}')
    assert (
        result.stdout == 'silent: no hook decided; the event proceeds\n  changed tool.input.command: "ls" → "ls -a"\n'
    )
    assert "  note for the agent: be careful\n" in fire("UserPromptSubmit", "--prompt", "deploy").stdout


def test_facts_are_filled_in_as_a_session_here_would_have_them(fire, project):
    facts = json.loads(fire("PreToolUse", "--tool", "Bash", "--json").stdout)["facts"]
    assert facts["cwd"] == facts["workspace"] == str(project)
    assert facts["host"] == {"name": "hookline"}
    assert facts["session"]["id"]
    assert facts["user"]["name"]
    assert facts["time"].endswith("Z")
    assert facts["tool"] == {"name": "Bash", "kind": "shell", "input": {}}


def test_facts_that_were_given_stay(fire):
    given = {"cwd": "/x", "session": {"id": "s", "tool_calls": 3}, "user": 5, "time": None}
    facts = json.loads(fire("stop", "--facts", json.dumps(given), "--json").stdout)["facts"]
    assert {key: facts[key] for key in given} == given
    assert facts["workspace"] != "/x"


def test_after_a_tool_it_is_known_whether_it_failed(fire):
    failed = fire("tool.after", "--facts", '{"tool": {"name": "bash", "error": "x"}}', "--json")
    assert json.loads(failed.stdout)["facts"]["tool"]["ok"] is False
    good = fire("PostToolUse", "--facts", '{"tool": {"name": "bash", "result": "x"}}', "--json")
    assert json.loads(good.stdout)["facts"]["tool"]["ok"] is True


def test_without_a_config_the_files_in_force_here_are_asked(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: a, on: stop, then: {deny: go on}}]")
    hookline("trust", "--yes")
    assert hookline("fire", "Stop").stdout == "deny: go on\n  by a  hookline.yaml:1\n"


def test_several_configs_are_one_book_in_order(hookline):
    Path("one.yaml").write_text("hooks: [{id: a, on: stop, then: allow}]")
    Path("two.yaml").write_text("hooks: [{id: b, on: stop, then: {deny: no}}, {id: c, on: nowhere, then: deny}]")
    result = hookline("fire", "stop", "--config", "one.yaml", "--config", "two.yaml", "--json")
    assert [row["hook"] for row in json.loads(result.stdout)["trace"]] == ["a", "b"]
    assert "two.yaml:1" in result.stderr
    assert result.exit_code == 2


def test_a_config_that_cannot_be_read_is_no_decision(hookline):
    for name, place in (("missing.yaml", "missing.yaml  "), (".", ".:1  ")):
        result = hookline("fire", "stop", "--config", name)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"hookline: {place}")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("h.yaml", "version: 99\nhooks: [{id: a, on: stop, then: deny}]"),
        ("hook.json", '{"spec": "hooks/0.9", "hooks": []}'),
        ("settings.json", '{"hooks": {"PreToolUsed": []}}'),
    ],
)
@pytest.mark.parametrize("others", [(), ("--config", "one.yaml")])
def test_a_config_of_an_unknown_version_is_no_decision(hookline, file, text, others):
    """Exit 0 would say that the hooks were asked."""
    Path("one.yaml").write_text("hooks: [{id: b, on: stop, then: allow}]")
    Path(file).write_text(text)
    result = hookline("fire", "stop", "--config", file, *others)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"hookline: {file}:1  ")


def test_what_is_missing_is_said(hookline):
    assert "No hooks file applies here" in hookline("fire", "tool.before", "--tool", "bash").stdout
    Path("hookline.yaml").write_text("hooks: [{id: a, on: tool.before, when: {tool: bash}, then: deny}]")
    result = hookline("fire", "tool.before")
    assert (result.exit_code, "--tool NAME" in result.stdout) == (2, True)
    assert "--tool" not in hookline("fire", "tool.before", "--tool", "read_file").stdout
    Path("hookline.yaml").write_text("hooks: [{id: a, on: tool.before, whn: {tool: bash}, then: deny}]")
    result = hookline("fire", "tool.before", "--tool", "bash")
    assert "The hooks are off because of the errors above." in result.stdout
    assert result.exit_code == 1  # 0 would say that the hooks let it proceed


def test_colours_are_for_terminals_unless_forced(hookline, monkeypatch):
    Path("hookline.yaml").write_text("hooks: [{id: a, on: stop, then: deny}]")
    assert "\x1b" not in hookline("fire", "stop", "--config", "hookline.yaml").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert hookline("fire", "stop", "--config", "hookline.yaml").stdout.startswith("\x1b[31mdeny\x1b[0m: ")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in hookline("fire", "stop", "--config", "hookline.yaml").stdout


def test_there_are_no_tools_no_model_and_nobody_to_ask(hookline):
    Path("calls.yaml").write_text(
        "hooks: [{id: a, on: stop, then: {call: bash, with: {command: ls}}, on_error: closed}]"
    )
    result = hookline("fire", "stop", "--config", "calls.yaml")
    assert result.exit_code == 2
    assert "there is no tool" in result.stdout


def test_a_dry_run_does_nothing_and_says_what_it_would(hookline):
    Path("runs.yaml").write_text(
        "hooks:\n"
        "  - {id: a, on: stop, then: {run: 'touch ran; exit 1'}, on_error: closed}\n"
        "  - {id: b, on: stop, then: {run: [touch, 'a b']}, background: true, on_error: open}\n"
        "  - {id: c, on: stop, then: {call: bash, with: {command: ls}}, on_error: open}\n"
        "  - {id: d, on: stop, then: {script: 'return {decision: \"deny\"}'}, on_error: open}\n"
    )
    result = hookline("fire", "stop", "--config", "runs.yaml", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == [
        "would run: touch ran; exit 1  [a]",
        'would call: bash {"command": "ls"}  [c]',
        'would script: return {decision: "deny"}  [d]',
        "would run: touch 'a b'  [b]",
    ]
    assert not Path("ran").exists()
    as_json = hookline("fire", "stop", "--config", "runs.yaml", "--dry-run", "--json")
    assert list(json.loads(as_json.stdout)) == KEYS
    assert "would run: touch" in as_json.stderr
    assert "[c] bash: would be called" in as_json.stderr


def test_it_waits_for_background_hooks(process):
    Path("later.yaml").write_text(
        "hooks: [{id: a, on: stop, background: true, then: {run: 'sleep 0.2; touch done'}, on_error: open}]"
    )
    assert process("fire", "stop", "--config", "later.yaml").returncode == 0
    assert Path("done").exists()


def test_a_background_hook_gets_no_more_than_its_timeout(process):
    Path("later.yaml").write_text(
        "hooks: [{id: a, on: stop, background: true, timeout: 200ms, then: {run: 'sleep 50; touch done'}, on_error: open}]"
    )
    result = process("fire", "stop", "--config", "later.yaml")
    assert result.returncode == 0
    assert "[a] timeout" in result.stderr
    assert not Path("done").exists()


def test_a_lone_surrogate_in_the_facts_can_be_printed(fire):
    for flags in (["--json"], []):
        result = fire("UserPromptSubmit", "--facts", '{"prompt": "deploy \\ud800"}', *flags)
        assert result.exit_code == 0
        result.stdout.encode("utf-8")


def test_a_tool_of_another_shape_has_no_place_for_options(fire):
    result = fire("tool.before", "--facts", '{"tool": 5}', "--tool", "bash")
    assert result.exit_code == 1
    assert "tool is not an object" in result.stderr


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ('{"tool": "bash"}', "tool: expected an object, not text"),
        ('{"tool": null}', "tool: expected an object, not null"),
        ('{"tool": {"name": ["bash"]}}', "tool.name must be text, not a list"),
        ('{"tool": {"name": "bash", "input": ["ls"]}}', "tool.input: expected an object, not a list"),
    ],
)
def test_a_tool_that_no_hook_could_see_is_an_error(fire, facts, said):
    """It would pass every guard, and exit 0 would say that it may run."""
    result = fire("tool.before", "--facts", facts)
    assert result.exit_code == 1
    assert f"--facts: {said}" in result.stderr


def test_an_answer_that_says_nothing_is_warned_of(hookline):
    Path("answers.yaml").write_text(
        "hooks:\n  - id: g\n    on: tool.before\n    on_error: open\n"
        """    then: {run: [echo, '{"desicion": "deny"}'], reads: json}\n"""
    )
    result = hookline("fire", "tool.before", "--config", "answers.yaml", "--tool", "bash")
    assert result.exit_code == 0
    assert (
        '[g] answered "desicion", which is not a key of an answer, so it is ignored. Did you mean decision?'
        in result.stderr
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("h.yaml", "hooks: [{id: g, on: stop, when: {expr: '1 / turn > 0'}, then: {deny: no}}]"),
        ("app.yaml", "runtime:\n  hooks:\n    - id: g\n      on: turn_end\n"
         "      condition: {type: expression, expr: '1 / turn > 0'}\n      action: {type: log, message: hi}\n"),
    ],
)  # fmt: skip
def test_a_warning_about_an_expression_names_its_hook(hookline, file, text):
    Path(file).write_text(text)
    result = hookline("fire", "stop" if file == "h.yaml" else "turn_end", "--config", file)
    assert re.search(r"\[g\] .*1 / turn > 0: ", result.stderr)
