from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.config.json_edit import parse_spans
from hookline.hosts.mcp.client_config import NotWrappableError, unwrap_servers, unwrappable_servers, wrap_servers

pytestmark = pytest.mark.slow


FILES = """{
  // what I use
  "theme": "dark",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],   // here
      "env": {"A": "1"},
    },
    "my git": {"args": [ ], "command":"mcp-server-git" },
    "bare": { "command": "C:\\\\tools\\\\serve" /* no args */ },
    "notes": {
      "type": "http", "url": "https://example.org/mcp",
      "headers": { "Authorization": "Bearer ${TOKEN}" }
    },
    "plain": {"url":"http://127.0.0.1:1/mcp"},
    "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
  },
}
"""


def servers(text: str) -> Any:
    return parse_spans(text).value["mcpServers"]


def test_each_server_has_the_proxy_in_front() -> None:
    wrapped = servers(wrap_servers(FILES))
    assert wrapped["files"] == {
        "command": "hookline",
        "args": ["mcp", "--name", "files", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."],
        "env": {"A": "1"},
    }
    assert wrapped["my git"]["args"] == ["mcp", "--name", "my git", "--", "mcp-server-git"]
    assert wrapped["bare"] == {"command": "hookline", "args": ["mcp", "--name", "bare", "--", "C:\\tools\\serve"]}
    notes = wrapped["notes"]
    assert notes["type"] == "stdio"
    assert notes["args"] == ["mcp", "--name", "notes", "--url", "https://example.org/mcp"]
    assert json.loads(notes["env"]["HOOKLINE_MCP_HEADERS"]) == {"Authorization": "Bearer ${TOKEN}"}
    assert "Bearer" not in str(notes["args"])
    assert wrapped["old"] == {"type": "sse", "url": "http://127.0.0.1:1/sse"}


def test_nothing_else_changes() -> None:
    wrapped = wrap_servers(FILES)
    for kept in (
        "  // what I use\n",
        '"theme": "dark",\n',
        "],   // here\n",
        "/* no args */ },\n",
        '"env": {"A": "1"},\n',
    ):
        assert kept in wrapped


def test_it_comes_back_to_the_byte() -> None:
    assert unwrap_servers(wrap_servers(FILES)) == FILES


def test_wrapping_twice_is_wrapping_once() -> None:
    assert wrap_servers(wrap_servers(FILES)) == wrap_servers(FILES)


def test_unwrapping_what_is_not_wrapped_changes_nothing() -> None:
    assert unwrap_servers(FILES) == FILES


def test_what_was_changed_meanwhile_stays() -> None:
    changed = wrap_servers(FILES).replace('"dark"', '"light"').replace('"."', '"..", "."')
    assert unwrap_servers(changed) == FILES.replace('"dark"', '"light"').replace('"."', '"..", "."')


def test_the_command_can_be_a_path() -> None:
    wrapped = servers(wrap_servers(FILES, "/opt/hookline/bin/hookline"))
    assert wrapped["files"]["command"] == "/opt/hookline/bin/hookline"
    assert unwrap_servers(wrap_servers(FILES, "/opt/hookline/bin/hookline")) == FILES


def test_servers_that_cannot_be_wrapped_are_named() -> None:
    assert unwrappable_servers(FILES) == ("old",)
    assert unwrappable_servers(wrap_servers(FILES)) == ("old",)


def test_the_servers_of_each_project_are_found() -> None:
    text = '{"projects": {"/a": {"mcpServers": {"x": {"command": "y"}}}}, "mcpServers": {}}'
    wrapped = wrap_servers(text)
    assert json.loads(wrapped)["projects"]["/a"]["mcpServers"]["x"]["args"][-1] == "y"
    assert unwrap_servers(wrapped) == text


def test_the_servers_of_an_editors_file_are_found() -> None:
    text = '{"servers": {"x": {"type": "stdio", "command": "y"}}, "inputs": [{"id": "key"}]}'
    wrapped = wrap_servers(text)
    assert json.loads(wrapped)["servers"]["x"]["args"] == ["mcp", "--name", "x", "--", "y"]
    assert unwrap_servers(wrapped) == text
    with pytest.raises(NotWrappableError):
        wrap_servers('{"servers": {"web": {"port": 80}}}')


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mcpServers": 1}', '{"a": 1, "a": 2}', "{'a': 1}", "[" * 5000])
def test_what_lists_no_servers_is_refused(text: str) -> None:
    with pytest.raises(NotWrappableError):
        wrap_servers(text)


WORDS = st.text(max_size=8)
COMMANDS = st.fixed_dictionaries(
    {"command": WORDS}, optional={"args": st.lists(WORDS, max_size=3), "env": st.dictionaries(WORDS, WORDS, max_size=2)}
)
URLS = st.fixed_dictionaries({"url": WORDS}, optional={"headers": st.dictionaries(WORDS, WORDS, max_size=2)})


@settings(max_examples=100)
@given(st.dictionaries(WORDS, COMMANDS | URLS, max_size=3), st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_any_file_comes_back_to_the_byte(held: dict[str, Any], indent: Any, ascii: bool) -> None:
    text = json.dumps({"mcpServers": held}, indent=indent, ensure_ascii=ascii)
    wrapped = wrap_servers(text)
    assert unwrap_servers(wrapped) == text
    assert wrap_servers(wrapped) == wrapped
    for name, server in servers(wrapped).items():
        assert server["args"][:3] == ["mcp", "--name", name]
