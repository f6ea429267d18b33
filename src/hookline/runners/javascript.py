"""Runs a JavaScript hook: a fresh QuickJS context for each call, made, used and dropped on one thread.

No Python callable stands inside a context. `callTool` writes a request down; Python takes it after each pump, asks the host
on the event loop, and settles the promise with JSON. QuickJS's own time limit counts the processor time of the whole
process and is looked at by loops and patterns only: not by microtasks, and not inside of built-ins such as `join` on a huge
array. So whoever awaits a script has its answer at the deadline in any case, and a thread that is still busy then is
written off.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.actions.tell import who
from hookline.hooks.host import Host, Script, ToolResult, asking
from hookline.hooks.outcome import Failed, Failure, FailureKind
from hookline.hooks.placeholder import as_text
from hookline.hooks.secrets import mask
from hookline.runners.javascript_prelude import PRELUDE
from hookline.runners.threads import Threads

MEMORY: Final = 64 << 20
_STACK: Final = 512 << 10
_AT_ONCE: Final = 4
_JOBS: Final = 1_000  # microtasks between two looks at what the script asked for
_BUSY: Final = min(os.cpu_count() or 1, _AT_ONCE + 2)  # threads that can use up this process's time at once
_DEEPEST: Final = 200  # levels of facts that are not JSON as they are
_LAST_WORDS: Final = 0.1  # seconds in which a script that failed hands over what it logged
_TO_END: Final = 1.0  # seconds that a cancelled tool call gets

_log = logging.getLogger("hookline")

Settled = tuple[int, "asyncio.Task[ToolResult]"]


async def run(script: Script, host: Host) -> Any:
    """What the script returned, as JSON has it. Raises Failed; tool calls that it began end with it."""
    calls = Calls(host)
    deadline = Deadline(script.timeout, time.monotonic() + script.timeout.total_seconds())
    threads = _threads(len(asked.above) if (asked := asking.get()) else 0)
    work = threads.submit(partial(_run, script, calls, who(), deadline))
    try:
        async with asyncio.timeout(script.timeout.total_seconds()):
            answer = await asyncio.wrap_future(work)
    except TimeoutError:
        raise deadline.missed() from None
    finally:
        threads.give_up(work)
        await calls.end()
    if isinstance(answer, Failure):
        raise Failed(answer.kind, answer.text)
    return answer


_pools: dict[tuple[int, int], Threads] = {}


def _threads(depth: int) -> Threads:
    """Scripts within a script's tool calls have threads of their own: nobody waits for a thread that waits for it.

    A forked process has none of its parent's threads.
    """
    return _pools.setdefault((os.getpid(), depth), Threads("hookline-javascript", _AT_ONCE))


@dataclass(frozen=True, slots=True)
class Deadline:
    timeout: timedelta
    at: float  # on the monotonic clock

    def left(self) -> float:
        """Seconds."""
        return self.at - time.monotonic()

    def missed(self) -> Failed:
        return Failed(FailureKind.TIMEOUT, f"did not answer within {self.timeout.total_seconds():g} s")


class Calls:
    """The tool calls of one script: asked for on its thread, made on the event loop."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._around = contextvars.copy_context()
        self._tasks: set[asyncio.Task[ToolResult]] = set()
        self._ended = False
        self._settled: SimpleQueue[Settled | None] = SimpleQueue()

    def begin(self, id: int, name: str, input: dict[str, Any]) -> None:
        """From the script's thread."""
        if not self._ended:
            self._loop.call_soon_threadsafe(self._begin, id, name, input)

    def settled(self, wait: float) -> Settled | None:
        """From the script's thread: a call that has ended; None if none has in time, or nobody wants the script any more."""
        try:
            return self._settled.get(timeout=wait) if wait > 0 else self._settled.get_nowait()
        except Empty:
            return None

    @property
    def ended(self) -> bool:
        return self._ended

    async def end(self) -> None:
        self._ended = True
        self._settled.put(None)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_TO_END)

    def _begin(self, id: int, name: str, input: dict[str, Any]) -> None:
        if self._ended:
            return
        task = self._loop.create_task(self._call(name, input), context=self._around.copy())
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, id))

    async def _call(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self._host.call_tool(name, input)

    def _done(self, id: int, task: asyncio.Task[ToolResult]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that nobody reports it as never retrieved
        self._settled.put((id, task))


def _run(script: Script, calls: Calls, hook: str, deadline: Deadline) -> Any:
    """On a thread of its own: the script's answer, or the Failure that it ended with.

    A Failed that left here would keep the frames it passed, and with them the context, alive for another thread to drop.
    """
    if calls.ended:
        return None
    machine = Machine(hook, deadline)
    try:
        return _conversation(machine, script, calls)
    except Failed as failed:
        machine.hear_last_words()
        return failed.failure
    finally:
        machine.drop()


def _conversation(machine: Machine, script: Script, calls: Calls) -> Any:
    machine.tell("start", _json(script.source), _json(dict(script.variables)))
    open_calls = 0
    while True:
        busy = machine.pump()
        asked = machine.take()
        if asked["done"] is not None:
            return _answer(asked["done"])
        for id, name, input in asked["calls"]:
            calls.begin(id, name, input)
            open_calls += 1
        if not busy and not open_calls:
            raise Failed(FailureKind.RAISED, "the script waits for something that never comes")
        settled = calls.settled(0 if busy else machine.deadline.left())
        if calls.ended or machine.deadline.left() <= 0:
            raise machine.deadline.missed()
        if settled is not None:
            open_calls -= 1
            machine.tell("settle", settled[0], _json(_told(settled[1])))


def _answer(done: dict[str, Any]) -> Any:
    if "error" in done:
        raise Failed(FailureKind.RAISED, done["error"])
    if "unreadable" in done:
        raise Failed(FailureKind.UNREADABLE_ANSWER, done["unreadable"])
    return done["value"]


def _told(task: asyncio.Task[ToolResult]) -> dict[str, Any]:
    """What `callTool` answers: `{content, is_error?}`, whatever became of the call."""
    if task.cancelled():
        return {"content": "the call was cancelled", "is_error": True}
    error = task.exception()
    if error is not None:
        expected = isinstance(error, HooklineError | Failed)
        text = str(error) if expected else mask(f"{type(error).__name__}: {error}"[:500])
        return {"content": text, "is_error": True}
    result = task.result()
    if result.ok:
        return {"content": result.content}
    return {"content": result.error or result.content, "is_error": True}


class Machine:
    """One context and the way to talk to it. Everything of it belongs to the thread that made it."""

    def __init__(self, hook: str, deadline: Deadline) -> None:
        import quickjs

        self.deadline = deadline
        self._hook = hook
        self._raises = (quickjs.JSException, UnicodeError, MemoryError)
        self._context = quickjs.Context()
        self._context.set_memory_limit(MEMORY)
        self._context.set_max_stack_size(_STACK)
        self._prelude = self._context.eval(PRELUDE)

    def drop(self) -> None:
        self._prelude = None
        self._context = None

    def tell(self, *what: Any) -> Any:
        self._limit()
        try:
            return self._prelude(*what)
        except self._raises as error:
            raise self._ended_by(error) from None

    def take(self) -> Any:
        """What the script asked for since the last time; its log lines are written."""
        try:
            asked = json.loads(self.tell("take"))
        except (ValueError, RecursionError):
            raise Failed(FailureKind.UNREADABLE_ANSWER, "what the script returned is nested too deep") from None
        self._write(asked["lines"])
        return asked

    def hear_last_words(self) -> None:
        self._context.set_time_limit(_LAST_WORDS)
        with suppress(*self._raises, ValueError, RecursionError):
            self._write(json.loads(self._prelude("take"))["lines"])

    def _write(self, lines: list[str]) -> None:
        for line in lines:
            _log.info("[%s] %s", self._hook, line)

    def pump(self) -> bool:
        """Runs what is ready to run; True if more is."""
        for _ in range(_JOBS):
            self._limit()
            try:
                if not self._context.execute_pending_job():
                    return False
            except self._raises as error:
                self._uncaught(error)
        return True

    def _limit(self) -> None:
        left = self.deadline.left()
        if left <= 0:
            raise self.deadline.missed()
        self._context.set_time_limit(left * _BUSY)

    def _uncaught(self, error: BaseException) -> None:
        """Of a microtask of its own: what a browser reports and goes on after."""
        if _interrupted(error):
            raise self.deadline.missed()
        _log.warning("[%s] uncaught: %s", self._hook, mask(_first_line(error)))

    def _ended_by(self, error: BaseException) -> Failed:
        if _interrupted(error):
            return self.deadline.missed()
        text = _first_line(error)
        return Failed(FailureKind.RAISED, text if text and text != "null" else "out of memory")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:500]


def _interrupted(error: BaseException) -> bool:
    return str(error).startswith("InternalError: interrupted")


def _json(value: Any) -> str:
    """ASCII, so that it passes into JavaScript whatever it holds; what JSON has no word for becomes null or text."""
    try:
        return json.dumps(value, allow_nan=False, default=as_text)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_plain(value, 0))


def _plain(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise Failed(FailureKind.CANNOT_START, "could not start: the event is nested too deep")
    if isinstance(value, dict):
        return {str(key): _plain(held, depth + 1) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(held, depth + 1) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else as_text(value)


__all__ = ["MEMORY", "run"]
