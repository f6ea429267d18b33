"""`hookline run -p`: one prompt and its answer, for scripts."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from typing import Final

from rich.console import Console

from hookline.cli.async_runner import TerminatedError, run_async
from hookline.cli.chat.render import Screen, escape_speech
from hookline.cli.chat.start import RunOptions, SessionStart, open_runtime, prepare_session
from hookline.cli.logging_setup import log_to
from hookline.cli.output import err, out_as_is, out_json_line
from hookline.config.problem import Problem
from hookline.errors import Denied, HooklineError
from hookline.hooks.outcome import NOBODY_HERE
from hookline.hosts.python.session import Question
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.runtime import Runtime
from hookline.runtime.update_json import VERSION, has_line, update_json
from hookline.runtime.updates import ApprovalAnswered, ApprovalRequested, Ending, ExchangeEnded, StatusMessage, Update

ANSWERED, FAILED, REFUSED, MUST_ASK = range(4)
_EXIT_CODES: Final = {
    Ending.ANSWERED: ANSWERED,
    Ending.SESSION_STOP: ANSWERED,
    Ending.REFUSED: REFUSED,
    Ending.HALTED: REFUSED,
}


def run_once(options: RunOptions, prompt: str | None, *, as_json: bool, yes: bool) -> int:
    """Returns the exit code. Without a prompt, a session that was cut off continues."""
    reader = JsonReporter() if as_json else TextReporter()
    try:
        return run_async(_run_session(options, prompt, reader, yes=yes))
    except KeyboardInterrupt:
        reader.report_interruption(Ending.CANCELLED, "interrupted", 128 + signal.SIGINT)
        raise
    except HooklineError as error:
        reader.report_interruption(_ending_of(error), str(error), error.exit_code)
        raise


def _ending_of(error: HooklineError) -> Ending:
    if isinstance(error, TerminatedError):
        return Ending.CANCELLED
    return Ending.REFUSED if isinstance(error, Denied) else Ending.FAILED


async def _run_session(options: RunOptions, prompt: str | None, reader: TextReporter, *, yes: bool) -> int:
    how = {"ask": _answer_yes} if yes else {"unattended": True}
    async with open_runtime(options, watch=reader.watch, **how) as runtime:
        reader.report_problems(runtime)
        begins = await prepare_session(runtime, options)
        reader.begin(runtime, begins)
        session, cut_off = await begins.start(runtime)
        ended = await _run_exchange(session, prompt, cut_off)
        await session.end("exit")
        code = MUST_ASK if reader.unanswered and ended.ending in _EXIT_CODES else _EXIT_CODES.get(ended.ending, FAILED)
        reader.end(ended, code)
        return code


async def _run_exchange(session: AgentSession, prompt: str | None, cut_off: bool) -> ExchangeEnded:
    if prompt is None and not cut_off:
        raise HooklineError(f"{session.id} was not cut off. Give the next prompt with -p.")
    updates: AsyncIterator[Update] = session.go_on() if prompt is None else session.say(prompt)
    last = None
    async for update in updates:
        last = update
    assert isinstance(last, ExchangeEnded)
    return last


async def _answer_yes(question: Question) -> bool:
    return True


class TextReporter:
    """Prints the answer on stdout and errors on stderr; if stderr is a terminal, also what the agent does."""

    def __init__(self) -> None:
        self._screen: Screen | None = None
        if sys.stderr is not None and sys.stderr.isatty():
            self._screen = screen = Screen(Console(stderr=True, highlight=False), speech=False)
            log_to(lambda line: screen.say(line, "dim"))
        self._questions: dict[str, ApprovalRequested] = {}
        self.unanswered: list[ApprovalRequested] = []  # nobody was there to approve these

    def report_problems(self, runtime: Runtime) -> None:
        for problem in runtime.warnings:
            err(str(problem))

    def begin(self, runtime: Runtime, begins: SessionStart) -> None:
        """Called before the session starts."""

    def watch(self, update: Update) -> None:
        self._track_question(update)
        if self._screen is not None:
            self._screen(update)
        elif isinstance(update, StatusMessage) and update.level != "info" and not update.hook:  # else it is in the log
            err(update.text)

    def end(self, ended: ExchangeEnded, code: int) -> None:
        for asked in dict.fromkeys(asked.reason or asked.tool for asked in self.unanswered):
            err(f"hookline: a person must approve: {asked}")
        if ended.ending in (Ending.ANSWERED, Ending.SESSION_STOP):
            out_as_is(escape_speech(ended.text.expandtabs(4)) if sys.stdout.isatty() else ended.text)
        elif self._screen is None:
            err(f"hookline: {ended.ending}: {ended.text}")

    def report_interruption(self, ending: Ending, text: str, code: int) -> None:
        """Called if the run ends with an error. The command line itself prints it on stderr."""

    def _track_question(self, update: Update) -> None:
        if isinstance(update, ApprovalRequested):
            self._questions[update.approval] = update
        if isinstance(update, ApprovalAnswered) and update.by == NOBODY_HERE and update.approval in self._questions:
            self.unanswered.append(self._questions[update.approval])


class JsonReporter(TextReporter):
    """Prints every update as a line of JSON."""

    def __init__(self) -> None:
        super().__init__()
        self._main = self._agent = ""

    def report_problems(self, runtime: Runtime) -> None:
        """The first line contains them."""

    def begin(self, runtime: Runtime, begins: SessionStart) -> None:
        self._main, self._agent = begins.id, begins.agent
        problems = [each.as_json() if isinstance(each, Problem) else {"what": each} for each in runtime.problems]
        first = {"type": "session", "version": VERSION, "session": begins.id, "agent": begins.agent}
        more = {"model": begins.model, "workspace": str(runtime.workspace), "resumed": begins.row is not None}
        out_json_line({**first, **more, "problems": problems})

    def watch(self, update: Update) -> None:
        self._track_question(update)
        if has_line(update) and (not isinstance(update, ExchangeEnded) or update.thread != self._main):
            out_json_line(update_json(update))

    def end(self, ended: ExchangeEnded, code: int) -> None:
        out_json_line({**update_json(ended), "exit_code": code})
        self._main = ""  # only one last line is printed

    def report_interruption(self, ending: Ending, text: str, code: int) -> None:
        if self._main:
            self.end(ExchangeEnded(self._main, self._agent, ending, text), code)
