"""`hookline run` as a script calls it: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Hookline, Process
from cli.scripted_project import HOOKS, trust_project, write_scripted_project
from hookline.cli.chat.json_lines import TYPES

pytestmark = pytest.mark.slow


CALLS = """
- {say: I look., call: {bash: {command: echo hello}}}
- {say: I clean up., call: {bash: {command: rm -rf /tmp/nothing-of-ours}}}
- It is done.
"""
DEPLOYS = """
- {say: I deploy., call: {bash: {command: touch deploy}}}
- Over.
"""


@pytest.fixture
def here(hookline: Hookline) -> Process:
    """As `process`, inside of this one: quicker, where it makes no difference."""

    def call(*arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        ended = hookline(*arguments, input=input)
        return subprocess.CompletedProcess(arguments, ended.exit_code, ended.stdout, ended.stderr)

    return call


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_only_the_answer_is_on_stdout(project: Path, process: Process) -> None:
    write_scripted_project(project, CALLS)
    ended = process("run", "-p", "go")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "It is done.\n", "")


def test_the_prompt_may_come_on_stdin(project: Path, here: Process) -> None:
    write_scripted_project(project, "- {when: {prompt: '^from a pipe$'}, say: Heard.}\n- Not heard.\n")
    assert here("run", "-p", "-", input="from a pipe").stdout == "Heard.\n"
    assert here("run", "-p", "-", input=" ").returncode == 1


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
    assert (ended.returncode, ended.stderr) == (2, "hookline: Not today.\n")


def test_a_question_that_nobody_answers_ends_with_3_and_the_call_is_not_run(project: Path, process: Process) -> None:
    write_scripted_project(project, DEPLOYS)
    ended = process("run", "-p", "go")
    assert (ended.returncode, ended.stdout) == (3, "Over.\n")
    assert "a person must approve: Deploy now? [ask-first]" in ended.stderr
    assert not (project / "deploy").exists()


def test_the_same_question_is_told_of_once(project: Path, here: Process) -> None:
    write_scripted_project(project, "- {calls: [{bash: {command: deploy 1}}, {bash: {command: deploy 2}}]}\n- Over.\n")
    assert here("run", "-p", "go").stderr.count("a person must approve: Deploy now? [ask-first]") == 1


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
    lines = _lines(process("run", "-p", "go", "--json").stdout)
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
        (False, "", "Nothing is removed here."),
    ]
    assert "".join(line["text"] for line in lines if line["type"] == "text") == "I look.I clean up.It is done."
    assert {line["thread"] for line in lines[1:]} == {first["session"]}


def test_json_tells_of_a_question_and_its_code(project: Path, here: Process) -> None:
    write_scripted_project(project, DEPLOYS)
    ended = here("run", "-p", "go", "--json")
    lines = _lines(ended.stdout)
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
    lines = _lines(said)
    last = {"type": "end", "thread": lines[0]["session"], "agent": "agent", "ending": "cancelled", "text": text}
    assert lines[-1] == {**last, "exit_code": code}
    assert [line["type"] for line in lines].count("end") == 1
    assert (running.returncode, "Traceback" in errors) == (code, False)


def test_json_has_a_last_line_when_the_agent_may_not_start(project: Path, here: Process) -> None:
    write_scripted_project(
        project, CALLS, "model: script:model.yaml\nhooks: [{id: shut, on: agent.start, then: {deny: Not today.}}]\n"
    )
    ended = here("run", "-p", "go", "--json")
    last = _lines(ended.stdout)[-1]
    assert (last["type"], last["ending"], last["text"], last["exit_code"]) == ("end", "refused", "Not today.", 2)
    assert (ended.returncode, ended.stderr) == (2, "hookline: Not today.\n")


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


def test_the_last_session_is_resumed_and_listed(project: Path, process: Process, here: Process) -> None:
    write_scripted_project(project, "- {when: {prompt: again}, say: As before.}\n- First answer.\n")
    first = _lines(process("run", "-p", "the first question", "--json").stdout)[0]["session"]
    resumed = _lines(process("run", "--resume", "-p", "again", "--json").stdout)
    assert (resumed[0]["session"], resumed[0]["resumed"], resumed[-1]["text"]) == (first, True, "As before.")
    listed = here("run", "--sessions").stdout
    assert first in listed
    assert "the first question" in listed
    rows = json.loads(here("run", "--sessions", "--json").stdout)
    assert [(row["id"], row["turns"]) for row in rows] == [(first, 2)]
    named = first.removeprefix("session_")[:8]
    for short in (named, f"session_{named}"):
        assert _lines(here("run", "--resume", short, "-p", "again", "--json").stdout)[0]["session"] == first


def test_nothing_to_resume_is_one_clear_line(project: Path, here: Process) -> None:
    write_scripted_project(project, CALLS)
    ended = here("run", "--resume", "-p", "go")
    assert (ended.returncode, ended.stderr) == (1, "hookline: no session to resume in this directory\n")
    assert "no session matches 'nope'" in here("run", "--resume", "nope", "-p", "go").stderr


def test_a_session_that_was_killed_goes_on(project: Path, command: list[str], process: Process) -> None:
    write_scripted_project(
        project, "- {say: I wait., call: {bash: {command: touch begun && sleep 60}}}\n- Never said.\n"
    )
    running = subprocess.Popen(
        [*command, "run", "-p", "wait for it"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (project / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    (project / "model.yaml").write_text("steps:\n- {when: interrupted while it ran, say: I go on.}\n- Lost.\n")
    trust_project(project)
    ended = process("run", "--resume")
    assert (ended.returncode, ended.stdout) == (0, "I go on.\n"), ended.stderr


def test_without_a_model_one_line_says_what_to_write(project: Path, here: Process) -> None:
    ended = here("run", "-p", "hello")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    for word in ("model:", "hookline.yaml", "--model", "--demo"):
        assert word in ended.stderr


def test_a_model_in_a_file_that_is_not_trusted_says_so(project: Path, here: Process) -> None:
    write_scripted_project(project, CALLS)
    (project / "hookline.yaml").write_text(f"{HOOKS}# changed since\n", encoding="utf-8")
    ended = here("run", "-p", "hello")
    assert ended.returncode == 1
    assert "hookline.yaml:2  this file is not trusted yet" in ended.stderr
    assert "Run `hookline trust`" in ended.stderr.splitlines()[-1]


def test_problems_are_shown_once_with_their_line(project: Path, here: Process) -> None:
    write_scripted_project(project, "- Fine.\n", HOOKS + "  - {id: odd, on: tool.before, then: {dney: no}}\n")
    ended = here("run", "-p", "hello")
    assert (ended.returncode, ended.stdout) == (0, "Fine.\n")
    lines = ended.stderr.splitlines()
    assert {line.partition("  ")[0] for line in lines} == {"hookline.yaml:7"}
    assert len(lines) == len(set(lines))


def test_a_file_that_is_named_is_trusted(project: Path, here: Process) -> None:
    app, hooks = project / "elsewhere.yaml", project / "only.yaml"
    app.write_text("model: script:model.yaml\nhooks: [{id: no, on: tool.before, then: {deny: by the app}}]\n")
    hooks.write_text("hooks: [{id: other, on: tool.before, then: {deny: by the config}}]\n")
    (project / "model.yaml").write_text("steps: [{call: {bash: {command: touch made}}}, Done.]\n")
    by_app = _lines(here("run", "--app", "elsewhere.yaml", "-p", "go", "--json").stdout)
    by_config = _lines(here("run", "--app", "elsewhere.yaml", "--config", "only.yaml", "-p", "go", "--json").stdout)
    assert [line["reason"] for line in by_app if line["type"] == "call"] == ["by the app"]
    assert [line["reason"] for line in by_config if line["type"] == "call"] == ["by the config"]
    assert not (project / "made").exists()
    assert here("run", "--app", "missing.yaml", "-p", "go").stderr == "hookline: missing.yaml does not exist\n"


def test_an_agent_and_a_model_are_chosen_by_name(project: Path, here: Process) -> None:
    agents = "agents: {one: {prompt: I am one.}, two: {prompt: I am two.}}\nmodel: script:model.yaml\n"
    (project / "other.yaml").write_text("steps: [another model]\n")
    write_scripted_project(project, "- {when: {system: I am two}, say: two speaks}\n- one speaks\n", agents)
    assert here("run", "-p", "hi").stdout == "one speaks\n"
    assert here("run", "--agent", "two", "-p", "hi").stdout == "two speaks\n"
    assert here("run", "--model", "script:other.yaml", "-p", "hi").stdout == "another model\n"
    assert "there is no agent 'three'; there are one, two" in here("run", "--agent", "three", "-p", "hi").stderr


def test_a_chat_wants_a_terminal(project: Path, here: Process) -> None:
    ended = here("run", input="hello\n")
    assert ended.returncode == 1
    assert "-p TEXT" in ended.stderr


def test_serving_wants_triggers(project: Path, here: Process) -> None:
    write_scripted_project(project, CALLS)
    assert "this app has no triggers" in here("run", "--serve").stderr


def test_help_does_not_import_the_runtime(project: Path, command: list[str]) -> None:
    code = (
        "import sys\nfrom hookline.cli.main import cli\n"
        "cli.main(['run', '--help'], standalone_mode=False)\n"
        "assert not [name for name in sys.modules if name.startswith(('hookline.runtime', 'rich', 'prompt_toolkit'))]\n"
    )
    subprocess.run([command[0], "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)
