from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.hooks.tool_name import guessed_kind
from hookline.hooks.tools import VOCABULARIES, ToolKind, is_known_name
from hookline.prove.tool_space import (
    REQUIRED_FIELDS,
    common_names,
    known_tools,
    our_field_name,
    possible_kinds,
    requires,
)


def test_every_name_of_every_table_is_known():
    names = {tool.name for tool in known_tools()}
    for vocabulary in VOCABULARIES.values():
        assert vocabulary.others <= names
        assert {name for of_kind in vocabulary.names.values() for name in of_kind} <= names


@pytest.mark.parametrize("kind", ToolKind)
def test_each_kind_has_common_names_that_no_table_knows(kind):
    assert common_names(kind)
    for name in common_names(kind):
        assert not is_known_name(name)
        guess = guessed_kind({"name": name, "input": dict.fromkeys(REQUIRED_FIELDS[kind], "x")})
        assert (guess.kind if guess else ToolKind.OTHER) is kind


def test_a_name_may_be_taken_for_several_kinds():
    kinds = possible_kinds("frob")
    assert {ToolKind.SHELL, ToolKind.WRITE, ToolKind.EDIT, ToolKind.OTHER} <= kinds.keys()
    for kind, input in kinds.items():
        guess = guessed_kind({"name": "frob", "input": input})
        assert (guess.kind if guess else ToolKind.OTHER) is kind


def test_a_tool_that_deletes_needs_no_content():
    assert requires("filesystem.delete", ToolKind.WRITE) == ("path",)
    assert requires("write_file", ToolKind.WRITE) == ("path", "content")


def test_all_names_of_a_field_are_one():
    assert our_field_name(ToolKind.WRITE, "filePath") == our_field_name(ToolKind.WRITE, "path") == "path"
    assert our_field_name(ToolKind.OTHER, "filePath") == "filePath"
