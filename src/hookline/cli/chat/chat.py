"""The chat: lines go in, and what happens comes out, until somebody leaves."""

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

from hookline.cli.chat.commands import described, obey
from hookline.cli.chat.line import Interrupted, Line, pressed, unechoed
from hookline.cli.chat.opening import found
from hookline.cli.chat.record import Record
from hookline.cli.chat.screen import Screen
from hookline.cli.chat.words import hooks_words, input_words, shortened, shown_whole, whole_input
from hookline.cli.output import safe
from hookline.errors import HooklineError
from hookline.hosts.session import Question
from hookline.runtime.gate import fingerprint
from hookline.runtime.happenings import Ended, Ending, Happening
from hookline.runtime.runtime import Runtime
from hookline.runtime.session import Session

_KEYS: Final = ("y", "a", "n")
_CANCELLED: Final = "cancelled by you"
_SHOWN: Final = 4  # messages of a session that is resumed
_ROOM_FOR_A_TABLE: Final = 72  # columns
_SHOW_WAITING: Final = 1.0  # seconds
_ANSWERS: Final = "[y] yes  [a] always this very call  [n] no "


class Chat:
    """Give it to a runtime as `watch` and `ask`, then `talk`."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.record = Record()
        self.model_name = ""
        self.runtime: Runtime
        self.session: Session
        self._left = False
        self._work: asyncio.Future[Any] | None = None  # what Ctrl-C cancels
        self._presses = 0
        self._asking = asyncio.Lock()
        self._agreed: set[tuple[str | None, str]] = set()  # hook and exact call that are not asked about again

    def watch(self, happening: Happening) -> None:
        self.record(happening)
        self.screen(happening)

    async def ask(self, question: Question) -> bool:
        same = (question.hook, fingerprint(question.tool, question.input))
        async with self._asking:
            if same in self._agreed:
                return True
            self.screen.clear()
            if not shown_whole(question.input):
                self.screen.say(whole_input(question.input), "yellow")
            try:
                key = await pressed(self._question(question), _KEYS)
            except Interrupted:
                self.session.cancel(_CANCELLED)
                return False
            if key == "a":
                self._agreed.add(same)
            return key != "n"

    def _question(self, question: Question) -> str:
        about = f"{question.tool} {shortened(input_words(question.input), 60)}"
        whole = f"    {safe(about)}  {_ANSWERS}"
        return whole if cell_len(whole) < self.screen.console.width else f"    {_ANSWERS}"

    async def talk(self, line: Line, first: str | None = None, *, cut_off: bool = False) -> None:
        """Until somebody leaves; the session has ended then. One that was `cut_off` goes on first."""
        with self._interruptible():
            if cut_off:
                await self._undisturbed(self.go_on())
            if first is not None and first.strip():
                self.screen.prompt(first)
                await self._undisturbed(self._taken(first.strip()))
            while not self._left:
                text = (await self._read(line)).strip()
                if text:
                    await self._undisturbed(self._taken(text))
        await self.session.end("exit")
        if await self.session.main.history():
            self.say(f"`hookline run --resume` goes on with {self.session.id}.", "dim")

    async def go_on(self) -> None:
        self.say("It was cut off in the middle and goes on now.", "dim")
        await self.exchange(self.session.go_on())

    def leave(self) -> None:
        self._left = True

    def say(self, text: str, style: str = "") -> None:
        self.screen.say(text, style)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.screen.clear()
        if self.screen.console.width < _ROOM_FOR_A_TABLE:
            for row in rows:
                self.say("  ".join(f"{title} {cell}" for title, cell in zip(head, row, strict=True) if cell))
            return
        drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
        for title in head:
            drawn.add_column(title, overflow="fold")
        for row in rows:
            drawn.add_row(*(Text(safe(cell)) for cell in row))
        self.screen.console.print(drawn)

    def commands(self) -> list[tuple[str, str]]:
        return described(self)

    def status(self) -> str:
        return f" {self.session.agent.id} · {self.model_name} · {hooks_words(self.session.book)} · /help"

    async def exchange(self, happenings: AsyncIterator[Happening]) -> None:
        """Whoever watches the session shows all of it."""
        ending = None
        async for happening in happenings:
            ending = happening.ending if isinstance(happening, Ended) else ending
        if ending in (Ending.SESSION_STOP, Ending.SESSION_FAIL):
            self.leave()

    async def resume(self, id: str) -> None:
        row = await found(self.runtime, id, but=self.session.id)
        if row.id == self.session.id:
            self.say("This is the session that you are in.")
            return
        session = await self.runtime.reopen(row.id)
        await self.session.end("exit")
        self.session = session
        self.screen.begin(session.id)
        await self.show_past()
        if row.ended is None and await session.unfinished():
            await self.go_on()

    async def show_past(self) -> None:
        """The last words of a session that goes on."""
        messages = [m for m in await self.session.main.history() if m["role"] in ("user", "assistant") and m["content"]]
        self.say(f"{self.session.id}, {len(messages)} messages", "dim")
        for message in messages[-_SHOWN:]:
            self.say(f"{'›' if message['role'] == 'user' else ' '} {shortened(str(message['content']))}", "dim")

    async def _read(self, line: Line) -> str:
        """At a second Ctrl-C, or at Ctrl-D, nothing, and the chat is left."""
        self._presses = 0
        while self._presses < 2:
            if self._presses:
                self.say("Ctrl-C once more, or Ctrl-D, leaves.", "dim")
            self.screen.console.print()
            self._work = reading = asyncio.ensure_future(line.read())
            try:
                return await reading
            except Interrupted:
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

    async def _taken(self, text: str) -> None:
        if self.session.row.ended is not None:
            self.say(f"The session had ended ({self.session.row.ended}) and goes on now.", "dim")
            self.session = await self.runtime.reopen(self.session.id)
        if text.startswith("/"):
            await obey(self, text)
        else:
            await self.exchange(self.session.say(text))

    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Ctrl-C cancels the work, and at a second press the chat is left too."""
        self._presses, self._work = 0, asyncio.ensure_future(work)
        try:
            with unechoed(), self._showing_waiting():
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
    def _showing_waiting(self) -> Iterator[None]:
        showing = asyncio.ensure_future(self._show_waiting(time.monotonic()))
        try:
            yield
        finally:
            showing.cancel()
            self.screen.clear()

    async def _show_waiting(self, since: float) -> None:
        while True:
            await asyncio.sleep(_SHOW_WAITING)
            if not self._asking.locked():
                self.screen.waiting(since)

    def _interrupted(self) -> None:
        """A signal, wherever the terminal does not hand Ctrl-C over as a key."""
        self._presses += 1
        if self._work is None:
            return
        if self._presses > 1:
            self.leave()
        if self.session.busy and self._presses == 1:
            self.session.cancel(_CANCELLED)
        else:
            self._work.cancel()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not on Windows, nor outside of the main thread
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        try:
            yield
        finally:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(signal.SIGINT)
