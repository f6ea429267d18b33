"""The chat at a real terminal."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from cli.chat.agent_here import HOOKS, write
from cli.chat.conftest import Terminal

PROMPT = "›"
WORK = """
- {say: I deploy., call: {bash: {command: touch deploy-made}}}
- {say: Once more., call: {bash: {command: touch deploy-again}}}
- {say: I clean up., call: {bash: {command: rm -rf build}}}
- It is done.
"""


def test_a_prompt_a_question_an_answer_and_why(terminal: Callable[..., Terminal], project: Path) -> None:
    write(project, WORK)
    chat = terminal("run")
    chat.sees("hookline · agent · script:model.yaml · 3 hooks")
    chat.sees(PROMPT)
    chat.types("do your work\r")
    chat.sees("I deploy")
    chat.sees(r"asks: Deploy now\?\s+ask-first \(hookline.yaml:5\)")
    chat.sees(r"touch deploy-made  \[y\] yes .* \[n\] no")
    chat.types("y")
    chat.sees(r"→ yes")
    chat.sees(r"touch deploy-again  \[y\] yes")
    chat.types("n")
    chat.sees(r"→ no")
    chat.sees(r"✗ denied: Nothing is removed here.\s+no-rm \(hookline.yaml:4\) because")
    chat.sees("It is done.")
    chat.sees(PROMPT)
    chat.types("/why\r")
    chat.sees("tool.before bash: denied: Nothing is removed here.  by no-rm")
    chat.sees(r"✓ no-rm \(hookline.yaml:4\) → deny because tool matches bash")
    chat.sees(r"· ask-first \(hookline.yaml:5\) because not asked")
    chat.types("/why 2\r")
    chat.sees(r"tool.before bash: asks: Deploy now\?  by ask-first")
    chat.types("/hooks\r")
    chat.sees(r"1\s+no-rm\s+tool.before\s+hookline.yaml:4\s+native")
    chat.sees(r"2\s+ask-first")
    chat.types("/exit\r")
    chat.sees("`hookline run --resume` goes on with session_")
    assert chat.ends() == 0
    assert (project / "deploy-made").exists()
    assert not (project / "deploy-again").exists()


def test_control_c_cancels_what_runs_and_the_chat_goes_on(terminal: Callable[..., Terminal], project: Path) -> None:
    write(project, "- {say: I wait., call: {bash: {command: touch begun; sleep 60; touch ended}}}\n- Still here.\n")
    chat = terminal("run", "wait for me")
    chat.sees("I wait")
    chat.sees("touch begun")
    while not (project / "begun").exists():
        os.sched_yield()
    chat.types("\x03")
    chat.sees("cancelled by you")
    chat.sees(PROMPT)
    chat.types("are you there?\r")
    chat.sees("Still here.")
    chat.sees(PROMPT)
    chat.types("\x03")
    chat.sees("Ctrl-C once more")
    chat.types("\x03")
    assert chat.ends() == 0
    assert not (project / "ended").exists()


def test_unknown_commands_skills_and_the_end_of_input(
    terminal: Callable[..., Terminal], command: list[str], project: Path
) -> None:
    skill = project / ".hookline" / "skills" / "greet"
    skill.mkdir(parents=True)
    front = "---\nname: greet\ndescription: Greets somebody.\n---\n"
    (skill / "SKILL.md").write_text(f"{front}Greet $ARGUMENTS in one word.\n", encoding="utf-8")
    write(project, "- {when: {prompt: 'Greet Ada in one word'}, say: Hello.}\n- What?\n")
    subprocess.run([*command, "trust", "--yes"], check=True, capture_output=True, timeout=60)
    chat = terminal("run")
    chat.sees(PROMPT)
    chat.types("/hoks\r")
    chat.sees(r"There is no /hoks. Did you mean /hooks\?")
    chat.types("/skills\r")
    chat.sees(r"/greet +Greets somebody.")
    chat.types("/greet Ada\r")
    chat.sees("Hello.")
    chat.types("/model nonsense\r")
    chat.sees("model nonsense: there is none of this name")
    chat.types("/compact\r")
    chat.sees("as short as it can be")
    chat.sees(PROMPT)
    chat.types("\x04")
    assert chat.ends() == 0


def test_whoever_waits_sees_for_what(terminal: Callable[..., Terminal], project: Path) -> None:
    write(project, "- {delay: 2500ms, call: {bash: {command: sleep 2}}}\n- Here.\n")
    chat = terminal("run", "go")
    chat.sees("… the model, 1 s")
    chat.sees("… bash, 1 s")
    chat.sees("Here.")
    chat.sees(PROMPT)
    chat.types("\x04")
    assert chat.ends() == 0


def test_a_session_is_resumed_with_its_last_words(terminal: Callable[..., Terminal], project: Path) -> None:
    write(project, "- The first answer.\n- The second answer.\n")
    first = terminal("run", "the first question")
    first.sees("The first answer.")
    first.sees(PROMPT)
    first.types("/exit\r")
    assert first.ends() == 0
    second = terminal("run", "--resume")
    second.sees("2 messages")
    second.sees("› the first question")
    second.sees("The first answer.")
    second.types("and a second one\r")
    second.sees("The first answer.")
    second.sees(PROMPT)
    second.types("/compact\r")
    second.sees("earlier messages became one")
    second.types("/resume\r")
    second.sees("there is no other session of this directory to resume")
    second.types("/why something\r")
    second.sees("Write a number")
    second.types("/sessions\r")
    second.sees("began with")
    second.sees("the first question")
    second.types("/exit\r")
    assert second.ends() == 0


def test_what_a_model_says_cannot_move_the_cursor(terminal: Callable[..., Terminal], project: Path) -> None:
    said = json.dumps("red \x1b[31malert\x1b]0;title\x07 and \u202e back")
    write(project, f"- {{say: {said}}}\n", HOOKS)
    chat = terminal("run", "go")
    chat.sees(r"red \\x1b\[31malert\\x1b\]0;title\\x07 and \\u202e back")
    chat.sees(PROMPT)
    chat.types("\x04")
    chat.ends()


def test_what_was_typed_is_remembered_for_this_project_only(terminal: Callable[..., Terminal], project: Path) -> None:
    write(project, "- Yes.\n")
    chat = terminal("run")
    chat.sees(PROMPT)
    chat.types("remember this\r")
    chat.sees("Yes.")
    chat.sees(PROMPT)
    chat.types("\x04")
    assert chat.ends() == 0
    kept = list((project.parent / "home/.local/state/hookline/history").iterdir())
    assert len(kept) == 1
    assert "remember this" in kept[0].read_text()
    assert kept[0].stat().st_mode & 0o077 == 0
