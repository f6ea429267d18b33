from __future__ import annotations

from typing import Any

import pytest

from hookline.frameworks.question_id import question_id
from hookline.hosts.python.session import Question


def id_of(input: Any, tool: str = "bash", reason: str = "Really?") -> str:
    return question_id(Question(reason, tool, input, "hook"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2.0}]}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
    ],
    ids=["order", "numbers of a store", "tuple"],
)
def test_the_same_input_has_the_same_id(one: Any, other: Any) -> None:
    assert id_of(one) == id_of(other)


@pytest.mark.parametrize(
    "other",
    [{"a": "1"}, {"a": True}, {"a": 1.5}, {"a": [1]}, {"a": 1, "b": None}, {"b": 1}, {}],
)
def test_another_input_has_another_id(other: Any) -> None:
    assert id_of({"a": 1}) != id_of(other)


def test_the_id_is_of_what_runs() -> None:
    assert id_of({"a": 1}, tool="other") != id_of({"a": 1})
    assert id_of({"a": 1}, reason="At 12:05?") == id_of({"a": 1}, reason="At 12:04?")
