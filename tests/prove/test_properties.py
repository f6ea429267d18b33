from __future__ import annotations

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.errors import ConfigError, HooklineError
from hookline.prove.properties import parse_property, read_properties


@pytest.mark.parametrize(
    "text",
    [
        r"""tool: [write_file, edit_file], input: {path: "\.env$"}""",
        r"""{tool: [write_file, edit_file], input: {path: '\.env$'}}""",
        "tool: [write_file, edit_file]\ninput: {path: '\\.env$'}",
    ],
)
def test_a_property_is_written_like_when(text):
    assert str(parse_property(text).condition) == r"tool matches write_file|edit_file and input.path matches \.env$"


def test_a_word_boundary_in_double_quotes_is_a_backspace():
    with pytest.raises(ConfigError, match="Use single quotes"):
        parse_property(r'input: {command: ["^ls", "\brm\b"]}')
    assert read(r"""properties: [{never: {input: {command: "\brm\b"}}}]""")[1]
    for written in (r"'\brm\b'", r'"\\brm\\b"'):
        assert str(parse_property(f"input: {{command: {written}}}").condition) == r"input.command matches \brm\b"


def test_a_mistake_is_a_config_error():
    with pytest.raises(ConfigError, match="Did you mean tool"):
        parse_property("tol: bash")
    with pytest.raises(ConfigError):
        parse_property("tool: [bash")
    with pytest.raises(HooklineError, match="no hook can deny"):
        parse_property("tool: bash", event="tool.after")


def read(text: str):
    document, _ = read_text(text, "case.yaml")
    problems: list[object] = []
    return read_properties(Node.of(document, problems).get("properties")), problems


def test_a_test_file_has_a_list():
    found, problems = read(
        "properties:\n- {id: safe, never: {tool: bash}}\n- {never: {prompt: x}, on: UserPromptSubmit, ask_is_enough: true}\n"
    )
    assert not problems
    assert [(each.id, each.event, each.ask_is_enough) for each in found] == [
        ("safe", "tool.before", False),
        ("line 3", "prompt.submit", True),
    ]
    assert [each.text for each in found] == ['{"tool": "bash"}', '{"prompt": "x"}']


@pytest.mark.parametrize("entry", ["{id: a}", "{never: {tol: x}}", "{never: {tool: x}, on: tool.after}", "{nver: {}}"])
def test_a_wrong_entry_is_a_problem(entry):
    assert read(f"properties:\n- {entry}\n")[1]
