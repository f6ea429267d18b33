"""A placeholder's value in another shape."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hookline.errors import BadTemplate
from hookline.hooks.event import MISSING, Event
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import parse_template


def found(text: str, **facts: Any) -> Any:
    return parse_template(text, PlaceholderResolver()).value_or_missing(Event("tool.after", facts))


@pytest.mark.parametrize(
    ("result", "said"),
    [("a\n", '"a\\n"'), ({"b": [1, None]}, '{"b":[1,null]}'), (None, "null"), (5, "5"), ("é", '"é"')],
)
def test_json_is_json_also_of_text(result: Any, said: str) -> None:
    assert found("{{result | json}}", tool={"result": result}) == said


def test_what_is_absent_stays_absent() -> None:
    for shape in ("json", "text", "message"):
        assert found(f"{{{{result | {shape}}}}}", tool={}) is MISSING


@pytest.mark.parametrize("value", [5, None, ["a"], {"a": 1}, True])
def test_text_is_text_alone(value: Any) -> None:
    assert found("{{input.path | text}}", tool={"name": "x", "input": {"path": value}}) is MISSING


def test_text_passes_as_it_is() -> None:
    assert found("{{input.path|text}}", tool={"name": "x", "input": {"path": ""}}) == ""


def test_a_message_is_an_object() -> None:
    assert found("{{result | message}}", tool={"result": "a"}) == {"success": True, "message": "a"}
    assert found("{{result | message}}", tool={"result": [1]}) == [1]


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("2025-12-31T10:30:00Z", "2025-12-31T10:30:00Z"),
        ("2025-12-31T17:30:00.75+07:00", "2025-12-31T10:30:00Z"),
        ("2025-12-31T10:30:00", "2025-12-31T10:30:00Z"),
        (0, "1970-01-01T00:00:00Z"),
    ],
)
def test_a_moment_is_in_utc(time: Any, said: str) -> None:
    assert found("{{time | utc}}", time=time) == said


@pytest.mark.parametrize("time", [None, "yesterday", True, 1e300, "0001-01-01T00:00:00+14:00", float("nan"), []])
def test_what_is_no_moment_is_the_present_one(time: Any) -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", found("{{time | utc}}", time=time))


@pytest.mark.parametrize("text", ["{{result | xml}}", "{{nothing | json}}", "{{result |}}", "{{| json}}"])
def test_an_unknown_shape_or_fact_is_refused(text: str) -> None:
    with pytest.raises(BadTemplate):
        parse_template(text, PlaceholderResolver())


def test_the_fact_behind_it_is_read() -> None:
    assert parse_template("{{result | json}}", PlaceholderResolver()).reads() == (("tool", "result"),)


@pytest.mark.parametrize(
    ("text", "facts", "value"),
    [
        ("{{stop.active | or false}}", {}, False),
        ("{{stop.active | or false}}", {"stop": {"active": True}}, True),
        ("{{session.source | or startup}}", {}, "startup"),
        ("{{session.source | or startup}}", {"session": {"source": None}}, None),
        ("{{prompt | or two words}}!", {}, "two words!"),
        ('{{prompt | or "1"}}', {}, "1"),
    ],
)
def test_something_stands_for_what_is_absent(text: str, facts: dict[str, Any], value: Any) -> None:
    assert found(text, **facts) is value or found(text, **facts) == value


@pytest.mark.parametrize("text", ["{{prompt | or}}", "{{prompt | or }}", "{{prompt | ors x}}", "{{nothing | or x}}"])
def test_nothing_does_not_stand_for_what_is_absent(text: str) -> None:
    with pytest.raises(BadTemplate):
        parse_template(text, PlaceholderResolver())
