"""The reference servers, driven by the official client: the same with and without the proxy, and judged with it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import ClientSession, MCPError

from mcp_proxy_client import Project, official_client

INSTALLED = Path(__file__).parents[1] / ".cache" / "mcp"
SEEN_ELSEWHERE = {"id": "none", "on": "tool.before", "when": {"tool": "mcp.no_such_server.*"}, "then": {"deny": "no"}}
Play = Callable[[ClientSession], Coroutine[Any, Any, Any]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def node(package: str, *arguments: str) -> tuple[str, ...]:
    found = shutil.which("node")
    assert found is not None
    return (
        found,
        str(INSTALLED / "node_modules" / "@modelcontextprotocol" / package / "dist" / "index.js"),
        *arguments,
    )


async def paged(listed: Callable[..., Coroutine[Any, Any, Any]]) -> list[Any]:
    """Every page, as plain values; an error where the server has no such list."""
    pages, cursor = [], None
    while True:
        try:
            page = await listed(params=types.PaginatedRequestParams(cursor=cursor) if cursor else None)
        except MCPError as error:
            return [str(error)]
        pages.append(plain(page))
        cursor = page.next_cursor
        if cursor is None:
            return pages


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True)


async def lists(client: ClientSession) -> list[Any]:
    listed = (client.list_tools, client.list_resources, client.list_resource_templates, client.list_prompts)
    return [plain(client.initialize_result), *[await paged(each) for each in listed]]


async def sampled(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    answer = types.TextContent(type="text", text="from a model of ours")
    return types.CreateMessageResult(role="assistant", content=answer, model="none")


def same_both_ways(project: Project, server: tuple[str, ...], play: Play) -> Any:
    async def observe(argv: tuple[str, ...]) -> Any:
        async with official_client(project.parameters(argv), sampling_callback=sampled) as client:
            return await lists(client), await play(client)

    direct = asyncio.run(observe(server))
    behind = asyncio.run(observe(project.hooks(SEEN_ELSEWHERE).argv(*server)))
    assert behind == direct
    return direct


def test_server_everything(project: Project) -> None:
    progress: list[tuple[float, float | None]] = []

    async def progressed(done: float, total: float | None, text: str | None) -> None:
        progress.append((done, total))

    calls: list[tuple[str, dict[str, Any]]] = [
        ("echo", {"message": "ä😀"}),
        ("get-sum", {"a": 2, "b": 3}),
        ("get-tiny-image", {}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-structured-content", {"location": "New York"}),
        ("get-resource-links", {"count": 3}),
        ("get-sum", {"a": "x"}),
        ("no such tool", {}),
    ]

    async def play(client: ClientSession) -> Any:
        got = [await result_or_error(client.call_tool(tool, arguments)) for tool, arguments in calls]
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "1" for argument in prompt.arguments or ()}
            got.append(await result_or_error(client.get_prompt(prompt.name, given)))
        for resource in (await client.list_resources()).resources[:3]:
            got.append(await result_or_error(client.read_resource(resource.uri)))
        slow = {"duration": 0.3, "steps": 3}
        await client.call_tool("trigger-long-running-operation", slow, progress_callback=progressed)
        got.append(await result_or_error(client.call_tool("trigger-sampling-request", {"prompt": "a", "maxTokens": 5})))
        return got

    everything = same_both_ways(project, node("server-everything", "stdio"), play)
    assert "from a model of ours" in str(everything)
    assert progress[: len(progress) // 2] == progress[len(progress) // 2 :]
    assert progress


async def result_or_error(call: Coroutine[Any, Any, Any]) -> Any:
    try:
        return plain(await call)
    except MCPError as error:
        return str(error)


def test_server_filesystem(project: Project) -> None:
    folder = project.directory / "files"
    (folder / "inner").mkdir(parents=True)
    (folder / "one.txt").write_text("first\nsecond\n")

    async def play(client: ClientSession) -> Any:
        at = str(folder)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("list_allowed_directories", {}),
            ("list_directory", {"path": at}),
            ("directory_tree", {"path": at}),
            ("read_text_file", {"path": f"{at}/one.txt", "head": 1}),
            ("write_file", {"path": f"{at}/two.txt", "content": "é" * 1000}),
            ("edit_file", {"path": f"{at}/two.txt", "edits": [{"oldText": "é" * 1000, "newText": "done"}]}),
            ("read_text_file", {"path": f"{at}/two.txt"}),
            ("read_text_file", {"path": "/etc/passwd"}),
        ]
        got = [await result_or_error(client.call_tool(tool, arguments)) for tool, arguments in calls]
        (folder / "two.txt").unlink()
        return got

    same_both_ways(project, node("server-filesystem", str(folder)), play)


def test_server_filesystem_cannot_write_what_a_hook_denies(project: Project) -> None:
    folder = project.directory / "files"
    folder.mkdir()
    deny = {
        "id": "no-env",
        "on": "tool.before",
        "when": {"tool": "mcp.*.write_file", "input": {"path": r"\.env$"}},
        "then": {"deny": "no secrets"},
    }
    rename = {
        "id": "notes-only",
        "on": "tool.before",
        "when": {"tool": "mcp.*.write_file", "input": {"path": r"draft\.md$"}},
        "then": {"set": {"input.path": str(folder / "notes.md")}},
    }
    parameters = project.hooks(deny, rename).parameters(project.argv(*node("server-filesystem", str(folder))))

    async def run() -> None:
        async with official_client(parameters) as client:
            denied = await client.call_tool("write_file", {"path": str(folder / ".env"), "content": "KEY=1"})
            assert denied.is_error
            assert denied.content[0].text.startswith("no secrets (hook no-env, ")
            await client.call_tool("write_file", {"path": str(folder / "draft.md"), "content": "hello"})

    asyncio.run(run())
    assert [path.name for path in folder.iterdir()] == ["notes.md"]


def test_mcp_server_git(project: Project) -> None:
    at = str(project.directory)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", at)
    subprocess.run((*git, "init", "-q"), check=True, env=project.environment)
    (project.directory / "a.txt").write_text("one\n")
    subprocess.run((*git, "add", "a.txt"), check=True, env=project.environment)
    subprocess.run((*git, "commit", "-q", "-m", "first"), check=True, env=project.environment)
    (project.directory / "a.txt").write_text("two\n")

    async def play(client: ClientSession) -> Any:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("git_diff_unstaged", {"repo_path": at}),
            ("git_log", {"repo_path": at}),
            ("git_show", {"repo_path": at, "revision": "HEAD"}),
            ("git_branch", {"repo_path": at, "branch_type": "local"}),
            ("git_log", {"repo_path": "/nowhere"}),
        ]
        return [await result_or_error(client.call_tool(tool, arguments)) for tool, arguments in calls]

    same_both_ways(project, (str(INSTALLED / "python" / "bin" / "mcp-server-git"), "--repository", at), play)
