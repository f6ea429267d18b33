"""The reference servers as the runtime's own: started, listed, called, restarted, and linted after a write."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.tools import ToolKind
from hookline.runtime.apps.app import McpServer
from hookline.runtime.lsp.servers import LanguageServers
from hookline.runtime.mcp.server_tools import McpServers
from mcp_test_server import DEADLINE, free_port, perform_tool, tool_place, wait_for_port

INSTALLED = Path(__file__).parents[1] / ".cache" / "mcp"
Play = Callable[[McpServers], Coroutine[Any, Any, None]]


def node(package: str, *arguments: str) -> tuple[str, ...]:
    found = shutil.which("node")
    assert found is not None
    return (found, str(INSTALLED / "node_modules/@modelcontextprotocol" / package / "dist/index.js"), *arguments)


def played(workspace: Path, play: Play, *specs: McpServer) -> None:
    async def run() -> None:
        async with asyncio.timeout(DEADLINE), McpServers(specs, workspace, os.environ) as servers:
            assert servers.problems == ()
            await play(servers)

    asyncio.run(run())


async def plays_everything(servers: McpServers) -> None:
    name = "mcp.everything"
    assert (await perform_tool(servers, f"{name}.echo", message="ä😀")).content == "Echo: ä😀"
    assert "5" in (await perform_tool(servers, f"{name}.get-sum", a=2, b=3)).content
    assert not (await perform_tool(servers, f"{name}.get-sum", a="x")).ok
    weather = (await perform_tool(servers, f"{name}.get-structured-content", location="New York")).content
    assert isinstance(weather["temperature"], int | float)
    image = await perform_tool(servers, f"{name}.get-tiny-image")
    assert [file["mimeType"] for file in image.attachments] == ["image/png"]
    links = await perform_tool(servers, f"{name}.get-resource-links", count=3)
    assert links.ok
    slow = await perform_tool(servers, f"{name}.trigger-long-running-operation", duration=60, steps=3)
    assert "within 3 s" in slow.error
    assert (await perform_tool(servers, f"{name}.echo", message="still there")).ok


def test_server_everything_over_stdio(tmp_path: Path) -> None:
    spec = McpServer("everything", node("server-everything", "stdio"), timeout=timedelta(seconds=3))
    played(tmp_path, plays_everything, spec)


def test_server_everything_over_http(tmp_path: Path) -> None:
    port = free_port()
    argv = node("server-everything", "streamableHttp")
    env = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = asyncio.run(wait_for_port(port))
        played(tmp_path, plays_everything, McpServer("everything", url=url, timeout=timedelta(seconds=3)))
    finally:
        process.kill()
        process.wait()


def test_server_filesystem_and_the_lint_of_what_it_wrote(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()

    async def play(servers: McpServers) -> None:
        kinds = {tool.name: tool.kind for tool in servers.tools()}
        assert kinds["mcp.files.write_file"] is ToolKind.WRITE
        assert kinds["mcp.files.edit_file"] is ToolKind.EDIT
        assert kinds["mcp.files.list_directory"] is ToolKind.LIST
        assert kinds["mcp.files.list_directory_with_sizes"] is ToolKind.LIST
        assert kinds["mcp.files.directory_tree"] is ToolKind.LIST
        assert kinds["mcp.files.read_text_file"] is ToolKind.READ
        assert kinds["mcp.files.read_media_file"] is ToolKind.READ
        assert kinds["mcp.files.read_multiple_files"] is ToolKind.READ
        assert kinds["mcp.files.search_files"] is ToolKind.GLOB
        assert kinds["mcp.files.move_file"] is ToolKind.OTHER
        path = str(workspace / "a.py")
        assert (await perform_tool(servers, "mcp.files.write_file", path=path, content="x = y\n")).ok
        assert (await perform_tool(servers, "mcp.files.read_text_file", path=path)).content == "x = y\n"
        outside = await perform_tool(servers, "mcp.files.read_text_file", path="/etc/passwd")
        assert not outside.ok
        (workspace / "data.json").write_text('{"kept":   "as written"}')
        kept = await perform_tool(servers, "mcp.files.read_text_file", path=str(workspace / "data.json"))
        assert kept.content == '{"kept":   "as written"}'
        async with LanguageServers((), workspace, os.environ) as languages:
            look = languages.tools()[1]
            found = (await look.perform({"path": path}, tool_place(workspace))).content
            assert [each["code"] for each in found["diagnostics"]] == ["F821"]

    played(workspace, play, McpServer("files", node("server-filesystem", str(workspace))))


def test_mcp_server_git(tmp_path: Path) -> None:
    at = str(tmp_path)
    env = {**os.environ, "HOME": at, "GIT_CONFIG_NOSYSTEM": "1"}
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", at)
    (tmp_path / "a.txt").write_text("one\n")
    for words in (("init", "-q"), ("add", "a.txt"), ("commit", "-q", "-m", "first")):
        subprocess.run((*git, *words), check=True, env=env)
    (tmp_path / "a.txt").write_text("two\n")

    async def play(servers: McpServers) -> None:
        assert "first" in str((await perform_tool(servers, "mcp.git.git_log", repo_path=at)).content)
        assert "+two" in str((await perform_tool(servers, "mcp.git.git_diff_unstaged", repo_path=at)).content)
        assert not (await perform_tool(servers, "mcp.git.git_log", repo_path="/nowhere")).ok
        status = next(tool for tool in servers.tools() if tool.name == "mcp.git.git_status")
        assert status.schema["required"] == ["repo_path"]

    command = (str(INSTALLED / "python" / "bin" / "mcp-server-git"), "--repository", at)
    played(tmp_path, play, McpServer("git", command, env={"GIT_CONFIG_NOSYSTEM": "1"}))


@pytest.mark.parametrize("package", ["server-everything", "server-filesystem"])
def test_none_is_left_behind(tmp_path: Path, package: str) -> None:
    async def play(servers: McpServers) -> None:
        assert servers.tools()

    mark = str(tmp_path / "a-mark-of-this-test")
    Path(mark).mkdir()
    words = ("stdio", mark) if package == "server-everything" else (mark,)
    played(tmp_path, play, McpServer("it", node(package, *words)))
    running = subprocess.run(("ps", "-eo", "args="), capture_output=True, text=True, check=True).stdout
    assert mark not in running
