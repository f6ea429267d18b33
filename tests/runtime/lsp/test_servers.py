"""The real ruff, and servers that are odd, hostile or dead."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.host import ToolResult
from hookline.runtime.apps.app import LanguageServer
from hookline.runtime.lsp.servers import LanguageServers
from mcp_test_server import tool_place

pytestmark = pytest.mark.slow


ODD = Path(__file__).parents[2] / "fixtures" / "lsp" / "odd_server.py"
Play = Callable[[LanguageServers], Coroutine[Any, Any, None]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def odd(workspace: Path, *ways: str, files: tuple[str, ...] = ("*.txt",)) -> LanguageServer:
    return LanguageServer("odd", (sys.executable, str(ODD), str(workspace.parent / "heard.jsonl"), *ways), files)


def heard(workspace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (workspace.parent / "heard.jsonl").read_text("utf-8").splitlines()]


async def asked(servers: LanguageServers, name: str, /, **input: Any) -> ToolResult:
    tool = next(tool for tool in servers.tools() if tool.name == f"lsp.{name}")
    return await tool.perform(input, tool_place(Path()))


def played(workspace: Path, play: Play, *specs: LanguageServer, patience: float = 20) -> None:
    async def run() -> None:
        async with asyncio.timeout(60):
            async with LanguageServers(specs, workspace, os.environ, timedelta(seconds=patience)) as servers:
                await play(servers)

    asyncio.run(run())


def test_ruff_looks_at_python_files(workspace: Path) -> None:
    (workspace / "a.py").write_text("import os\n")

    async def play(servers: LanguageServers) -> None:
        found = (await asked(servers, "diagnostics", path="a.py")).content
        assert found["path"] == "a.py"
        assert found["servers"] == ["ruff"]
        assert [(each["line"], each["column"], each["code"]) for each in found["diagnostics"]] == [(1, 8, "F401")]
        assert found["diagnostics"][0]["severity"] == "warning"
        assert "\n" not in found["diagnostics"][0]["message"]
        changed = await asked(servers, "notify_change", path=str(workspace / "a.py"), content="x = nothing\n")
        assert changed.content == {"path": "a.py", "servers": ["ruff"]}
        found = (await asked(servers, "diagnostics", path="./a.py")).content
        assert [each["code"] for each in found["diagnostics"]] == ["F821"]
        assert (await asked(servers, "notify_change", path="new/b.py", content="y = 1\n")).ok
        assert (await asked(servers, "diagnostics", path="new/b.py")).content["diagnostics"] == []

    played(workspace, play)


def test_a_server_sees_little_of_our_environment(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "1")
    file = workspace.parent / "environment"
    program = f"env > {file}; exec {sys.executable} {ODD} {workspace.parent}/heard.jsonl"
    spec = LanguageServer("odd", ("/bin/sh", "-c", program), ("*.txt",), env={"GIVEN": "2 and ${A_SECRET}"})

    async def play(servers: LanguageServers) -> None:
        assert (await asked(servers, "notify_change", path="a.txt", content="bad")).ok
        seen = dict(line.split("=", 1) for line in file.read_text().splitlines())
        assert seen["GIVEN"] == "2 and 1"
        assert seen["PATH"] == os.environ["PATH"]
        assert "A_SECRET" not in seen

    played(workspace, play, spec)


def test_a_variable_that_is_not_set_is_one_line(workspace: Path) -> None:
    async def play(servers: LanguageServers) -> None:
        result = await asked(servers, "notify_change", path="a.txt", content="bad")
        assert result.error == "lsp.notify_change: odd: the variable NO_SUCH_VARIABLE_HERE is not set"

    played(workspace, play, replace(odd(workspace), env={"TOKEN": "${NO_SUCH_VARIABLE_HERE}"}))


def test_what_was_told_counts_until_the_file_changes_on_disk(workspace: Path) -> None:
    (workspace / "a.txt").write_text("fine\n")

    async def lines(servers: LanguageServers) -> list[int]:
        found = await asked(servers, "diagnostics", path="a.txt")
        return [each["line"] for each in found.content["diagnostics"]]

    async def play(servers: LanguageServers) -> None:
        assert await lines(servers) == []
        await asked(servers, "notify_change", path="a.txt", content="fine\nbad\n")
        assert await lines(servers) == [2]
        (workspace / "a.txt").write_text("bad\nfine\nbad\n")
        assert await lines(servers) == [1, 3]
        await asked(servers, "notify_change", path="a.txt")
        assert await lines(servers) == [1, 3]

    played(workspace, play, odd(workspace))


@pytest.mark.parametrize("ways", [(), ("pull",), ("pull", "busy"), ("unversioned",), ("stale",), ("reopen",)])
def test_every_way_to_report_is_understood(workspace: Path, ways: tuple[str, ...]) -> None:
    async def play(servers: LanguageServers) -> None:
        for text, lines in (("bad\n", [1]), ("ok\nok\nbad\n", [3]), ("ok\n", [])):
            assert (await asked(servers, "notify_change", path="sub@dir/ä b.txt", content=text)).ok
            found = await asked(servers, "diagnostics", path="sub@dir/ä b.txt")
            assert [each["line"] for each in found.content["diagnostics"]] == lines, found
            assert all(each["source"] == "odd" for each in found.content["diagnostics"])

    played(workspace, play, odd(workspace, *ways))
    methods = [message.get("method") for message in heard(workspace)]
    assert methods.count("initialize") == 1
    assert methods[-2:] == ["shutdown", "exit"]


def test_what_it_asks_is_answered(workspace: Path) -> None:
    async def play(servers: LanguageServers) -> None:
        assert (await asked(servers, "notify_change", path="a.txt", content="bad")).ok
        assert (await asked(servers, "diagnostics", path="a.txt")).ok

    played(workspace, play, odd(workspace))
    answers = {message["id"]: message for message in heard(workspace) if "method" not in message}
    assert answers["c"]["result"] == [None, None]
    assert answers["r"]["result"] is None
    assert answers["w"]["result"][0]["uri"] == workspace.as_uri()
    assert answers["e"]["result"] == {"applied": False}
    assert answers["u"]["error"]["code"] == -32601
    saved = [message for message in heard(workspace) if message.get("method") == "textDocument/didSave"]
    assert [message["params"]["text"] for message in saved] == ["bad"]


@pytest.mark.parametrize(
    ("ways", "why"),
    [
        (("mute",), "within 2 s"),
        (("silent",), "within 2 s"),
        (("pull", "silent"), "within 2 s"),
        (("notices", "silent"), "within 2 s"),
        (("asks", "silent"), "within 2 s"),
        (("floods",), "violates the language server protocol"),
        (("garbage",), "violates the language server protocol"),
        (("huge",), "longer than"),
        (("dies",), "exit code 9"),
        (("refuses",), "no license"),
    ],
)
@pytest.mark.timing
def test_a_hostile_server_is_a_clear_error_in_time(workspace: Path, ways: tuple[str, ...], why: str) -> None:
    (workspace / "a.txt").write_text("bad")

    async def play(servers: LanguageServers) -> None:
        found = await asked(servers, "diagnostics", path="a.txt")
        assert not found.ok
        assert found.error.startswith("lsp.diagnostics: odd: ")
        assert why in found.error

    began = time.monotonic()
    played(workspace, play, odd(workspace, *ways), patience=2)
    assert time.monotonic() - began < 30


def test_one_that_died_is_started_again_a_few_times(workspace: Path) -> None:
    async def play(servers: LanguageServers) -> None:
        errors = []
        for text in "abcd":
            await asked(servers, "notify_change", path="a.txt", content=text)
            errors.append((await asked(servers, "diagnostics", path="a.txt")).error)
        assert "exit code 9" in errors[0]
        assert "not started again" in errors[-1]

    played(workspace, play, odd(workspace, "dies"))
    assert [message.get("method") for message in heard(workspace)].count("initialize") == 3


def test_a_crash_in_between_is_made_good(workspace: Path) -> None:
    async def play(servers: LanguageServers) -> None:
        await asked(servers, "notify_change", path="a.txt", content="bad")
        assert len((await asked(servers, "diagnostics", path="a.txt")).content["diagnostics"]) == 1
        os.kill(json.loads((workspace.parent / "pid").read_text()), 9)
        results = [await asked(servers, "diagnostics", path="a.txt") for _ in range(2)]
        assert len(results[-1].content["diagnostics"]) == 1

    noting = f"import os; open({str(workspace.parent / 'pid')!r}, 'w').write(str(os.getpid())); "
    server = odd(workspace)
    script = noting + f"import sys; sys.argv[0:1] = []; exec(open({str(ODD)!r}).read())"
    played(workspace, play, LanguageServer("odd", (sys.executable, "-c", script, *server.command[1:]), server.files))


def test_what_nobody_knows_about_has_nothing_to_report(workspace: Path) -> None:
    (workspace / "notes.md").write_text("bad")

    async def play(servers: LanguageServers) -> None:
        assert (await asked(servers, "notify_change", path="notes.md")).content == {"path": "notes.md", "servers": []}
        found = await asked(servers, "diagnostics", path="notes.md")
        assert found.content == {"path": "notes.md", "diagnostics": [], "servers": []}

    played(workspace, play)
    played(workspace, play, LanguageServer("none", ("no-such-program",), ("src/**/*.txt",)))


def test_a_server_that_is_not_installed_is_a_clear_error(workspace: Path) -> None:
    async def play(servers: LanguageServers) -> None:
        found = await asked(servers, "notify_change", path="src/deep/a.txt", content="x")
        assert found.error == (
            "lsp.notify_change: gone: the program 'no-such-program' cannot be started: No such file or directory"
        )

    played(workspace, play, LanguageServer("gone", ("no-such-program",), ("src/**/*.txt",)))
    played(workspace, play, LanguageServer("gone", ("no-such-program",), ("*.txt",)))


def test_one_of_two_is_enough(workspace: Path) -> None:
    async def play(servers: LanguageServers) -> None:
        await asked(servers, "notify_change", path="a.txt", content="bad")
        found = await asked(servers, "diagnostics", path="a.txt")
        assert (found.content["servers"], len(found.content["diagnostics"])) == (["odd"], 1)

    played(workspace, play, LanguageServer("gone", ("no-such-program",), ("*.txt",)), odd(workspace))


@pytest.mark.parametrize("path", ["../secret.py", "/etc/passwd", "link.py", "", "a\0.py", "\ud800.py", "."])
def test_nothing_outside_of_the_workspace_is_looked_at(workspace: Path, path: str) -> None:
    (workspace.parent / "secret.py").write_text("import os\n")
    (workspace / "link.py").symlink_to(workspace.parent / "secret.py")

    async def play(servers: LanguageServers) -> None:
        for content in ({}, {"content": "import os\n"}):
            assert not (await asked(servers, "notify_change", path=path, **content)).ok
        assert not (await asked(servers, "diagnostics", path=path)).ok

    played(workspace, play)


@pytest.mark.parametrize("input", [{}, {"path": 3}, {"path": "a.py", "content": 3}, {"path": "missing.py"}])
def test_a_strange_input_is_an_error(workspace: Path, input: dict[str, Any]) -> None:
    async def play(servers: LanguageServers) -> None:
        assert (await asked(servers, "notify_change", **input)).error.startswith("lsp.notify_change")

    played(workspace, play)
