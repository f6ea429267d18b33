"""The flat form of a condition answers as the condition does."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.hook_factories import DENY, command_matches, input_matches, make_hook, tool_call_event, tool_matches
from hookline.engine.flat_condition import flatten_condition, is_repeatable
from hookline.errors import AmbiguousField, UndecidedError
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, All, AnyOf, Not
from hookline.hooks.conditions.numbers import Comparison
from hookline.hooks.conditions.text import Equals, Exists, Matches
from hookline.hooks.event import Event
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_input import ToolField
from hookline.project import load_text

CONDITIONS: list[Condition] = [
    command_matches("rm"),
    All((tool_matches("^bash$"), command_matches("rm"))),
    All((command_matches("rm"), tool_matches("^bash$"))),
    All((command_matches("rm"), command_matches("-rf"))),
    All((command_matches("rm"), Not(command_matches("-rf")))),
    All((tool_matches("bash"), input_matches("path", "env"))),
    All((tool_matches("bash"), All((input_matches("path", "env"), command_matches("rm"))))),
    input_matches("path", "env$"),
    All(()),
    AnyOf((command_matches("rm"), tool_matches("odd"))),
    ALWAYS,
]
INPUTS: list[Any] = [
    {"command": "rm -rf /"},
    {"command": "rm"},
    {"command": ["rm", "-rf"]},
    {"path": ".env"},
    {"x": 1},
    {},
]


def answer(holds: Any, event: Event) -> str:
    try:
        return str(holds(event, math.inf))
    except AmbiguousField:
        return "ambiguous"


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
@pytest.mark.parametrize("tool", ["bash", "Bash", "run_shell_thing", "odd"])
def test_it_answers_as_the_condition(condition: Condition, tool: str) -> None:
    holds = flatten_condition(make_hook(DENY, condition))
    for input in INPUTS:
        for _ in range(2):  # the second answer may be a cached one
            event = Event("tool.before", {"tool": {"name": tool, "input": input}})
            assert answer(holds, event) == answer(condition.holds, event), input


class Slow:
    """A pattern that is never searched for in time."""

    source, words, required_text = "slow", (), None

    def search(self, text: str, deadline: float = math.inf) -> bool:
        raise UndecidedError


SLOW: Any = Slow()


def test_a_tool_that_does_not_match_decides_before_a_pattern_that_takes_too_long() -> None:
    holds = flatten_condition(make_hook(DENY, All((Matches(ToolField(("command",)), SLOW), tool_matches("^odd$")))))
    with pytest.raises(UndecidedError):
        holds(tool_call_event(tool="odd"), math.inf)
    for _ in range(2):
        assert not holds(tool_call_event(tool="read_file"), math.inf)


def test_a_path_that_does_not_match_decides_whatever_another_one_raises() -> None:
    condition = All((Matches(ToolField(("file_path",)), SLOW), input_matches("path", "=$")))
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"file_path": "x", "path": "y"}}})
    assert not condition.holds(event)
    assert not flatten_condition(make_hook(DENY, condition))(event, math.inf)


@pytest.mark.parametrize(
    ("condition", "repeatable"),
    [
        (command_matches("x"), True),
        (Equals(("cwd",), "/"), True),
        (Exists(("cwd",)), True),
        (NEVER_HOLDS, True),
        (All((ALWAYS, Not(AnyOf((command_matches("x"),))))), True),
        (Comparison(("turn", "number"), "above", 2), False),
        (All((ALWAYS, Comparison(("turn", "number"), "above", 2))), False),
        (Not(Comparison(("turn", "number"), "above", 2)), False),
    ],
    ids=str,
)
def test_only_known_conditions_may_be_asked_twice(condition: Condition, repeatable: bool) -> None:
    assert is_repeatable(condition) is repeatable


SHELL_LINES = [
    *(
        "ls",
        "rm -rf src",
        "rm x && git push -f",
        "git push --force origin main",
        "$x -rf src",
        "r? -rf src",
        "chmod 777 x",
    ),
    *(
        "python -m hookline trust",
        "uvx hookline trust",
        "echo > hookline.yaml",
        "cd .git && rm x",
        "eval $(cat x)",
        "touch 'é'",
    ),
    *(
        "git log --oneline",
        "git commit -m push",
        "git -C x push --force origin main",
        "git 'pu'sh -f origin main",
        "git add x && git worktree remove --force y",
        "git update-ref -d refs/heads/main",
        "git rebase --root; rm -r src",
        "git --upload-pack=x fetch",
    ),
]


@pytest.mark.parametrize("line", SHELL_LINES)
def test_alternatives_about_programs_answer_as_the_condition(line: str) -> None:
    book = load_text("extends: [hookline:recommended]", "hookline.yaml")
    flat = [(flatten_condition(hook), hook.when) for hook in book.hooks if hook.event == "tool.before"]
    for command in (line, [line, "ls"], ["bash", "-c", line], 3, None):
        for tool in ("bash", "run_terminal_thing", "write_file"):
            event = tool_call_event(command, tool)
            for holds, when in flat:
                assert answer(holds, event) == answer(when.holds, tool_call_event(command, tool))


def test_alternatives_answer_as_the_condition_if_the_time_is_over() -> None:
    text = "hooks: [{id: x, on: tool.before, when: {any: [{runs: rm}, {runs: mv}]}, then: {deny: no}}]"
    [hook] = load_text(text, "hookline.yaml").hooks
    event = tool_call_event("; ".join(f"ls {number}" for number in range(600)))
    for holds in (hook.when.holds, flatten_condition(hook)):
        with pytest.raises(UndecidedError):
            holds(event, 0.0)
