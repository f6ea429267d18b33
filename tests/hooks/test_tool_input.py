"""The fields of a tool's input, by any of their names."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.errors import AmbiguousField
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, All, AnyOf, Not
from hookline.hooks.conditions.numbers import Comparison
from hookline.hooks.conditions.text import Equals, Exists, Matches
from hookline.hooks.event import MISSING, Event
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_input import ToolField, field_value, field_values, to_host_fields, to_vocabulary
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.pattern import pattern

CLAUDE, FLO, OPENCODE, GEMINI = (VOCABULARIES[name] for name in ("claude_code", "flo", "opencode", "gemini_cli"))


def event(name: Any = "read_file", input: Any = None, kind: Any = None, host: Any = None) -> Event:
    tool = {"name": name, "input": {} if input is None else input}
    return Event("tool.before", {"tool": tool | ({"kind": kind} if kind else {}), **({"host": host} if host else {})})


@pytest.mark.parametrize("name", ["path", "file_path", "filePath"])
@pytest.mark.parametrize("called", ["path", "file_path", "target_file"])
def test_a_field_is_found_by_any_name_that_its_kind_of_tool_gives_it(name: str, called: str) -> None:
    assert ToolField((name,)).texts(event(input={called: "x"})) == ("x",)


def test_a_tool_of_unknown_kind_has_no_other_names_for_its_fields() -> None:
    assert ToolField(("path",)).texts(event("odd", {"file_path": "x"})) == ()


@pytest.mark.parametrize(
    ("host", "tool", "own", "other"),
    [
        ("claude-code", "Read", "file_path", "path"),
        ("claude_code", "Read", "file_path", "path"),
        ("gemini_cli", "read_file", "file_path", "path"),
        ("hookline", "read_file", "path", "file_path"),
    ],
)
def test_where_a_field_is_given_twice_the_hosts_own_name_for_it_counts(
    host: str, tool: str, own: str, other: str
) -> None:
    """An agent may add `path: decoy` to a tool that reads file_path; a guard on path must not look at the decoy."""
    given = event(tool, {other: "decoy", own: "/etc/shadow", "limit": 1}, "read", {"name": host})
    assert field_value(given, ("path",)) == "/etc/shadow"
    assert ToolField(("path",)).texts(given) == ("/etc/shadow",)
    for vocabulary, name in ((FLO, "path"), (CLAUDE, "file_path"), (OPENCODE, "filePath")):
        assert to_vocabulary(given, vocabulary) == {name: "/etc/shadow", "limit": 1}
        assert to_host_fields(given, {name: "safe", "limit": 1}) == {own: "safe", "limit": 1}


@pytest.mark.parametrize(
    ("host", "tool"),
    [("claude-code", "mcp__fs__read_file"), ("claude-code", "open_document"), ("hookline", "mcp.fs.read_file")],
)
def test_another_tool_than_the_hosts_own_may_read_either_name(host: str, tool: str) -> None:
    given = event(tool, {"path": "a", "file_path": "b"}, "read", {"name": host})
    assert set(field_values(given, ("path",))) == {"a", "b"}
    assert to_vocabulary(given, FLO) == {"path": "a", "file_path": "b"}


def test_values_below_a_field_are_reached_and_nothing_raises() -> None:
    given = event("edit_file", {"edits": [{"new": "x"}], "0": "zero"})
    assert field_value(given, ("edits", 0, "new")) == "x"
    assert field_value(given, ("edits", "0")) is MISSING
    assert field_value(given, (0,)) == "zero"
    assert field_value(given, ()) == given.facts["tool"]["input"]


@pytest.mark.parametrize(
    "tool", [5, None, [], "text", {}, {"input": 5}, {"input": "text"}, {"input": None}, {"input": []}]
)
def test_an_input_that_is_no_mapping_has_no_fields(tool: Any) -> None:
    odd = Event("tool.before", {}).with_changes(((("tool",), tool),))
    assert field_value(odd, ("path",)) is MISSING
    assert ToolField(("path", 0)).texts(odd) == ()
    assert field_value(Event("stop", {}), ("path",)) is MISSING


def test_a_mapping_of_a_hosts_own_making_is_not_touched() -> None:
    from collections import defaultdict

    tool: Any = defaultdict(dict, name="read_file")
    facts: Any = defaultdict(dict, tool=tool)
    assert field_value(Event("stop", facts), ("path",)) is MISSING
    assert field_value(Event("stop", defaultdict(dict)), ("path",)) is MISSING
    assert list(tool) == ["name"]


@pytest.mark.parametrize(
    ("given", "vocabulary", "shown"),
    [
        ({"path": "x", "limit": 3}, CLAUDE, {"file_path": "x", "limit": 3}),
        ({"file_path": "x"}, FLO, {"path": "x"}),
        ({"file_path": "x"}, OPENCODE, {"filePath": "x"}),
        ({"odd": 1}, CLAUDE, {"odd": 1}),
        ({"path": "x", "file_path": "y"}, CLAUDE, {"path": "x", "file_path": "y"}),
        ({"path": "x", "file_path": "y"}, FLO, {"path": "x", "file_path": "y"}),
        ({"filePath": "x", "filename": "y"}, FLO, {"path": "x", "filename": "y"}),
        ({5: "x"}, CLAUDE, {5: "x"}),
    ],
)
def test_an_input_is_shown_in_a_vocabulary_and_nothing_is_lost(given: Any, vocabulary: Any, shown: Any) -> None:
    assert to_vocabulary(event(input=given), vocabulary) == shown


@pytest.mark.parametrize(
    "given",
    [
        {"path": "x"},
        {"file_path": "x", "limit": 1},
        {"filePath": "x", "filename": "y"},
        {"path": "x", "file_path": "y"},
    ],
)
@pytest.mark.parametrize("vocabulary", [CLAUDE, FLO, OPENCODE])
def test_an_input_shown_and_given_back_is_the_same(given: dict[str, Any], vocabulary: Any) -> None:
    assert to_host_fields(event(input=given), to_vocabulary(event(input=given), vocabulary)) == given


def test_two_names_for_one_field_given_back_are_both_kept() -> None:
    assert to_host_fields(event(input={"file_path": "old"}), {"path": "new", "file_path": "other"}) == {
        "path": "new",
        "file_path": "other",
    }
    assert to_host_fields(event(input={"file_path": "old"}), {"path": "new"}) == {"file_path": "new"}


TWICE = {"path": "decoy", "file_path": "/etc/shadow"}
UNKNOWN_HOSTS: list[Any] = [None, [], {"name": []}, {"name": "somebody's"}]


@pytest.mark.parametrize("host", UNKNOWN_HOSTS)
@pytest.mark.parametrize("name", ["path", "file_path", "filename"])
def test_where_nobody_knows_the_hosts_name_every_value_is_judged(host: Any, name: str) -> None:
    given = event("Read", TWICE, "read", host)
    assert set(field_values(given, (name,))) >= {"decoy", "/etc/shadow"}
    assert set(ToolField((name,)).texts(given)) == {"decoy", "/etc/shadow"}
    assert field_values(event("Read", {"path": "same", "file_path": "same"}, "read", host), (name,)) == ("same",)


def test_a_host_that_was_not_given_its_own_name_for_a_field_is_like_an_unknown_one() -> None:
    given = event("Read", {"path": "a", "filename": "b"}, "read", {"name": "claude_code"})
    assert ToolField(("path",)).texts(given) == ("a", "b")


def test_what_a_host_calls_the_path_of_a_folder_is_not_taken_for_known() -> None:
    given = event("Grep", {"pattern": "x", "path": "/etc", "file_path": "src"}, "grep", {"name": "claude_code"})
    assert set(ToolField(("path",)).texts(given)) == {"/etc", "src"}


@pytest.mark.parametrize(
    "condition",
    [
        Matches(ToolField(("path",)), pattern("shadow")),
        Matches(ToolField(("file_path",)), pattern("shadow")),
        Not(Matches(ToolField(("path",)), pattern("decoy"))),
        AnyOf((Matches(ToolField(("path",)), pattern("shadow")), Exists(("tool", "input", "url")))),
        Equals(("tool", "input", "path"), "/etc/shadow"),
    ],
)
def test_values_that_lead_to_different_answers_are_a_doubt(condition: Condition) -> None:
    with pytest.raises(AmbiguousField, match="read in several ways"):
        condition.holds(event("Read", TWICE, "read"))
    condition.holds(event("Read", TWICE, "read", {"name": "claude_code"}))


def test_a_value_that_is_no_text_is_another_answer() -> None:
    with pytest.raises(AmbiguousField):
        Matches(ToolField(("path",)), pattern("^src/")).holds(event("Read", {"path": "src/a", "file_path": ["x"]}))
    with pytest.raises(AmbiguousField):
        Comparison(("tool", "input", "content"), "above", 3).holds(event("write_file", {"content": 5, "text": 1}))


def test_a_doubt_does_not_matter_where_another_part_decides() -> None:
    doubtful, given = Matches(ToolField(("path",)), pattern("shadow")), event("Read", TWICE, "read")
    assert not All((doubtful, NEVER_HOLDS)).holds(given)
    assert AnyOf((doubtful, ALWAYS)).holds(given)
    assert All((doubtful, NEVER_HOLDS)).why_not(given) == NEVER_HOLDS.because
