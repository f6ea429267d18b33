"""Threads for work that may never end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, Final

from hookline.hooks.outcome import ActionError, FailureKind

MAX_STUCK: Final = 16
_IDLE_SECONDS: Final = 0.001  # the caller has gone on with the last result by then


_Task = tuple[Future[Any], Callable[[], Any], Callable[[], None]]


class AbandonableThreads:
    """Runs at most `most` tasks at once, not counting abandoned ones, whose threads end with them.

    The threads are daemons, so that stuck work does not keep the interpreter from exiting.
    """

    def __init__(self, name: str, most: int, prepare: Callable[[], bool] = lambda: False) -> None:
        """`prepare` is called on a thread that had a task and has been idle since, until it returns False."""
        self._prepare = prepare
        self._name = name
        self._most = most
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Task] = SimpleQueue()
        self._queued = 0
        self._idle = 0
        self._alive = 0
        self._at_work: set[Future[Any]] = set()
        self._stuck: set[Future[Any]] = set()

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
            self._queue.put((future, work, on_end))
            self._start_thread_if_needed()
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Stops waiting for the task. If it is running, its thread no longer counts toward the limit."""
        future.cancel()
        with self._lock:
            if future in self._at_work and not future.done():
                self._at_work.remove(future)
                self._stuck.add(future)
                self._alive -= 1
                self._start_thread_if_needed()

    def _start_thread_if_needed(self) -> None:
        if self._queued > self._idle and self._alive < self._most:
            self._alive += 1
            self._idle += 1
            threading.Thread(target=self._run_thread, name=self._name, daemon=True).start()

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
                self._at_work.add(future)
            _run_into_future(future, work)
            on_end()
            del work, on_end
            with self._lock:
                if future in self._stuck:
                    self._stuck.remove(future)
                    return
                self._at_work.remove(future)
                self._idle += 1
            del future

    def _next_task(self, prepares: bool) -> _Task:
        while prepares:
            try:
                return self._queue.get(timeout=_IDLE_SECONDS)
            except Empty:
                prepares = self._prepare()
        return self._queue.get()


def _run_into_future(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # raised where the result is awaited
        future.set_exception(error)
    else:
        future.set_result(result)
