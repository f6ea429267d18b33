"""The chat at a real terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.chat.conftest import Terminal
from cli.scripted_project import HOOKS, write_scripted_project

pytestmark = pytest.mark.slow


PROMPT = "›"
WORK = """
- {say: I deploy., call: {bash: {command: touch deploy-made}}}
- {say: Once more., call: {bash: {command: touch deploy-again}}}
- {say: I clean up., call: {bash: {command: rm -rf build}}}
- It is done.
"""


def test_a_prompt_a_question_an_answer_and_why(terminal: Callable[..., Terminal], project: Path) -> None:
    write_scripted_project(project, WORK)
    chat = terminal("run")
    chat.wait_for_output("hookline · agent · script:model.yaml · 3 hooks")
    chat.wait_for_output(PROMPT)
    chat.type_keys("do your work\r")
    chat.wait_for_output("I deploy")
    chat.wait_for_output(r"asks: Deploy now\?\s+ask-first \(hookline.yaml:5\)")
    chat.wait_for_output(r"touch deploy-made  \[y\] yes .* \[n\] no")
    chat.type_keys("y")
    chat.wait_for_output(r"→ yes")
    chat.wait_for_output(r"touch deploy-again  \[y\] yes")
    chat.type_keys("n")
    chat.wait_for_output(r"→ no")
    chat.wait_for_output(r"✗ denied: Nothing is removed here.\s+no-rm \(hookline.yaml:4\) because")
    chat.wait_for_output("It is done.")
    chat.wait_for_output(PROMPT)
    chat.type_keys("/why\r")
    chat.wait_for_output("tool.before bash: denied: Nothing is removed here.  by no-rm")
    chat.wait_for_output(r"✓ no-rm \(hookline.yaml:4\) → deny because tool matches bash")
    chat.wait_for_output(r"· ask-first \(hookline.yaml:5\) because skipped: no-rm already")
    chat.type_keys("/why 2\r")
    chat.wait_for_output(r"tool.before bash: asks: Deploy now\?  by ask-first")
    chat.type_keys("/hooks\r")
    chat.wait_for_output(r"1\s+no-rm\s+tool.before\s+hookline.yaml:4\s+native")
    chat.wait_for_output(r"2\s+ask-first")
    chat.type_keys("/exit\r")
    chat.wait_for_output("`hookline run --resume` resumes session_")
    assert chat.wait_for_exit() == 0
    assert (project / "deploy-made").exists()
    assert not (project / "deploy-again").exists()


def test_control_c_cancels_what_runs_and_the_chat_goes_on(terminal: Callable[..., Terminal], project: Path) -> None:
    write_scripted_project(
        project, "- {say: I wait., call: {bash: {command: touch begun; sleep 60; touch ended}}}\n- Still here.\n"
    )
    chat = terminal("run", "wait for me")
    chat.wait_for_output("I wait")
    chat.wait_for_output("touch begun")
    while not (project / "begun").exists():
        os.sched_yield()
    chat.type_keys("\x03")
    chat.wait_for_output("cancelled by you")
    chat.wait_for_output(PROMPT)
    chat.type_keys("are you there?\r")
    chat.wait_for_output("Still here.")
    chat.wait_for_output(PROMPT)
    chat.type_keys("\x03")
    chat.wait_for_output("Press Ctrl-C again")
    chat.type_keys("\x03")
    assert chat.wait_for_exit() == 0
    assert not (project / "ended").exists()


def test_whoever_waits_sees_for_what(terminal: Callable[..., Terminal], project: Path) -> None:
    write_scripted_project(project, "- {delay: 2500ms, call: {bash: {command: sleep 2}}}\n- Here.\n")
    chat = terminal("run", "go")
    chat.wait_for_output("… the model, 1 s")
    chat.wait_for_output("… bash, 1 s")
    chat.wait_for_output("Here.")
    chat.wait_for_output(PROMPT)
    chat.type_keys("\x04")
    assert chat.wait_for_exit() == 0


def test_what_a_model_says_cannot_move_the_cursor(terminal: Callable[..., Terminal], project: Path) -> None:
    said = json.dumps("red \x1b[31malert\x1b]0;title\x07 and \u202e back")
    write_scripted_project(project, f"- {{say: {said}}}\n", HOOKS)
    chat = terminal("run", "go")
    chat.wait_for_output(r"red \\x1b\[31malert\\x1b\]0;title\\x07 and \\u202e back")
    chat.wait_for_output(PROMPT)
    chat.type_keys("\x04")
    chat.wait_for_exit()
