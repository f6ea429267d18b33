"""The tools of an agent's MCP servers: their kinds, calls and results."""

from __future__ import annotations

import asyncio
import json
import logging
import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

import mcp_types as types
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from hookline.errors import HooklineError
from hookline.formatting import printable, shorten
from hookline.hooks import kind_guess
from hookline.hooks.event import deep_equal
from hookline.hooks.host import ToolResult
from hookline.hooks.tool_input import choose_field_name
from hookline.hooks.tools import ToolKind, kind_of_name, main_field
from hookline.hosts.mcp.json_rpc import is_deep, server_name, tool_name
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.runtime.apps.app import McpServer
from hookline.runtime.mcp.connection import McpConnection
from hookline.runtime.mcp.transport import LostCallback, Transport, http_transport, stdio_transport
from hookline.runtime.tools.program_environment import expand_variables, find_unset_variable, server_environment

if TYPE_CHECKING:
    from hookline.runtime.tools.tool_definition import ToolContext


_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_VERB_KINDS: Final = {
    "read": ToolKind.READ,
    "write": ToolKind.WRITE,
    "append": ToolKind.WRITE,
    "edit": ToolKind.EDIT,
    "replace": ToolKind.EDIT,
    "patch": ToolKind.EDIT,
}
_LIST_WORDS: Final = frozenset(("list", "tree"))
_FOLDER_WORDS: Final = frozenset(("directory", "dir", "folder", "files"))


def guess_kind(name: str, schema: Mapping[str, Any], *, read_only: bool = False, destructive: bool = False) -> ToolKind:
    """The kind from the table, or from the words of the name, if the input has that kind's main field.

    A tool with the fields path and content counts as writing a file, unless it declares itself read-only.
    """
    fields = schema.get("properties")
    if not isinstance(fields, Mapping):
        return ToolKind.OTHER
    kind = kind_of_name(name)
    if kind is ToolKind.GREP and _searches_names(name, fields):
        return ToolKind.GLOB
    if kind is not ToolKind.OTHER and _has_field(fields, main_field(kind), kind):
        return kind
    if not read_only and all(_has_field(fields, field, ToolKind.WRITE) for field in ("path", "content")):
        return ToolKind.WRITE
    kind = _kind_from_words([word.casefold() for word in _WORD.findall(name)])
    if read_only and kind in (ToolKind.WRITE, ToolKind.EDIT):
        return ToolKind.OTHER
    if _has_field(fields, "path", kind) or (kind is ToolKind.READ and "paths" in fields):
        return kind
    given = kind_guess.known_fields(
        fields
    )  # an allow relies on the declared kind; guards read other fields at each call
    guess = kind_guess.guess_kind(name, given, reads_only=read_only, destroys=destructive) if given else None
    return ToolKind.OTHER if guess is None else guess.kind


def _kind_from_words(words: list[str]) -> ToolKind:
    if not _FOLDER_WORDS.isdisjoint(words) and not _LIST_WORDS.isdisjoint(words):
        return ToolKind.LIST
    return _VERB_KINDS.get(words[0], ToolKind.OTHER) if words else ToolKind.OTHER


def _searches_names(name: str, fields: Mapping[str, Any]) -> bool:
    """The reference server's `search_files` takes a glob; with a `regex` field it searches file contents."""
    return name == "search_files" and "pattern" in fields


def _has_field(fields: Mapping[str, Any], field: str | None, kind: ToolKind) -> bool:
    return field is not None and choose_field_name(fields, field, kind) in fields


MAX_RESULT_LENGTH: Final = 1_000_000  # characters of a result
_NOTHING: Final = object()


def parse_call_result(answer: CallToolResult, *, parse_json: bool = True) -> ToolResult:
    """Structured data stays structured for hooks; JSON text is parsed if `parse_json` is set."""
    texts = [text for block in answer.content if (text := _block_text(block)) is not None]
    text, files = "\n".join(texts), _collect_attachments(answer.content)
    if answer.is_error:
        message = _shorten_text(text) or "the tool failed without a message"
        return ToolResult(message, False, message, files)
    content = _build_content(answer.structured_content, text, texts, parse_json)
    if content == "" and files:
        content = "\n".join(f"[{file['name']}]" for file in files)
    return ToolResult(content, attachments=files)


def _block_text(block: ContentBlock) -> str | None:
    match block:
        case TextContent(text=text):
            return text
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return text
        case ResourceLink(name=name, uri=uri):
            return f"{name}: {uri}"
    return None


def _collect_attachments(blocks: Sequence[ContentBlock]) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = []
    for block in blocks:
        match block:
            case ImageContent(data=data, mime_type=kind) | AudioContent(data=data, mime_type=kind):
                name = f"{block.type}-{len(found) + 1}{mimetypes.guess_extension(kind) or ''}"
                found.append({"name": name, "mimeType": kind, "data": data})
            case EmbeddedResource(resource=BlobResourceContents(blob=data, mime_type=given, uri=uri)):
                kind = given or "application/octet-stream"
                found.append({"name": _file_name(str(uri)) or f"file-{len(found) + 1}", "mimeType": kind, "data": data})
    return tuple(found)


def _file_name(uri: str) -> str:
    try:
        return PurePosixPath(urlsplit(uri).path).name
    except ValueError:
        return ""


def _build_content(structured: Any, text: str, texts: list[str], parse_json: bool) -> Any:
    if structured is None or is_deep(structured):
        found = _parse_json(text) if parse_json else _NOTHING
        return _shorten_text(text) if found is _NOTHING else found
    value = _unwrap_value(structured, text, texts)
    if isinstance(value, str) or _is_large(value):
        return _shorten_text(text or _to_json_text(value))
    if not text or not isinstance(value, dict) or "text" in value or value is not structured:
        return value
    return value if deep_equal(_parse_json(text), value) else {**value, "text": _shorten_text(text)}


def _unwrap_value(structured: Any, text: str, texts: list[str]) -> Any:
    """The value of a wrapper object with one field."""
    if not isinstance(structured, dict) or len(structured) != 1:
        return structured
    value = next(iter(structured.values()))
    if deep_equal(value, text) or deep_equal(value, _parse_json(text)):
        return value
    if isinstance(value, list) and [_to_json_text(each) for each in value] == [_normalize_json(each) for each in texts]:
        return value
    return text if not isinstance(value, (dict, list)) and _to_json_text(value) == text else structured


def _parse_json(text: str) -> Any:
    """The parsed object or list; _NOTHING for other text."""
    if not text.lstrip().startswith(("{", "[")) or len(text) > MAX_RESULT_LENGTH:
        return _NOTHING
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING
    return value if isinstance(value, (dict, list)) and not is_deep(value) else _NOTHING


def _normalize_json(text: str) -> str:
    value = _parse_json(text)
    return text if value is _NOTHING else _to_json_text(value)


def _to_json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_large(value: Any) -> bool:
    return len(_to_json_text(value)) > MAX_RESULT_LENGTH


def _shorten_text(text: str) -> str:
    return (
        text
        if len(text) <= MAX_RESULT_LENGTH
        else f"{text[:MAX_RESULT_LENGTH]}\n… and {len(text) - MAX_RESULT_LENGTH} more characters"
    )


_log = logging.getLogger("hookline")

START_TIMEOUT: Final = timedelta(seconds=30)
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_MAX_DESCRIPTION_LENGTH: Final = 8_000  # characters


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of an MCP server. Do not trust its annotations: the server wrote them."""

    name: str
    description: str
    schema: dict[str, Any]
    kind: ToolKind
    annotations: dict[str, Any]
    remote_name: str = field(repr=False)  # its name on the server
    connection: McpConnection = field(repr=False)
    timeout: timedelta = field(repr=False)

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            answer = await self.connection.call(self.remote_name, input, self.timeout)
        except HooklineError as error:
            return ToolResult(None, False, f"{self.name}: {error}")
        return parse_call_result(
            answer, parse_json=self.kind is not ToolKind.READ
        )  # the text of a JSON file stays unchanged


class McpServers:
    """Starts all servers at the same time. A server that fails gets a line in `problems` and has no tools."""

    def __init__(
        self, specs: tuple[McpServer, ...], workspace: Path, env: Mapping[str, str], starting: timedelta = START_TIMEOUT
    ) -> None:
        self.problems: tuple[str, ...] = ()
        self._workspace = workspace
        self._user_env = env
        self._env = server_environment(env)
        self._starting = starting
        self._specs = specs
        self._open_connections: list[tuple[McpServer, McpConnection]] = []
        self._tool_cache: dict[str, tuple[tuple[types.Tool, ...], tuple[McpTool, ...]]] = {}

    async def __aenter__(self) -> Self:
        found = list(self._create_connections())
        try:
            opened = await asyncio.gather(*(self._try_open(spec, connection) for spec, connection in found))
        except BaseException:
            await _close_all(found)
            raise
        self._open_connections = [each for each, is_open in zip(found, opened, strict=True) if is_open]
        return self

    async def __aexit__(self, *_: object) -> None:
        await _close_all(self._open_connections)

    def tools(self) -> tuple[McpTool, ...]:
        """The tools that the servers list now."""
        return tuple(tool for spec, connection in self._open_connections for tool in self._tools_of(spec, connection))

    def _tools_of(self, spec: McpServer, connection: McpConnection) -> tuple[McpTool, ...]:
        listed, built = self._tool_cache.get(connection.name, ((), ()))
        if listed is not connection.tools:
            listed = connection.tools
            tools = [tool for each in listed if (tool := _build_tool(each, spec, connection)) is not None]
            built = tuple({tool.name: tool for tool in reversed(tools)}.values())[::-1]
            self._tool_cache[connection.name] = (listed, built)
        return built

    def _create_connections(self) -> Iterator[tuple[McpServer, McpConnection]]:
        names: set[str] = set()
        for spec in self._specs:
            name = server_name(spec.name)
            if not name:
                self._add_problem(spec, "its name needs a letter or a digit")
            elif name in names:
                self._add_problem(spec, "another server has the same name")
            elif bool(spec.command) == bool(spec.url):
                self._add_problem(spec, "write either a command or a url")
            elif missing := find_unset_variable((*spec.env.values(), *spec.headers.values()), self._user_env):
                self._add_problem(spec, f"the variable {missing} is not set")
            else:
                names.add(name)
                yield spec, McpConnection(name, self._transport_factory(self._expand_spec(spec)), self._starting)

    def _expand_spec(self, spec: McpServer) -> McpServer:
        return replace(
            spec, env=expand_variables(spec.env, self._user_env), headers=expand_variables(spec.headers, self._user_env)
        )

    def _transport_factory(self, spec: McpServer) -> Callable[[LostCallback], Transport]:
        if spec.url:
            return lambda lost: http_transport(spec)
        return partial(stdio_transport, spec, self._workspace, self._env)

    async def _try_open(self, spec: McpServer, connection: McpConnection) -> bool:
        try:
            await connection.open()
        except HooklineError as error:
            self._add_problem(spec, str(error))
            await connection.close()
            return False
        return True

    def _add_problem(self, spec: McpServer, reason: str) -> None:
        self.problems = (*self.problems, f"MCP server {shorten(printable(spec.name))!r}: {reason}")


async def _close_all(connected: list[tuple[McpServer, McpConnection]]) -> None:
    await asyncio.gather(*(connection.close() for _, connection in connected))


def _build_tool(tool: types.Tool, spec: McpServer, connection: McpConnection) -> McpTool | None:
    if not _TOOL_NAME.fullmatch(tool.name) or is_deep(tool.input_schema):
        _log.warning(
            "[%s] skipped a tool with an invalid name or schema: %s", connection.name, shorten(printable(tool.name))
        )
        return None
    annotations = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations is not None else {}
    return McpTool(
        name=tool_name(connection.name, tool.name),
        description=(tool.description or tool.title or "")[:_MAX_DESCRIPTION_LENGTH],
        schema=tool.input_schema,
        kind=guess_kind(
            tool.name,
            tool.input_schema,
            read_only=annotations.get("readOnlyHint") is True,
            destructive=annotations.get("destructiveHint") is True,
        ),
        annotations=annotations,
        remote_name=tool.name,
        connection=connection,
        timeout=spec.timeout,
    )
