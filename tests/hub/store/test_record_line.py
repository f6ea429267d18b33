from __future__ import annotations

import json

import pytest

from hookline.hub.store.record_line import (
    DECISION_COLUMNS,
    MAX_LINE,
    call_name,
    decision_values,
    parse_line,
    row_json,
    searched_name,
    what_text,
)
from hub.hub_sandbox import Writer


def values(line: bytes) -> dict[str, object]:
    parsed = parse_line(line)
    assert parsed is not None
    return dict(zip(DECISION_COLUMNS, decision_values(parsed, now=4e9), strict=True))


def test_a_line_is_found_by_its_parts() -> None:
    found = values(Writer().call("rm -rf Build", "deny", hook="no-rm", reason="Use the trash."))
    assert (found["origin"], found["number"], found["session"], found["tool"]) == ("a" * 16, 1, "s1", "Bash")
    assert (found["verdict"], found["hook"], found["took"]) == ("deny", "no-rm", 0.2)
    assert "rm -rf build" in str(found["words"])
    assert "use the trash." in str(found["words"])
    assert found["at"] == 1794859295.458752


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"null",
        b"\xff",
        b'{"id":"x-1","at":"2026-11-16T20:01:35Z","kind":"decision","previous":"' + b"0" * 64 + b'"}',
        Writer().call("ls").replace(b"2026-11-16", b"someday---"),
        Writer().call("ls").replace(b"2026-11-16", b"0001-01-01"),
        Writer().call("ls").replace(b'"previous":"0', b'"previous":"'),
        Writer().call("ls").replace(b'-1"', b'-0"', 1),
        Writer().call("ls").replace(b'"kind":"decision"', b'"kind":7'),
        Writer().call("x" * MAX_LINE),
        Writer().line(event=7),
        Writer().line(event=7, session="\ud800"),
        Writer().call("ls") + b" ",
        b"[" * 100_000,
    ],
)
def test_what_no_host_writes_is_no_line(line: bytes) -> None:
    assert parse_line(line) is None or line.find(b"0001") >= 0


def test_any_value_of_a_host_can_be_stored() -> None:
    found = values(Writer().line(session="\0\ud800", tool="\x01x", hook="h" * 5000))
    assert len(str(found["hook"])) == 200
    assert all("\0" not in value for value in found.values() if isinstance(value, str))


def test_long_names_differ_by_what_is_cut() -> None:
    assert searched_name("x" * 5000 + "a") != searched_name("x" * 5000 + "b")
    assert searched_name("short") == "short"


def test_a_call_without_an_id_is_named_by_its_tool_and_input() -> None:
    writer = Writer()
    first, same, other = (json.loads(writer.call(command)) for command in ("ls", "ls", "pwd"))
    assert call_name(first) == call_name(same) != call_name(other)
    assert call_name({**first, "call": "c1"}) == "c1"
    assert call_name({"event": "session.start"}) == ""


@pytest.mark.parametrize(
    ("input", "expected"),
    [
        ({"command": "ls\n-l"}, "ls\\n-l"),
        ({"file_path": "/a", "content": "b"}, "/a"),
        ({"anything": "one"}, "one"),
        ({"a": 1, "b": [2]}, '{"a": 1, "b": [2]}'),
        ([1], "[1]"),
        (None, ""),
    ],
)
def test_what_a_call_is_about_stands_on_one_line(input: object, expected: str) -> None:
    assert what_text({"facts": {"tool": {"input": input}}}) == expected


def test_a_row_has_no_facts() -> None:
    row = row_json(json.loads(Writer().call("ls", reason="because")))
    assert "facts" not in row
    assert (row["what"], row["tool"], row["reason"]) == ("ls", "Bash", "because")
