"""The format's examples that need no browser, at work in sessions: guards, audit, auto-save, formatting."""

from __future__ import annotations

import json
import logging
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step

RM_RF = """
  if (toolInput.command?.includes('rm -rf')) {
    return { decision: 'deny', reason: 'Dangerous command blocked' };
  }
"""
LOG_ALL = "log('Tool called:', toolName, 'with input:', JSON.stringify(toolInput));"
NO_ENV = """
if (toolInput.path?.includes('.env')) {
  return { decision: 'deny', reason: 'Cannot modify .env files' };
}
"""
FORMAT = """
if (toolInput.path?.endsWith('.py')) {
  await callTool('bash', { command: `black ${toolInput.path}` });
  log('Formatted:', toolInput.path);
}
"""
API_KEYS = {
    "matcher": "^write_file$",
    "inputMatchers": {"path": "\\.env$", "content": "API_KEY"},
    "action": "deny",
    "reason": "Cannot write API keys to .env files",
}
AUDIT = """{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "bash",
        "command": "echo '[AUDIT] Agent running bash: {{input.command}}' >> /var/log/flo-audit.log"
      }
    ],
    "PostToolUse": [
      {
        "matcher": "files",
        "command": "cd {{sandbox}} && git add -A && git commit -m 'auto-save after {{toolName}}' 2>/dev/null || true",
        "continueOnError": true
      }
    ]
  }
}"""
AUTO_SAVE = """{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "^bash$",
        "command": "echo 'Agent running: {{input.command}}' >> /var/log/flo-audit.log",
        "continueOnError": true
      }
    ],
    "PostToolUse": [
      {
        "matcher": "^write_file$",
        "command": "cd {{sandbox}} && git add -A && git commit -m 'auto-save after {{toolName}}' 2>/dev/null || true"
      }
    ]
  }
}"""
PRIORITIES = [
    {"priority": 10, "matcher": "^bash$", "action": "log"},
    {"priority": 50, "matcher": "^bash$", "action": "allow"},
    {"priority": 100, "matcher": "^fetch$", "action": "deny"},
]


def _script(event: str, script: str, matcher: str | None = None) -> dict[str, Any]:
    return {event: [{**({"matcher": matcher} if matcher else {}), "action": "script", "script": script}]}


def _ran(workspace: Path, hooks: str | dict[str, Any], *wanted: tuple[str, dict[str, Any]]) -> list[str]:
    """What the model was told about each call."""
    model = RecordingModel([*(tool_call_step(each) for each in wanted), "done"])
    text = hooks if isinstance(hooks, str) else json.dumps({"hooks": hooks})

    async def work() -> None:
        env = dict(os.environ)
        async with open_runtime(workspace, text, model=model, file="hub.json", unattended=True, env=env) as (
            runtime,
            _,
        ):
            session = await runtime.start()
            await send_prompt(session, "go")
            await session.end()

    run_async(work)
    return [str(request.messages[-1]["content"]) for request in model.requests[1:]]


def _repository(workspace: Path) -> Path:
    home = workspace / "git-home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Agent\n\temail = agent@example.org\n")
    (workspace / ".gitignore").write_text("home/\ngit-home/\n")
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    return home


def _commits(workspace: Path) -> list[str]:
    done = subprocess.run(["git", "-C", str(workspace), "log", "--format=%s"], capture_output=True, text=True)
    return done.stdout.splitlines()


def test_a_dangerous_command_is_blocked_and_a_write_to_a_sensitive_file(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    hooks = {"PreToolUse": _script("PreToolUse", RM_RF, "^bash$")["PreToolUse"] + [API_KEYS]}
    hooks["PreToolUse"] += _script("PreToolUse", NO_ENV, "^write_file$")["PreToolUse"]
    told = _ran(
        tmp_path,
        hooks,
        ("bash", {"command": "rm -rf kept"}),
        ("write_file", {"path": "app.env", "content": "API_KEY=1"}),
        ("write_file", {"path": ".env.local", "content": "x"}),
        ("write_file", {"path": "notes.txt", "content": "API_KEY is not written here"}),
    )
    assert told[:3] == [
        "Error: Dangerous command blocked (hook hub.json:PreToolUse[0], hub.json:1)",
        "Error: Cannot write API keys to .env files (hook hub.json:PreToolUse[1], hub.json:1)",
        "Error: Cannot modify .env files (hook hub.json:PreToolUse[2], hub.json:1)",
    ]
    assert (tmp_path / "kept").is_dir()
    assert [(tmp_path / name).exists() for name in ("app.env", ".env.local", "notes.txt")] == [False, False, True]


def test_every_call_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "hookline")
    _ran(tmp_path, _script("PreToolUse", LOG_ALL), ("list_directory", {"path": "."}))
    assert any('Tool called: list_directory with input: {"path":"."}' in line for line in caplog.messages)


def test_python_files_are_formatted_after_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "black").write_text("#!/bin/sh\nprintf 'x = 1\\n' > \"$1\"\n")
    (programs / "black").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    wanted = [("write_file", {"path": name, "content": "x=1"}) for name in ("a.py", "a.txt")]
    _ran(tmp_path, _script("PostToolUse", FORMAT, "^write_file$"), *wanted)
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    assert (tmp_path / "a.txt").read_text() == "x=1"


def test_an_audit_log_is_kept_and_writes_are_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(_repository(tmp_path)))
    log = tmp_path / "git-home" / "flo-audit.log"
    evil = "echo 'quoted'; echo $(touch injected)"
    hooks = AUDIT.replace("/var/log/flo-audit.log", str(log))
    written = {"path": "a.txt", "content": "1"}
    _ran(
        tmp_path, hooks, ("bash", {"command": evil}), ("write_file", written), ("files", {"action": "write", **written})
    )
    assert log.read_text() == f"[AUDIT] Agent running bash: {evil}\n"
    assert _commits(tmp_path) == ["auto-save after files"]


def test_the_hub_saves_after_each_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(_repository(tmp_path)))
    log = tmp_path / "git-home" / "flo-audit.log"
    hooks = AUTO_SAVE.replace("/var/log/flo-audit.log", str(log))
    wanted = [("write_file", {"path": f"{n}.txt", "content": "1"}) for n in range(2)]
    _ran(tmp_path, hooks, *wanted, ("bash", {"command": "true"}))
    assert log.read_text() == "Agent running: true\n"
    assert _commits(tmp_path) == ["auto-save after write_file"] * 2


def test_priorities_decide_the_order_and_a_deny_stops(tmp_path: Path) -> None:
    told = _ran(
        tmp_path,
        {"PreToolUse": PRIORITIES},
        ("bash", {"command": "touch made"}),
        ("fetch", {"url": "http://127.0.0.1:9/"}),
    )
    assert (tmp_path / "made").exists()
    assert told[1].startswith("Error: Blocked by hook")
