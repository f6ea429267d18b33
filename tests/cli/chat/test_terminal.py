from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.chat.conftest import Terminal
from cli.scripted_project import write_scripted_project

pytestmark = pytest.mark.slow


PROMPT = "›"


def test_a_session_is_resumed_with_its_last_words(terminal: Callable[..., Terminal], project: Path) -> None:
    write_scripted_project(project, "- The first answer.\n- The second answer.\n")
    first = terminal("run", "the first question")
    first.wait_for_output("The first answer.")
    first.wait_for_output(PROMPT)
    first.type_keys("/exit\r")
    assert first.wait_for_exit() == 0
    second = terminal("run", "--resume")
    second.wait_for_output("2 messages")
    second.wait_for_output("› the first question")
    second.wait_for_output("The first answer.")
    second.type_keys("and a second one\r")
    second.wait_for_output("The first answer.")
    second.wait_for_output(PROMPT)
    second.type_keys("/compact\r")
    second.wait_for_output("earlier messages became one")
    second.type_keys("/resume\r")
    second.wait_for_output("no other session to resume in this directory")
    second.type_keys("/why something\r")
    second.wait_for_output("Give a number")
    second.type_keys("/sessions\r")
    second.wait_for_output("began with")
    second.wait_for_output("the first question")
    second.type_keys("/exit\r")
    assert second.wait_for_exit() == 0
