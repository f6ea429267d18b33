"""The texts in a value, and conditions on an event that can be read in several ways."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePosixPath
from typing import Any

import pytest

from hookline.errors import ConditionError
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.conditions.text import Fact, Matches
from hookline.hooks.event import Event
from hookline.hooks.readings import compute_once, holds_in_readings, value_readings
from hookline.hooks.tool_input import ToolField
from hookline.patterns.pattern import pattern


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "readings", "only_text"),
    [
        ("a", (("a",),), (("a",),)),
        (b"\xff", (("\ufffd",),), (("\ufffd",),)),
        (PurePosixPath("/a"), (("/a",),), (("/a",),)),
        (5, (("5",),), ((),)),
        (True, (("true",),), ((),)),
        (None, ((),), ((),)),
        ([], ((),), ((),)),
        (["a", 5, "a"], (("a",), ("5",)), (("a",),)),
        ({"k": ["a", {"b": "c"}]}, (("a",), ("c",), ('{"k":["a",{"b":"c"}]}',)), ((),)),
        ([{"a": "b"}], (("b",), ('[{"a":"b"}]',)), ((),)),
        ({(1, 2): "a"}, (("a",),), ((),)),
        ({("k", 2): "a", b"l": 1}, (("k",), ("l",), ("a",)), ((),)),
        (Colour.RED, (("red",),), (("red",),)),
        ({"c": Colour.RED}, (("red",), ('{"c":"red"}',)), ((),)),
    ],
)
def test_a_value_is_read_as_these_texts(value: Any, readings: Any, only_text: Any) -> None:
    assert value_readings(value) == readings
    assert value_readings(value, only_text=True) == only_text


def test_a_value_inside_itself_is_read() -> None:
    loop: dict[str, Any] = {"a": "x"}
    loop["loop"] = loop
    assert ("x",) in value_readings(loop)


def matches(text: str) -> Matches:
    return Matches(Fact(("list",)), pattern(text))


@pytest.mark.parametrize(
    ("condition", "some", "every"),
    [
        (matches("^a$"), True, False),
        (matches("^[ab]$"), True, True),
        (matches("c"), False, False),
        (Not(matches("^a$")), True, False),
        (All((matches("a"), matches("b"))), False, False),
        (AnyOf((matches("a"), matches("b"))), True, True),
        (All((matches("a"), Not(matches("a")))), False, False),
    ],
    ids=str,
)
def test_the_whole_condition_must_hold_for_one_reading(condition: Any, some: bool, every: bool) -> None:
    event = Event("stop", {"list": ["a", "b"]})
    assert holds_in_readings(condition, event, every=False) is some
    assert holds_in_readings(condition, event, every=True) is every


def test_too_many_readings_hold_for_one_and_not_for_all() -> None:
    facts = {"list": list(map(str, range(500))), "other": list(map(str, range(500)))}
    both = All((matches("^499$"), Matches(Fact(("other",)), pattern("^499$"))))
    assert holds_in_readings(both, Event("stop", facts), every=False)
    assert not holds_in_readings(both, Event("stop", facts), every=True)


def test_readings_are_computed_once() -> None:
    event = Event("tool.before", {"workspace": "/w", "tool": {"name": "read_file", "input": {"path": "a/../b"}}})
    field = ToolField(("path",))
    assert field.readings(event) is field.readings(event)


def test_what_cannot_be_computed_is_tried_once() -> None:
    """Each of many hooks may ask for it, and it may take long to find that out."""
    tried: list[Event] = []

    def compute(event: Event, deadline: float) -> str:
        tried.append(event)
        raise ConditionError("too many")

    event = Event("tool.before", {})
    for _ in range(3):
        with pytest.raises(ConditionError, match="too many"):
            compute_once(event, "key", compute)
    assert len(tried) == 1
