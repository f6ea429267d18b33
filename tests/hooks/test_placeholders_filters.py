"""A placeholder's value in another shape."""

from __future__ import annotations

import os
import re
from pathlib import Path
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


def test_filters_follow_each_other() -> None:
    assert found("{{messages | count | or 0}}") == 0
    assert found("{{messages | count | or 0}}", messages=["a", "b"]) == 2
    assert found("{{context.pressure | percent | or 0}}", context={"pressure": 0.4567}) == 45.7


def test_another_fact_takes_the_place_of_an_absent_one() -> None:
    text = "{{execution.flow | or_fact session.id | or_empty}}"
    assert found(text, execution={"flow": "f"}, session={"id": "s"}) == "f"
    assert found(text, session={"id": "s"}) == "s"
    assert found(text) == ""
    with pytest.raises(BadTemplate, match="not a name"):
        found("{{session.id | or_fact nonsense}}")


@pytest.mark.parametrize(
    ("mode", "said"),
    [("plan", "plan"), ("yolo", "bypassPermissions"), ("spec", "plan"), ("unheard of", "default"), (5, "default")],
)
def test_a_word_is_one_of_those_that_a_program_knows(mode: Any, said: str) -> None:
    assert found("{{session.mode | one_of default plan bypassPermissions}}", session={"mode": mode}) == said


def test_without_a_word_it_is_the_first() -> None:
    assert found("{{session.mode | one_of default plan}}") == "default"


def test_the_text_of_a_file_that_a_tool_is_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"h\xffi\n")
    facts = {"tool": {"name": "read_file", "input": {"path": "a.txt"}}, "cwd": str(tmp_path)}
    assert found("{{file.text}}", **facts) == "h\ufffdi\n"


@pytest.mark.parametrize("path", ["absent", ".", "pipe", "a\0b", 5])
def test_a_file_that_cannot_be_read_has_no_text(path: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    facts = {"tool": {"name": "read_file", "input": {"path": path}}, "cwd": str(tmp_path)}
    assert found("{{file.text}}", **facts) is MISSING
