from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
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
    assert list(unwrappable_servers(FILES)) == ["old"]
    assert list(unwrappable_servers(wrap_servers(FILES))) == ["old"]


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


CODEX = """# my settings
model = "gpt-5"

[mcp_servers.files] # the files
command = "npx" # started with npx
args = [ "-y", # yes
  "@modelcontextprotocol/server-filesystem", "." ]
env = { A = "1" }

[mcp_servers."my git"]
  command = 'C:\\tools\\git'   # no args
  startup_timeout_sec = 20

[mcp_servers.notes]
url = "https://example.org/mcp" # over HTTP
http_headers = { X-Team = "a" }
enabled = true

[mcp_servers.login]
url = "https://example.org/mcp"
bearer_token_env_var = "TOKEN"

[mcp_servers]
inline = { command = "serve" }

[profiles.fast]
model = "gpt-5-mini"
"""
OPENCODE = """{
  "$schema": "https://opencode.ai/config.json", // schema
  "mcp": {
    "files": {"type": "local", "command": ["npx", "-y", "files"], "environment": {"A": "1"}, "enabled": true},
    "short": {"type": "local", "command": [ /* one */ "serve" ]},
    "notes": {"type": "remote", "url": "https://example.org/mcp", "headers": {"X": "1"}, "enabled": false},
    "login": {"type": "remote", "url": "https://example.org/mcp", "oauth": {"clientId": "a"}},
  },
}
"""
ZED = """// Zed
{
  "theme": "One Dark",
  "context_servers": {
    "files": {"source": "custom", "command": "npx", "args": ["-y", "files"], "env": {}},
    "bare": {"command": "serve"}, // bare
    "older": {"command": {"path": "npx", "args": ["files"], "env": {"A": "1"}}, "settings": {}},
    "notes": {"url": "https://example.org/mcp"},
    "extension": {"source": "extension", "enabled": true, "settings": {}},
  },
}
"""
CLIENTS = {"codex": CODEX, "opencode": OPENCODE, "zed": ZED, "crlf": CODEX.replace("\n", "\r\n")}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_file_of_a_client_comes_back_to_the_byte(client: str) -> None:
    text = CLIENTS[client]
    wrapped = wrap_servers(text)
    assert wrapped != text
    assert unwrap_servers(wrapped) == text
    assert wrap_servers(wrapped) == wrapped
    assert unwrap_servers(text) == text


def test_the_servers_of_codex_are_found() -> None:
    before, after = tomllib.loads(CODEX), tomllib.loads(wrap_servers(CODEX))
    servers = after["mcp_servers"]
    assert servers["files"] == {
        "command": "hookline",
        "args": ["mcp", "--name", "files", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."],
        "env": {"A": "1"},
    }
    assert servers["my git"]["command"] == "hookline"
    assert servers["my git"]["args"] == ["mcp", "--name", "my git", "--", "C:\\tools\\git"]
    assert servers["my git"]["startup_timeout_sec"] == 20
    assert servers["inline"]["args"] == ["mcp", "--name", "inline", "--", "serve"]
    assert servers["notes"] == {
        "command": "hookline",
        "args": ["mcp", "--name", "notes", "--url", "https://example.org/mcp"],
        "env": {"HOOKLINE_MCP_HEADERS": '{"X-Team": "a"}'},
        "enabled": True,
    }
    assert servers["login"] == before["mcp_servers"]["login"]
    assert after["profiles"] == before["profiles"]
    for kept in ("# my settings", "# the files", "# started with npx", "# yes", "# no args", "# over HTTP"):
        assert kept in wrap_servers(CODEX)


def test_the_servers_of_opencode_are_found() -> None:
    servers = parse_spans(wrap_servers(OPENCODE)).value["mcp"]
    assert servers["files"]["command"] == ["hookline", "mcp", "--name", "files", "--", "npx", "-y", "files"]
    assert servers["short"]["command"] == ["hookline", "mcp", "--name", "short", "--", "serve"]
    notes = servers["notes"]
    assert (notes["type"], notes["enabled"]) == ("local", False)
    assert notes["command"] == ["hookline", "mcp", "--name", "notes", "--url", "https://example.org/mcp"]
    assert notes["environment"]["HOOKLINE_MCP_HEADERS"] == '{"X": "1"}'
    assert servers["login"]["type"] == "remote"


def test_the_servers_of_zed_are_found() -> None:
    servers = parse_spans(wrap_servers(ZED)).value["context_servers"]
    assert servers["files"]["args"] == ["mcp", "--name", "files", "--", "npx", "-y", "files"]
    assert servers["bare"]["args"] == ["mcp", "--name", "bare", "--", "serve"]
    assert servers["older"]["command"]["path"] == "hookline"
    assert servers["older"]["command"]["args"] == ["mcp", "--name", "older", "--", "npx", "files"]
    assert servers["notes"]["args"][-1] == "https://example.org/mcp"
    assert servers["extension"] == {"source": "extension", "enabled": True, "settings": {}}


@pytest.mark.parametrize("client", ["codex", "opencode"])
def test_a_server_with_a_login_is_named(client: str) -> None:
    assert "would be lost; log in with `hookline mcp --login" in unwrappable_servers(CLIENTS[client])["login"]


@pytest.mark.parametrize(
    "text", ["model = 'x'", "mcp_servers = 1", "[mcp_servers", '{"mcp": {"timeout": 5}}', '{"context_servers": {}}']
)
def test_a_client_without_servers_is_refused(text: str) -> None:
    with pytest.raises(NotWrappableError):
        wrap_servers(text)


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers.a.command = "x"\n',
        "[mcp_servers.a.env]\nA = '1'\n",
        "[[mcp_servers]]\ncommand = 'x'\n",
        "[mcp_servers]\na = {url = 'http://x'}\n",
        "[mcp_servers.a]\nurl = 'http://x'\n[mcp_servers.a.http_headers]\nA = '1'\n",
    ],
)
def test_an_unusual_toml_stays_as_it_is(text: str) -> None:
    try:
        assert wrap_servers(text) == text
    except NotWrappableError:
        return
    assert unwrappable_servers(text) or "command" in text


@given(
    st.dictionaries(
        st.text("ab. '\"\\\u00e9\U0001f600\x7f", min_size=1, max_size=4),
        st.tuples(
            st.text("ab '\"\\]\U0001f600", max_size=4), st.none() | st.lists(st.text('a,]"#', max_size=3), max_size=2)
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["\n", " # a ]\n", "\n\n# x\n"]),
)
def test_any_toml_comes_back_to_the_byte(held: dict[str, Any], end: str) -> None:
    lines = []
    for name, (command, args) in held.items():
        lines.append(f"[mcp_servers.{_toml(name)}]{end}command = {_toml(command)}{end}")
        lines += [] if args is None else [f"args = [{', '.join(map(_toml, args))}]{end}"]
    text = "".join(lines)
    wrapped = wrap_servers(text)
    assert unwrap_servers(wrapped) == text
    for name, server in tomllib.loads(wrapped)["mcp_servers"].items():
        assert server["args"] == ["mcp", "--name", name, "--", held[name][0], *(held[name][1] or [])]


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


WORDS = st.text(max_size=8)
COMMANDS = st.fixed_dictionaries(
    {"command": WORDS}, optional={"args": st.lists(WORDS, max_size=3), "env": st.dictionaries(WORDS, WORDS, max_size=2)}
)
URLS = st.fixed_dictionaries({"url": WORDS}, optional={"headers": st.dictionaries(WORDS, WORDS, max_size=2)})


@given(st.dictionaries(WORDS, COMMANDS | URLS, max_size=3), st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_any_file_comes_back_to_the_byte(held: dict[str, Any], indent: Any, ascii: bool) -> None:
    text = json.dumps({"mcpServers": held}, indent=indent, ensure_ascii=ascii)
    wrapped = wrap_servers(text)
    assert unwrap_servers(wrapped) == text
    assert wrap_servers(wrapped) == wrapped
    for name, server in servers(wrapped).items():
        assert server["args"][:3] == ["mcp", "--name", name]
