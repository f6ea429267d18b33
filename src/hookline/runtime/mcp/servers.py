"""The MCP servers of an agent, and their tools as the agent's own."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import mcp_types as types

from hookline.config.problem import printable, short
from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.hosts.mcp.calls import server_name, tool_name
from hookline.hosts.mcp.message import is_deep
from hookline.runtime.app import Server
from hookline.runtime.mcp.connection import Connection
from hookline.runtime.mcp.kinds import kind_by
from hookline.runtime.mcp.results import result_of
from hookline.runtime.mcp.transport import Lost, Transport, over_http, over_pipes
from hookline.runtime.tools.environment import filled, for_servers, unset

if TYPE_CHECKING:
    from hookline.runtime.tools.tool import Place

_log = logging.getLogger("hookline")

STARTING: Final = timedelta(seconds=30)
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_LONGEST_DESCRIPTION: Final = 8_000  # characters


@dataclass(frozen=True, slots=True)
class ServerTool:
    """One tool of an MCP server. The annotations are what the server says of it, not what it does."""

    name: str
    description: str
    schema: dict[str, Any]
    kind: Kind
    annotations: dict[str, Any]
    called: str = field(repr=False)  # as the server calls it
    connection: Connection = field(repr=False)
    timeout: timedelta = field(repr=False)

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        try:
            answer = await self.connection.call(self.called, input, self.timeout)
        except HooklineError as error:
            return ToolResult(None, False, f"{self.name}: {error}")
        return result_of(answer, opened=self.kind is not Kind.READ)  # a file that is JSON stays as it was written


class Servers:
    """Starts them all at once on entering. One that cannot be started is a line in `problems` and has no tools."""

    def __init__(
        self, specs: tuple[Server, ...], workspace: Path, env: Mapping[str, str], starting: timedelta = STARTING
    ) -> None:
        self.problems: tuple[str, ...] = ()
        self._workspace = workspace
        self._all = env
        self._env = for_servers(env)
        self._starting = starting
        self._specs = specs
        self._connected: list[tuple[Server, Connection]] = []
        self._made: dict[str, tuple[tuple[types.Tool, ...], tuple[ServerTool, ...]]] = {}

    async def __aenter__(self) -> Self:
        found = list(self._connections())
        try:
            opened = await asyncio.gather(*(self._opened(spec, connection) for spec, connection in found))
        except BaseException:
            await _closed(found)
            raise
        self._connected = [each for each, is_open in zip(found, opened, strict=True) if is_open]
        return self

    async def __aexit__(self, *_: object) -> None:
        await _closed(self._connected)

    def tools(self) -> tuple[ServerTool, ...]:
        """As the servers list them now."""
        return tuple(tool for spec, connection in self._connected for tool in self._tools_of(spec, connection))

    def _tools_of(self, spec: Server, connection: Connection) -> tuple[ServerTool, ...]:
        listed, made = self._made.get(connection.name, ((), ()))
        if listed is not connection.tools:
            listed = connection.tools
            tools = [tool for each in listed if (tool := _tool(each, spec, connection)) is not None]
            made = tuple({tool.name: tool for tool in reversed(tools)}.values())[::-1]
            self._made[connection.name] = (listed, made)
        return made

    def _connections(self) -> Iterator[tuple[Server, Connection]]:
        names: set[str] = set()
        for spec in self._specs:
            name = server_name(spec.name)
            if not name:
                self._problem(spec, "its name needs a letter or a digit")
            elif name in names:
                self._problem(spec, "there is another one of that name")
            elif bool(spec.command) == bool(spec.url):
                self._problem(spec, "it needs either a command or a url")
            elif missing := unset((*spec.env.values(), *spec.headers.values()), self._all):
                self._problem(spec, f"the variable {missing} is not set")
            else:
                names.add(name)
                yield spec, Connection(name, self._way_to(self._filled(spec)), self._starting)

    def _filled(self, spec: Server) -> Server:
        return replace(spec, env=filled(spec.env, self._all), headers=filled(spec.headers, self._all))

    def _way_to(self, spec: Server) -> Callable[[Lost], Transport]:
        if spec.url:
            return lambda lost: over_http(spec)
        return partial(over_pipes, spec, self._workspace, self._env)

    async def _opened(self, spec: Server, connection: Connection) -> bool:
        try:
            await connection.open()
        except HooklineError as error:
            self._problem(spec, str(error))
            await connection.close()
            return False
        return True

    def _problem(self, spec: Server, why: str) -> None:
        self.problems = (*self.problems, f"MCP server {short(printable(spec.name))!r}: {why}")


async def _closed(connected: list[tuple[Server, Connection]]) -> None:
    await asyncio.gather(*(connection.close() for _, connection in connected))


def _tool(tool: types.Tool, spec: Server, connection: Connection) -> ServerTool | None:
    if not _NAME.fullmatch(tool.name) or is_deep(tool.input_schema):
        _log.warning("[%s] a tool cannot be used: %s", connection.name, short(printable(tool.name)))
        return None
    said = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations is not None else {}
    return ServerTool(
        name=tool_name(connection.name, tool.name),
        description=(tool.description or tool.title or "")[:_LONGEST_DESCRIPTION],
        schema=tool.input_schema,
        kind=kind_by(tool.name, tool.input_schema, read_only=said.get("readOnlyHint") is True),
        annotations=said,
        called=tool.name,
        connection=connection,
        timeout=spec.timeout,
    )
