"""Ways to drive `hookline mcp`: with the official client, and line by line."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVERS = Path(__file__).parent / "fixtures" / "mcp"
SAMPLE = (sys.executable, str(SERVERS / "sample_server.py"))
HOOKLINE = (sys.executable, "-c", "from hookline.cli.main import main; main()")
TIMEOUT = 60.0


class Project:
    """An empty directory with an empty home beside it, where the proxy runs."""

    def __init__(self, path: Path) -> None:
        self.directory, self.home = path / "project", path / "home"
        self.directory.mkdir()
        self.home.mkdir()
        self.log = path / "heard.jsonl"

    def hooks(self, *hooks: dict[str, Any]) -> Project:
        (self.directory / "hooks.yaml").write_text(json.dumps({"hooks": list(hooks)}), encoding="utf-8")
        return self

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOOKLINE", "XDG_"))}
        return {**kept, "HOME": str(self.home)}

    def argv(self, *server: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
        config = ("--config", "hooks.yaml") if (self.directory / "hooks.yaml").exists() else ()
        return (*HOOKLINE, "mcp", *config, *options, *(("--", *server) if server else ()))

    def raw_argv(self, *words: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
        server = (sys.executable, str(SERVERS / "raw_server.py"), str(self.log), *words)
        return self.argv(*server, options=options)

    def parameters(self, argv: tuple[str, ...]) -> StdioServerParameters:
        return StdioServerParameters(
            command=argv[0], args=list(argv[1:]), env=self.environment, cwd=str(self.directory)
        )

    def received_messages(self) -> list[dict[str, Any]]:
        """What the raw server was told."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()] if self.log.exists() else []


@asynccontextmanager
async def official_client(parameters: StdioServerParameters, **callbacks: Any) -> AsyncIterator[ClientSession]:
    """The official client, from the handshake on."""
    async with (
        asyncio.timeout(TIMEOUT),
        stdio_client(parameters) as (read, write),
        ClientSession(read, write, **callbacks) as client,
    ):
        await client.initialize()
        yield client


class RawClient:
    """The client of a proxy, line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def write(self, message: dict[str, Any] | list[Any] | bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")

    def request(self, id: Any, method: str, params: dict[str, Any] | None = None) -> None:
        self.write({"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})})

    def call(self, id: Any, tool: str, **arguments: Any) -> None:
        self.request(id, "tools/call", {"name": tool, "arguments": arguments})

    async def line(self) -> bytes:
        assert self.process.stdout is not None
        return await self.process.stdout.readline()

    async def next(self) -> dict[str, Any]:
        line = await self.line()
        assert line, "the proxy has closed its output"
        message: dict[str, Any] = json.loads(line)
        return message

    async def answer(self, id: Any) -> dict[str, Any]:
        """The answer to this request; others that come before it are dropped."""
        while (message := await self.next()).get("id") != id or "method" in message:
            pass
        return message

    async def close_and_wait(self) -> tuple[int, str]:
        """Its exit code and what it said on stderr, once its input is closed."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        said = await self.process.stderr.read()
        return await self.process.wait(), said.decode()


@asynccontextmanager
async def raw_client(project: Project, argv: tuple[str, ...], **capabilities: Any) -> AsyncIterator[RawClient]:
    """A proxy that has seen the handshake."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=project.directory,
        env=project.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=64 * 1024 * 1024,
    )
    try:
        async with asyncio.timeout(TIMEOUT):
            client = RawClient(process)
            client.request(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities})
            assert "result" in await client.answer(0)
            yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
