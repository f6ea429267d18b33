from __future__ import annotations

import json
from pathlib import Path

from hookline.cli.options import complete_hook

CONFIG = """\
hooks:
  - {id: second, on: tool.before, order: 5, then: {run: 'true'}, on_error: closed, tags: [slow, x], scope: {agent: coder}}
  - {id: first, on: stop, then: {deny: go on}, enabled: false}
"""


def test_hooks_stand_in_the_order_in_which_they_are_asked(hookline):
    Path("hookline.yaml").write_text(CONFIG)
    listed = json.loads(hookline("list", "--json").stdout)
    assert [hook["id"] for hook in listed] == ["first", "second"]
    second = {key: listed[1][key] for key in ("order", "event", "file", "line", "scope", "tags", "on_error", "reads")}
    assert second == {
        "order": 5,
        "event": "tool.before",
        "file": "hookline.yaml",
        "line": 2,
        "scope": {"agent": "coder"},
        "tags": ["slow", "x"],
        "on_error": "closed",
        "reads": "nonzero",
    }
    assert [hook["enabled"] for hook in listed] == [False, True]


def test_hooks_that_nobody_wrote_are_not_listed(hookline):
    """Those that observe calls for `after`."""
    when = "{after: {kind: write}, not: {after: {runs: pytest, ok: true, since: write}}}"
    Path("hookline.yaml").write_text(f"hooks: [{{id: tested, on: stop, when: {when}, then: {{deny: Run pytest.}}}}]\n")
    assert [hook["id"] for hook in json.loads(hookline("list", "--json").stdout)] == ["tested"]
    assert complete_hook(None, None, "") == ["tested"]  # type: ignore[arg-type]


def test_a_projects_program_waits_for_trust_and_a_named_files_does_not(hookline):
    Path("hookline.yaml").write_text(CONFIG)
    waiting = [hook["waits_for_trust"] for hook in json.loads(hookline("list", "--json").stdout)]
    named = [
        hook["waits_for_trust"] for hook in json.loads(hookline("list", "--json", "--config", "hookline.yaml").stdout)
    ]
    assert (waiting, named) == ([True, True], [False, False])
    assert "not trusted yet" in hookline("list").stdout


def test_the_table_shows_what_a_person_looks_for(hookline, monkeypatch):
    Path("a.yaml").write_text(CONFIG)
    monkeypatch.setenv("COLUMNS", "160")
    rows = hookline("list", "--config", "a.yaml", "--dialect", "native").stdout.splitlines()
    assert rows[0].split()[:4] == ["id", "event", "where", "order"]
    assert "a.yaml:3" in rows[1]
    assert "disabled" in rows[1]
    assert "agent coder" in rows[2]


def test_a_narrow_terminal_gets_a_block_for_each_hook(hookline):
    Path("a.yaml").write_text(CONFIG)
    lines = hookline("list", "--config", "a.yaml", "--dialect", "native").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "first"
    assert "  where: a.yaml:3" in lines


def test_columns_that_say_nothing_are_left_out(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: b, on: stop, then: deny}]")
    assert hookline("list", "--config", "hookline.yaml").stdout.splitlines() == [
        "id  event  where",
        "b   stop   hookline.yaml:1",
    ]


def test_nothing_in_force_is_said(hookline):
    assert "hookline init" in hookline("list").stdout
    assert hookline("list", "--json").stdout == "[]\n"


def test_a_problem_is_on_stderr_and_the_rest_is_listed(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: a, on: nowhere, then: deny}, {id: b, on: stop, then: deny}]")
    result = hookline("list", "--json")
    assert "there is no event" in result.stderr
    assert [hook["id"] for hook in json.loads(result.stdout)] == ["b"]


def test_tools_say_what_they_are_taken_for_and_why(hookline):
    listed = json.loads(hookline("list", "--tools", "--agent", "gemini-cli", "--json").stdout)
    shell = next(tool for tool in listed if tool["tool"] == "run_shell_command")
    assert shell == {
        "agent": "gemini-cli",
        "tool": "run_shell_command",
        "kind": "shell",
        "matched_by": "bash",
        "why": "the table of tools",
        "known": True,
    }
    assert {tool["agent"] for tool in listed} == {"gemini-cli"}
    shown = hookline("list", "--tools").stdout
    assert "cline" in shown
    assert "its own name only" in shown


def test_an_agent_needs_tools(hookline):
    assert hookline("list", "--agent", "cline").exit_code == 1
