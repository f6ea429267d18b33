from __future__ import annotations

import json
import shlex

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.prove.example_event import fire_command


def words(facts, configs=()):
    return shlex.split(fire_command("tool.before", facts, configs))


def test_a_tool_call_is_written_with_its_options():
    facts = {"tool": {"name": "it's", "input": {"path": "a 'b' $c"}}}
    command = words(facts, ("my hooks.yaml",))
    assert command[:5] == ["hookline", "fire", "tool.before", "--config", "my hooks.yaml"]
    assert command[5:8] == ["--tool", "it's", "--input"]
    assert json.loads(command[8]) == facts["tool"]["input"]


def test_other_facts_are_written_as_facts():
    facts = {"tool": {"name": "x", "kind": "write", "input": {}}, "host": {"name": "opencode"}}
    assert json.loads(words(facts)[-1]) == facts
    assert words({"prompt": "hello"})[-2:] == ["--prompt", "hello"]


def test_characters_that_are_not_shown_are_escaped():
    assert fire_command("tool.before", {"tool": {"name": "x", "input": {"a": "\x1b\n"}}}).isprintable()
