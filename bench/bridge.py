"""How long an agent waits for a hook: a hook in Python, the bridge's clients with a warm engine, and an empty shell."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from time import perf_counter

from hookline.hosts.agents.machine import Machine
from hookline.hosts.bridge import client
from hookline.hosts.install.launcher import bound_variables, compile_client, python_client

_ROUNDS = 60
_HOOK = """import json, sys
payload = json.load(sys.stdin)
if "rm -rf" in payload["tool_input"]["command"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}))
"""
_GUARD = "hooks:\n  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: 'rm -rf'}}, then: {deny: No.}}\n"


def round_trips() -> dict[str, float]:
    """Seconds from starting each program until its answer is read and it has ended."""
    root = Path(tempfile.mkdtemp(prefix="hl"))
    try:
        return _measure(root)
    finally:
        shutil.rmtree(root)


def _measure(root: Path) -> dict[str, float]:
    (root / "home").mkdir()
    (root / "hookline.yaml").write_text(_GUARD)
    (root / "hook.py").write_text(_HOOK)
    environment = {**os.environ, "HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root)}
    input = {"command": "ls", "description": "x" * 200}
    payload = json.dumps({"session_id": "s", "cwd": str(root), "tool_name": "Bash", "tool_input": input}).encode()
    agent = ["claude-code", "PreToolUse"]
    programs = {
        "Python hook": [sys.executable, str(root / "hook.py")],
        "Python client": [*python_client(), *agent],
        "sh -c :": ["sh", "-c", ":"],
    }
    user = Machine(root / "home", root, environment)
    if compile_client(root / "client", bound_variables(user)):
        programs["C client"] = [str(root / "client"), *agent]
    engine = subprocess.Popen(client.hookline_command("serve"), env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait_for_file(root / "hookline" / client.SOCKET_NAME)
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(_ROUNDS):
            for name, argv in programs.items():
                times[name].append(_time_call(argv, payload, environment, root))
    finally:
        engine.terminate()
        engine.wait()
    return {name: statistics.median(taken[3:]) for name, taken in times.items()}


def _time_call(argv: list[str], payload: bytes, environment: dict[str, str], directory: Path) -> float:
    begun = perf_counter()
    done = subprocess.run(argv, input=payload, capture_output=True, env=environment, cwd=directory, check=True)
    taken = perf_counter() - begun
    assert done.stdout == b"", done.stdout
    return taken


def _wait_for_file(path: Path) -> None:
    until = perf_counter() + 30
    while not path.exists():
        assert perf_counter() < until, "the engine did not start"
        time.sleep(0.01)
