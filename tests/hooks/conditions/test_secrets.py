"""The texts in which `secrets` looks."""

from __future__ import annotations

from hookline import Event
from hookline.hooks.conditions.secrets import HasSecret, SecretHints, TextsIn, leaf_texts
from hookline.hooks.secret_formats import HINTS
from hookline.patterns.pattern import pattern

CONDITION = HasSecret(TextsIn((("tool", "input"),)), SecretHints(pattern(HINTS)))


def test_texts_at_any_depth() -> None:
    assert set(leaf_texts({"a": ["b", {"password": "hunter2Xy9"}], "c": 3})) == {
        "b",
        "hunter2Xy9",
        'password="hunter2Xy9"',
    }


def test_the_input_of_a_tool_is_read_like_any_value() -> None:
    nested: dict[str, object] = {"api_key": "hunter2Xy9kqQ", "command": "ls", "extra": {"deep": "x"}}
    flat = {"api_key": "hunter2Xy9kqQ", "command": "ls"}
    for input in (flat, nested, {}, {"n": 3}, {1: "a"}, {str(n): "t" for n in range(40)}):
        event = Event("tool.before", {"tool": {"name": "bash", "input": input}})
        assert set(TextsIn((("tool", "input"),)).texts(event)) == set(leaf_texts(input))


def test_a_value_that_contains_itself_ends() -> None:
    value: list[object] = ["x"]
    value.append(value)
    assert list(leaf_texts(value)) == ["x"]


def test_it_says_why_not() -> None:
    event = Event("tool.before", {"tool": {"name": "t", "input": {"a": "b"}}})
    assert CONDITION.why_not(event) == "tool.input has no secret"
    assert CONDITION.why_not(Event("stop", {})) == "tool.input is absent or not text"


def test_the_index_can_rule_it_out() -> None:
    (need,) = CONDITION.needs()
    assert need.pattern.words
    assert not need.pattern.search("git status")
