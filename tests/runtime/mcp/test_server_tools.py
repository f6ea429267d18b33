"""Servers of the official kind, as the agent meets them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

from hookline.hooks.tools import ToolKind
from hookline.runtime.apps.app import McpServer
from hookline.runtime.mcp.server_tools import McpServers
from hookline.runtime.tools.program_environment import SERVER_VARIABLES
from mcp_test_server import (
    COMMAND,
    DEADLINE,
    free_port,
    office_server_config,
    perform_tool,
    running_http_server,
    tool_place,
    wait_for_port,
    wait_until,
)

pytestmark = pytest.mark.slow


Play = Callable[[McpServers], Coroutine[Any, Any, None]]


@asynccontextmanager
async def opened(workspace: Path, *specs: McpServer, starting: float = 30) -> AsyncIterator[McpServers]:
    async with asyncio.timeout(DEADLINE):
        async with McpServers(specs, workspace, os.environ, timedelta(seconds=starting)) as servers:
            yield servers


def played(workspace: Path, play: Play, *specs: McpServer) -> None:
    """With servers of its own."""

    async def run() -> None:
        async with opened(workspace, *(specs or (office_server_config(),))) as servers:
            assert servers.problems == ()
            await play(servers)

    asyncio.run(run())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Play], None]]:
    """One server for all the tests that leave it as it was: to start one takes a second."""
    with asyncio.Runner() as runner:
        servers = McpServers((office_server_config(),), tmp_path_factory.mktemp("office"), os.environ)
        runner.run(servers.__aenter__())
        yield lambda play: runner.run(play(servers))
        runner.run(servers.__aexit__())


def test_tools_have_names_kinds_schemas_and_what_the_server_says_of_them(shared: Callable[[Play], None]) -> None:
    async def play(servers: McpServers) -> None:
        tools = {tool.name: tool for tool in servers.tools()}
        write = tools["mcp.office.write_file"]
        assert (write.kind, write.description) == (ToolKind.WRITE, "Writes a file.")
        assert write.schema["required"] == ["path", "content"]
        assert tools["mcp.office.create_or_update_file"].kind is ToolKind.WRITE
        assert tools["mcp.office.read_file"].kind is ToolKind.READ
        assert tools["mcp.office.compare"].kind is ToolKind.OTHER
        assert tools["mcp.office.compare"].annotations == {"title": "Compare", "readOnlyHint": True}
        assert tools["mcp.office.point"].kind is ToolKind.OTHER

    shared(play)


def test_results_keep_their_shape(shared: Callable[[Play], None]) -> None:
    async def play(servers: McpServers) -> None:
        assert (await perform_tool(servers, "mcp.office.point", x=2)).content == {"x": 2, "y": -2}
        assert (await perform_tool(servers, "mcp.office.add", a=2, b=3)).content == "5"
        assert (await perform_tool(servers, "mcp.office.words", text="a b")).content == ["a", "b"]
        assert (await perform_tool(servers, "mcp.office.mixed")).content == "first\nsecond"
        made = await perform_tool(servers, "mcp.office.create_or_update_file", repo="r", path="a.json", content="{}\n")
        assert made.content["commit"]["sha"] == "abc123"
        assert (await perform_tool(servers, "mcp.office.read_file", path="a.json")).content == "{}\n"
        picture = await perform_tool(servers, "mcp.office.picture")
        assert picture.attachments == ({"name": "image-1.png", "mimeType": "image/png", "data": "iVBORw=="},)
        assert len((await perform_tool(servers, "mcp.office.big", size=3_000_000)).content) < 1_100_000

    shared(play)


def test_a_failed_call_is_a_result_that_is_not_ok(shared: Callable[[Play], None]) -> None:
    async def play(servers: McpServers) -> None:
        failed = await perform_tool(servers, "mcp.office.fail", text="out of paper")
        assert not failed.ok
        assert "out of paper" in failed.error
        assert failed.content == failed.error
        for input in ({"x": float("nan")}, {"x": "\ud800"}, {"x": _deep(200)}):
            refused = await perform_tool(servers, "mcp.office.point", **input)
            assert not refused.ok
            assert refused.error.startswith("mcp.office.point: the input")
        assert (await perform_tool(servers, "mcp.office.point", x=1)).ok

    shared(play)


def _deep(levels: int) -> Any:
    return [_deep(levels - 1)] if levels else 1


def test_a_server_sees_little_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "1")

    async def play(servers: McpServers) -> None:
        seen = (await perform_tool(servers, "mcp.office.environment")).content
        assert seen["GIVEN"] == "2 and 1, $HOME"
        assert seen["PATH"] == os.environ["PATH"]
        assert "A_SECRET" not in seen
        assert set(SERVER_VARIABLES) == set(DEFAULT_INHERITED_ENV_VARS)

    played(tmp_path, play, office_server_config(env={"GIVEN": "2 and ${A_SECRET}, $HOME"}))


def test_one_that_cannot_start_is_one_line_and_stops_nobody(tmp_path: Path) -> None:
    async def run() -> None:
        specs = (
            McpServer("missing", ("no-such-program-anywhere",)),
            McpServer("ends", (sys.executable, "-c", "raise SystemExit(3)")),
            office_server_config("hangs", env={"OFFICE_HANGS": "1"}),
            McpServer("away", url=f"http://127.0.0.1:{free_port()}/mcp"),
            McpServer("nowhere"),
            McpServer("..", COMMAND),
            office_server_config("unset", env={"TOKEN": "${NO_SUCH_VARIABLE_HERE}"}),
            office_server_config(),
            office_server_config(),
        )
        async with opened(tmp_path, *specs, starting=8) as servers:
            lines = sorted(servers.problems)
            assert [line.split(":")[0] for line in lines] == sorted(
                f"MCP server {name!r}"
                for name in ("missing", "ends", "hangs", "away", "nowhere", "..", "unset", "office")
            )
            assert all(len(line.splitlines()) == 1 for line in lines)
            assert any("exit code 3" in line for line in lines)
            assert any("within 8 s" in line for line in lines)
            assert (await perform_tool(servers, "mcp.office.add", a=1, b=1)).content == "2"

    asyncio.run(run())


LISTS = """
import json, sys
good = {"name": "good", "inputSchema": {"type": "object"}}
listed = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    said = {"error": {"code": -32601, "message": "no such method"}}
    if asked["method"] == "initialize":
        info = {"name": "lists", "version": "1"}
        said = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if asked["method"] == "tools/list":
        said = {"result": {"tools": [good, *listed, {**good, "name": "also"}]}}
    if asked["method"] == "tools/call":
        said = {"result": {"content": [{"type": "text", "text": "here"}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ({"name": "bad"}, "bad: inputSchema: field required"),
        ({"name": 3, "inputSchema": {"type": "object"}}, "a tool without a name: name: input should be a valid string"),
        ({"name": "bad", "inputSchema": {"type": "array"}}, "bad: inputSchema.type: input should be 'object'"),
        ({"name": "bad", "inputSchema": {"type": "object"}, "description": 3}, "bad: description: "),
        ({"name": "a\n\x1b[2J", "inputSchema": None}, "a\\n\\x1b[2J: inputSchema: "),
        ("bad", "a tool without a name: "),
    ],
)
def test_a_malformed_tool_costs_only_itself(
    tmp_path: Path, tool: Any, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def play(servers: McpServers) -> None:
        assert servers.problems == ()
        assert [each.name for each in servers.tools()] == ["mcp.lists.good", "mcp.lists.also"]
        assert (await perform_tool(servers, "mcp.lists.also")).content == "here"

    with caplog.at_level(logging.WARNING, logger="hookline"):
        played(tmp_path, play, McpServer("lists", (sys.executable, "-c", LISTS, json.dumps([tool]))))
    [said] = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"[lists] skipped a malformed tool: {line}")


def test_a_crashed_server_is_an_error_and_back_for_the_next_call(tmp_path: Path) -> None:
    async def play(servers: McpServers) -> None:
        crashed = await perform_tool(servers, "mcp.office.crash", code=7)
        assert not crashed.ok
        assert "exit code 7" in crashed.error
        first = (await perform_tool(servers, "mcp.office.pid")).content["pid"]
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(20):
            while not (again := await perform_tool(servers, "mcp.office.pid")).ok:
                assert "SIGKILL" in again.error
        assert again.content["pid"] != first

    played(tmp_path, play)


def test_one_that_only_crashes_is_given_up(tmp_path: Path) -> None:
    async def play(servers: McpServers) -> None:
        errors = [(await perform_tool(servers, "mcp.office.crash", code=1)).error for _ in range(4)]
        assert "exit code 1" in errors[0]
        assert "not started again" in errors[-1]

    played(tmp_path, play)


def test_a_call_out_of_time_is_cancelled_at_the_server(tmp_path: Path) -> None:
    async def play(servers: McpServers) -> None:
        slow = await perform_tool(servers, "mcp.office.slow", seconds=60)
        assert "within 3 s" in slow.error
        assert (await perform_tool(servers, "mcp.office.seen")).content == "began cancelled"

    played(tmp_path, play, office_server_config(timeout=timedelta(seconds=3)))


def test_cancelling_reaches_the_server(shared: Callable[[Play], None]) -> None:
    async def play(servers: McpServers) -> None:
        call = asyncio.ensure_future(perform_tool(servers, "mcp.office.slow", seconds=60))
        await wait_until(lambda: _saw(servers, "mcp.office.seen", "began"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await wait_until(lambda: _saw(servers, "mcp.office.seen", "cancelled"))

    shared(play)


async def _saw(servers: McpServers, tool: str, last: str) -> bool:
    return str((await perform_tool(servers, tool)).content).endswith(last)


def test_a_tool_that_the_server_learns_is_there_at_once(shared: Callable[[Play], None]) -> None:
    async def play(servers: McpServers) -> None:
        assert (await perform_tool(servers, "mcp.office.learn", name="whistle")).ok

        async def is_there() -> bool:
            return "mcp.office.whistle" in [tool.name for tool in servers.tools()]

        await wait_until(is_there)
        assert (await perform_tool(servers, "mcp.office.whistle")).content == "whistle"

    shared(play)


def test_what_it_complains_about_is_in_the_debug_log_up_to_a_limit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "hookline")

    async def play(servers: McpServers) -> None:
        assert (await perform_tool(servers, "mcp.office.complain", size=5_000_000)).content == "said"

    played(tmp_path, play)
    said = "\n".join(record.message for record in caplog.records)
    assert "[office] it hurts" in said
    assert len(said) < 500_000


def test_over_http_too(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        spec = McpServer("web", url=await wait_for_port(port), timeout=timedelta(seconds=3), headers={"X-Test": "1"})
        async with opened(tmp_path, spec) as servers:
            assert servers.problems == ()
            assert (await perform_tool(servers, "mcp.web.point", x=1)).content == {"x": 1, "y": -1}
            assert "no" in (await perform_tool(servers, "mcp.web.fail", text="no")).error
            assert "within 3 s" in (await perform_tool(servers, "mcp.web.slow", seconds=60)).error
            await wait_until(lambda: _saw(servers, "mcp.web.seen", "cancelled"))

    with running_http_server(port):
        asyncio.run(run())


def test_a_web_server_that_was_away_is_found_again(tmp_path: Path) -> None:
    port = free_port()

    async def run() -> None:
        with running_http_server(port) as first:
            url = await wait_for_port(port)
            servers = McpServers((McpServer("web", url=url, timeout=timedelta(seconds=20)),), tmp_path, os.environ)
            await servers.__aenter__()
            assert (await perform_tool(servers, "mcp.web.add", a=1, b=1)).ok
            first.kill()
            first.wait()
            assert not (await perform_tool(servers, "mcp.web.add", a=1, b=1)).ok
        with running_http_server(port):
            await wait_for_port(port)
            assert (await perform_tool(servers, "mcp.web.add", a=2, b=2)).content == "4"
            await servers.__aexit__()

    asyncio.run(run())


DIES_WITH_US = """
import asyncio, os, sys
from pathlib import Path
from hookline.runtime.apps.app import McpServer
from hookline.runtime.mcp.server_tools import McpServers
from mcp_test_server import office_server_config, perform_tool

async def main():
    async with McpServers((office_server_config(),), Path.cwd(), os.environ) as servers:
        print((await perform_tool(servers, "mcp.office.pid")).content["pid"], flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_it_dies_with_us_even_when_we_are_killed(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ours = subprocess.Popen((sys.executable, "-c", DIES_WITH_US), cwd=tmp_path, env=env, stdout=subprocess.PIPE)
    assert ours.stdout is not None
    with ours.stdout:
        theirs = int(ours.stdout.readline())
        ours.kill()
        ours.wait()
    until = time.monotonic() + 20
    while _runs(theirs) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(theirs)


def _runs(pid: int) -> bool:
    state = subprocess.run(("ps", "-o", "stat=", "-p", str(pid)), capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


FLOODS = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
BABBLES = "while True: print('this is no JSON', flush=True)"


@pytest.mark.parametrize("script", [FLOODS, BABBLES])
def test_noise_is_no_server(tmp_path: Path, script: str) -> None:
    async def run() -> None:
        async with opened(tmp_path, McpServer("noise", (sys.executable, "-c", script)), starting=2) as servers:
            assert len(servers.problems) == 1
            assert servers.tools() == ()

    asyncio.run(run())


def test_a_closed_server_takes_no_calls(tmp_path: Path) -> None:
    async def run() -> None:
        async with opened(tmp_path, office_server_config()) as servers:
            tool = next(tool for tool in servers.tools() if tool.name == "mcp.office.pid")
            pid = (await tool.perform({}, tool_place(tmp_path))).content["pid"]
        assert not _runs(pid)
        assert "closed" in (await tool.perform({}, tool_place(tmp_path))).error

    asyncio.run(run())
