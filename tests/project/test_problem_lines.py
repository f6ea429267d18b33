"""A problem stands on the line of the key or value that it is about."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hookline.config.problem import Problem
from hookline.project import load_text
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import read_source
from hookline.project.problem_lines import place_problems
from hookline.project.program_lint import lint_programs
from hookline.project.script_lint import script_problems
from hookline.project.sources import named_source

NATIVE = """
hooks:
  - id: first
    on: tool.before
    when:
      tool: bash
      input: {command: ls}
    then: {deny: no}
  - id: second
    on: tool.before
    when:
      # rm
      tool: %(tool)s
      input:
        %(field)s: %(value)s
    then:
      run: %(command)s
    timeout: %(timeout)s
    on_error: closed
"""
GOOD = {"tool": "bash", "field": "command", "value": "'rm'", "command": "'true'", "timeout": "5s"}


def lines_of(path: Path) -> list[tuple[str, int]]:
    return sorted({(each.code, each.line) for each in problems_of(path)}, key=lambda each: each[1])


def problems_of(path: Path) -> list[Problem]:
    """As `hookline check` finds them."""
    file = read_source(named_source(path), with_document=True)
    assert file.document is not None
    linted = [
        *lint_hooks(file.hooks),
        *script_problems(file.hooks),
        *(each for hook in file.hooks for each in lint_programs(hook, [hook.then], shutil.which)),
    ]
    return [*file.problems, *place_problems(linted, file.document, file.hooks)]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"tool": "bsh"}, ("unknown-tool", 13)),
        ({"field": "commnd"}, ("unknown-field", 15)),
        ({"value": '"\\brm"'}, ("never-matches", 15)),
        ({"value": "'x^rm'"}, ("never-matches", 15)),
        ({"value": "5"}, ("never-matches", 15)),
        ({"command": "./missing.sh --all"}, ("no-program", 17)),
    ],
)
def test_a_hooks_problem_has_the_line_of_the_value(
    tmp_path: Path, wrong: dict[str, str], expected: tuple[str, int]
) -> None:
    file = tmp_path / "hookline.yaml"
    file.write_text(NATIVE % (GOOD | wrong))
    assert lines_of(file) == [expected]


def test_a_file_without_the_mistakes_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "hookline.yaml").write_text(NATIVE % GOOD)
    assert lines_of(tmp_path / "hookline.yaml") == []


def test_what_starts_refuses_with_the_same_line() -> None:
    (problem,) = load_text(NATIVE % (GOOD | {"field": "commnd"}), "hookline.yaml").problems
    assert (problem.code, problem.line) == ("unknown-field", 15)


def test_the_value_of_another_hook_is_not_meant(tmp_path: Path) -> None:
    rule = {"matcher": "^bahs$", "action": "deny"}
    file = tmp_path / "hub.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [rule, rule]}}, indent=1))
    assert lines_of(file) == [("unknown-tool", 5), ("shadowed", 8), ("unknown-tool", 9)]


def test_a_matcher_stands_above_the_hooks_of_its_group(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "true"}
    groups = [{"matcher": "Edit, Write", "hooks": [hook, hook]}, {"matcher": "FileWritr", "hooks": [hook]}]
    file = tmp_path / ".ai_agents" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"PreToolUse": groups}}, indent=1))
    assert lines_of(file) == [("never-matches", 5), ("unknown-tool", 18)]


def test_a_pack_does_not_borrow_the_lines_of_the_file_that_extends_it(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(NATIVE % (GOOD | {"tool": "bsh"}))
    (tmp_path / "hookline.yaml").write_text("extends: [./team.yaml]\n# bsh\n")
    found = problems_of(tmp_path / "hookline.yaml")
    assert {(each.code, Path(each.file).name) for each in found} == {("unknown-tool", "team.yaml")}
    assert all(each.line in (9, 13) for each in found)
