from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from cli.chat.conftest import Terminal
from cli.scripted_project import write_scripted_project
from hookline.cli.chat.prompt import InputLine, PromptInterrupt, prompt_history, read_key

pytestmark = pytest.mark.slow


PROMPT = "›"


def test_what_was_typed_is_remembered_for_this_project_only(terminal: Callable[..., Terminal], project: Path) -> None:
    write_scripted_project(project, "- Yes.\n")
    chat = terminal("run")
    chat.wait_for_output(PROMPT)
    chat.type_keys("remember this\r")
    chat.wait_for_output("Yes.")
    chat.wait_for_output(PROMPT)
    chat.type_keys("\x04")
    assert chat.wait_for_exit() == 0
    kept = list((project.parent / "home/.local/state/hookline/history").iterdir())
    assert len(kept) == 1
    assert "remember this" in kept[0].read_text()
    assert kept[0].stat().st_mode & 0o077 == 0


def read_line(keys: str, commands: Sequence[tuple[str, str]] = ()) -> str:
    async def work() -> str:
        with create_pipe_input() as pipe:
            line = InputLine(InMemoryHistory(), lambda: commands, lambda: "", input=pipe, output=DummyOutput())
            pipe.send_text(keys)
            return await asyncio.wait_for(line.read(), 30)

    return asyncio.run(work())


def press(keys: str) -> str:
    async def work() -> str:
        with create_pipe_input() as pipe:
            asking = asyncio.ensure_future(read_key("Run it?", ("y", "n"), input=pipe, output=DummyOutput()))
            await asyncio.sleep(0.2)  # keys that come before the question is shown are dropped
            pipe.send_text(keys)
            return await asyncio.wait_for(asking, 30)

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("keys", "text"), [("hello\r", "hello"), ("one\x1b\rtwo\r", "one\ntwo"), ("one\\\rtwo\r", "one\ntwo")]
)
def test_enter_sends_and_a_backslash_or_alt_enter_starts_a_line(keys: str, text: str) -> None:
    assert read_line(keys) == text


def test_control_c_clears_the_line_first_and_then_leaves() -> None:
    assert read_line("wrong\x03right\r") == "right"
    with pytest.raises(PromptInterrupt):
        read_line("\x03")


def test_control_d_on_an_empty_line_ends_the_input() -> None:
    with pytest.raises(EOFError):
        read_line("\x04")


@pytest.mark.parametrize(("keys", "answer"), [("y", "y"), ("Y", "y"), ("xn", "n")])
def test_a_question_takes_only_its_own_keys(keys: str, answer: str) -> None:
    assert press(keys) == answer


def test_a_history_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, not a directory")
    assert isinstance(prompt_history(tmp_path, tmp_path / "state"), InMemoryHistory)
