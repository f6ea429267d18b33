from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.chat.conftest import Terminal
from cli.scripted_project import write_scripted_project

pytestmark = pytest.mark.slow


PROMPT = "›"


def test_unknown_commands_skills_and_the_end_of_input(
    terminal: Callable[..., Terminal], command: list[str], project: Path
) -> None:
    skill = project / ".hookline" / "skills" / "greet"
    skill.mkdir(parents=True)
    front = "---\nname: greet\ndescription: Greets somebody.\n---\n"
    (skill / "SKILL.md").write_text(f"{front}Greet $ARGUMENTS in one word.\n", encoding="utf-8")
    write_scripted_project(project, "- {when: {prompt: 'Greet Ada in one word'}, say: Hello.}\n- What?\n")
    subprocess.run([*command, "trust", "--yes"], check=True, capture_output=True, timeout=60)
    chat = terminal("run")
    chat.wait_for_output(PROMPT)
    chat.type_keys("/hoks\r")
    chat.wait_for_output(r"Unknown command /hoks. Did you mean /hooks\?")
    chat.type_keys("/skills\r")
    chat.wait_for_output(r"/greet +Greets somebody.")
    chat.type_keys("/greet Ada\r")
    chat.wait_for_output("Hello.")
    chat.type_keys("/model nonsense\r")
    chat.wait_for_output("model nonsense: this model does not exist")
    chat.type_keys("/compact\r")
    chat.wait_for_output("as short as it can be")
    chat.wait_for_output(PROMPT)
    chat.type_keys("\x04")
    assert chat.wait_for_exit() == 0
