"""With programs that imitate Claude Code. `make test-agents` runs the agents themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from hookline.hosts.agents import get_agent
from hookline.hosts.doctor import probe
from hookline.hosts.doctor.finding import Mark
from hookline.hosts.doctor.probe import communicate, prove_with_agent
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


class SlowProgram(subprocess.Popen[str]):
    """Ends after this many seconds of a clock of its own."""

    def __init__(self, seconds: float) -> None:
        self.args, self.seconds, self.pid = ("agent",), seconds, -1

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        assert timeout is not None
        self.seconds -= timeout
        if self.seconds > 0:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return "done", ""

    def __del__(self) -> None:
        """There is no process."""


@pytest.mark.parametrize(
    ("load", "seconds", "ends"), [(0, 9, True), (0, 11, False), (3, 29, True), (3, 31, False), (99, 51, False)]
)
def test_an_agent_gets_more_time_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch, load: float, seconds: float, ends: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load * (os.cpu_count() or 1), 0.0, 0.0))
    if ends:
        assert communicate(SlowProgram(seconds), 10) == ("done", "")
    else:
        with pytest.raises(subprocess.TimeoutExpired):
            communicate(SlowProgram(seconds), 10)


@pytest.mark.parametrize(("share", "seconds", "ends"), [(0.5, 49, True), (0.5, 51, False), (0.01, 11, False)])
def test_an_agent_that_still_works_gets_more_time(
    monkeypatch: pytest.MonkeyPatch, share: float, seconds: float, ends: bool
) -> None:
    clock = count(10 * share, 10 * share)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(probe, "_processor_time", lambda session: next(clock))
    if ends:
        assert communicate(SlowProgram(seconds), 10) == ("done", "")
    else:
        with pytest.raises(subprocess.TimeoutExpired):
            communicate(SlowProgram(seconds), 10)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says so")
def test_what_a_session_has_computed_is_known() -> None:
    """Of the process, and of one that it waited for."""
    work = "sum(range(2_000_000))"
    code = f"import subprocess, sys; {work}; subprocess.run([sys.executable, '-c', {work!r}]); print(); input()"
    started = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdout.readline()
    assert probe._processor_time(started.pid) > 0
    started.communicate(b"\n")
    assert probe._processor_time(started.pid) == 0
