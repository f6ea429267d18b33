"""OpenClaw: hookline's plugin in a JavaScript engine, as OpenClaw calls it, with a fake launcher."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_payloads import payloads
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.machine import Machine
from install_sandbox import install, make_machine

NODE = shutil.which("node")
OPENCLAW = get_agent("openclaw")
SENT = payloads("openclaw")
SCRIPT = """
const {{ default: plugin }} = await import({module})
const handlers = {{}}, messages = []
const api = {{ on: (name, handler) => (handlers[name] = handler), logger: {{ warn: (text) => messages.push(text) }} }}
plugin.register({{ ...api, config: {{ agents: {{ defaults: {{ workspace: {workspace} }} }} }} }})
const ctx = {{ agentId: "main", sessionId: "s1", sessionKey: "k1", runId: "r1" }}
const results = []
for (const [name, event] of {calls}) {{
  try {{ results.push((await handlers[name](event, ctx)) ?? null) }} catch (error) {{ results.push({{ thrown: error.message }}) }}
}}
console.log(JSON.stringify({{ results, messages }}))
"""
CALL = (
    "before_tool_call",
    {"toolName": "exec", "toolCallId": "c1", "params": {"command": "ls"}, "messages": ["secret"]},
)
PROMPT = ("before_prompt_build", {"prompt": "hi"})
RUN = ("before_agent_run", {"prompt": "hi"})
needs_node = pytest.mark.skipif(NODE is None, reason="needs node")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = make_machine(tmp_path)
    install("openclaw", machine)
    return machine


def _run(machine: Machine, answer: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    machine.launcher.parent.mkdir(parents=True, exist_ok=True)
    machine.launcher.write_text(f"#!/bin/sh\ncat > '{machine.home}/payload'\n{answer}\n")
    machine.launcher.chmod(0o755)
    values = {
        "module": str(machine.home / ".openclaw/extensions/hookline/index.js"),
        "workspace": str(machine.project),
        "calls": calls,
    }
    script = SCRIPT.format(**{key: json.dumps(value) for key, value in values.items()})
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60, check=True
    )
    found: list[Any] = json.loads(done.stdout)["results"]
    return found


def _reply(**answer: Any) -> str:
    return f"cat <<'END'\n{json.dumps(answer)}\nEND"


@needs_node
def test_deny_change_and_ask_before_a_tool(machine: Machine) -> None:
    assert _run(machine, _reply(deny="no"), CALL) == [{"block": True, "blockReason": "no"}]
    payload = json.loads((machine.home / "payload").read_text())
    (event,) = OPENCLAW.read("before_tool_call", payload).events
    assert (event.facts["tool"]["kind"], event.facts["tool"]["input"]) == ("shell", {"command": "ls"})
    assert (event.facts["cwd"], event.facts["session"]["id"]) == (str(machine.project), "s1")
    assert "secret" not in str(payload), "the conversation is not sent"
    assert _run(machine, _reply(input={"command": "pwd"}), CALL) == [{"params": {"command": "pwd"}}]
    (asked,) = _run(machine, _reply(ask="look first"), CALL)
    assert asked["requireApproval"]["description"] == "look first"
    assert "allow-always" not in asked["requireApproval"]["allowedDecisions"]


@needs_node
@pytest.mark.parametrize("answer", ["exit 1", "exit 2", "echo nonsense"])
def test_launcher_that_fails_throws_because_openclaw_then_blocks(machine: Machine, answer: str) -> None:
    call, _, run = _run(machine, answer, CALL, PROMPT, RUN)
    assert "hookline did not answer" in call["thrown"]
    assert run["outcome"] == "block"


@needs_node
def test_prompt_is_asked_about_once_and_denied_when_the_run_begins(machine: Machine) -> None:
    assert _run(machine, _reply(context="more"), PROMPT, RUN) == [{"prependContext": "more"}, None]
    _, run = _run(machine, _reply(deny="no"), PROMPT, RUN)
    assert (run["outcome"], run["reason"]) == ("block", "no")


@needs_node
def test_denied_stop_revises(machine: Machine) -> None:
    assert _run(machine, _reply(deny="run the tests"), ("before_agent_finalize", {})) == [
        {"action": "revise", "reason": "run the tests"}
    ]


@pytest.mark.parametrize(
    ("settings", "obstacle"),
    [
        (None, "before you enable it"),
        ({"plugins": {"entries": {"hookline": {"enabled": False}}}}, "before you enable it"),
        ({"plugins": {"allow": ["x"], "entries": {"hookline": {"enabled": True}}}}, "plugins.allow"),
        ({"plugins": {"allow": ["hookline"], "entries": {"hookline": {"enabled": True}}}}, ""),
        ("not json", "cannot be read"),
    ],
)
def test_doctor_knows_whether_the_plugin_is_loaded(machine: Machine, settings: Any, obstacle: str) -> None:
    if settings is not None:
        text = settings if isinstance(settings, str) else json.dumps(settings)
        (machine.home / ".openclaw/openclaw.json").write_text(text)
    what, fix = OPENCLAW.find_obstacle(machine)
    assert (obstacle in what, bool(fix)) == (True, bool(obstacle))


def test_processes_and_code_are_shells() -> None:
    (event,) = OPENCLAW.read("before_tool_call", SENT["before_tool_call-process"]).events
    assert event.facts["tool"]["kind"] == "shell"
    code = {"toolName": "exec", "toolKind": "code_mode_exec", "params": {"code": "1"}}
    (event,) = OPENCLAW.read("before_tool_call", {"input": code}).events
    assert event.facts["tool"]["kind"] == "shell"
