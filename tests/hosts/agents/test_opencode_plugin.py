"""The plugin in a JavaScript engine, as opencode calls it, with a fake launcher."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.hosts.agents.machine import Machine
from install_sandbox import install, make_machine

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")
SCRIPT = """
const {{ Hookline }} = await import({plugin})
const messages = []
const client = {{ tui: {{ showToast: async ({{ body }}) => messages.push(body.message) }} }}
const hooks = await Hookline({{ client, directory: {directory}, worktree: {directory} }})
const run = async (name, input, output) => {{
  try {{ await hooks[name](input, output) }} catch (error) {{ output.thrown = error.message }}
  return output
}}
const result = {call}
console.log(JSON.stringify({{ result, messages }}))
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = make_machine(tmp_path)
    install("opencode", machine)
    return machine


def write_launcher(machine: Machine, answer: dict[str, Any], exit_code: int = 0) -> None:
    machine.launcher.parent.mkdir(parents=True)
    payload = machine.home / "payload"
    machine.launcher.write_text(
        f"#!/bin/sh\ncat > '{payload}'\necho \"$@\" > '{payload}.arguments'\ncat <<'END'\n{json.dumps(answer)}\nEND\nexit {exit_code}\n"
    )
    machine.launcher.chmod(0o755)


def run_plugin(machine: Machine, call: str) -> dict[str, Any]:
    plugin = machine.home / ".config/opencode/plugin/hookline.js"
    module = plugin.with_suffix(".mjs")
    shutil.copy(plugin, module)
    values = {"plugin": json.dumps(str(module)), "directory": json.dumps(str(machine.project))}
    script = SCRIPT.format(call=call, **values)
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


BEFORE = 'await run("tool.execute.before", {tool: "bash", callID: "1"}, {args: {command: "ls", old: 1}})'


def test_it_sends_both_arguments_and_throws_what_is_denied(machine: Machine) -> None:
    write_launcher(machine, {"deny": "not here", "message": "seen"})
    assert run_plugin(machine, BEFORE) == {
        "result": {"args": {"command": "ls", "old": 1}, "thrown": "not here"},
        "messages": ["seen"],
    }
    payload = json.loads((machine.home / "payload").read_text())
    assert payload["input"] == {"tool": "bash", "callID": "1"}
    assert payload["output"] == {"args": {"command": "ls", "old": 1}}
    assert (payload["event"], payload["directory"]) == ("tool.execute.before", str(machine.project))
    assert (machine.home / "payload.arguments").read_text() == "opencode tool.execute.before\n"


def test_changed_arguments_replace_all(machine: Machine) -> None:
    write_launcher(machine, {"args": {"command": "true"}})
    assert run_plugin(machine, BEFORE)["result"] == {"args": {"command": "true"}}


def test_context_from_before_a_tool_is_appended_to_its_result(machine: Machine) -> None:
    write_launcher(machine, {"context": "mind the tests"})
    after = 'await run("tool.execute.after", {tool: "bash", callID: "1"}, {output: "done"})'
    assert run_plugin(machine, f"[{BEFORE}, {after}][1]")["result"] == {
        "output": "done\n\nmind the tests\n\nmind the tests"
    }


def test_a_prompt_is_changed_in_its_first_text(machine: Machine) -> None:
    write_launcher(machine, {"prompt": "new", "context": "and more"})
    parts = '{parts: [{type: "text", text: "a"}, {type: "file"}, {type: "text", text: "b"}]}'
    result = run_plugin(machine, f'await run("chat.message", {{}}, {parts})')["result"]
    assert [part.get("text") for part in result["parts"]] == ["new", None, "\n\nand more"]


def test_a_permission_that_is_asked_is_told_with_its_properties(machine: Machine) -> None:
    write_launcher(machine, {"message": "seen"})
    event = '{event: {type: "permission.asked", properties: {permission: "bash", metadata: {command: "ls"}}}}'
    assert run_plugin(machine, f'await run("event", {event}, {{}})')["messages"] == ["seen"]
    payload = json.loads((machine.home / "payload").read_text())
    assert (payload["event"], payload["input"]["metadata"]) == ("permission.asked", {"command": "ls"})


@pytest.mark.parametrize("exit_code", [1, 2])
def test_without_an_answer_no_tool_runs_and_no_prompt_is_sent(machine: Machine, exit_code: int) -> None:
    write_launcher(machine, {}, exit_code)
    for call in (BEFORE, 'await run("chat.message", {}, {parts: []})'):
        assert "hookline doctor opencode" in run_plugin(machine, call)["result"]["thrown"]
    after = run_plugin(machine, 'await run("tool.execute.after", {tool: "bash", callID: "1"}, {output: "done"})')
    assert after["result"] == {"output": "done"}
    assert "did not answer" in after["messages"][0]


def test_without_a_launcher_a_tool_does_not_run(machine: Machine) -> None:
    assert "hookline could not be run" in run_plugin(machine, BEFORE)["result"]["thrown"]


def test_unknown_events_do_not_call_hookline(machine: Machine) -> None:
    assert run_plugin(machine, 'await run("event", {event: {type: "message.updated", properties: {}}}, {})') == {
        "result": {},
        "messages": [],
    }
