"""What the proxy adds to a tool call: the official client and one server, directly and behind 100 hooks."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

_ROOT = Path(__file__).parents[1]
_CALLS = 300
_SERVER = (sys.executable, "-m", "bench.proxy")
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
    """Median seconds of a direct call, of a call through the proxy, and of the difference; the two alternate."""
    return asyncio.run(_mcp_call())


async def _mcp_call() -> dict[str, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(hooks(100))
        config.flush()
        behind = (*_PROXY, "--config", config.name, "--name", "bench", "--", *_SERVER)
        async with AsyncExitStack() as stack:
            clients = {name: await _connect(stack, argv) for name, argv in (("direct", _SERVER), ("proxy", behind))}
            times: dict[str, list[float]] = {name: [] for name in clients}
            for n in range(_CALLS + 20):
                for name, client in clients.items():
                    begun = perf_counter()
                    await client.call_tool("write", _ARGUMENTS)
                    if n >= 20:
                        times[name].append(perf_counter() - begun)
    medians = {name: statistics.median(each) for name, each in times.items()}
    added = [behind - direct for direct, behind in zip(times["direct"], times["proxy"], strict=True)]
    return {**medians, "added": statistics.median(added)}


async def _connect(stack: AsyncExitStack, argv: tuple[str, ...]) -> ClientSession:
    parameters = StdioServerParameters(command=argv[0], args=list(argv[1:]), cwd=str(_ROOT))
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


if __name__ == "__main__":
    serve()
