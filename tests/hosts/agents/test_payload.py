"""Guards see every part of a call, wherever it is in the input."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.payload import decode_object, kind_in_vocabulary, known_facts, split_call

PATCH = "*** Begin Patch\n*** Delete File: {}\n*** End Patch"


def _inputs(name: str, input: Any) -> list[Any]:
    return [part for _, part in split_call(name, ToolKind.EDIT, input)]


def test_each_edit_of_a_list_is_a_call() -> None:
    edits = [{"new_string": "a"}, {"new_string": "b"}]
    assert _inputs("MultiEdit", {"file_path": "x", "edits": edits}) == [
        {"file_path": "x", "new_string": "a"},
        {"file_path": "x", "new_string": "b"},
    ]


def test_fields_beside_the_list_are_a_call_too() -> None:
    input = {"file_path": "x", "new_string": "secret", "edits": [{"new_string": "harmless"}]}
    assert _inputs("Edit", input)[0] == input


def test_two_patches_in_one_call_are_both_split() -> None:
    found = _inputs("apply_patch", {"command": PATCH.format("harmless"), "patchText": PATCH.format(".env")})
    assert [each["path"] for each in found] == ["harmless", ".env"]


@pytest.mark.parametrize("edits", [[], [1], [{"new_string": "a"}, "b"], "x", None])
def test_a_list_of_anything_else_stays_as_it_is(edits: Any) -> None:
    assert _inputs("Edit", {"edits": edits}) == [{"edits": edits}]


@pytest.mark.parametrize("input", [None, 3, "text", [], {}])
def test_never_no_call(input: Any) -> None:
    assert len(split_call("apply_patch", ToolKind.EDIT, input)) >= 1
    assert len(split_call("Edit", ToolKind.EDIT, input)) == 1


def test_an_object_sent_as_text_is_decoded() -> None:
    assert decode_object('{"a": 1}') == {"a": 1}
    for other in ("[1]", "3", "{", "x" * 10, "[" * 100_000, None, 3):
        assert decode_object(other) == other


def test_a_kind_comes_from_the_agents_own_names_first() -> None:
    assert kind_in_vocabulary("kiro", "read") is ToolKind.READ
    assert kind_in_vocabulary("kiro", "Bash") is ToolKind.SHELL
    assert kind_in_vocabulary("kiro", "dance") is ToolKind.OTHER


def test_unknown_facts_are_left_out() -> None:
    assert known_facts(a="", b=None, c={}, d=0, e=False, f=[]) == {"d": 0, "e": False, "f": []}
