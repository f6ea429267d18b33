"""Placeholders that name facts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.event import MISSING, Event, fact_path
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, parse_template
from hookline.hooks.tools import VOCABULARIES

NAMES = PlaceholderResolver(VOCABULARIES["claude_code"])


def read(name: str, facts: dict[str, Any]) -> Any:
    reader = NAMES(name)
    assert reader is not None
    return reader(Event("tool.before", {}).with_changes(tuple(((fact,), value) for fact, value in facts.items())))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("input.path", ("tool", "input", "path")),
        ("tool.input.path", ("tool", "input", "path")),
        ("result", ("tool", "result")),
        ("error", ("tool", "error")),
        ("error.code", ("error", "code")),
        ("messages.-1.content", ("messages", -1, "content")),
        ("nobody.knows", None),
        ("0", None),
        ("", None),
    ],
)
def test_a_name_is_a_place(name: str, path: Any) -> None:
    assert fact_path(name) == path


def test_tools_and_their_fields_are_said_in_the_vocabulary() -> None:
    facts = {"tool": {"name": "read_file", "input": {"path": "x"}}}
    assert read("tool.name", facts) == "Read"
    assert read("input", facts) == {"file_path": "x"}
    assert read("input.file_path", facts) == read("input.path", facts) == "x"
    assert read("input.odd", facts) is MISSING


def test_the_whole_event_is_said_in_the_vocabulary_with_its_own_name() -> None:
    facts = {"event": "forged", "tool": {"name": "bash"}, "cwd": "/"}
    assert read("event", facts) == {"event": "tool.before", "tool": {"name": "Bash"}, "cwd": "/"}
    with_input = {"tool": {"name": "read_file", "input": {"path": "x"}}}
    assert read("event", with_input) == {"event": "tool.before", "tool": {"name": "Read", "input": {"file_path": "x"}}}
    assert with_input == {"tool": {"name": "read_file", "input": {"path": "x"}}}


@pytest.mark.parametrize("tool", [5, None, [], {"name": []}, {"name": None, "input": 5}, {}])
def test_a_tool_that_is_none_is_told_as_it_is(tool: Any) -> None:
    assert read("event", {"tool": tool}) == {"event": "tool.before", "tool": tool}
    assert read("tool.name", {"tool": tool}) is MISSING


def test_whoever_gets_a_filled_value_gets_a_copy() -> None:
    facts = {"tool": {"name": "odd", "input": {"list": [1]}}}
    constant = {"own": {"list": [1]}}
    filled = DataTemplate({"given": parse_template("{{input}}", NAMES), "literal": constant})
    for _ in range(2):
        rendered = filled.render(Event("tool.before", facts))
        assert rendered == {"given": {"list": [1]}, "literal": {"own": {"list": [1]}}}
        rendered["given"]["list"].append(2)
        rendered["literal"]["own"]["list"].append(2)


def test_an_absent_fact_leaves_its_key_out_and_never_a_mark() -> None:
    absent = parse_template("{{input.no}}", NAMES)
    filled = DataTemplate(
        {"a": absent, "b": [absent, "x"], "c": {"d": absent}, "e": parse_template("<{{input.no}}>", NAMES)}
    )
    assert filled.render(Event("tool.before", {})) == {"b": [None, "x"], "c": {}, "e": "<>"}
    assert DataTemplate(absent).render(Event("tool.before", {})) is MISSING


def test_the_text_of_a_file_is_what_it_has_now(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("é", "utf-8")
    for input, cwd in (({"path": "a.txt"}, tmp_path), ({"file_path": str(tmp_path / "a.txt")}, None)):
        facts = {"tool": {"name": "Read", "kind": "read", "input": input}, **({"cwd": str(cwd)} if cwd else {})}
        assert read("file.text", facts) == "é"


def test_what_is_no_readable_file_has_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    for path in ("pipe", ".", "gone", "a\0b", 5):
        facts = {"cwd": str(tmp_path), "tool": {"name": "Read", "kind": "read", "input": {"path": path}}}
        assert read("file.text", facts) is MISSING
    unplaced = {"tool": {"name": "Read", "kind": "read", "input": {"path": "a.txt"}}}
    assert read("file.text", unplaced) is MISSING, "our own directory is not the agent's"
