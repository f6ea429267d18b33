"""Registered conditions and actions, where a file names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.dialects.custom import build_registered_condition, find_or_report, report_unknown_name
from hookline.extensions import Registration, Registry
from hookline.hooks.event import Event


@dataclass
class Params:
    word: str
    least: int = 1


def node(text: str = "x: 1") -> tuple[Node, list[Problem]]:
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    problems: list[Problem] = []
    return Node.of(document, problems), problems


def says_word(params: Any, event: Event) -> bool:
    return bool(event.facts.get("prompt") == params.word)


def registered() -> tuple[Registry, Registration]:
    registry, entry = Registry("condition", {}), Registration("says", says_word, Params)
    registry.add(entry)
    return registry, entry


def test_a_registered_name_is_found() -> None:
    registry, entry = registered()
    at, problems = node()
    assert find_or_report(registry, "says", at) is entry
    assert problems == []


def test_an_unknown_name_is_a_problem_with_a_suggestion() -> None:
    at, problems = node()
    assert find_or_report(registered()[0], "sais", at) is None
    assert [(problem.code, problem.hint) for problem in problems] == [("unknown-condition", "Did you mean says?")]


def test_a_name_that_resembles_none_lists_them_all() -> None:
    at, problems = node()
    report_unknown_name(registered()[0], "zzz", at, ("built_in",))
    assert problems[0].hint == "There are built_in, says."


def test_the_function_gets_an_instance_of_its_class() -> None:
    at, problems = node()
    condition = build_registered_condition(registered()[1], at, {"word": "go"})
    assert condition is not None
    assert condition.holds(Event("prompt.submit", {"prompt": "go"}))
    assert not condition.holds(Event("prompt.submit", {"prompt": "stop"}))
    assert problems == []


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({}, "this parameter is required"),
        ({"word": 3}, "3 is not text"),
        ({"word": "a", "least": True}, "is not a whole number"),
        ({"word": "a", "more": 1}, "unknown parameter. It takes word, least"),
    ],
)
def test_params_that_do_not_fit_the_class_are_problems(params: dict[str, Any], what: str) -> None:
    at, problems = node()
    assert build_registered_condition(registered()[1], at, params) is None
    assert [problem.code for problem in problems] == ["bad-params"]
    assert what in str(problems[0])
