"""Puts the proxy in front of the MCP servers in a client's file, and takes it out again. Nothing else changes.

A command stays readable: its words follow ours in `args`. A server behind a URL becomes a command, and its original
text is kept in its environment, so both can be restored to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from hookline.config.json_edit import JsonSpan, parse_spans
from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass

HEADERS_VARIABLE: Final = "HOOKLINE_MCP_HEADERS"
ORIGINAL_VARIABLE: Final = "HOOKLINE_MCP_WAS"
_SERVERS_KEY: Final = "mcpServers"
_EDITOR_SERVERS_KEY: Final = "servers"
_HTTP_TYPES: Final = ("http", "streamable-http", "streamableHttp", "streamable_http")


class NotWrappableError(ValueError):
    """The text is not a file of MCP servers."""


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    new: str


def wrap_servers(text: str, command: str = "hookline") -> str:
    """Puts each server under `mcpServers` behind `command mcp`, except those that already are or cannot be.

    Raises NotWrappableError if the text is not JSON (comments and trailing commas are fine) or lists no servers.
    """
    return _apply_edits(
        text, [edit for name, server in _find_servers(text) for edit in _wrap_edits(text, name, server, command)]
    )


def unwrap_servers(text: str) -> str:
    """Undoes `wrap_servers`, keeping other changes that were made since. Raises NotWrappableError."""
    return _apply_edits(text, [edit for _, server in _find_servers(text) for edit in _unwrap_edits(text, server)])


def unwrappable_servers(text: str) -> tuple[str, ...]:
    """The names of the servers without a proxy that cannot have one."""
    return tuple(name for name, server in _find_servers(text) if not _is_wrapped(server) and not _can_wrap(server))


def _find_servers(text: str) -> Iterator[tuple[str, JsonSpan]]:
    try:
        whole = parse_spans(text)
    except HooklineError as error:
        raise NotWrappableError(str(error)) from None
    lists = list(_find_server_lists(whole)) or list(_find_editor_list(whole))
    if not lists:
        raise NotWrappableError(f"it has no key {_SERVERS_KEY}")
    return ((name, server) for each in lists for name, server in each.members.items() if isinstance(server.value, dict))


def _find_server_lists(span: JsonSpan) -> Iterator[JsonSpan]:
    """Every list of servers: some clients keep one per project."""
    for name, inner in span.members.items():
        if name == _SERVERS_KEY and isinstance(inner.value, dict):
            yield inner
        else:
            yield from _find_server_lists(inner)


def _find_editor_list(whole: JsonSpan) -> Iterator[JsonSpan]:
    """VS Code's mcp.json uses another key, which many other files have too."""
    found = whole.members.get(_EDITOR_SERVERS_KEY)
    if found is not None and any(_can_wrap(each) or _is_wrapped(each) for each in found.members.values()):
        yield found


def _can_wrap(server: JsonSpan) -> bool:
    held = server.value
    if not isinstance(held, dict):
        return False
    if isinstance(held.get("command"), str):
        return held.get("type", "stdio") == "stdio" and isinstance(held.get("args", []), list)
    plain = isinstance(held.get("headers", {}), dict) and "env" not in held
    return plain and isinstance(held.get("url"), str) and held.get("type", "http") in _HTTP_TYPES


def _is_wrapped(server: JsonSpan) -> bool:
    args = server.value.get("args") if isinstance(server.value, dict) else None
    return isinstance(args, list) and args[:2] == ["mcp", "--name"] and len(args) > 4


def _wrap_edits(text: str, name: str, server: JsonSpan, command: str) -> list[_Edit]:
    if _is_wrapped(server) or not _can_wrap(server):
        return []
    if "command" not in server.members:
        return [_Edit(server.start, server.end, _wrapped_url_server(text, name, server, command))]
    program = server.members["command"]
    ours = _Edit(program.start, program.end, json.dumps(command))
    words = [*map(json.dumps, ("mcp", "--name", name, "--")), text[program.start : program.end]]
    args = server.members.get("args")
    if args is None:  # written without a space, by which it is recognised
        return [_Edit(program.start, program.end, f'{ours.new},"args":[{",".join(words)}]')]
    more = ", " if args.value else ""
    return [ours, _Edit(args.start + 1, args.start + 1, ", ".join(words) + more)]


def _wrapped_url_server(text: str, name: str, server: JsonSpan, command: str) -> str:
    held = server.value
    env = {ORIGINAL_VARIABLE: text[server.start : server.end]}
    if held.get("headers"):
        env[HEADERS_VARIABLE] = json.dumps(held["headers"])
    new: dict[str, Any] = {"command": command, "args": ["mcp", "--name", name, "--url", held["url"]], "env": env}
    return json.dumps({"type": "stdio", **new} if "type" in held else new)


def _unwrap_edits(text: str, server: JsonSpan) -> list[_Edit]:
    if not _is_wrapped(server):
        return []
    was = server.value.get("env", {}).get(ORIGINAL_VARIABLE) if isinstance(server.value.get("env"), dict) else None
    if isinstance(was, str):
        return [_Edit(server.start, server.end, was)]
    args, program = server.members["args"], server.members.get("command")
    if program is None or args.value[3] != "--":
        return []
    word = args.items[4]
    theirs = _Edit(program.start, program.end, text[word.start : word.end])
    if text.startswith(',"args":["mcp","--name",', program.end) and len(args.items) == 5:
        return [_Edit(program.start, args.end, theirs.new)]
    end = args.items[5].start if len(args.items) > 5 else word.end
    return [theirs, _Edit(args.start + 1, _end_of_own_words(text, word, end), "")]


def _end_of_own_words(text: str, word: JsonSpan, next_item: int) -> int:
    """Our own text ends with a comma and a space; what follows, a comment or a new line, was there before."""
    return word.end + 2 if text.startswith(", ", word.end) and next_item > word.end else word.end


def _apply_edits(text: str, edits: list[_Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text
