"""Threads for work that may never end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from hookline.hooks.outcome import ActionError, FailureKind
from hookline.lazy_imports import asyncio

MAX_STUCK: Final = 16
_IDLE_SECONDS: Final = 0.001  # the caller has gone on with the last result by then


_Task = tuple[Future[Any], Callable[[], Any], Callable[[], None]]


class AbandonableThreads:
    """Runs at most `most` tasks at once, not counting abandoned ones, whose threads end with them.

    The threads are daemons, so that stuck work does not keep the interpreter from exiting.
    """

    def __init__(
        self, name: str, most: int, prepare: Callable[[], bool] | None = None, patience: float | None = None
    ) -> None:
        """`prepare` is called on a thread that had a task and has been idle since, until it returns False.

        With `patience`, in seconds, a task waits for a busy thread before `add_thread_if_stuck` starts another one. Only
        one thread at a time runs Python, so short tasks on several of them take longer: each system call hands over.
        """
        self._prepare = prepare
        self._patience = patience
        self._name = name
        self._most = most
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Task] = SimpleQueue()
        self._queued = 0
        self._idle = 0
        self._alive = 0
        self._at_work: dict[Future[Any], float] = {}  # and since when, on the monotonic clock
        self._stuck: set[Future[Any]] = set()
        self._ended = 0
        self._all_done: threading.Lock | None = None  # is to be released then

    @property
    def is_idle(self) -> bool:
        """Whether no task runs or waits, not counting abandoned ones."""
        return not self._at_work and not self._queued

    def submit(self, work: Callable[[], Any], on_end: Callable[[], None] = lambda: None) -> Future[Any]:
        """`on_end` is called on the task's thread once the future has its result, and must not raise.

        Raises ActionError if too many abandoned tasks are still running.
        """
        future: Future[Any] = Future()
        with self._lock:
            if len(self._stuck) >= MAX_STUCK:
                raise ActionError(
                    FailureKind.CANNOT_START, f"could not start: {MAX_STUCK} earlier scripts are still running"
                )
            self._queued += 1
            try:
                self._start_thread_if_needed()
            except RuntimeError:  # the system allows no more of them
                self._queued -= 1
                raise
        # Last, because the thread that this wakes needs the interpreter: it would sleep again until the caller waits.
        self._queue.put((future, work, on_end))
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Stops waiting for the task. If it is running, its thread no longer counts toward the limit."""
        future.cancel()
        with self._lock:
            if future in self._at_work and not future.done():
                del self._at_work[future]
                self._stuck.add(future)
                self._alive -= 1
                self._start_thread_if_needed()

    def wait_until_done(self, seconds: float) -> bool:
        """Waits until no task is left. Returns False if none ended within the time."""
        with self._lock:
            if not self._queued and not self._at_work:
                return True
            before, all_done = self._ended, threading.Lock()
            all_done.acquire()
            self._all_done = all_done
        return all_done.acquire(timeout=seconds) or self._ended != before

    def add_thread_if_stuck(self) -> None:
        """Starts another thread if tasks wait, and every thread has been busy with the same task for too long."""
        if self._patience is None:
            return
        with self._lock:
            before = time.monotonic() - self._patience
            if len(self._at_work) == self._alive and all(since <= before for since in self._at_work.values()):
                self._start_thread(self._most)

    def _start_thread_if_needed(self) -> None:
        self._start_thread(self._most if self._patience is None else 1)

    def _start_thread(self, most: int) -> None:
        if self._queued > self._idle and self._alive < most:
            threading.Thread(target=self._run_thread, name=self._name, daemon=True).start()
            self._alive += 1
            self._idle += 1

    def _run_thread(self) -> None:
        had_task = False
        while True:
            future, work, on_end = self._next_task(prepares=had_task)
            had_task = True
            with self._lock:
                self._queued -= 1
                if not future.set_running_or_notify_cancel():
                    continue
                self._idle -= 1
                self._at_work[future] = time.monotonic()
            _run_into_future(future, work)
            goes_on, all_done = self._end_task(future)
            del future, work
            # Last, because the caller that this wakes needs the interpreter, which this thread has until it waits.
            on_end()
            del on_end
            if all_done is not None:
                all_done.release()
            if not goes_on:
                return

    def _end_task(self, future: Future[Any]) -> tuple[bool, threading.Lock | None]:
        """Whether its thread goes on, and what is to be released because no task is left."""
        all_done = None
        with self._lock:
            if future in self._stuck:
                self._stuck.remove(future)
                return False, None
            del self._at_work[future]
            self._ended += 1
            if self._all_done is not None and not self._queued and not self._at_work:
                all_done, self._all_done = self._all_done, None
            if self._patience is not None and self._idle >= max(self._queued, 1):  # the other threads are enough
                self._alive -= 1
                return False, all_done
            self._idle += 1
        return True, all_done

    def _next_task(self, prepares: bool) -> _Task:
        while prepares and self._prepare is not None:
            try:
                return self._queue.get(timeout=_IDLE_SECONDS)
            except Empty:
                prepares = self._prepare()
        return self._queue.get()


class TaskEnd:
    """The end of a task, to be awaited on the loop that runs now. Raises what `expired` returns if it comes too late.

    It is what asyncio.wrap_future and asyncio.timeout would do, with half of their steps between the two threads.
    """

    _future: asyncio.Future[None]  # once it is awaited

    def __init__(self, at: float, expired: Callable[[], Exception]) -> None:
        """`at` is the last moment, on the monotonic clock."""
        self._at = at
        self._expired = expired
        self._loop = asyncio.get_running_loop()
        self._running = threading.Lock()
        self._running.acquire()
        self._is_awaited = False

    def wait(self, seconds: float) -> bool:
        """Blocks the event loop for a moment: two of its rounds take longer than most tasks. True if the task has ended."""
        return self._running.acquire(timeout=max(0, min(seconds, self._at - time.monotonic())))

    def notify(self) -> None:
        """Called from the task's thread."""
        self._running.release()
        if not self._is_awaited:  # whoever awaits it later finds that it has ended
            return
        with suppress(RuntimeError):  # the loop is closed: nobody is waiting
            self._loop.call_soon_threadsafe(self._end)

    def __await__(self) -> Generator[Any, None, None]:
        self._future = self._loop.create_future()
        self._is_awaited = True
        if self._running.acquire(blocking=False):
            return
        timer = self._loop.call_later(self._at - time.monotonic(), self._expire)
        try:
            yield from self._future
        finally:
            timer.cancel()

    def _end(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def _expire(self) -> None:
        if not self._future.done():
            self._future.set_exception(self._expired())


def _run_into_future(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # raised where the result is awaited
        future.set_exception(error)
    else:
        future.set_result(result)
