"""Values with placeholders, and the copies that others get."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.event import Event
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, copy_data, parse_template

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=3),
    max_leaves=15,
)


def test_whoever_gets_it_cannot_change_the_event() -> None:
    event = Event("tool.before", {"tool": {"name": "x", "input": {"a": [1]}}})
    rendered = DataTemplate({"given": parse_template("{{tool.input}}", PlaceholderResolver())}).render(event)
    rendered["given"]["a"].append(2)
    assert event.facts["tool"]["input"] == {"a": [1]}


def test_what_is_absent_has_no_key() -> None:
    filled = DataTemplate(
        {
            "a": parse_template("{{prompt}}", PlaceholderResolver()),
            "b": [parse_template("{{prompt}}", PlaceholderResolver())],
        }
    )
    assert filled.render(Event("tool.before", {})) == {"b": [None]}


@given(VALUES)
def test_a_copy_is_the_same_and_shares_nothing(value: Any) -> None:
    before = copy.deepcopy(value)
    made = copy_data(value)
    assert made == value
    _spoil(made)
    assert value == before


def _spoil(value: Any) -> None:
    if isinstance(value, (dict, list)):
        for held in list(value.values() if isinstance(value, dict) else value):
            _spoil(held)
        value.clear()


def test_depth_does_not_matter_and_a_circle_stays_one() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    made, depth = copy_data(deep), 0
    while made:
        made, depth = made[0], depth + 1
    assert depth == 50_000
    circle: list[Any] = []
    circle.append(circle)
    made = copy_data(circle)
    assert made[0] is made
    assert made is not circle
