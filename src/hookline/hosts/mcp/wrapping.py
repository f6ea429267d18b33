"""A client's file that lists MCP servers ↔ the same file with the proxy in front of each; nothing else in it changes.

A command stays readable where it stood: its words follow ours in `args`. A server behind a URL becomes a command, and
the text of what it was is kept in its environment, so both come back to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hookline.hosts.mcp.spans import Span, Unreadable, span_of

HEADERS_VARIABLE: Final = "HOOKLINE_MCP_HEADERS"
WAS_VARIABLE: Final = "HOOKLINE_MCP_WAS"
_LIST: Final = "mcpServers"
_EDITORS_LIST: Final = "servers"
_STREAMABLE: Final = ("http", "streamable-http", "streamableHttp", "streamable_http")


class NotWrappable(ValueError):
    """The text is not a file of MCP servers."""


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    new: str


def wrap_servers(text: str, command: str = "hookline") -> str:
    """Each server under `mcpServers` behind `command mcp`; one that is already, or cannot be, stays as it is.

    Raises NotWrappable if the text is no JSON (comments and trailing commas are fine) or lists no servers.
    """
    return _edited(text, [edit for name, server in _servers(text) for edit in _wrap(text, name, server, command)])


def unwrap_servers(text: str) -> str:
    """The text as it was before `wrap_servers`, with whatever else was changed since. Raises NotWrappable."""
    return _edited(text, [edit for _, server in _servers(text) for edit in _unwrap(text, server)])


def unwrappable(text: str) -> tuple[str, ...]:
    """The names of the servers that have no proxy in front of them and cannot have one."""
    return tuple(name for name, server in _servers(text) if not _is_wrapped(server) and not _can_wrap(server))


def _servers(text: str) -> Iterator[tuple[str, Span]]:
    try:
        whole = span_of(text)
    except Unreadable as error:
        raise NotWrappable(str(error)) from None
    lists = list(_lists(whole)) or list(_of_editor(whole))
    if not lists:
        raise NotWrappable(f"there is no {_LIST} in it")
    return ((name, server) for each in lists for name, server in each.members.items() if isinstance(server.value, dict))


def _lists(span: Span) -> Iterator[Span]:
    """Every list of servers: some clients keep one for each project."""
    for name, inner in span.members.items():
        if name == _LIST and isinstance(inner.value, dict):
            yield inner
        else:
            yield from _lists(inner)


def _of_editor(whole: Span) -> Iterator[Span]:
    """VS Code's mcp.json has another name for it, which many other files have too."""
    found = whole.members.get(_EDITORS_LIST)
    if found is not None and any(_can_wrap(each) or _is_wrapped(each) for each in found.members.values()):
        yield found


def _can_wrap(server: Span) -> bool:
    held = server.value
    if not isinstance(held, dict):
        return False
    if isinstance(held.get("command"), str):
        return held.get("type", "stdio") == "stdio" and isinstance(held.get("args", []), list)
    plain = isinstance(held.get("headers", {}), dict) and "env" not in held
    return plain and isinstance(held.get("url"), str) and held.get("type", "http") in _STREAMABLE


def _is_wrapped(server: Span) -> bool:
    args = server.value.get("args") if isinstance(server.value, dict) else None
    return isinstance(args, list) and args[:2] == ["mcp", "--name"] and len(args) > 4


def _wrap(text: str, name: str, server: Span, command: str) -> list[_Edit]:
    if _is_wrapped(server) or not _can_wrap(server):
        return []
    if "command" not in server.members:
        return [_Edit(server.start, server.end, _behind_url(text, name, server, command))]
    program = server.members["command"]
    ours = _Edit(program.start, program.end, json.dumps(command))
    words = [*map(json.dumps, ("mcp", "--name", name, "--")), text[program.start : program.end]]
    args = server.members.get("args")
    if args is None:  # written without a space, by which it is known again
        return [_Edit(program.start, program.end, f'{ours.new},"args":[{",".join(words)}]')]
    more = ", " if args.value else ""
    return [ours, _Edit(args.start + 1, args.start + 1, ", ".join(words) + more)]


def _behind_url(text: str, name: str, server: Span, command: str) -> str:
    held = server.value
    env = {WAS_VARIABLE: text[server.start : server.end]}
    if held.get("headers"):
        env[HEADERS_VARIABLE] = json.dumps(held["headers"])
    new: dict[str, Any] = {"command": command, "args": ["mcp", "--name", name, "--url", held["url"]], "env": env}
    return json.dumps({"type": "stdio", **new} if "type" in held else new)


def _unwrap(text: str, server: Span) -> list[_Edit]:
    if not _is_wrapped(server):
        return []
    was = server.value.get("env", {}).get(WAS_VARIABLE) if isinstance(server.value.get("env"), dict) else None
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
    return [theirs, _Edit(args.start + 1, _end_of_ours(text, word, end), "")]


def _end_of_ours(text: str, word: Span, next_item: int) -> int:
    """Ours end with a comma and a space; what follows, a comment or a new line, was there before."""
    return word.end + 2 if text.startswith(", ", word.end) and next_item > word.end else word.end


def _edited(text: str, edits: list[_Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text
