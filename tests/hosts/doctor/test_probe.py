"""With programs that imitate Claude Code. `make test-agents` runs the agents themselves."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor.finding import Mark
from hookline.hosts.doctor.probe import prove_with_agent
from install_sandbox import make_machine, read_files

pytestmark = pytest.mark.slow


IGNORES_HOOKS = """\
import json, os, urllib.request
def ask(messages):
    body = {"messages": messages, "tools": [{"name": "Bash", "input_schema": {}}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
    urllib.request.urlopen(request).read()
ask([])
ask([{"role": "user", "content": [{"type": "tool_result", "content": "hookline doctor"}]}])
"""


def write_program(directory: Path, text: str) -> Path:
    file = directory / "claude"
    file.write_text(f"#!{sys.executable}\n{text}")
    file.chmod(0o755)
    return file


def test_an_agent_that_ignores_a_deny_is_a_problem(tmp_path: Path) -> None:
    proved = prove_with_agent(get_agent("claude-code"), write_program(tmp_path, IGNORES_HOOKS), make_machine(tmp_path))
    assert proved is not None
    assert proved.mark is Mark.PROBLEM
    assert "did not obey" in proved.message


def test_an_agent_that_never_asks_its_model_proves_nothing(tmp_path: Path) -> None:
    proved = prove_with_agent(
        get_agent("claude-code"), write_program(tmp_path, "print('sign in first')"), make_machine(tmp_path)
    )
    assert proved is not None
    assert proved.mark is Mark.UNKNOWN
    assert proved.message.endswith("sign in first")


def test_the_agent_sees_no_key_and_no_file_of_the_user(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, ANTHROPIC_API_KEY="real", AWS_PROFILE="real", PATH="/usr/bin:/bin")
    (machine.home / ".claude.json").write_text("{}")
    before = read_files(machine.home)
    text = f"import os; print(os.path.realpath(os.environ['HOME']) == {str(machine.home)!r}, 'real' in str(os.environ))"
    proved = prove_with_agent(get_agent("claude-code"), write_program(tmp_path, text), machine)
    assert proved is not None
    assert proved.message.endswith("False False")
    assert read_files(machine.home) == before


def test_an_agent_that_needs_a_person_is_not_proved(tmp_path: Path) -> None:
    assert prove_with_agent(get_agent("cursor"), write_program(tmp_path, ""), make_machine(tmp_path)) is None


OBEYS_HOOKS = """\
import json, os, pathlib, subprocess, urllib.request
def ask(messages):
    body = {"messages": messages, "tools": [{"name": "Bash", "input_schema": {}}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
    urllib.request.urlopen(request).read()
ask([])
settings = json.loads(pathlib.Path(os.environ["HOME"], ".claude/settings.json").read_text())
command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
call = {"tool_name": "Bash", "tool_input": {"command": "hookline doctor"}, "cwd": os.getcwd(), "transcript_path": "/t"}
hook = subprocess.run(command, shell=True, input=json.dumps(call), capture_output=True, text=True)
ask([{"role": "user", "content": [{"type": "tool_result", "content": hook.stdout or "it ran"}]}])
"""


def test_the_run_asks_none_of_the_user_s_hooks(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, PATH="/usr/bin:/bin", XDG_RUNTIME_DIR="/dev/null")
    config = machine.home / ".config/hookline/hookline.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f"hooks: [{{id: mine, on: tool.before, then: {{run: 'touch {tmp_path}/asked'}}, on_error: open}}]"
    )
    proved = prove_with_agent(get_agent("claude-code"), write_program(tmp_path, OBEYS_HOOKS), machine)
    assert proved is not None
    assert proved.mark is Mark.GOOD, proved
    assert not (tmp_path / "asked").exists()
