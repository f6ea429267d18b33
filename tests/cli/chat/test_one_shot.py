"""One prompt and its answer: what is printed where, and the exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cli.conftest import Process
from cli.scripted_project import CALLS, read_json_lines, write_scripted_project
from hookline.runtime.update_json import TYPES

pytestmark = pytest.mark.slow


DEPLOYS = """
- {say: I deploy., call: {bash: {command: touch deploy}}}
- Over.
"""


def test_only_the_answer_is_on_stdout(project: Path, process: Process) -> None:
    write_scripted_project(project, CALLS)
    ended = process("run", "-p", "go")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "It is done.\n", "")


def test_a_refused_prompt_ends_with_2(project: Path, process: Process) -> None:
    write_scripted_project(project, CALLS)
    ended = process("run", "-p", "my key is sk-abc")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "refused: That looks like a key." in ended.stderr


def test_a_halted_agent_ends_with_2(project: Path, here: Process) -> None:
    hooks = "model: script:model.yaml\nhooks: [{id: stop, on: tool.before, then: {halt: Enough.}}]\n"
    write_scripted_project(project, CALLS, hooks)
    ended = here("run", "-p", "go")
    assert ended.returncode == 2
    assert "halted: Enough." in ended.stderr


def test_an_agent_that_may_not_start_ends_with_2(project: Path, here: Process) -> None:
    write_scripted_project(
        project, CALLS, "model: script:model.yaml\nhooks: [{id: shut, on: agent.start, then: {deny: Not today.}}]\n"
    )
    ended = here("run", "-p", "go")
    assert (ended.returncode, ended.stderr) == (2, "hookline: Not today. (hook shut, hookline.yaml:2)\n")


def test_a_question_that_nobody_answers_ends_with_3_and_the_call_is_not_run(project: Path, process: Process) -> None:
    write_scripted_project(project, DEPLOYS)
    ended = process("run", "-p", "go")
    assert (ended.returncode, ended.stdout) == (3, "Over.\n")
    assert "a person must approve: Deploy now? (hook ask-first, hookline.yaml:5)" in ended.stderr
    assert not (project / "deploy").exists()


def test_the_same_question_is_told_of_once(project: Path, here: Process) -> None:
    write_scripted_project(project, "- {calls: [{bash: {command: deploy 1}}, {bash: {command: deploy 2}}]}\n- Over.\n")
    assert (
        here("run", "-p", "go").stderr.count("a person must approve: Deploy now? (hook ask-first, hookline.yaml:5)")
        == 1
    )


def test_yes_answers_for_somebody(project: Path, here: Process) -> None:
    write_scripted_project(project, DEPLOYS)
    assert here("run", "-p", "go", "--yes").returncode == 0
    assert (project / "deploy").exists()


def test_a_model_that_fails_ends_with_1(project: Path, here: Process) -> None:
    write_scripted_project(project, "- {error: {code: auth, message: no such key}}\n")
    ended = here("run", "-p", "go")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "failed: script:model.yaml: no such key" in ended.stderr


def test_json_has_a_line_for_all_that_happens(project: Path, process: Process) -> None:
    write_scripted_project(project, CALLS)
    lines = read_json_lines(process("run", "-p", "go", "--json").stdout)
    first, last = lines[0], lines[-1]
    assert {*TYPES["session"].split("`")[1::2], "type"} == set(first)
    assert (first["type"], first["version"], first["model"]) == ("session", 1, "script:model.yaml")
    assert (last["type"], last["ending"], last["text"], last["exit_code"]) == ("end", "answered", "It is done.", 0)
    calls = [line for line in lines if line["type"] == "call"]
    assert [(call["verdict"], call["by"]) for call in calls] == [("silent", None), ("deny", "no-rm")]
    assert calls[1]["hooks"][0]["line"] == 4
    results = [line for line in lines if line["type"] == "result"]
    assert [(line["ran"], line["content"], line["error"]) for line in results] == [
        (True, "hello", ""),
        (False, "", "Nothing is removed here. (hook no-rm, hookline.yaml:4)"),
    ]
    assert "".join(line["text"] for line in lines if line["type"] == "text") == "I look.I clean up.It is done."
    assert {line["thread"] for line in lines[1:]} == {first["session"]}


def test_json_tells_of_a_question_and_its_code(project: Path, here: Process) -> None:
    write_scripted_project(project, DEPLOYS)
    ended = here("run", "-p", "go", "--json")
    lines = read_json_lines(ended.stdout)
    question = next(line for line in lines if line["type"] == "question")
    answer = next(line for line in lines if line["type"] == "answer")
    assert (question["tool"], question["hook"], question["approval"]) == ("bash", "ask-first", answer["approval"])
    assert (answer["yes"], lines[-1]["exit_code"], ended.returncode) == (False, 3, 3)


@pytest.mark.parametrize(
    ("how", "code", "text"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_json_has_a_last_line_when_it_is_interrupted(
    project: Path, command: list[str], how: signal.Signals, code: int, text: str
) -> None:
    write_scripted_project(
        project, "- {say: I wait., call: {bash: {command: touch begun && sleep 60}}}\n- Never said.\n"
    )
    running = subprocess.Popen(
        [*command, "run", "-p", "go", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (project / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(how)
    said, errors = running.communicate(timeout=60)
    lines = read_json_lines(said)
    last = {"type": "end", "thread": lines[0]["session"], "agent": "agent", "ending": "cancelled", "text": text}
    assert lines[-1] == {**last, "exit_code": code}
    assert [line["type"] for line in lines].count("end") == 1
    assert (running.returncode, "Traceback" in errors) == (code, False)


def test_json_has_a_last_line_when_the_agent_may_not_start(project: Path, here: Process) -> None:
    write_scripted_project(
        project, CALLS, "model: script:model.yaml\nhooks: [{id: shut, on: agent.start, then: {deny: Not today.}}]\n"
    )
    ended = here("run", "-p", "go", "--json")
    last = read_json_lines(ended.stdout)[-1]
    assert (last["type"], last["ending"], last["text"], last["exit_code"]) == (
        "end",
        "refused",
        "Not today. (hook shut, hookline.yaml:2)",
        2,
    )
    assert (ended.returncode, ended.stderr) == (2, "hookline: Not today. (hook shut, hookline.yaml:2)\n")


def test_a_reader_that_stops_early_stops_nothing(project: Path, command: list[str], process: Process) -> None:
    write_scripted_project(
        project, "- {say: 'word word word', call: {bash: {command: sleep 0.5 && touch made}}}\n- End.\n"
    )
    running = subprocess.Popen(
        [*command, "run", "-p", "go", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    assert running.stdout is not None
    running.stdout.readline()
    running.stdout.close()
    _, errors = running.communicate(timeout=60)
    assert b"bug" not in errors
    assert (project / "made").exists()
