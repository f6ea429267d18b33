from datetime import timedelta

import pytest

from hookline.dialects.dialect import DIALECT_NAMES
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Origin
from hookline.hooks.protocols import May
from hookline.hooks.wording import NATIVE_WORDING, Wording


def test_durations_are_in_the_unit_of_the_dialect() -> None:
    assert Wording(dialect="x", unit="ms").duration(timedelta(seconds=5)) == "5000 ms"
    assert Wording(dialect="x", unit="s").duration(timedelta(milliseconds=200)) == "0.2 s"
    assert NATIVE_WORDING.duration(timedelta(milliseconds=200)) == "200 ms"
    assert NATIVE_WORDING.duration(timedelta(seconds=90)) == "90 s"


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_only_events_of_the_dialect_are_named(dialect: str) -> None:
    words = NATIVE_WORDING if dialect == "native" else Wording(dialect=dialect)
    named = words.events(EVENTS)
    assert named
    assert dialect == "native" or not any("." in name for name in named)


def test_a_hook_without_a_dialect_has_hookline_s_words() -> None:
    assert Origin("plugin.py", 1, "").wording is NATIVE_WORDING


def test_what_an_event_does_not_accept() -> None:
    words = Wording(dialect="x", answers={May.DENY: "gate"}, facts={"tool.input": "params"})
    assert words.rejection(May.DENY | May.HALT, [("tool", "input", "a"), ("tool", "input", "a")]) == [
        "gate",
        "a change of params.a",
    ]


def test_the_default_order_is_not_shown() -> None:
    words = Wording(dialect="x", order_sign=-1, default_order=10)
    assert (words.order(0), words.order(5), words.order(-5)) == ("", "5", "15")


def test_texts_of_conditions_and_commands_use_the_dialect_s_facts() -> None:
    words = Wording(
        dialect="x", facts={"tool.ok": "failed", "tool.input": "in"}, phrases={"tool.ok is false": "failed"}
    )
    assert words.explain("tool.ok is false and tool.input.a is 3") == "failed and in.a is 3"
    assert words.explain("input.path matches src/tool.ok/x") == "in.path matches src/tool.ok/x"
    assert words.as_written("echo {{tool.input.path | json}}") == "echo {{in.path | json}}"
    assert NATIVE_WORDING.explain("tool.ok is false") == "tool.ok is false"
