"""The way to a fact, and a new event with a fact changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.event import (
    MISSING,
    REMOVED,
    Event,
    copy_fact,
    deep_equal,
    overlaps,
    parse_path,
    path_text,
    read_path,
    touches,
)

_FACTS = {"a": {"b": [10, {"c": "x"}], "0": "zero", "none": None}, "text": "word"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b.0", 10),
        ("a.b.1.c", "x"),
        ("a.b.-1.c", "x"),
        ("a.0", "zero"),
        ("a.none", None),
        ("", _FACTS),
        ("a.b.2", MISSING),
        ("a.b.-3", MISSING),
        ("a.b.c", MISSING),
        ("a.none.x", MISSING),
        ("text.0", MISSING),
        ("text.upper", MISSING),
        ("a.keys", MISSING),
    ],
)
def test_reads_keys_and_indexes_and_never_attributes(path: str, found: Any) -> None:
    assert (
        Event("stop", _FACTS).read(parse_path(path)) is found or Event("stop", _FACTS).read(parse_path(path)) == found
    )


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("files.0.path", ("files", 0, "path")),
        ("a.-1", ("a", -1)),
        ("a..b.", ("a", "b")),
        ("a.-", ("a", "-")),
        ("a.٣", ("a", "٣")),
        ("a.12345678901", ("a", "12345678901")),
        ("", ()),
    ],
)
def test_a_path_is_parsed_once(text: str, path: tuple[str | int, ...]) -> None:
    assert parse_path(text) == path


def test_a_path_is_shown_as_it_was_written() -> None:
    assert path_text(("files", 0, "path")) == "files.0.path"


def test_a_change_copies_along_its_way_and_shares_the_rest() -> None:
    event = Event("stop", {"a": {"b": [1, 2]}, "c": {"d": 1}})
    changed = event.with_changes(((("a", "b", 0), 9),))
    assert changed.facts == {"a": {"b": [9, 2]}, "c": {"d": 1}}
    assert event.facts == {"a": {"b": [1, 2]}, "c": {"d": 1}}
    assert changed.facts["c"] is event.facts["c"]


@pytest.mark.parametrize(
    ("path", "value", "left"),
    [
        ("a.x.y", 1, {"a": {"l": [1, 2, 3], "t": "word", "x": {"y": 1}}}),
        ("a.l.1", REMOVED, {"a": {"l": [1, 3], "t": "word"}}),
        ("a.l.-1", REMOVED, {"a": {"l": [1, 2], "t": "word"}}),
        ("a.t", REMOVED, {"a": {"l": [1, 2, 3]}}),
        ("a.l.7", 1, {"a": {"l": [1, 2, 3], "t": "word"}}),
        ("a.l.x", 1, {"a": {"l": [1, 2, 3], "t": "word"}}),
        ("a.t.x", REMOVED, {"a": {"l": [1, 2, 3], "t": "word"}}),
        ("b.c.d", REMOVED, {"a": {"l": [1, 2, 3], "t": "word"}}),
        ("a.l.9", REMOVED, {"a": {"l": [1, 2, 3], "t": "word"}}),
        ("a.t", MISSING, {"a": {"l": [1, 2, 3], "t": "word"}}),
    ],
)
def test_set_and_remove_touch_their_own_place_only(path: str, value: Any, left: dict[str, Any]) -> None:
    event = Event("stop", {"a": {"l": [1, 2, 3], "t": "word"}})
    assert event.with_changes(((parse_path(path), value),)).facts == left
    assert event.facts == {"a": {"l": [1, 2, 3], "t": "word"}}


def test_a_tuple_of_a_host_is_changed_as_a_list_is() -> None:
    event = Event("stop", {"a": ({"b": 1}, 2)})
    assert event.with_changes(((("a", 0, "b"), 5),)).facts == {"a": [{"b": 5}, 2]}


def test_overlapping_changes_are_made_in_order() -> None:
    event = Event("stop", {"a": {"b": 1}})
    assert event.with_changes(((("a",), {"c": 1}), (("a", "b"), 2), (("a", "c"), REMOVED))).facts == {"a": {"b": 2}}


def test_a_change_is_seen_above_and_below_its_place() -> None:
    assert overlaps(("a", "b"), ("a",))
    assert overlaps(("a",), ("a", "b"))
    assert not overlaps(("a", "b"), ("a", "c"))


def test_places_in_a_list_may_be_one_place() -> None:
    assert touches([("a", -1, "x")], ((("a", 3), 1),))
    assert touches([("a", "0")], ((("a", 0), 1),))
    assert not touches([("a", 0, "x")], ((("a", 1, "y"), 1),))
    assert not touches([("b", 0)], ((("a", 0), 1),))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False, width=16) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


def _plainly_same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) == set(other) and all(_plainly_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_plainly_same, one, other))
    return bool(one == other) and (type(one) is bool) == (type(other) is bool)


@given(_JSON, _JSON)
def test_same_is_equal_but_for_true_and_one(one: Any, other: Any) -> None:
    assert deep_equal(one, other) == _plainly_same(one, other)
    assert deep_equal(one, one)


def test_deep_values_are_compared_and_read_without_an_end_of_the_stack() -> None:
    def deep() -> Any:
        value: Any = 1
        for _ in range(50_000):
            value = [value]
        return value

    one, other = deep(), deep()
    assert deep_equal(one, other)
    assert not deep_equal(one, other[0])
    assert read_path({"a": one}, ("a", *[0] * 50_000)) == 1


@pytest.mark.parametrize(
    "value",
    [None, 1, "x", [], {}, {"a": [1, {"b": (2, [3])}], "c": {4}}, [True, 1.5, b"bytes", {"deep": [[[]]]}]],
)
def test_a_copied_fact_shares_nothing_that_can_change(value: Any) -> None:
    copied = copy_fact(value)
    assert repr(copied) == repr(value) == repr(copy.deepcopy(value))
    assert not set(map(id, _containers(copied))) & set(map(id, _containers(value)))


def _containers(value: Any) -> list[Any]:
    if not isinstance(value, (list, dict, set, tuple)):
        return []
    parts = value.values() if isinstance(value, dict) else value
    own = [] if isinstance(value, tuple) else [value]
    return [*own, *(inner for part in parts for inner in _containers(part))]


def test_a_fact_that_contains_itself_is_copied() -> None:
    value: dict[str, Any] = {}
    value["self"] = [value]
    copied = copy_fact(value)
    assert copied is not value
    assert copied["self"][0] is copied


def test_marks_survive_a_deep_copy() -> None:
    import copy

    assert copy.deepcopy([MISSING, REMOVED]) == [MISSING, REMOVED]
    assert (repr(MISSING), repr(REMOVED)) == ("MISSING", "REMOVED")
