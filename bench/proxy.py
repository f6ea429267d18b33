"""What a proxy adds to a tool call: the official client and one server, directly, behind 100 hooks, and behind fastmcp."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.goals import Goal

_ROOT = Path(__file__).parents[1]
_CALLS = 300
_SERVER = (sys.executable, "-m", "bench.proxy")
_FASTMCP = (sys.executable, "-m", "bench.proxy", "fastmcp")
_PROXY = (sys.executable, "-c", "from hookline.cli.main import main; main()", "mcp")
_ARGUMENTS = {"path": "src/app.py", "content": "x = 1\n" * 340}  # 2 KB


def hooks(count: int) -> str:
    """Guards of one tool by its path and content, none of which matches."""
    return json.dumps(
        {
            "hooks": [
                {
                    "id": f"guard-{n}",
                    "on": "tool.before",
                    "when": {
                        "tool": "mcp.bench.write",
                        "input": {"path": rf"secret{n}/.*\.env$", "content": f"KEY_{n}="},
                    },
                    "then": {"deny": "no"},
                }
                for n in range(count)
            ]
        }
    )


def mcp_call() -> dict[str, float]:
    """Seconds of a direct call and of one through each proxy, and what each adds. The calls take turns.

    The fastest tenth counts: on a busy machine the others wait for their turn, once in each process. The processor time is
    that of a proxy's main thread.
    """
    return asyncio.run(_mcp_call())


def goals(calls: dict[str, float]) -> Iterator[Goal]:
    yield Goal("an MCP call behind 100 hooks", calls["added"] / 1e-6, 300, "µs added")
    yield Goal("an MCP call behind 100 hooks", calls["added"] / calls["added by fastmcp"], 1 / 4, "of fastmcp's proxy")


async def _mcp_call() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:
        config = Path(home, "hooks.yaml")
        config.write_text(hooks(100))
        behind = (*_PROXY, "--config", str(config), "--name", "bench", "--", *_SERVER)
        async with AsyncExitStack() as stack:
            commands = {"direct": _SERVER, "hookline": behind, "fastmcp": _FASTMCP}
            clients, processes = {}, {}
            for name, argv in commands.items():
                before = _children()
                clients[name] = await _connect(stack, argv, home)
                (processes[name],) = _children() - before
            await _call(clients, 20)
            spent = {name: _processor_time(pid) for name, pid in processes.items()}
            times = await _call(clients, _CALLS)
            spent = {name: (_processor_time(pid) - spent[name]) / _CALLS for name, pid in processes.items()}
    fast = {name: statistics.quantiles(each, n=10)[0] for name, each in times.items()}
    direct = fast["direct"]
    added = {"added": fast["hookline"] - direct, "added by fastmcp": fast["fastmcp"] - direct}
    return {**fast, **added, "processor time": spent["hookline"], "that of fastmcp": spent["fastmcp"]}


async def _call(clients: dict[str, ClientSession], count: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(count):
        for name, client in clients.items():
            begun = perf_counter()
            await client.call_tool("write", _ARGUMENTS)
            times[name].append(perf_counter() - begun)
    return times


def _children() -> set[int]:
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


def _processor_time(pid: int) -> float:
    """Of the thread that passes messages on, in seconds."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


async def _connect(stack: AsyncExitStack, argv: tuple[str, ...], home: str) -> ClientSession:
    """With a home of its own, where the proxy records what it decides."""
    environment = {**os.environ, "HOME": home, "FASTMCP_LOG_LEVEL": "CRITICAL"}
    parameters = StdioServerParameters(command=argv[0], args=list(argv[1:]), cwd=str(_ROOT), env=environment)
    read, write = await stack.enter_async_context(stdio_client(parameters))
    client = await stack.enter_async_context(ClientSession(read, write))
    await client.initialize()
    return client


def serve() -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("bench", log_level="CRITICAL")

    @server.tool()
    async def write(path: str, content: str) -> str:
        return f"wrote {len(content)} characters to {path}"

    server.run("stdio")


def serve_fastmcp() -> None:
    from fastmcp.client.transports import StdioTransport
    from fastmcp.server import create_proxy

    create_proxy(StdioTransport(_SERVER[0], list(_SERVER[1:]), cwd=str(_ROOT))).run(show_banner=False)


if __name__ == "__main__":
    serve_fastmcp() if "fastmcp" in sys.argv else serve()
