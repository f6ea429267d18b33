"""One prompt and its answer, for scripts."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from typing import Final

from rich.console import Console

from hookline.cli.chat.flow import spoken
from hookline.cli.chat.json_lines import VERSION, has_line, line_of
from hookline.cli.chat.opening import Beginning, Options, beginning, opened
from hookline.cli.chat.screen import Screen
from hookline.cli.log import log_to
from hookline.cli.output import err, out_as_is, out_json_line
from hookline.cli.running import Terminated, run
from hookline.config.problem import Problem
from hookline.errors import Denied, HooklineError
from hookline.hosts.session import Question
from hookline.runtime.approvals import NOBODY_HERE
from hookline.runtime.happenings import Answered, Asked, Ended, Ending, Happening, Told
from hookline.runtime.runtime import Runtime
from hookline.runtime.session import Session

ANSWERED, FAILED, REFUSED, MUST_ASK = range(4)
_CODES: Final = {
    Ending.ANSWERED: ANSWERED,
    Ending.SESSION_STOP: ANSWERED,
    Ending.REFUSED: REFUSED,
    Ending.HALTED: REFUSED,
}


def once(options: Options, prompt: str | None, *, as_json: bool, yes: bool) -> int:
    """The exit code. Without a prompt, a session that was cut off goes on."""
    reader = JsonReader() if as_json else Reader()
    try:
        return run(_once(options, prompt, reader, yes=yes))
    except KeyboardInterrupt:
        reader.cut_off(Ending.CANCELLED, "interrupted", 128 + signal.SIGINT)
        raise
    except HooklineError as error:
        reader.cut_off(_ending_by(error), str(error), error.exit_code)
        raise


def _ending_by(error: HooklineError) -> Ending:
    if isinstance(error, Terminated):
        return Ending.CANCELLED
    return Ending.REFUSED if isinstance(error, Denied) else Ending.FAILED


async def _once(options: Options, prompt: str | None, reader: Reader, *, yes: bool) -> int:
    how = {"ask": _yes} if yes else {"unattended": True}
    async with opened(options, watch=reader.watch, **how) as runtime:
        reader.opened(runtime)
        begins = await beginning(runtime, options)
        reader.begin(runtime, begins)
        session, cut_off = await begins.begun(runtime)
        ended = await _ended(session, prompt, cut_off)
        await session.end("exit")
        code = MUST_ASK if reader.unanswered and ended.ending in _CODES else _CODES.get(ended.ending, FAILED)
        reader.end(ended, code)
        return code


async def _ended(session: Session, prompt: str | None, cut_off: bool) -> Ended:
    if prompt is None and not cut_off:
        raise HooklineError(f"{session.id} was not cut off; say with -p what comes next")
    happenings: AsyncIterator[Happening] = session.go_on() if prompt is None else session.say(prompt)
    last = None
    async for happening in happenings:
        last = happening
    assert isinstance(last, Ended)
    return last


async def _yes(question: Question) -> bool:
    return True


class Reader:
    """Whoever reads wants the answer on stdout; on stderr it hears what went wrong, and at a terminal, what goes on."""

    def __init__(self) -> None:
        self._screen: Screen | None = None
        if sys.stderr is not None and sys.stderr.isatty():
            self._screen = screen = Screen(Console(stderr=True, highlight=False), speech=False)
            log_to(lambda line: screen.say(line, "dim"))
        self._asked: dict[str, Asked] = {}
        self.unanswered: list[Asked] = []  # what nobody could be asked about

    def opened(self, runtime: Runtime) -> None:
        for problem in runtime.problems:
            err(str(problem))

    def begin(self, runtime: Runtime, begins: Beginning) -> None:
        """Nothing has happened yet."""

    def watch(self, happening: Happening) -> None:
        self._remember(happening)
        if self._screen is not None:
            self._screen(happening)
        elif isinstance(happening, Told) and happening.level != "info" and not happening.hook:  # else it is in the log
            err(happening.text)

    def end(self, ended: Ended, code: int) -> None:
        for asked in dict.fromkeys(f"{asked.reason or asked.tool} [{asked.hook}]" for asked in self.unanswered):
            err(f"hookline: somebody must be asked: {asked}")
        if ended.ending in (Ending.ANSWERED, Ending.SESSION_STOP):
            out_as_is(spoken(ended.text.expandtabs(4)) if sys.stdout.isatty() else ended.text)
        elif self._screen is None:
            err(f"hookline: {ended.ending}: {ended.text}")

    def cut_off(self, ending: Ending, text: str, code: int) -> None:
        """It is over without an end of its own; whoever reads errors hears of it from the command line."""

    def _remember(self, happening: Happening) -> None:
        if isinstance(happening, Asked):
            self._asked[happening.approval] = happening
        if isinstance(happening, Answered) and happening.by == NOBODY_HERE and happening.approval in self._asked:
            self.unanswered.append(self._asked[happening.approval])


class JsonReader(Reader):
    """A program that wants all of it."""

    def __init__(self) -> None:
        super().__init__()
        self._main = self._agent = ""

    def opened(self, runtime: Runtime) -> None:
        """What is wrong stands in the first line."""

    def begin(self, runtime: Runtime, begins: Beginning) -> None:
        self._main, self._agent = begins.id, begins.agent
        problems = [each.as_json() if isinstance(each, Problem) else {"what": each} for each in runtime.problems]
        first = {"type": "session", "version": VERSION, "session": begins.id, "agent": begins.agent}
        more = {"model": begins.model, "workspace": str(runtime.workspace), "resumed": begins.row is not None}
        out_json_line({**first, **more, "problems": problems})

    def watch(self, happening: Happening) -> None:
        self._remember(happening)
        if has_line(happening) and (not isinstance(happening, Ended) or happening.thread != self._main):
            out_json_line(line_of(happening))

    def end(self, ended: Ended, code: int) -> None:
        out_json_line({**line_of(ended), "exit_code": code})
        self._main = ""  # there is one last line

    def cut_off(self, ending: Ending, text: str, code: int) -> None:
        if self._main:
            self.end(Ended(self._main, self._agent, ending, text), code)
