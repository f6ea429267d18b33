"""Pi: hookline's extension in a JavaScript engine, as Pi calls it, with a fake launcher."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.machine import Machine
from install_sandbox import install, make_machine

NODE = shutil.which("node")
PI = get_agent("pi")
SENT = payloads("pi")
SCRIPT = """
const {{ default: extension }} = await import({module})
const handlers = {{}}, messages = []
extension({{ on: (name, handler) => (handlers[name] = handler) }})
const ui = {{ notify: (text) => messages.push(text), confirm: async (title, text) => (messages.push(text), {confirms}) }}
const ctx = {{ cwd: {directory}, hasUI: {has_ui}, ui, sessionManager: {{ getSessionId: () => "s1" }} }}
const event = {event}
const result = await handlers[event.type](event, ctx)
console.log(JSON.stringify({{ result: result ?? null, event, messages }}))
"""
CALL = {"type": "tool_call", "toolName": "bash", "toolCallId": "c1", "input": {"command": "ls", "old": 1}}
RESULT = {"type": "tool_result", "toolName": "bash", "toolCallId": "c1", "content": [{"type": "text", "text": "a"}]}
needs_node = pytest.mark.skipif(NODE is None, reason="needs node")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = make_machine(tmp_path)
    install("pi", machine)
    return machine


def _run(
    machine: Machine, answer: str, event: dict[str, Any], *, has_ui: bool = True, confirms: bool = True
) -> dict[str, Any]:
    machine.launcher.parent.mkdir(parents=True, exist_ok=True)
    machine.launcher.write_text(f"#!/bin/sh\ncat > '{machine.home}/payload'\n{answer}\n")
    machine.launcher.chmod(0o755)
    module = machine.home / "extension.mjs"
    shutil.copy(machine.home / ".pi/agent/extensions/hookline.js", module)
    values = {"module": str(module), "directory": str(machine.project), "event": event}
    texts = {key: json.dumps(value) for key, value in {**values, "has_ui": has_ui, "confirms": confirms}.items()}
    script = SCRIPT.format(**texts)
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _reply(**answer: Any) -> str:
    return f"cat <<'END'\n{json.dumps(answer)}\nEND"


@needs_node
def test_deny_blocks_and_the_payload_has_what_a_guard_needs(machine: Machine) -> None:
    assert _run(machine, _reply(deny="not here"), CALL)["result"] == {"block": True, "reason": "not here"}
    payload = json.loads((machine.home / "payload").read_text())
    (event,) = PI.read("tool_call", payload).events
    assert event.facts["tool"]["input"] == CALL["input"]
    assert (event.facts["session"]["id"], event.facts["cwd"]) == ("s1", str(machine.project))


@needs_node
def test_change_replaces_the_whole_input(machine: Machine) -> None:
    ran = _run(machine, _reply(input={"command": "pwd"}), CALL)
    assert (ran["result"], ran["event"]["input"]) == (None, {"command": "pwd"})


@needs_node
@pytest.mark.parametrize(
    ("has_ui", "confirms", "runs"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_ask_runs_only_if_a_person_confirms(machine: Machine, has_ui: bool, confirms: bool, runs: bool) -> None:
    ran = _run(machine, _reply(ask="look first"), CALL, has_ui=has_ui, confirms=confirms)
    assert (ran["result"] is None) is runs


@needs_node
@pytest.mark.parametrize("answer", ["exit 1", "exit 2", "echo nonsense"])
def test_launcher_that_fails_blocks_tools_and_prompts(machine: Machine, answer: str) -> None:
    assert _run(machine, answer, CALL)["result"]["block"] is True
    assert _run(machine, answer, {"type": "input", "text": "hi"})["result"] == {"action": "handled"}
    assert _run(machine, answer, RESULT)["result"] is None


@needs_node
def test_results_prompts_and_stops(machine: Machine) -> None:
    ran = _run(machine, _reply(result="clean", context="more"), RESULT)
    assert [part["text"] for part in ran["result"]["content"]] == ["clean", "more"]
    ran = _run(machine, _reply(prompt="new", context="more"), {"type": "input", "text": "hi"})
    assert ran["result"]["text"] == "new\n\nmore"
    ran = _run(machine, _reply(deny="run the tests"), {"type": "agent_before_settle"})
    assert (ran["result"]["continue"], ran["result"]["entries"][0]["content"]) == (True, "run the tests")
    assert _run(machine, _reply(deny="no"), {"type": "session_before_compact"})["result"] == {"cancel": True}


def test_changed_edit_keeps_the_shape_of_the_tool() -> None:
    parsed = PI.read("tool_call", SENT["tool_call-edit"])
    changed = parsed.events[0].with_changes(((("tool", "input", "newText"), "c"),))
    output = json.loads(PI.reply(parsed, [Decision(changed)]).stdout)
    edits = [{"oldText": "a", "newText": "c"}]
    assert output == {"input": {"path": "/home/dev/project/.env", "edits": edits}}


def test_reply_to_an_ask_is_a_word_of_its_own() -> None:
    parsed = PI.read("tool_call", SENT["tool_call"])
    output = json.loads(PI.reply(parsed, [Decision(parsed.events[0], Verdict.ASK, "look first")]).stdout)
    assert output == {"ask": "look first"}
