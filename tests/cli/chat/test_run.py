"""`hookline run` as a script calls it: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cli.conftest import Process
from cli.scripted_project import CALLS, HOOKS, read_json_lines, trust_project, write_scripted_project

pytestmark = pytest.mark.slow


def test_the_prompt_may_come_on_stdin(project: Path, here: Process) -> None:
    write_scripted_project(project, "- {when: {prompt: '^from a pipe$'}, say: Heard.}\n- Not heard.\n")
    assert here("run", "-p", "-", input="from a pipe").stdout == "Heard.\n"
    assert here("run", "-p", "-", input=" ").returncode == 1
    empty = here("run", "-p", "")
    assert (empty.returncode, empty.stdout) == (1, "")
    assert "the prompt is empty" in empty.stderr


def test_the_last_session_is_resumed_and_listed(project: Path, process: Process, here: Process) -> None:
    write_scripted_project(project, "- {when: {prompt: again}, say: As before.}\n- First answer.\n")
    first = read_json_lines(process("run", "-p", "the first question", "--json").stdout)[0]["session"]
    resumed = read_json_lines(process("run", "--resume", "-p", "again", "--json").stdout)
    assert (resumed[0]["session"], resumed[0]["resumed"], resumed[-1]["text"]) == (first, True, "As before.")
    listed = here("run", "--sessions").stdout
    assert first in listed
    assert "the first question" in listed
    rows = json.loads(here("run", "--sessions", "--json").stdout)
    assert [(row["id"], row["turns"]) for row in rows] == [(first, 2)]
    named = first.removeprefix("session_")[:8]
    for short in (named, f"session_{named}"):
        assert read_json_lines(here("run", "--resume", short, "-p", "again", "--json").stdout)[0]["session"] == first


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
    here("trust", "--revoke")
    ended = here("run", "-p", "hello")
    assert ended.returncode == 1
    assert "hookline.yaml:2  this file is not trusted yet" in ended.stderr
    assert "Run `hookline trust`" in ended.stderr.splitlines()[-1]


BROKEN = HOOKS + "  - {id: odd, on: tool.before, then: {dney: no}}\n  - {id: odder, on: tool.befor, then: {deny: no}}\n"


def test_it_does_not_start_with_errors_in_a_file(project: Path, here: Process) -> None:
    write_scripted_project(project, CALLS, BROKEN)
    ended = here("run", "-p", "hello")
    assert (ended.returncode, ended.stdout) == (1, "")
    first, *lines, last = ended.stderr.splitlines()
    assert first == "hookline: the config has errors."
    assert [line.partition("  ")[0] for line in lines] == ["hookline.yaml:7", "hookline.yaml:8"]
    assert "--keep-going" in last


def test_with_keep_going_it_starts_and_shows_each_error_once(project: Path, here: Process) -> None:
    write_scripted_project(project, "- Fine.\n", BROKEN)
    ended = here("run", "--keep-going", "-p", "hello")
    assert (ended.returncode, ended.stdout) == (0, "Fine.\n")
    lines = [line for line in ended.stderr.splitlines() if "hookline.yaml:" in line]
    assert len(lines) == len(set(lines)) == 2


@pytest.mark.parametrize("option", ["--app", "--config"])
@pytest.mark.parametrize("text", ["\tno: yaml\n", "- a list\n", "a: 1\n---\nb: 2\n", "hooks: [{id: x}]\n"])
def test_a_named_file_with_errors_is_refused(project: Path, here: Process, option: str, text: str) -> None:
    write_scripted_project(project, CALLS)
    (project / "named.yaml").write_text(text)
    ended = here("run", option, "named.yaml", "--model", "script:model.yaml", "-p", "go")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "named.yaml:" in ended.stderr


def test_a_file_that_is_named_is_trusted(project: Path, here: Process) -> None:
    app, hooks = project / "elsewhere.yaml", project / "only.yaml"
    app.write_text("model: script:model.yaml\nhooks: [{id: no, on: tool.before, then: {deny: by the app}}]\n")
    hooks.write_text("hooks: [{id: other, on: tool.before, then: {deny: by the config}}]\n")
    (project / "model.yaml").write_text("steps: [{call: {bash: {command: touch made}}}, Done.]\n")
    by_app = read_json_lines(here("run", "--app", "elsewhere.yaml", "-p", "go", "--json").stdout)
    by_config = read_json_lines(
        here("run", "--app", "elsewhere.yaml", "--config", "only.yaml", "-p", "go", "--json").stdout
    )
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


def test_a_config_without_marks_of_its_format_is_read_as_the_dialect_that_is_named(
    project: Path, here: Process
) -> None:
    write_scripted_project(project, CALLS)
    rule = {"matcher": "^bash$", "command": "echo not by this rule >&2; exit 1"}
    (project / "my.json").write_text(json.dumps(rule))
    ended = here("run", "-p", "go", "--json", "--config", "my.json", "--dialect", "flo")
    assert ended.returncode == 0, ended.stderr
    assert "not by this rule" in ended.stdout
    (project / "my.json").write_text(json.dumps({"hooks": {"PreToolUse": [rule]}}))
    assert "not by this rule" in here("run", "-p", "go", "--json", "--config", "my.json", "--dialect", "flo").stdout
    assert "--dialect works only with --config" in here("run", "-p", "go", "--dialect", "flo").stderr


def test_a_file_that_is_named_is_trusted_without_a_word(project: Path, here: Process) -> None:
    write_scripted_project(project, "- Fine.\n")
    script = {"action": "script", "script": "log('seen')"}
    (project / "hub.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [script]}}), encoding="utf-8")
    ended = here("run", "-p", "hello", "--config", "hub.json")
    assert (ended.returncode, ended.stdout) == (0, "Fine.\n")
    assert "seen" in ended.stderr
    assert "trust" not in ended.stderr
