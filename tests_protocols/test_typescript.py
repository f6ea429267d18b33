"""The example client in TypeScript, in an agent of the Vercel AI SDK with the SDK's own mock model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = HERE.parent / ".cache" / "protocols" / "node_modules"
HOOKLINE = [sys.executable, "-m", "hookline"]
HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: no-key, on: tool.after, when: {result: KEY}, then: {replace: {in: result, pattern: 'KEY-\\d', with: '***'}}}
  - {id: all-files, on: tool.before, when: {input: {command: '^ls$'}}, then: {set: {input.command: ls -a}}}
"""

pytestmark = pytest.mark.skipif(not MODULES.is_dir(), reason="`make test-protocols` installs the packages from npm")


@pytest.fixture
def project() -> Iterator[Path]:
    """With a short name, because a socket's path is short."""
    root = Path(tempfile.mkdtemp(prefix="hl"))
    for name in ("home", "run", "p"):
        (root / name).mkdir(mode=0o700)
    (root / "p" / "hookline.yaml").write_text(HOOKS)
    (root / "p" / "node_modules").symlink_to(MODULES)
    subprocess.run([*HOOKLINE, "trust", "--yes"], cwd=root / "p", env=environment(root / "p"), check=True)
    yield root / "p"
    shutil.rmtree(root)


def environment(project: Path) -> dict[str, str]:
    root = project.parent
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return {"PATH": path, "HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root / "run")}


@pytest.fixture
def engine(project: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([*HOOKLINE, "serve"], env=environment(project), cwd=project)
    socket = project.parent / "run" / "hookline" / "engine.sock"
    until = time.monotonic() + 30
    while not socket.exists() and time.monotonic() < until:
        time.sleep(0.05)
    yield process
    process.kill()
    process.wait()


def compile_agent(project: Path) -> Path:
    options = "--strict --target es2022 --module nodenext --moduleResolution nodenext --skipLibCheck --types node"
    for source in (HERE / "agent.ts", HERE.parent / "examples" / "hookline_client.ts"):
        shutil.copy(source, project)
    (project / "package.json").write_text('{"type": "module"}')
    compiler = MODULES / "typescript" / "bin" / "tsc"
    files = ["agent.ts", "hookline_client.ts"]
    subprocess.run(["node", str(compiler), *options.split(), *files], cwd=project, check=True, timeout=120)
    return project / "agent.js"


def run_agent(project: Path) -> subprocess.CompletedProcess[str]:
    agent = compile_agent(project)
    return subprocess.run(
        ["node", agent.name], cwd=project, env=environment(project), capture_output=True, text=True, timeout=120
    )


def test_an_agent_in_typescript_obeys_the_hooks(project: Path, engine: subprocess.Popen[bytes]) -> None:
    ended = run_agent(project)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["ran"] == ["cat key", "fail", "ls -a"]
    assert told["outputs"] == [
        "Never. (hook no-rm, hookline.yaml:3)",
        "Really? (hook ask-push, hookline.yaml:4)",
        "the key is ***",
        "Error: Error: exit code 1",
        "ran ls -a",
    ]


def test_without_a_decision_no_tool_runs(project: Path) -> None:
    (project / "bin").mkdir()
    (project / "bin" / "hookline").write_text("#!/bin/sh\necho /nowhere/engine.sock\n")
    (project / "bin" / "hookline").chmod(0o755)
    agent = compile_agent(project)
    path = os.pathsep.join((str(project / "bin"), os.environ["PATH"]))
    ended = subprocess.run(
        ["node", agent.name],
        cwd=project,
        env={**environment(project), "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    told = json.loads(ended.stdout)
    assert told["ran"] == []
    assert all("ENOENT" in output for output in told["outputs"])
