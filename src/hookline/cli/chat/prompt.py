"""Reads the line that the user types, and the key that answers a question."""

from __future__ import annotations

import hashlib
import os
import termios
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout

CommandLister = Callable[[], Iterable[tuple[str, str]]]
"""Returns the names that can follow a slash, each with a short description."""

_PROMPT: Final = FormattedText([("bold", "› ")])


class PromptInterrupt(Exception):
    """Ctrl-C. A KeyboardInterrupt would end the event loop."""


class InputLine:
    """Enter sends; Alt-Enter or a backslash at the end starts a new line."""

    def __init__(
        self,
        history: History,
        commands: CommandLister,
        status: Callable[[], str],
        *,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=_CommandCompleter(commands),
            complete_while_typing=True,
            multiline=True,
            prompt_continuation=lambda width, number, wrapped: " " * width,
            key_bindings=_line_key_bindings(),
            bottom_toolbar=status,
            reserve_space_for_menu=4,
            input=input,
            output=output,
        )

    async def read(self) -> str:
        """Raises PromptInterrupt at Ctrl-C on an empty line, and EOFError at Ctrl-D."""
        with patch_stdout(raw=True):  # the log may print meanwhile
            return await self._session.prompt_async(_PROMPT, handle_sigint=False)


class _CommandCompleter(Completer):
    def __init__(self, commands: CommandLister) -> None:
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        typed = document.text_before_cursor
        if not typed.startswith("/") or any(char.isspace() for char in typed):
            return
        for name, words in self._commands():
            if f"/{name}".startswith(typed):
                yield Completion(f"/{name}", -len(typed), display_meta=words)


def _line_key_bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~completion_is_selected)
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _clear_or_leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=PromptInterrupt)

    return keys


def _discard_typeahead(input: Input) -> None:
    """Drops keys that were pressed before the question was shown."""
    clear_typeahead(input)
    try:
        termios.tcflush(input.fileno(), termios.TCIFLUSH)
    except (NotImplementedError, OSError, termios.error):  # not a terminal
        return


@contextmanager
def echo_disabled() -> Iterator[None]:
    """Hides what is typed while the agent works; Ctrl-C still interrupts."""
    try:
        before = termios.tcgetattr(0)
        quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(0, termios.TCSADRAIN, quiet)
    except (OSError, termios.error):  # not a terminal
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError, termios.error):  # closed meanwhile
            termios.tcsetattr(0, termios.TCSADRAIN, before)


async def read_key(question: str, keys: Sequence[str], input: Input | None = None, output: Output | None = None) -> str:
    """Returns the first of these keys that is pressed; Escape means the last. Raises PromptInterrupt at Ctrl-C."""
    bindings = KeyBindings()

    def answers(key: str) -> Callable[[KeyPressEvent], None]:
        return lambda event: event.app.exit(result=key)

    for key in keys:
        bindings.add(key)(answers(key))
        bindings.add(key.upper())(answers(key))
    bindings.add("escape", eager=True)(answers(keys[-1]))
    bindings.add(Keys.Any)(lambda event: None)

    @bindings.add("c-c")
    @bindings.add("c-d")
    def _interrupted(event: KeyPressEvent) -> None:
        event.app.exit(exception=PromptInterrupt)

    session: PromptSession[str] = PromptSession(
        FormattedText([("bold ansiyellow", question)]), key_bindings=bindings, input=input, output=output
    )
    app: Application[str] = session.app
    app.erase_when_done = True
    _discard_typeahead(app.input)
    with patch_stdout(raw=True):  # other agents keep running
        return await session.prompt_async(handle_sigint=False)


def prompt_history(workspace: Path, state: Path) -> History:
    """The lines typed in this project before, in a file that only the user can read."""
    name = hashlib.sha256(os.fsencode(workspace)).hexdigest()[:16]
    path = state / "history" / f"{name}.txt"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600))
    except OSError:  # without a writable home, the chat still works
        return InMemoryHistory()
    return FileHistory(path)
