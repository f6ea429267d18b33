"""How the files of MCP clients write one server, and how the proxy is put in front of it and taken away again.

A command stays readable: its words follow ours. A server behind a URL becomes a command, and its original text is kept
beside it, in its environment or in a comment. So both can be restored to the byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

from hookline.config.json_edit import JsonSpan
from hookline.config.toml_spans import NOT_WRITTEN
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

HEADERS_VARIABLE: Final = "HOOKLINE_MCP_HEADERS"
ORIGINAL_VARIABLE: Final = "HOOKLINE_MCP_WAS"
_HTTP_TYPES: Final = ("http", "streamable-http", "streamableHttp", "streamable_http")
_COMMENT_MARK: Final = "# hookline: "
_STRING: Final = r'"(?:[^"\\\n]|\\.)*"'
_REPLACED_STATEMENT: Final = lazy_pattern(
    rf"{_COMMENT_MARK}(.*)\n"
    rf"(?:command={_STRING}\nargs=\[{_STRING}(?:,{_STRING})*\]|env=\{{{HEADERS_VARIABLE}={_STRING}\}})"
)
_LOGIN_BY_HAND: Final = "log in with `hookline mcp --login --url …` or send a header, and write the entry yourself"
_NEEDS_LOGIN: Final = f"its OAuth settings would be lost; {_LOGIN_BY_HAND}"


@dataclass(frozen=True, slots=True)
class TextEdit:
    start: int
    end: int
    new: str


class EntryFormat(Protocol):
    """How a client writes a server."""

    def obstacle(self, server: JsonSpan) -> str | None:
        """Why the proxy cannot be put in front of it; None if it can, or is."""

    def is_wrapped(self, server: JsonSpan) -> bool: ...

    def wrap(self, text: str, name: str, server: JsonSpan, command: str) -> list[TextEdit]: ...

    def unwrap(self, text: str, server: JsonSpan) -> list[TextEdit]: ...


def is_wrapped_call(words: Any) -> bool:
    """Whether these are the arguments of our own command."""
    return isinstance(words, list) and words[:2] == ["mcp", "--name"] and len(words) > 4


def _quote(text: str) -> str:
    """As JSON and TOML write it. TOML has no pairs of surrogates, and only a JSON text can have one alone."""
    has_surrogate = any("\ud800" <= char <= "\udfff" for char in text)
    return json.dumps(text, ensure_ascii=has_surrogate).replace("\x7f", "\\u007f")


def _own_words(name: str) -> list[str]:
    return [_quote(word) for word in ("mcp", "--name", name, "--")]


@dataclass(frozen=True, slots=True)
class CommandAndArguments:
    """`{"command": "npx", "args": [...]}`, as most clients write it. `program` is the key of the program."""

    program: str = "command"

    def obstacle(self, server: JsonSpan) -> str | None:
        held = server.value
        if isinstance(held.get(self.program), str):
            is_plain = held.get("type", "stdio") == "stdio" and isinstance(held.get("args", []), list)
            return None if is_plain else "its type is not stdio"
        if not isinstance(held.get("url"), str) or held.get("type", "http") not in _HTTP_TYPES:
            return "it is neither a command nor a URL over streamable HTTP"
        if "oauth" in held or "auth" in held:
            return _NEEDS_LOGIN
        return None if isinstance(held.get("headers", {}), dict) and "env" not in held else "it has unknown settings"

    def is_wrapped(self, server: JsonSpan) -> bool:
        return is_wrapped_call(server.value.get("args"))

    def wrap(self, text: str, name: str, server: JsonSpan, command: str) -> list[TextEdit]:
        if self.program not in server.members:
            return [TextEdit(server.start, server.end, self._wrapped_url(text, name, server, command))]
        separator = _argument_separator(text, server)
        return _wrap_program(text, name, server, (self.program, command, separator))

    def unwrap(self, text: str, server: JsonSpan) -> list[TextEdit]:
        env = server.value.get("env")
        original = env.get(ORIGINAL_VARIABLE) if isinstance(env, dict) else None
        if isinstance(original, str):
            return [TextEdit(server.start, server.end, original)]
        return _unwrap_program(text, server, self.program, _argument_separator(text, server))

    def _wrapped_url(self, text: str, name: str, server: JsonSpan, command: str) -> str:
        held = server.value
        args = ["mcp", "--name", name, "--url", held["url"]]
        new = {self.program: command, "args": args, "env": _url_environment(text, server)}
        return json.dumps({"type": "stdio", **new} if "type" in held else new)


class NestedCommand:
    """`{"command": {"path": "npx", "args": [...]}}`, as Zed once wrote it."""

    _inner = CommandAndArguments("path")

    def obstacle(self, server: JsonSpan) -> str | None:
        return self._inner.obstacle(server.members["command"])

    def is_wrapped(self, server: JsonSpan) -> bool:
        return self._inner.is_wrapped(server.members["command"])

    def wrap(self, text: str, name: str, server: JsonSpan, command: str) -> list[TextEdit]:
        return self._inner.wrap(text, name, server.members["command"], command)

    def unwrap(self, text: str, server: JsonSpan) -> list[TextEdit]:
        return self._inner.unwrap(text, server.members["command"])


class CommandList:
    """`{"type": "local", "command": ["npx", ...]}` and `{"type": "remote", "url": ...}`, as opencode writes it."""

    def obstacle(self, server: JsonSpan) -> str | None:
        held = server.value
        if held.get("type") == "local" or "command" in held:
            words = held.get("command")
            is_command = isinstance(words, list) and words and all(isinstance(word, str) for word in words)
            return None if is_command else "its command is not a list of words"
        if held.get("type") != "remote" or not isinstance(held.get("url"), str):
            return "it is neither local nor remote"
        if isinstance(held.get("oauth"), dict):
            return _NEEDS_LOGIN
        return None if isinstance(held.get("headers", {}), dict) else "its headers are not a mapping"

    def is_wrapped(self, server: JsonSpan) -> bool:
        words = server.value.get("command")
        return isinstance(words, list) and is_wrapped_call(words[1:])

    def wrap(self, text: str, name: str, server: JsonSpan, command: str) -> list[TextEdit]:
        if "command" in server.members:
            words = [_quote(command), *_own_words(name)]
            at = server.members["command"].items[0].start
            return [TextEdit(at, at, ", ".join(words) + ", ")]
        held = server.value
        new = {
            "type": "local",
            "command": [command, "mcp", "--name", name, "--url", held["url"]],
            "environment": _url_environment(text, server),
            **{key: held[key] for key in ("enabled", "timeout") if key in held},
        }
        return [TextEdit(server.start, server.end, json.dumps(new))]

    def unwrap(self, text: str, server: JsonSpan) -> list[TextEdit]:
        environment = server.value.get("environment")
        original = environment.get(ORIGINAL_VARIABLE) if isinstance(environment, dict) else None
        if isinstance(original, str):
            return [TextEdit(server.start, server.end, original)]
        items = server.members["command"].items
        return [TextEdit(items[0].start, items[5].start, "")] if items[4].value == "--" else []


class TomlTable:
    """`[mcp_servers.name]` with `command` and `args`, or with `url`, as Codex writes it."""

    _LOGIN_KEYS = ("bearer_token_env_var", "env_http_headers", "scopes", "oauth_resource", "oauth")

    def obstacle(self, server: JsonSpan) -> str | None:
        held = server.value
        if isinstance(held.get("command"), str):
            is_plain = isinstance(held.get("args", []), list) and (server.start != NOT_WRITTEN or "args" in held)
            return None if is_plain else "write it as a table of its own"
        if not isinstance(held.get("url"), str):
            return "it is neither a command nor a URL"
        if found := [key for key in self._LOGIN_KEYS if key in held]:
            return f"{found[0]} would be lost; {_LOGIN_BY_HAND}"
        headers = server.members.get("http_headers")
        is_written_out = headers is None or headers.item_start < headers.start
        has_header = server.item_start == server.start != NOT_WRITTEN
        return None if has_header and is_written_out else "write it as a table of its own"

    def is_wrapped(self, server: JsonSpan) -> bool:
        return is_wrapped_call(server.value.get("args"))

    def wrap(self, text: str, name: str, server: JsonSpan, command: str) -> list[TextEdit]:
        if "command" in server.members:
            separator = _argument_separator(text, server)
            return _wrap_program(text, name, server, ("command", command, separator))
        url, headers = server.members["url"], server.members.get("http_headers")
        args = ",".join(map(_quote, ("mcp", "--name", name, "--url", url.value)))
        edits = [self._replace_statement(text, url, f"command={_quote(command)}", f"args=[{args}]")]
        if headers is not None:
            value = _quote(json.dumps(headers.value))
            edits.append(self._replace_statement(text, headers, f"env={{{HEADERS_VARIABLE}={value}}}"))
        return [] if any("\n" in text[edit.start : edit.end] for edit in edits) else edits

    def unwrap(self, text: str, server: JsonSpan) -> list[TextEdit]:
        edits = [
            TextEdit(found.start(), found.end(), found[1])
            for key in ("command", "env")
            if (place := server.members.get(key)) is not None
            and (found := self._replaced_statement(text, place.item_start)) is not None
        ]
        separator = _argument_separator(text, server)
        return edits or _unwrap_program(text, server, "command", separator)

    def _replace_statement(self, text: str, place: JsonSpan, *lines: str) -> TextEdit:
        """The statement becomes a comment above ours."""
        original = text[place.item_start : place.end]
        return TextEdit(place.item_start, place.end, "\n".join((_COMMENT_MARK + original, *lines)))

    def _replaced_statement(self, text: str, at: int) -> re.Match[str] | None:
        """The comment and our own statements, which begin at this place."""
        start = text.rfind("\n", 0, max(at - 1, 0)) + 1
        found = _REPLACED_STATEMENT.search(text, start)
        return found if found is not None and found.start() < at <= found.end() else None


def _url_environment(text: str, server: JsonSpan) -> dict[str, str]:
    environment = {ORIGINAL_VARIABLE: text[server.start : server.end]}
    headers: Mapping[str, Any] = server.value.get("headers") or {}
    return {**environment, HEADERS_VARIABLE: json.dumps(headers)} if headers else environment


def _argument_separator(text: str, server: JsonSpan) -> str:
    """What comes before our own list of arguments. It has no space, by which it is recognised."""
    if server.start != NOT_WRITTEN and text.startswith("[", server.start):
        return "\nargs=["
    is_toml = any(re.match(r"\w", text[each.item_start :]) for each in server.members.values())
    return ",args=[" if is_toml else ',"args":['


def _wrap_program(text: str, name: str, server: JsonSpan, how: tuple[str, str, str]) -> list[TextEdit]:
    """`how`: the key of the program, our own command, and the separator before its arguments."""
    key, command, separator = how
    program = server.members[key]
    ours = TextEdit(program.start, program.end, _quote(command))
    words = [*_own_words(name), text[program.start : program.end]]
    args = server.members.get("args")
    if args is None:
        return [TextEdit(program.start, program.end, f"{ours.new}{separator}{','.join(words)}]")]
    more = ", " if args.value else ""
    return [ours, TextEdit(args.start + 1, args.start + 1, ", ".join(words) + more)]


def _unwrap_program(text: str, server: JsonSpan, key: str, separator: str) -> list[TextEdit]:
    args, program = server.members["args"], server.members.get(key)
    if program is None or args.value[3] != "--":
        return []
    word = args.items[4]
    theirs = TextEdit(program.start, program.end, text[word.start : word.end])
    if text.startswith(f'{separator}"mcp","--name",', program.end) and len(args.items) == 5:
        return [TextEdit(program.start, args.end, theirs.new)]
    end = args.items[5].start if len(args.items) > 5 else word.end
    return [theirs, TextEdit(args.start + 1, _end_of_own_words(text, word, end), "")]


def _end_of_own_words(text: str, word: JsonSpan, next_item: int) -> int:
    """Our own text ends with a comma and a space; what follows, a comment or a new line, was there before."""
    return word.end + 2 if text.startswith(", ", word.end) and next_item > word.end else word.end
