"""The MCP server of the runtime's tests, on its two transports."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from hookline.hooks.host import ToolResult
from hookline.runtime.apps.app import McpServer
from hookline.runtime.mcp.server_tools import McpServers
from hookline.runtime.tools.tool_definition import ToolContext

SCRIPT = Path(__file__).parent / "fixtures" / "mcp" / "office_server.py"
COMMAND = (sys.executable, str(SCRIPT))
DEADLINE = 60.0


def office_server_config(name: str = "office", **changed: Any) -> McpServer:
    return McpServer(name, **{"command": COMMAND, "timeout": timedelta(seconds=30), **changed})


def tool_place(workspace: Path) -> ToolContext:
    """For tools that neither store nor speak."""
    nobody = cast(Any, None)
    return ToolContext(workspace, session="s", agent="a", thread=nobody, thread_id="t", store=nobody)


async def perform_tool(servers: McpServers, name: str, /, **input: Any) -> ToolResult:
    tool = next(tool for tool in servers.tools() if tool.name == name)
    return await tool.perform(input, tool_place(Path.cwd()))


async def wait_until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Returns once it does; whether it ever does is no question of time."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.01)


@contextmanager
def running_http_server(port: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen((*COMMAND, str(port)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


async def wait_for_port(port: int) -> str:
    """The server's URL, once somebody answers there."""
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return f"http://127.0.0.1:{port}/mcp"
