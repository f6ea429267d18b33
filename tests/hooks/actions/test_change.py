"""Change what the event says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.hooks.actions.change import Append, ChangeFacts, Remove, Replace, Set, resolve_paths
from hookline.hooks.event import REMOVED, Event, parse_path
from hookline.hooks.host import NO_HOST
from hookline.hooks.outcome import NOT_APPLIED, ActionError, FailureKind
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, parse_template
from hookline.patterns.pattern import pattern

INPUT = {"path": "a.txt", "list": [1, "ab"], "n": 5}


def changed(*edits: Any, input: Any = None, tool: str = "write_file", host: str = "") -> Any:
    facts: dict[str, Any] = {"tool": {"name": tool, "input": INPUT if input is None else input}}
    event = Event("tool.before", facts | ({"host": {"name": host}} if host else {}))
    outcome = asyncio.run(ChangeFacts(edits).run(event, NO_HOST))
    return event.with_changes(outcome.changes).facts["tool"]["input"] if outcome is not NOT_APPLIED else None


def place(path: str) -> tuple[str | int, ...]:
    return parse_path(f"tool.input.{path}")


def text(source: str) -> Any:
    return parse_template(source, PlaceholderResolver())


def test_set_remove_append_and_replace() -> None:
    edits = (
        Set(place("new.deep"), DataTemplate({"at": text("{{input.n}}")})),
        Remove(place("list.0")),
        Append(place("path"), text("more")),
        Append(place("n"), text("\nmore")),
        Replace(place("list"), pattern("a"), "z"),
    )
    assert changed(*edits) == {"path": "a.txt\nmore", "list": ["zb"], "n": "5\nmore", "new": {"deep": {"at": 5}}}


@pytest.mark.parametrize(
    "edit",
    [
        Set(place("n"), DataTemplate(5)),
        Set(place("x"), DataTemplate(text("{{input.absent}}"))),
        Remove(place("absent.deep")),
        Remove(place("list.7")),
        Replace(place("path"), pattern("zzz"), ""),
        Replace(place("absent"), pattern("a"), "b"),
    ],
)
def test_what_changes_nothing_had_nothing_to_do(edit: Any) -> None:
    assert changed(edit) is None


def test_later_edits_see_earlier_ones_and_overlap() -> None:
    assert changed(
        Set(place("a"), DataTemplate({"b": 1})), Set(place("a.b"), DataTemplate(2)), Remove(place("a.b"))
    ) == {
        **INPUT,
        "a": {},
    }
    assert changed(Set(place("n"), DataTemplate(True)), input={"n": 1}) == {"n": True}


def test_a_field_is_changed_by_the_name_that_the_input_has_for_it() -> None:
    assert changed(Set(place("path"), DataTemplate("new")), input={"file_path": "old"}) == {"file_path": "new"}
    assert changed(Remove(place("path")), input={"filePath": "old", "x": 1}) == {"x": 1}


def test_where_both_are_given_the_one_that_the_host_reads_is_changed() -> None:
    both = {"path": "decoy", "file_path": "real"}
    edit = Set(place("path"), DataTemplate("new"))
    assert changed(edit, input=both, tool="Write", host="claude-code") == {"path": "decoy", "file_path": "new"}
    for host, tool in (("", "write_file"), ("claude-code", "mcp__fs__write_file")):
        found = changed(edit, input=both, tool=tool, host=host)
        assert found == {"path": "new", "file_path": "new"}, "nobody knows which of them is read"


def test_a_replacement_that_cannot_be_made_says_where_and_why() -> None:
    change = ChangeFacts((Replace(place("text"), pattern("(?<=key )[a-z]+"), "***"),))
    event = Event("tool.before", {"tool": {"name": "x", "input": {"text": "key abc " * 300_000}}})
    with pytest.raises(ActionError) as failed:
        asyncio.run(change.run(event, NO_HOST))
    assert failed.value.failure.kind is FailureKind.TIMEOUT
    assert failed.value.failure.text.startswith("could not replace (?<=key )[a-z]+ in tool.input.text: look-around")


@pytest.mark.parametrize("tool", [None, 5, [], {}, {"input": "x"}, {"input": None}])
def test_the_place_is_as_written_where_there_is_no_input(tool: Any) -> None:
    event = Event("tool.before", {}).with_changes(((("tool",), tool),))
    assert resolve_paths(place("path"), event) == (place("path"),)


def test_removing_reports_a_removal() -> None:
    event = Event("tool.before", {"tool": {"name": "x", "input": {"a": 1}}})
    assert asyncio.run(ChangeFacts((Remove(place("a")),)).run(event, NO_HOST)).changes == ((place("a"), REMOVED),)
