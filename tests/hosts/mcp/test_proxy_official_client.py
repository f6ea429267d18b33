"""The official client with a server of its own kind, with and without the proxy."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import ClientSession, MCPError
from mcp.client.client import Client

from mcp_proxy_client import SAMPLE, SERVERS, TIMEOUT, Project, official_client

pytestmark = pytest.mark.slow


Play = Callable[[ClientSession], Coroutine[Any, Any, Any]]
LOOK = {"id": "look", "on": "tool.before", "when": {"tool": "mcp.sample_server.nothing"}, "then": {"deny": "no"}}
DENY = {
    "id": "no",
    "on": "tool.before",
    "when": {"tool": "mcp.sample_server.echo", "input": {"text": "bad"}},
    "then": {"deny": "not this"},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


async def everything(client: ClientSession) -> list[Any]:
    """All that a client can see of the server, as plain values."""
    got = [
        await client.list_tools(),
        await client.list_resources(),
        await client.list_resource_templates(),
        await client.list_prompts(),
        await client.read_resource("sample://one"),
        await client.read_resource("sample://two/more"),
        await client.get_prompt("greet", {"name": "Ada"}),
        await client.complete(types.PromptReference(name="greet"), {"name": "name", "value": "A"}),
        await client.send_ping(),
        *[await client.call_tool(tool, arguments) for tool, arguments in CALLS],
    ]
    return [each.model_dump(mode="json", by_alias=True) for each in got]


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("echo", {"text": "ä\u2028😀"}),
    ("plain", {"text": "b"}),
    ("add", {"a": 2, "b": 3}),
    ("point", {"x": 4}),
    ("picture", {}),
    ("fail", {"text": "c"}),
    ("add", {"a": "no number"}),
    ("nothing like it", {}),
)


def test_everything_is_the_same_with_and_without_the_proxy(project: Project) -> None:
    async def seen(argv: tuple[str, ...]) -> tuple[Any, list[Any]]:
        async with official_client(project.parameters(argv)) as client:
            return client.initialize_result, await everything(client)

    direct = asyncio.run(seen(SAMPLE))
    assert asyncio.run(seen(project.hooks(LOOK).argv(*SAMPLE))) == direct


def test_what_the_server_asks_of_the_client_passes(project: Project) -> None:
    progress: list[tuple[float, float | None, str | None]] = []
    logged: list[Any] = []
    told: list[Any] = []

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///one")])

    async def asked(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    async def heard(message: Any) -> None:
        told.append(type(message).__name__)

    async def progressed(done: float, total: float | None, text: str | None) -> None:
        progress.append((done, total, text))

    async def run() -> None:
        callbacks = {
            "sampling_callback": sampled,
            "list_roots_callback": roots,
            "elicitation_callback": asked,
            "logging_callback": log,
            "message_handler": heard,
        }
        async with official_client(project.hooks(LOOK).parameters(project.argv(*SAMPLE)), **callbacks) as client:
            assert _text(await client.call_tool("sample", {"prompt": "hello"})) == "you said hello"
            assert _text(await client.call_tool("roots")) == "file:///one"
            assert _text(await client.call_tool("whoever")) == "Ada"
            await client.call_tool("speak", {"text": "aloud"})
            await client.call_tool("slow", {"seconds": 0}, progress_callback=progressed)

    asyncio.run(run())
    assert progress == [(1.0, 2.0, "half")]
    assert logged == ["aloud"]
    assert "ToolListChangedNotification" in told


def _text(result: Any) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


def test_calls_are_judged_each_for_itself(project: Project) -> None:
    """Fifty at once; a text and its structured twin that stay one; and one that the client gives up."""
    mask = {"id": "mask", "on": "tool.after", "when": {"input": {"text": "secret"}}, "then": {"set": {"result": "***"}}}
    project.hooks(DENY, mask)

    async def fifty(client: ClientSession) -> None:
        texts = [f"bad {n}" if n % 5 == 0 else f"good {n}" for n in range(50)]
        results = await asyncio.gather(*(client.call_tool("echo", {"text": text}) for text in texts))
        assert [_text(result) for result in results] == [
            "not this (hook no, hooks.yaml:1)" if "bad" in text else text for text in texts
        ]
        seen = await client.call_tool("seen")
        assert sorted(block.text for block in seen.content) == sorted(text for text in texts if "bad" not in text)

    async def run() -> None:
        async with official_client(project.parameters(project.argv(*SAMPLE))) as client:
            await fifty(client)
            await client.list_tools()  # from now on the client checks results against the tool's output schema
            result = await client.call_tool("echo", {"text": "secret"})
            assert (_text(result), result.structured_content) == ("***", {"result": "***"})
            with pytest.raises(MCPError):
                await client.call_tool("slow", {"seconds": 60}, read_timeout_seconds=0.5)
            while "slow was cancelled" not in str(await client.call_tool("seen")):
                pass

    asyncio.run(run())


def test_a_server_that_crashes_in_the_middle_is_an_error_and_no_hang(project: Project) -> None:
    async def run() -> None:
        async with official_client(project.parameters(project.argv(*SAMPLE))) as client:
            with pytest.raises(MCPError, match="exit code 3"):
                await client.call_tool("crash")

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_ask_reaches_the_person_whatever_the_protocols_age(project: Project, mode: str) -> None:
    hook = {"id": "ask", "on": "tool.before", "when": {"tool": "mcp.sample_server.echo"}, "then": {"ask": "Really?"}}
    answers = [True, False]

    async def asked(context: Any, params: Any) -> types.ElicitResult:
        assert "Really?" in params.message
        return types.ElicitResult(action="accept", content={"allow": answers.pop(0)})

    async def run() -> None:
        parameters = project.hooks(hook).parameters(project.argv(*SAMPLE))
        async with asyncio.timeout(TIMEOUT), Client(parameters, mode=mode, elicitation_callback=asked) as client:
            assert _text(await client.call_tool("echo", {"text": "a"})) == "a"
            refused = await client.call_tool("echo", {"text": "b"})
            assert (_text(refused), refused.is_error) == (
                "Really? (not allowed by the user) (hook ask, hooks.yaml:1)",
                True,
            )

    asyncio.run(run())


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(SERVERS / "sample_server.py"), str(port)], stderr=subprocess.DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def reachable(url: str) -> None:
    host, port = url.split("/")[2].split(":")
    while True:
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


@asynccontextmanager
async def connected(project: Project, url: str, mode: str) -> AsyncIterator[Client]:
    async with asyncio.timeout(TIMEOUT):
        await reachable(url)
        parameters = project.parameters(project.argv(options=("--url", url)))
        async with Client(parameters, mode=mode, sampling_callback=sampled) as client:
            yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_server_behind_a_url(project: Project, url: str, mode: str) -> None:
    async def seen(client: Client) -> Any:
        lists = [await client.list_tools(), await client.list_resources(), await client.list_prompts()]
        calls = [await client.call_tool(tool, arguments) for tool, arguments in CALLS]
        return [each.model_dump(mode="json", by_alias=True) for each in (*lists, *calls)]

    async def run() -> None:
        async with connected(project.hooks(DENY), url, mode) as client:
            async with Client(url, mode=mode) as direct:
                assert await seen(client) == await seen(direct)
            assert _text(await client.call_tool("echo", {"text": "bad"})) == "not this (hook no, hooks.yaml:1)"
            assert len(_text(await client.call_tool("big", {"size": 2_000_000}))) == 2_000_000
            if mode == "legacy":
                await sampling_and_progress(client)

    asyncio.run(run())


async def sampled(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    content = params.messages[0].content
    assert isinstance(content, types.TextContent)
    answer = types.TextContent(type="text", text=f"you said {content.text}")
    return types.CreateMessageResult(role="assistant", content=answer, model="none")


async def sampling_and_progress(client: Client) -> None:
    progress: list[float] = []

    async def progressed(done: float, total: float | None, text: str | None) -> None:
        progress.append(done)

    assert _text(await client.call_tool("sample", {"prompt": "hello"})) == "you said hello"
    await client.call_tool("slow", {"seconds": 0}, progress_callback=progressed)
    assert progress == [1.0]


@pytest.mark.parametrize("leaves", [True, False])
def test_a_url_where_nobody_listens_is_an_error_and_no_hang(project: Project, leaves: bool) -> None:
    async def run() -> None:
        process = await asyncio.create_subprocess_exec(
            *project.argv(options=("--url", "http://127.0.0.1:9/mcp")),
            cwd=project.directory,
            env=project.environment,
            stdin=-1,
            stdout=-1,
            stderr=-1,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n')
        if leaves:
            process.stdin.close()
        else:
            error = json.loads(await process.stdout.readline())["error"]
            assert "cannot be reached" in error["message"]
        said = (await process.stderr.read()).decode()
        assert "Traceback" not in said
        assert await process.wait() == 1 or leaves
        assert leaves or said.startswith("hookline: the MCP server cannot be reached")

    asyncio.run(asyncio.wait_for(run(), TIMEOUT))
