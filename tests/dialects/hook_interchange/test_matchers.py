from __future__ import annotations

from typing import Any

import pytest

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.hook_interchange.matchers import parse_matcher, write_matcher
from hookline.dialects.hook_interchange.names import TOOL_KINDS
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.event import Event
from hookline.hooks.tools import NATIVE, VOCABULARIES, kind_of_name
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern


def parsed(value: Any) -> Any:
    return parse_matcher(Node.of(Document("hooks.json", "", value)))


@pytest.mark.parametrize("name", TOOL_KINDS)
def test_a_tool_of_the_vocabulary_is_that_kind_in_every_agent(name: str) -> None:
    matcher = parsed(name)
    for vocabulary in VOCABULARIES.values():
        for own in vocabulary.names.get(TOOL_KINDS[name], ()):
            if kind_of_name(own) is not TOOL_KINDS[name]:  # another agent's tool of that name is of another kind
                continue
            event = Event("tool.before", {"tool": {"name": own, "kind": str(TOOL_KINDS[name]), "input": {}}})
            assert matcher.holds(event), (vocabulary.name, own)
    assert write_matcher(matcher) == name


def test_a_native_name_becomes_the_format_s() -> None:
    assert write_matcher(match_tool_name(shorthand("tool", "bash|write_file"), NATIVE)) == ["shell", "file_write"]


def test_a_name_of_several_kinds_becomes_each_of_them() -> None:
    """Every edit is a Write for Cursor's hooks."""
    matcher = match_tool_name(shorthand("tool", "Write"), VOCABULARIES["cursor"])
    assert write_matcher(matcher) == ["file_write", "file_edit"]


@pytest.mark.parametrize("text", ["list_directory", "bash*"])
def test_a_tool_that_the_format_cannot_name(text: str) -> None:
    with pytest.raises(NotExpressible):
        write_matcher(match_tool_name(shorthand("tool", text), NATIVE))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("cursor", "^MCP:"),
        ("gemini_cli", "mcp_acme_.*"),
        ("gemini_cli", "mcp_github_enterprise_.*"),
        ("gemini_cli", "_acme_delete"),
        ("kiro", "@acme/.*"),
        ("opencode", "acme_.*"),
    ],
)
def test_a_pattern_of_mcp_tools_that_are_spelled_otherwise(dialect: str, text: str) -> None:
    """In the format it would match no tool."""
    with pytest.raises(NotExpressible):
        write_matcher(match_tool_name(pattern(text, Syntax.JAVASCRIPT), VOCABULARIES[dialect]))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [("windsurf", "^mcp[_.]"), ("gemini_cli", "^mcp_"), ("gemini_cli", "^my_tool"), ("codex", "^mcp__acme__")],
)
def test_a_pattern_that_means_the_same_tools(dialect: str, text: str) -> None:
    assert write_matcher(match_tool_name(pattern(text, Syntax.JAVASCRIPT), VOCABULARIES[dialect])) == {"pattern": text}
