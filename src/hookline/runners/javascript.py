"""Runs JavaScript hooks in QuickJS: a fresh context for each call, created, used and dropped on one thread.

A thread that is idle drops the context of its last call and creates those for its next ones, because both take longer than
most scripts do.

No Python callable exists inside a context. `callTool` records a request; Python takes it after each round of jobs, asks
the host on the event loop, and settles the promise with JSON. QuickJS's own time limit counts the processor time of the
whole process and is checked only by loops and patterns, not by microtasks or inside built-ins such as `join` on a huge array.
So the caller always gets an answer at the deadline, and a thread that is still busy then is abandoned.

The event loop stands still for half a millisecond at most while a script runs that needs nothing from it, if no other one runs:
to wake the loop from another thread, and the caller from the loop, takes as long as many scripts.
"""

from __future__ import annotations

import contextvars
import math
import os
import re
import threading
import time
from contextlib import suppress
from datetime import timedelta
from functools import cache, lru_cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from hookline.errors import HooklineError
from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.host import Host, ScriptCall, ToolResult, current_hook, format_duration
from hookline.hooks.masking import mask
from hookline.hooks.outcome import ActionError, Failure, FailureKind
from hookline.hooks.templates import as_text
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import asyncio, json, lazy_logger, lazy_pattern
from hookline.runners.thread_pool import AbandonableThreads, TaskEnd

MEMORY_LIMIT: Final = 64 << 20
_STACK_LIMIT: Final = 512 << 10
_MAX_THREADS: Final = 4
_MAX_NEW_CONTEXTS: Final = 3  # of one thread: an event may have several scripts, one after the other
_JOBS_PER_PUMP: Final = 1_000  # microtasks between two checks of the script's requests
_MAX_BUSY_THREADS: Final = min(os.cpu_count() or 1, _MAX_THREADS + 2)  # threads that may be busy at once
_MAX_NESTING: Final = 200  # levels of facts that JSON cannot express directly
_BLOCKING_SECONDS: Final = 0.0005  # for which the event loop stands still for a script; most take half of that
_WAITING_WORDS: Final = ("callTool", "await", "setTimeout", "setInterval")
_FINAL_LOG_TIMEOUT: Final = 0.1  # seconds for a failed script to hand over its log lines
_CANCEL_TIMEOUT: Final = 1.0  # seconds for a cancelled tool call to end

_SCRIPT_LIMITS: Final = {
    "MAX_CALLS": 100,
    "MAX_LINES": 200,
    "MAX_LINE_LENGTH": 4_000,
    "MAX_ERROR_LENGTH": 2_000,
    "MAX_JSON_LENGTH": 1 << 20,
    "MAX_REASON_LENGTH": 20_000,
    "MAX_TIMERS": 100,
    "MAX_TIMER_WAIT": 86_400_000,  # milliseconds; any deadline comes earlier
}
"""What one script may do; the numbers replace these names in the prelude."""

_FEATURES: Final = {"console": ("console",), "timers": ("setTimeout", "setInterval"), "url": ("URL",)}
"""What a script gets if it contains one of the words. To define all of them takes longer than most scripts take to run."""

_log = lazy_logger("hookline")

SettledCall = tuple[int, "asyncio.Task[ToolResult]"]


@cache
def _read_source(name: str) -> str:
    source = Path(__file__).with_name(f"javascript_{name}.js").read_text("utf-8")
    return re.sub(r"\bMAX_[A-Z_]+\b", lambda found: str(_SCRIPT_LIMITS[found[0]]), source)


async def run_script(script: ScriptCall, host: Host, *, is_logged: bool = True) -> Any:
    """Returns what the script returned, as JSON. Raises ActionError. Tool calls that it started end with it."""
    calls = ScriptToolCalls(host)
    deadline = ScriptDeadline(time.monotonic() + script.timeout.total_seconds(), script.timeout)
    threads = _thread_pool(len(asked.callers) if (asked := current_hook.get()) else 0)
    ended = TaskEnd(deadline.at, deadline.timeout_error)
    log_name = current_hook_id() if is_logged else None
    may_block = threads.is_idle and _needs_no_loop(script.source)
    has_ended = False
    work = threads.submit(partial(_run_on_thread, script, calls, log_name, deadline), ended.notify)
    try:
        has_ended = may_block and ended.wait(_BLOCKING_SECONDS)
        if not has_ended:
            await ended
    finally:
        if not has_ended:
            threads.abandon(work)
        await calls.end()
    answer = work.result()
    if isinstance(answer, Failure):
        if answer.kind is FailureKind.RAISED and (broken := syntax_error(script.source)) is not None:
            raise ActionError(FailureKind.CANNOT_START, describe_syntax_error(*broken))
        raise ActionError(answer.kind, answer.text)
    return answer


@lru_cache(maxsize=64)
def _needs_no_loop(source: str) -> bool:
    """Whether the script can end without another round of the event loop: it calls no tool and waits for nothing."""
    return not any(word in source for word in _WAITING_WORDS)


_pools: dict[tuple[int, int], AbandonableThreads] = {}


def _thread_pool(depth: int) -> AbandonableThreads:
    """Scripts started by a script's tool call get their own threads, so that no script waits for a thread that waits for it.

    A forked process has none of its parent's threads.
    """
    key = (os.getpid(), depth)
    if (known := _pools.get(key)) is not None:
        return known
    return _pools.setdefault(key, AbandonableThreads("hookline-javascript", _MAX_THREADS, _prepare_context))


@dataclass(frozen=True, slots=True)
class ScriptDeadline:
    at: float  # on the monotonic clock
    timeout: timedelta

    def remaining(self) -> float:
        """Seconds."""
        return self.at - time.monotonic()

    def timeout_error(self) -> ActionError:
        return ActionError(FailureKind.TIMEOUT, f"did not answer within {format_duration(self.timeout)}")


class ScriptToolCalls:
    """The tool calls of one script: requested on its thread, made on the event loop."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._around = contextvars.copy_context()
        self._tasks: set[asyncio.Task[ToolResult]] = set()
        self._ended = False
        self._settled: SimpleQueue[SettledCall | None] = SimpleQueue()

    def begin(self, id: int, name: str, input: dict[str, Any]) -> None:
        """Called from the script's thread."""
        if not self._ended:
            self._loop.call_soon_threadsafe(self._start_task, id, name, input)

    def next_settled(self, wait: float) -> SettledCall | None:
        """Called from the script's thread: returns a finished call, or None if none finished in time or the script was cancelled."""
        try:
            return self._settled.get(timeout=wait) if wait > 0 else self._settled.get_nowait()
        except Empty:
            return None

    @property
    def has_ended(self) -> bool:
        return self._ended

    async def end(self) -> None:
        self._ended = True
        self._settled.put(None)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CANCEL_TIMEOUT)

    def _start_task(self, id: int, name: str, input: dict[str, Any]) -> None:
        if self._ended:
            return
        task = self._loop.create_task(self._call_tool(name, input), context=self._around.copy())
        self._tasks.add(task)
        task.add_done_callback(partial(self._on_done, id))

    async def _call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self._host.call_tool(name, input)

    def _on_done(self, id: int, task: asyncio.Task[ToolResult]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not report it
        self._settled.put((id, task))


def _run_on_thread(script: ScriptCall, calls: ScriptToolCalls, log_name: str | None, deadline: ScriptDeadline) -> Any:
    """Runs on its own thread: returns the script's answer or its Failure.

    A raised ActionError would keep the frames it passed, and with them the context, alive for another thread to drop.
    """
    if calls.has_ended:
        return None
    machine = ScriptContext(log_name, deadline, _take_context())
    try:
        return _drive_script(machine, script, calls)
    except ActionError as failed:
        machine.flush_log()
        return failed.failure
    finally:
        _of_thread.drop_used()
        _of_thread.used = machine  # dropped when the caller has the answer, or with the thread


def _drive_script(machine: ScriptContext, script: ScriptCall, calls: ScriptToolCalls) -> Any:
    source, variables = _source_json(script.source), to_json(dict(script.variables))
    for name, words in _FEATURES.items():
        if any(word in source or word in variables for word in words):
            machine.call_prelude("define", _read_source(name))
    machine.call_prelude("start", source, variables)
    open_calls = 0
    while True:
        busy = machine.run_pending_jobs()
        asked = machine.take_requests()
        if asked["done"] is not None:
            return _unwrap_answer(asked["done"])
        for id, name, input in asked["calls"]:
            calls.begin(id, name, input)
            open_calls += 1
        timer = asked["timer"]
        if not busy and not open_calls and timer is None:
            raise ActionError(FailureKind.RAISED, "the script waits for a promise that never settles")
        left = machine.deadline.remaining()
        settled = calls.next_settled(0 if busy else left if timer is None else min(left, timer / 1000))
        if calls.has_ended or machine.deadline.remaining() <= 0:
            raise machine.deadline.timeout_error()
        if settled is not None:
            open_calls -= 1
            machine.call_prelude("settle", settled[0], to_json(tool_answer(settled[1])))
        if timer is not None:
            machine.call_prelude("timer")


def _unwrap_answer(done: dict[str, Any]) -> Any:
    if "error" in done:
        raise ActionError(FailureKind.RAISED, done["error"])
    if "unreadable" in done:
        raise ActionError(FailureKind.UNREADABLE_ANSWER, done["unreadable"])
    return done["value"]


def tool_answer(task: asyncio.Task[ToolResult]) -> dict[str, Any]:
    """The answer of `callTool`: `{content, is_error?}`."""
    if task.cancelled():
        return {"content": "the call was cancelled", "is_error": True}
    error = task.exception()
    if error is not None:
        expected = isinstance(error, HooklineError | ActionError)
        text = str(error) if expected else mask(f"{type(error).__name__}: {error}"[:500])
        return {"content": text, "is_error": True}
    result = task.result()
    if result.ok:
        return {"content": result.content}
    return {"content": result.error or result.content, "is_error": True}


class NewContext(NamedTuple):
    """A context in which no script has run, and the function that the prelude returned."""

    context: Any
    prelude: Any


def _create_context() -> NewContext:
    import quickjs

    context = quickjs.Context()
    context.set_memory_limit(MEMORY_LIMIT)
    context.set_max_stack_size(_STACK_LIMIT)
    return NewContext(context, context.eval(_read_source("prelude")))


class _ThreadContexts(threading.local):
    """The contexts for the thread's next scripts, and the one of its last script, which is to be dropped."""

    def __init__(self) -> None:
        self.new: list[NewContext] = []
        self.used: ScriptContext | None = None

    def drop_used(self) -> None:
        if self.used is not None:
            self.used.close()
        self.used = None


_of_thread: Final = _ThreadContexts()


def _take_context() -> NewContext:
    """No two scripts get the same one."""
    return _of_thread.new.pop() if _of_thread.new else _create_context()


def _prepare_context() -> bool:
    """Does one thing for the next scripts of this thread, while it is idle. True if there is more to do."""
    try:
        if _of_thread.used is not None:
            _of_thread.drop_used()
        else:
            _of_thread.new.append(_create_context())
    except Exception:  # the next script cannot create one either, and says so
        return False
    return len(_of_thread.new) < _MAX_NEW_CONTEXTS


class ScriptContext:
    """The context of one script. Everything in it belongs to the thread that created it."""

    def __init__(self, log_name: str | None, deadline: ScriptDeadline, new: NewContext) -> None:
        """Without a name, its lines are not logged."""
        import quickjs

        self.deadline = deadline
        self._log_name = log_name
        self._raises = (quickjs.JSException, UnicodeError, MemoryError)
        self._context, self._prelude = new

    def close(self) -> None:
        self._prelude = None
        self._context = None

    def call_prelude(self, *what: Any) -> Any:
        self._set_time_limit()
        try:
            return self._prelude(*what)
        except self._raises as error:
            raise self._failure_from(error) from None

    def take_requests(self) -> Any:
        """Returns the script's new requests and writes its log lines."""
        try:
            asked = json.loads(self.call_prelude("take"))
        except (ValueError, RecursionError):
            raise ActionError(FailureKind.UNREADABLE_ANSWER, "returned a value that is nested too deep") from None
        self._log_lines(asked["lines"])
        return asked

    def flush_log(self) -> None:
        self._context.set_time_limit(_FINAL_LOG_TIMEOUT)
        with suppress(*self._raises, ValueError, RecursionError):
            self._log_lines(json.loads(self._prelude("take"))["lines"])

    def _log_lines(self, lines: list[str]) -> None:
        if self._log_name is not None:
            for line in lines:
                _log.info("[%s] %s", self._log_name, line)

    def run_pending_jobs(self) -> bool:
        """Runs ready jobs; True if more are ready."""
        for _ in range(_JOBS_PER_PUMP):
            self._set_time_limit()
            try:
                if not self._context.execute_pending_job():
                    return False
            except self._raises as error:
                self._handle_uncaught(error)
        return True

    def _set_time_limit(self) -> None:
        left = self.deadline.remaining()
        if left <= 0:
            raise self.deadline.timeout_error()
        self._context.set_time_limit(left * _MAX_BUSY_THREADS)

    def _handle_uncaught(self, error: BaseException) -> None:
        """An error in a microtask of its own: logged, as a browser does, and the script goes on."""
        if _is_interrupt(error):
            raise self.deadline.timeout_error()
        if self._log_name is not None:
            _log.warning("[%s] uncaught: %s", self._log_name, mask(_first_line(error)))

    def _failure_from(self, error: BaseException) -> ActionError:
        if _is_interrupt(error):
            return self.deadline.timeout_error()
        text = _first_line(error)
        return ActionError(FailureKind.RAISED, text if text and text != "null" else "out of memory")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:500]


def _is_interrupt(error: BaseException) -> bool:
    return str(error).startswith("InternalError: interrupted")


@cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(allow_nan=False, default=as_text)  # making one takes as long as using it


def to_json(value: Any) -> str:
    """ASCII, so that it passes into JavaScript unchanged. What JSON cannot express becomes null or text."""
    try:
        return _encoder().encode(value)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_to_plain(value, 0))


_source_json: Final = lru_cache(maxsize=64)(to_json)  # a hook's script is the same each time


def _to_plain(value: Any, depth: int) -> Any:
    if depth > _MAX_NESTING:
        raise ActionError(FailureKind.CANNOT_START, "could not start: the event is nested too deep")
    if isinstance(value, dict):
        return {str(key): _to_plain(held, depth + 1) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain(held, depth + 1) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else as_text(value)


__all__ = ["MEMORY_LIMIT", "run_script"]


_PARSE_TIMEOUT: Final = 1.0
_PARSED_MARK: Final = "parsed"
_ERROR_LINE: Final = lazy_pattern(r"^\s+at <input>:(\d+)", re.MULTILINE)


def syntax_error(source: str) -> tuple[int, str] | None:
    """The line of the script, from 1, and what is wrong there; None if it is valid."""
    import quickjs

    if "\0" in source or not _is_encodable(source):
        return None
    context = quickjs.Context()
    context.set_memory_limit(MEMORY_LIMIT)
    context.set_time_limit(_PARSE_TIMEOUT)
    try:  # the whole source is parsed before its first statement throws, so nothing of the script runs
        context.eval(f"throw {_PARSED_MARK!r}; (async function () {{\n{source}\n}})")
    except quickjs.JSException as error:
        what, _, places = str(error).partition("\n")
        found = _ERROR_LINE.search(places)
        if what.startswith("SyntaxError: ") and found:
            line, last = int(found[1]) - 1, source.count("\n") + 1
            return (
                (line, what.removeprefix("SyntaxError: "))
                if line <= last
                else (last, "a bracket or quote is not closed")
            )
    return None


def describe_syntax_error(line: int, what: str) -> str:
    return f"has a syntax error on line {line} of its script: {what}"


def _is_encodable(source: str) -> bool:
    try:
        source.encode()
    except UnicodeEncodeError:
        return False
    return True
