"""Puts the proxy in front of the MCP servers in a client's file, and takes it out again. Nothing else changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hookline.config.json_edit import JsonSpan, parse_spans
from hookline.config.toml_spans import parse_toml_spans
from hookline.errors import HooklineError
from hookline.hosts.mcp.server_entries import (
    CommandAndArguments,
    CommandList,
    EntryFormat,
    NestedCommand,
    TextEdit,
    TomlTable,
)

_SERVERS_KEY: Final = "mcpServers"
_CODEX_KEY: Final = "mcp_servers"
_EDITOR_KEY: Final = "servers"  # VS Code's mcp.json
_OPENCODE_KEY: Final = "mcp"
_ZED_KEY: Final = "context_servers"
_PLAIN: Final = CommandAndArguments()
_NESTED: Final = NestedCommand()
_LIST: Final = CommandList()
_TOML: Final = TomlTable()

_Server = tuple[str, JsonSpan, EntryFormat]


class NotWrappableError(ValueError):
    """The text is not a file of MCP servers."""


def wrap_servers(text: str, command: str = "hookline") -> str:
    """Puts each server behind `command mcp`, except those that already are or cannot be.

    Raises NotWrappableError if the text is neither JSON (comments and trailing commas are fine) nor TOML, or lists no
    servers.
    """
    edits = [
        edit
        for name, server, format in _find_servers(text)
        if not format.is_wrapped(server) and format.obstacle(server) is None
        for edit in format.wrap(text, name, server, command)
    ]
    return _apply_edits(text, edits)


def unwrap_servers(text: str) -> str:
    """Undoes `wrap_servers`, keeping other changes that were made since. Raises NotWrappableError."""
    edits = [
        edit
        for _, server, format in _find_servers(text)
        if format.is_wrapped(server)
        for edit in format.unwrap(text, server)
    ]
    return _apply_edits(text, edits)


def unwrappable_servers(text: str) -> dict[str, str]:
    """Why a proxy cannot be put in front of a server, for those of which that is so."""
    found = (
        (name, format.obstacle(server)) for name, server, format in _find_servers(text) if not format.is_wrapped(server)
    )
    return {name: why for name, why in found if why is not None}


def _find_servers(text: str) -> Iterable[_Server]:
    lists = list(_toml_servers(text) if _is_toml(text) else _json_servers(text))
    if not lists:
        raise NotWrappableError(f"it has no key {_CODEX_KEY if _is_toml(text) else _SERVERS_KEY}")
    return [server for each in lists for server in each]


def _is_toml(text: str) -> bool:
    """A JSON file begins with a brace, after comments."""
    return not text.lstrip("\ufeff \t\r\n").startswith(("{", "/"))


def _toml_servers(text: str) -> Iterator[list[_Server]]:
    try:
        whole = parse_toml_spans(text)
    except HooklineError as error:
        raise NotWrappableError(str(error)) from None
    found = whole.members.get(_CODEX_KEY)
    if found is not None and isinstance(found.value, dict):
        yield _servers_in(found, _TOML)


def _json_servers(text: str) -> Iterator[list[_Server]]:
    try:
        whole = parse_spans(text)
    except HooklineError as error:
        raise NotWrappableError(str(error)) from None
    lists = list(_find_server_lists(whole))
    yield from lists
    if not lists:
        yield from (servers for servers in _known_lists(whole) if servers)


def _find_server_lists(span: JsonSpan) -> Iterator[list[_Server]]:
    """Every list of servers: some clients keep one per project."""
    for name, inner in span.members.items():
        if name == _SERVERS_KEY and isinstance(inner.value, dict):
            yield _servers_in(inner, _PLAIN)
        else:
            yield from _find_server_lists(inner)


def _known_lists(whole: JsonSpan) -> Iterator[list[_Server]]:
    """Keys that many other files have too: they count only if one of their values is a server."""
    for key, format in ((_EDITOR_KEY, _PLAIN), (_OPENCODE_KEY, _LIST), (_ZED_KEY, _PLAIN)):
        found = whole.members.get(key)
        servers = [] if found is None else _servers_in(found, format)
        if any(each.is_wrapped(server) or each.obstacle(server) is None for _, server, each in servers):
            yield servers


def _servers_in(found: JsonSpan, format: EntryFormat) -> list[_Server]:
    servers = ((name, server) for name, server in found.members.items() if isinstance(server.value, dict))
    return [
        (name, server, _NESTED if format is _PLAIN and isinstance(server.value.get("command"), dict) else format)
        for name, server in servers
    ]


def _apply_edits(text: str, edits: list[TextEdit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text
