"""The interactive chat: reads lines and shows what the agent does, until the user leaves."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from hookline.cli.chat.commands import list_commands, run_command
from hookline.cli.chat.prompt import InputLine, PromptInterrupt, echo_disabled, read_key
from hookline.cli.chat.render import (
    Screen,
    format_hook_count,
    format_input,
    format_whole_input,
    is_shown_whole,
    shorten_line,
)
from hookline.cli.chat.start import DecisionLog, find_session
from hookline.cli.output import printable_lines
from hookline.errors import HooklineError
from hookline.hosts.python.session import Question
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.gate import fingerprint
from hookline.runtime.notifications import notify_when_idle
from hookline.runtime.runtime import Runtime
from hookline.runtime.updates import Ending, ExchangeEnded, Update

_ANSWER_KEYS: Final = ("y", "a", "n")
_CANCELLED: Final = "cancelled by you"
_MESSAGES_SHOWN: Final = 4  # when a session is resumed
_MIN_TABLE_WIDTH: Final = 72  # columns
_WAITING_INTERVAL: Final = 1.0  # seconds
_ANSWERS: Final = "[y] yes  [a] always this exact call  [n] no "


class Chat:
    """Pass `watch` and `ask` to a runtime, set `runtime` and `session`, then `talk`."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.record = DecisionLog()
        self.model_name = ""
        self.runtime: Runtime
        self.session: AgentSession
        self._has_left = False
        self._work: asyncio.Future[Any] | None = None  # what Ctrl-C cancels
        self._presses = 0
        self._asking = asyncio.Lock()
        self._approved_calls: set[tuple[str | None, str]] = set()  # hook and exact call that the user always approves

    def watch(self, update: Update) -> None:
        self.record(update)
        self.screen(update)

    async def ask(self, question: Question) -> bool:
        same = (question.hook, fingerprint(question.tool, question.input))
        async with self._asking:
            if same in self._approved_calls:
                return True
            self.screen.clear()
            if not is_shown_whole(question.input):
                self.screen.say(format_whole_input(question.input), "yellow")
            try:
                key = await read_key(self._question_text(question), _ANSWER_KEYS)
            except PromptInterrupt:
                self.session.cancel(_CANCELLED)
                return False
            if key == "a":
                self._approved_calls.add(same)
            return key != "n"

    def _question_text(self, question: Question) -> str:
        about = f"{question.tool} {shorten_line(format_input(question.input), 60)}"
        whole = f"    {printable_lines(about)}  {_ANSWERS}"
        return whole if cell_len(whole) < self.screen.console.width else f"    {_ANSWERS}"

    async def talk(self, line: InputLine, first: str | None = None, *, cut_off: bool = False) -> None:
        """Runs until the user leaves, then ends the session. A session that was `cut_off` continues first."""
        with self._handle_interrupts():
            if cut_off:
                await self._run_cancellable(self.go_on())
            if first is not None and first.strip():
                self.screen.show_prompt(first)
                await self._run_cancellable(self._handle_line(first.strip()))
            while not self._has_left:
                text = (await self._read_line(line)).strip()
                if text:
                    await self._run_cancellable(self._handle_line(text))
        await self.session.end("exit")
        if await self.session.main.history():
            self.say(f"`hookline run --resume` resumes {self.session.id}.", "dim")

    async def go_on(self) -> None:
        self.say("The session was cut off and continues now.", "dim")
        await self.run_exchange(self.session.go_on())

    def leave(self) -> None:
        self._has_left = True

    def say(self, text: str, style: str = "") -> None:
        self.screen.say(text, style)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.screen.clear()
        if self.screen.console.width < _MIN_TABLE_WIDTH:
            for row in rows:
                self.say("  ".join(f"{title} {cell}" for title, cell in zip(head, row, strict=True) if cell))
            return
        drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
        for title in head:
            drawn.add_column(title, overflow="fold")
        for row in rows:
            drawn.add_row(*(Text(printable_lines(cell)) for cell in row))
        self.screen.console.print(drawn)

    def commands(self) -> list[tuple[str, str]]:
        return list_commands(self)

    def status(self) -> str:
        return f" {self.session.agent.id} · {self.model_name} · {format_hook_count(self.session.book)} · /help"

    async def run_exchange(self, updates: AsyncIterator[Update]) -> None:
        """Runs it to its end; `watch` shows the updates."""
        ending = None
        async for update in updates:
            ending = update.ending if isinstance(update, ExchangeEnded) else ending
        if ending in (Ending.SESSION_STOP, Ending.SESSION_FAIL):
            self.leave()

    async def resume(self, id: str) -> None:
        row = await find_session(self.runtime, id, but=self.session.id)
        if row.id == self.session.id:
            self.say("You are in this session.")
            return
        session = await self.runtime.reopen(row.id)
        await self.session.end("exit")
        self.session = session
        self.screen.begin(session.id)
        await self.show_history()
        if row.ended is None and await session.is_unfinished():
            await self.go_on()

    async def show_history(self) -> None:
        """Shows the last messages of a resumed session."""
        messages = [m for m in await self.session.main.history() if m["role"] in ("user", "assistant") and m["content"]]
        self.say(f"{self.session.id}, {len(messages)} messages", "dim")
        for message in messages[-_MESSAGES_SHOWN:]:
            self.say(f"{'›' if message['role'] == 'user' else ' '} {shorten_line(str(message['content']))}", "dim")

    async def _read_line(self, line: InputLine) -> str:
        """Returns "" and leaves the chat after a second Ctrl-C or after Ctrl-D."""
        self._presses = 0
        while self._presses < 2:
            if self._presses:
                self.say("Press Ctrl-C again, or Ctrl-D, to leave.", "dim")
            self.screen.console.print()
            self._work = reading = asyncio.ensure_future(line.read())
            try:
                with self._idle_notification():
                    return await reading
            except PromptInterrupt:
                self._presses += 1
            except asyncio.CancelledError:
                if not self._presses:
                    raise
            except EOFError:
                break
            finally:
                self._work = None
        self.leave()
        return ""

    async def _handle_line(self, text: str) -> None:
        if self.session.row.ended is not None:
            self.say(f"The session had ended ({self.session.row.ended}) and continues now.", "dim")
            self.session = await self.runtime.reopen(self.session.id)
        if text.startswith("/"):
            await run_command(self, text)
        else:
            await self.run_exchange(self.session.say(text))

    async def _run_cancellable(self, work: Coroutine[Any, Any, None]) -> None:
        """Ctrl-C cancels the work; a second Ctrl-C also leaves the chat."""
        self._presses, self._work = 0, asyncio.ensure_future(work)
        try:
            with echo_disabled(), self._waiting_indicator():
                await self._work
        except asyncio.CancelledError:
            if not self._presses:
                raise
            self.say("cancelled", "yellow")
        except HooklineError as error:
            self.say(str(error), "bold red")
        finally:
            self._work = None

    @contextmanager
    def _idle_notification(self) -> Iterator[None]:
        waiting = asyncio.ensure_future(notify_when_idle(self.session.main))
        try:
            yield
        finally:
            waiting.cancel()

    @contextmanager
    def _waiting_indicator(self) -> Iterator[None]:
        showing = asyncio.ensure_future(self._show_waiting(time.monotonic()))
        try:
            yield
        finally:
            showing.cancel()
            self.screen.clear()

    async def _show_waiting(self, since: float) -> None:
        while True:
            await asyncio.sleep(_WAITING_INTERVAL)
            if not self._asking.locked():
                self.screen.show_waiting(since)

    def _on_interrupt(self) -> None:
        """Handles SIGINT, for when the terminal does not deliver Ctrl-C as a key."""
        self._presses += 1
        if self._work is None:
            return
        if self._presses > 1:
            self.leave()
        if self.session.is_busy and self._presses == 1:
            self.session.cancel(_CANCELLED)
        else:
            self._work.cancel()

    @contextmanager
    def _handle_interrupts(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
            loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        try:
            yield
        finally:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(signal.SIGINT)
