"""The plugin in a JavaScript engine, as opencode calls it, with a launcher that answers what we want."""

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
const told = []
const client = {{ tui: {{ showToast: async ({{ body }}) => told.push(body.message) }} }}
const hooks = await Hookline({{ client, directory: {directory}, worktree: {directory} }})
const run = async (name, input, output) => {{
  try {{ await hooks[name](input, output) }} catch (error) {{ output.thrown = error.message }}
  return output
}}
const result = {call}
console.log(JSON.stringify({{ result, told }}))
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = make_machine(tmp_path)
    install("opencode", machine)
    return machine


def answering(machine: Machine, answer: dict[str, Any], exit_code: int = 0) -> None:
    machine.launcher.parent.mkdir(parents=True)
    heard = machine.home / "heard"
    machine.launcher.write_text(
        f"#!/bin/sh\ncat > '{heard}'\necho \"$@\" > '{heard}.words'\ncat <<'END'\n{json.dumps(answer)}\nEND\nexit {exit_code}\n"
    )
    machine.launcher.chmod(0o755)


def called(machine: Machine, call: str) -> dict[str, Any]:
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
    answering(machine, {"deny": "not here", "message": "seen"})
    assert called(machine, BEFORE) == {
        "result": {"args": {"command": "ls", "old": 1}, "thrown": "not here"},
        "told": ["seen"],
    }
    heard = json.loads((machine.home / "heard").read_text())
    assert heard["input"] == {"tool": "bash", "callID": "1"}
    assert heard["output"] == {"args": {"command": "ls", "old": 1}}
    assert (heard["event"], heard["directory"]) == ("tool.execute.before", str(machine.project))
    assert (machine.home / "heard.words").read_text() == "opencode tool.execute.before\n"


def test_changed_arguments_take_the_place_of_all(machine: Machine) -> None:
    answering(machine, {"args": {"command": "true"}})
    assert called(machine, BEFORE)["result"] == {"args": {"command": "true"}}


def test_context_from_before_a_tool_stands_in_its_result(machine: Machine) -> None:
    answering(machine, {"context": "mind the tests"})
    after = 'await run("tool.execute.after", {tool: "bash", callID: "1"}, {output: "done"})'
    assert called(machine, f"[{BEFORE}, {after}][1]")["result"] == {
        "output": "done\n\nmind the tests\n\nmind the tests"
    }


def test_a_prompt_is_changed_in_its_first_text(machine: Machine) -> None:
    answering(machine, {"prompt": "new", "context": "and more"})
    parts = '{parts: [{type: "text", text: "a"}, {type: "file"}, {type: "text", text: "b"}]}'
    result = called(machine, f'await run("chat.message", {{}}, {parts})')["result"]
    assert [part.get("text") for part in result["parts"]] == ["new", None, "\n\nand more"]


def test_a_permission_and_a_result(machine: Machine) -> None:
    answering(machine, {"status": "deny", "result": "clean"})
    assert called(machine, 'await run("permission.ask", {}, {status: "ask"})')["result"] == {"status": "deny"}


@pytest.mark.parametrize("exit_code", [1, 2])
def test_where_nobody_answers_no_tool_runs_and_no_prompt_is_sent(machine: Machine, exit_code: int) -> None:
    answering(machine, {}, exit_code)
    for call in (BEFORE, 'await run("chat.message", {}, {parts: []})'):
        assert "hookline doctor opencode" in called(machine, call)["result"]["thrown"]
    after = called(machine, 'await run("tool.execute.after", {tool: "bash", callID: "1"}, {output: "done"})')
    assert after["result"] == {"output": "done"}
    assert "did not answer" in after["told"][0]


def test_without_a_launcher_a_tool_does_not_run(machine: Machine) -> None:
    assert "did not answer" in called(machine, BEFORE)["result"]["thrown"]


def test_events_that_are_not_ours_ask_nobody(machine: Machine) -> None:
    assert called(machine, 'await run("event", {event: {type: "message.updated", properties: {}}}, {})') == {
        "result": {},
        "told": [],
    }
