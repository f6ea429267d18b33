from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.hosts.agents.machine import Machine
from hookline.hosts.install import launcher
from hookline.hosts.install.launcher import (
    LauncherKind,
    bound_variables,
    compile_client,
    install_launcher,
    installed_kind,
    launcher_script,
    remove_launcher,
)

PAYLOAD = '{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}'


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Without a directory for an engine, so that none is left running."""
    return Machine(tmp_path, tmp_path, {"XDG_RUNTIME_DIR": "/dev/null"})


def call_launcher(launcher: Path, directory: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(launcher), "claude-code", "PreToolUse"],
        input=PAYLOAD,
        env={"PATH": os.environ["PATH"], **environ},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_launcher_is_created_once(machine: Machine) -> None:
    assert installed_kind(machine) is None
    kind = install_launcher(machine)
    launcher = machine.launcher
    assert kind is (LauncherKind.COMPILED if shutil.which("cc") else LauncherKind.PYTHON)
    first = launcher.stat().st_mtime_ns, launcher.stat().st_ino
    assert install_launcher(machine) is kind
    assert (launcher.stat().st_mtime_ns, launcher.stat().st_ino) == first
    launcher.chmod(0o600)
    assert installed_kind(machine) is None
    remove_launcher(launcher)
    assert not list(launcher.parent.iterdir())


@pytest.mark.slow
def test_a_launcher_of_another_version_is_replaced(machine: Machine) -> None:
    install_launcher(machine)
    machine.launcher.with_name("bridge.made").write_text("compiled 123\n")
    assert installed_kind(machine) is None
    install_launcher(machine)
    assert installed_kind(machine) is not None


def test_another_program_in_its_place_is_replaced(machine: Machine) -> None:
    install_launcher(machine)
    machine.launcher.write_text("#!/bin/sh\nexit 0\n")
    assert installed_kind(machine) is None
    install_launcher(machine)
    assert installed_kind(machine) is not None


@pytest.mark.parametrize("name", ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"])
@pytest.mark.slow
def test_a_launcher_for_other_directories_is_replaced(tmp_path: Path, machine: Machine, name: str) -> None:
    data = {"XDG_DATA_HOME": str(machine.launcher.parent.parent)}
    install_launcher(machine)
    home = tmp_path / "other" if name == "HOME" else machine.home
    other = Machine(home, machine.project, {**machine.environ, **data, name: str(tmp_path / "other")})
    assert other.launcher == machine.launcher
    assert installed_kind(other) is None
    install_launcher(other)
    assert installed_kind(other) is not None
    assert installed_kind(machine) is None


def test_what_a_launcher_is_bound_to() -> None:
    environ = {"HOME": "/agent", "XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "relative", "XDG_RUNTIME_DIR": ""}
    assert bound_variables(Machine(Path("/home/ada"), Path("/p"), environ)) == {
        "HOME": "/home/ada",
        "XDG_CONFIG_HOME": None,
        "XDG_STATE_HOME": "/state",
        "XDG_RUNTIME_DIR": None,
        "PYTHONEXECUTABLE": None,
        "__PYVENV_LAUNCHER__": None,
    }


@pytest.mark.parametrize("name", ["plain", "it's \"a\" $HOME `x` \\ é \n''' %s", os.fsdecode(b"no-utf8-\xff")])
@pytest.mark.parametrize("kind", LauncherKind)
@pytest.mark.slow
def test_a_hook_gets_the_variables_that_the_launcher_is_bound_to(tmp_path: Path, kind: LauncherKind, name: str) -> None:
    """Byte for byte, whatever the directory is called and the agent's environment says."""
    home, program, seen = tmp_path / name, tmp_path / "bridge", tmp_path / "seen"
    (home / ".config/hookline").mkdir(parents=True)
    (home / ".config/hookline/hookline.yaml").write_text(
        f"hooks: [{{id: see, on: tool.before, then: {{run: 'env -0 > {seen}'}}, on_error: closed}}]"
    )
    variables = bound_variables(Machine(home, tmp_path, {"XDG_RUNTIME_DIR": "/dev/null"}))
    if kind is LauncherKind.PYTHON:
        program.write_text(launcher_script(sys.executable, variables))
        program.chmod(0o755)
    elif not compile_client(program, variables):
        pytest.skip("there is no C compiler")
    done = call_launcher(program, tmp_path, {**dict.fromkeys(variables, str(tmp_path)), "LC_ALL": "C"})
    assert (done.returncode, done.stdout) == (0, ""), done
    found = dict(each.split(b"=", 1) for each in seen.read_bytes().split(b"\0") if each)
    assert {each: found.get(each.encode()) for each in variables} == {
        each: None if value is None else os.fsencode(value) for each, value in variables.items()
    }


@pytest.mark.parametrize("folder", ["plain", "it's a space", "long" * 40])
def test_the_python_launcher_replies(machine: Machine, tmp_path: Path, folder: str) -> None:
    python, launcher = tmp_path / folder / "python", tmp_path / "bridge"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    launcher.write_text(launcher_script(str(python), bound_variables(machine)))
    for program in (python, launcher):
        program.chmod(0o755)
    (tmp_path / "hookline.yaml").write_text("hooks: [{id: no, on: tool.before, then: {deny: not today}}]")
    done = call_launcher(launcher, tmp_path, {})
    assert "not today" in done.stdout, done.stderr


def test_the_launcher_replies_what_the_hooks_decide(machine: Machine, tmp_path: Path) -> None:
    install_launcher(machine)
    (tmp_path / "hookline.yaml").write_text("hooks: [{id: no, on: tool.before, then: {deny: not today}}]")
    done = call_launcher(machine.launcher, tmp_path, {})
    assert "not today" in done.stdout, done.stderr


@pytest.mark.parametrize(("event", "code"), [("PreToolUse", 2), ("Stop", 1)])
@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_without_the_package_the_launcher_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, event: str, code: int
) -> None:
    gone = tmp_path / "venv/bin/python"
    variables = {"XDG_STATE_HOME": f"{tmp_path}/100%s"}
    monkeypatch.setattr(launcher, "python_client", lambda: [str(gone), "-I", "-S", str(tmp_path / "client.py")])
    program = tmp_path / "bridge"
    if kind == "python":
        program.write_text(launcher.launcher_script(str(gone), variables))
        program.chmod(0o755)
    elif not launcher.compile_client(program, variables):
        pytest.skip("there is no C compiler")
    done = subprocess.run([program, "claude-code", event], input="{}", capture_output=True, text=True)
    assert done.returncode == code
    assert "claude-code still calls it" in done.stderr
    assert "Install it again" in done.stderr
    assert str(program) in done.stderr
    assert f"listed in {tmp_path}/100%s/hookline/installed." in done.stderr
