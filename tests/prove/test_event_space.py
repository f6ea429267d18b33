from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.hooks.tools import ToolKind
from hookline.prove.event_space import EventSpace, named_tools
from hookline.prove.properties import parse_property


def condition(text: str):
    return parse_property(text).condition


def test_a_property_about_other_tools_cannot_hold():
    assert EventSpace(ToolKind.READ).condition(condition("kind: write"), is_property=True) is False
    assert EventSpace(ToolKind.WRITE).condition(condition("kind: write"), is_property=True) is not False


def test_all_names_of_a_field_have_one_variable():
    space = EventSpace(ToolKind.WRITE)
    space.condition(condition("input: {path: a, file_path: b, filePath: c, content: d}"), is_property=True)
    assert set(space.texts) == {("tool", "input", "path"), ("tool", "input", "content")}


def test_equal_conditions_that_cannot_be_translated_are_one():
    space = EventSpace(ToolKind.SHELL)
    first = space.condition(condition("runs: rm"), is_property=True)
    assert space.condition(condition("runs: rm"), is_property=False) is first
    assert space.condition(condition("runs: mv"), is_property=False) is not first


def test_names_that_no_table_has():
    found = condition("any: [{tool: [bash, frob, 'x*']}, {fact: {tool.name: {exactly: nix}}}]")
    assert list(named_tools(found)) == ["frob", "nix"]
