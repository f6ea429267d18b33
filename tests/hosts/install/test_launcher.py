from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.hosts.install import launcher
from hookline.hosts.install.launcher import (
    LauncherKind,
    install_launcher,
    installed_kind,
    launcher_script,
    remove_launcher,
)

PAYLOAD = '{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}'


def call_launcher(launcher: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Calls the launcher without a directory for an engine, so that none is left running."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": "/dev/null"}
    return subprocess.run(
        [str(launcher), "claude-code", "PreToolUse"],
        input=PAYLOAD,
        env=environ,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_launcher_is_created_once(tmp_path: Path) -> None:
    launcher = tmp_path / "share" / "hookline" / "bridge"
    assert installed_kind(launcher) is None
    kind = install_launcher(launcher)
    assert kind is (LauncherKind.COMPILED if shutil.which("cc") else LauncherKind.PYTHON)
    first = launcher.stat().st_mtime_ns, launcher.stat().st_ino
    assert install_launcher(launcher) is kind
    assert (launcher.stat().st_mtime_ns, launcher.stat().st_ino) == first
    launcher.chmod(0o600)
    assert installed_kind(launcher) is None
    remove_launcher(launcher)
    assert not list(launcher.parent.iterdir())


def test_a_launcher_of_another_version_is_replaced(tmp_path: Path) -> None:
    launcher = tmp_path / "bridge"
    install_launcher(launcher)
    (tmp_path / "bridge.made").write_text("compiled 123\n")
    assert installed_kind(launcher) is None
    install_launcher(launcher)
    assert installed_kind(launcher) is not None


def test_another_program_in_its_place_is_replaced(tmp_path: Path) -> None:
    launcher = tmp_path / "bridge"
    install_launcher(launcher)
    launcher.write_text("#!/bin/sh\nexit 0\n")
    assert installed_kind(launcher) is None
    install_launcher(launcher)
    assert installed_kind(launcher) is not None


@pytest.mark.parametrize("folder", ["plain", "it's a space", "long" * 40])
def test_the_python_launcher_replies(tmp_path: Path, folder: str) -> None:
    python, launcher = tmp_path / folder / "python", tmp_path / "bridge"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    launcher.write_text(launcher_script(str(python)))
    for program in (python, launcher):
        program.chmod(0o755)
    (tmp_path / "hookline.yaml").write_text("hooks: [{id: no, on: tool.before, then: {deny: not today}}]")
    done = call_launcher(launcher, tmp_path)
    assert "not today" in done.stdout, done.stderr


def test_the_launcher_replies_what_the_hooks_decide(tmp_path: Path) -> None:
    install_launcher(tmp_path / "bridge")
    (tmp_path / "hookline.yaml").write_text("hooks: [{id: no, on: tool.before, then: {deny: not today}}]")
    done = call_launcher(tmp_path / "bridge", tmp_path)
    assert "not today" in done.stdout, done.stderr


@pytest.mark.parametrize(("event", "code"), [("PreToolUse", 2), ("Stop", 1)])
@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_without_the_package_the_launcher_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, event: str, code: int
) -> None:
    gone = tmp_path / "venv/bin/python"
    monkeypatch.setattr(launcher, "python_client", lambda: [str(gone), "-I", "-S", str(tmp_path / "client.py")])
    program = tmp_path / "bridge"
    if kind == "python":
        program.write_text(launcher.launcher_script(str(gone)))
        program.chmod(0o755)
    elif not launcher.compile_client(program):
        pytest.skip("there is no C compiler")
    done = subprocess.run([program, "claude-code", event], input="{}", capture_output=True, text=True)
    assert done.returncode == code
    assert "claude-code still calls it" in done.stderr
    assert "pip install hookline" in done.stderr
    assert str(program) in done.stderr
