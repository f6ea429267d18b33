"""Why the proxy cannot be put in front of a server, for each way to write one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.json_edit import parse_spans
from hookline.config.toml_spans import parse_toml_spans
from hookline.hosts.mcp.server_entries import CommandAndArguments, CommandList, NestedCommand, TomlTable


@pytest.mark.parametrize(
    ("server", "obstacle"),
    [
        ({"command": "x"}, None),
        ({"command": "x", "type": "docker"}, "stdio"),
        ({"command": "x", "args": "-y"}, "stdio"),
        ({"url": "http://x", "type": "sse"}, "streamable HTTP"),
        ({"url": "http://x", "oauth": {"client_id": "a"}}, "OAuth"),
        ({"url": "http://x", "headers": ["a"]}, "unknown settings"),
        ({"settings": {}}, "neither"),
    ],
)
def test_a_command_with_arguments(server: dict[str, Any], obstacle: str | None) -> None:
    found = CommandAndArguments().obstacle(parse_spans(json.dumps(server)))
    assert found is None if obstacle is None else found is not None and obstacle in found


@pytest.mark.parametrize(
    ("server", "obstacle"),
    [
        ({"type": "local", "command": ["x"]}, None),
        ({"type": "local", "command": "x"}, "list of words"),
        ({"type": "local", "command": []}, "list of words"),
        ({"type": "remote", "url": "http://x", "oauth": False}, None),
        ({"type": "remote", "url": "http://x", "oauth": {}}, "OAuth"),
        ({"type": "remote"}, "neither"),
    ],
)
def test_a_list_of_words(server: dict[str, Any], obstacle: str | None) -> None:
    found = CommandList().obstacle(parse_spans(json.dumps(server)))
    assert found is None if obstacle is None else found is not None and obstacle in found


def test_a_nested_command() -> None:
    assert NestedCommand().obstacle(parse_spans('{"command": {"path": "x"}}')) is None
    assert NestedCommand().obstacle(parse_spans('{"command": {"paths": "x"}}')) is not None


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("[s]\ncommand = 'x'", None),
        ("s = {command = 'x'}", None),
        ("s.command = 'x'", "table of its own"),
        ("[s]\nurl = 'http://x'", None),
        ("s = {url = 'http://x'}", "table of its own"),
        ("[s]\nurl = 'http://x'\nscopes = ['a']", "scopes would be lost"),
        ("[s]\nenabled = true", "neither"),
    ],
)
def test_a_toml_table(text: str, obstacle: str | None) -> None:
    found = TomlTable().obstacle(parse_toml_spans(text).members["s"])
    assert found is None if obstacle is None else found is not None and obstacle in found
