from __future__ import annotations

import jsonschema
import pytest

from hookline.hooks.event import Event
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import VOCABULARIES, ToolKind, main_field
from hookline.runtime.tools.tool_definition import Tool
from hookline.runtime.tools.toolbox import built_in_tools, module_tools

TOOLS = {tool.name: tool for tool in (*built_in_tools(), *module_tools())}
OURS = VOCABULARIES["hookline"]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_each_is_described_and_takes_an_object(tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.schema["type"] == "object"
    assert tool.description.endswith(".")
    assert all("description" in each for each in tool.schema["properties"].values())


def test_names_and_kinds_are_those_that_hooks_know() -> None:
    named = {name: kind for kind, names in OURS.names.items() for name in names}
    for tool in built_in_tools():
        assert tool.kind is named.get(tool.name, ToolKind.OTHER)
    missing = set(named) - set(TOOLS)
    assert missing == {"web_search", "agent"}
    for tool in TOOLS.values():
        main = main_field(tool.kind)
        assert main is None or main in tool.schema["properties"]


@pytest.mark.parametrize(
    ("module", "hook"),
    [
        ("filesystem.read", "read_file"),
        ("filesystem.write", "write_file"),
        ("filesystem.delete", "write_file"),
        ("filesystem.edit", "edit_file"),
        ("filesystem.list", "list_directory"),
        ("filesystem.glob", "glob"),
        ("filesystem.grep", "grep"),
    ],
)
def test_a_hook_on_a_built_in_hears_its_module_too(module: str, hook: str) -> None:
    event = Event("tool.before", {"tool": {"name": module, "kind": TOOLS[module].kind.value, "input": {}}})
    assert hook in ToolName().texts(event)
