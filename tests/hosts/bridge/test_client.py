"""The client itself: what it is made of, and where it looks."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from bridge_sandbox import GUARD, BridgeSandbox, deny_reason
from hookline.hosts.bridge import client
from hookline.hosts.install.launcher import compile_client, python_client

pytestmark = pytest.mark.slow


SOURCE = Path(client.__file__)


def test_its_release_is_the_package_s() -> None:
    assert version("hookline") == client.RELEASE


def test_it_imports_the_standard_library_only() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert imported <= sys.stdlib_module_names


def test_nothing_in_the_project_is_imported(desk: BridgeSandbox) -> None:
    """Neither by the client, nor by the process that decides instead of an engine."""
    for name in ("click", "hookline", "json", "socket", "fcntl", "sitecustomize", "usercustomize"):
        (desk.project / f"{name}.py").write_text("import os; os.system('touch ran')")
    desk.write_hooks(GUARD)
    desk.variables["PYTHONPATH"] = str(desk.project)
    desk.variables["PYTHONSTARTUP"] = str(desk.project / "click.py")
    desk.runtime_directory.parent.chmod(0o500)
    for argv in (python_client(), client.hookline_command("bridge", "--direct")):
        assert deny_reason(desk.run_client(argv, desk.payload())[0]) == "Never."
    assert not (desk.project / "ran").exists()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/h"}, "/run/user/1/hookline"),
        ({"XDG_RUNTIME_DIR": "relative", "XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/hookline/run"),
        ({"HOME": "/h"}, "/h/.local/state/hookline/run"),
        ({}, ""),
    ],
)
def test_where_the_engine_listens(environment: dict[str, str], expected: str) -> None:
    assert client.run_directory(environment) == expected


def test_without_a_place_for_an_engine_it_decides_itself(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    desk.variables["XDG_RUNTIME_DIR"] = "/proc/nowhere"
    assert deny_reason(desk.run_client(python_client(), desk.payload())[0]) == "Never."


def test_a_socket_s_path_that_is_too_long_is_no_trouble(desk: BridgeSandbox, argv: list[str]) -> None:
    desk.write_hooks(GUARD)
    long = desk.root / ("x" * 120)
    (long / "hookline").mkdir(parents=True, mode=0o700)
    desk.variables["XDG_RUNTIME_DIR"] = str(long)
    assert deny_reason(desk.run_client(argv, desk.payload())[0]) == "Never."


@pytest.mark.parametrize("has_engine", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("\ufeff \n", "\n"), ('{"a": "}\\"{", "b": {"c": [{}]}, ', "")],
    ids=["plain", "spaces", "nested"],
)
def test_an_agent_that_leaves_stdin_open_gets_an_answer(
    desk: BridgeSandbox, argv: list[str], before: str, after: str, has_engine: bool
) -> None:
    """Some versions of Copilot CLI and Claude Code do, and would run the tool when the hook's time is over."""
    desk.write_hooks(GUARD)
    if not has_engine:
        desk.variables["XDG_RUNTIME_DIR"] = "/proc/nowhere"
    payload = desk.payload().decode()
    text = before + (payload[1:] if before.endswith(", ") else payload) + after
    process = desk.start_client(argv, "claude-code", "PreToolUse")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text.encode())
    process.stdin.flush()
    assert deny_reason(process.stdout.read().decode()) == "Never."
    process.stdin.close()
    assert process.wait(timeout=20) == 0


def test_a_payload_that_comes_in_pieces_is_read_to_its_end(desk: BridgeSandbox, argv: list[str]) -> None:
    desk.write_hooks(GUARD)
    process = desk.start_client(argv, "claude-code", "PreToolUse")
    assert process.stdin is not None
    payload = desk.payload()
    for at in range(0, len(payload), 40):
        process.stdin.write(payload[at : at + 40])
        process.stdin.flush()
        time.sleep(0.15)
    out, _ = process.communicate(timeout=20)
    assert deny_reason(out.decode()) == "Never."


def test_an_interpreter_that_is_gone_holds_the_tool_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / 'no "such\\ python é'))
    target = tmp_path / "client"
    if not compile_client(target, {}):
        pytest.skip("there is no C compiler")
    environment = {"HOME": str(tmp_path)}
    for event, code in (("PreToolUse", 2), ("Stop", 1)):
        done = subprocess.run([target, "claude-code", event], input=b"{}", capture_output=True, env=environment)
        assert (done.returncode, done.stdout) == (code, b"")
        assert done.stderr


def test_a_compiler_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "bin" / "cc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent))
    assert not compile_client(tmp_path / "made" / "client", {})
    assert os.listdir(tmp_path / "made") == []
