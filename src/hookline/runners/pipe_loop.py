"""An event loop that calls the readers of pipes at once.

asyncio queues a callback, and comes to it after its timers, by way of a handle and a context. A process that has slept loads
all of that code anew: a sixth of what a message costs that passes through it.
"""

from __future__ import annotations

import math
import select
import selectors
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from hookline.lazy_imports import asyncio

_HAS_EPOLL: Final = hasattr(select, "epoll")


class PipeSelector(selectors.BaseSelector):
    """Like EpollSelector, but calls the readers of pipes itself, while it selects."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._epoll = select.epoll()
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._readers: dict[int, Callable[[], None]] = {}

    def add_reader(self, descriptor: int, read: Callable[[], None]) -> None:
        if descriptor not in self._readers:
            self._epoll.register(descriptor, select.EPOLLIN)
        self._readers[descriptor] = read

    def remove_reader(self, descriptor: int) -> None:
        if self._readers.pop(descriptor, None) is not None:
            self._epoll.unregister(descriptor)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        wait = -1 if timeout is None else max(0, math.ceil(timeout * 1e3) * 1e-3)  # to the next millisecond, not before
        try:
            events = self._epoll.poll(wait, len(self._keys) + len(self._readers) + 1)
        except InterruptedError:
            return []
        ready = []
        for descriptor, event in events:
            read = self._readers.get(descriptor)
            if read is not None:
                try:
                    read()
                except Exception as error:
                    self._on_error(error)
            elif (key := self._keys.get(descriptor)) is not None:
                readable = selectors.EVENT_READ if event & ~select.EPOLLOUT else 0
                writable = selectors.EVENT_WRITE if event & ~select.EPOLLIN else 0
                ready.append((key, (readable | writable) & key.events))
        return ready

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        descriptor = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        if descriptor in self._keys or descriptor in self._readers:
            raise KeyError(f"{fileobj!r} is already registered")
        key = self._keys[descriptor] = selectors.SelectorKey(fileobj, descriptor, events, data)
        try:
            self._epoll.register(descriptor, _epoll_events(events))
        except BaseException:
            del self._keys[descriptor]
            raise
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        key = self._keys.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno())
        with suppress(OSError):  # it was closed
            self._epoll.unregister(key.fd)
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        descriptor = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        before = self._keys[descriptor]
        if events != before.events:
            self._epoll.modify(descriptor, _epoll_events(events))
        key = self._keys[descriptor] = before._replace(events=events, data=data)
        return key

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def close(self) -> None:
        self._epoll.close()
        self._keys.clear()
        self._readers.clear()


def _epoll_events(events: int) -> int:
    readable = select.EPOLLIN if events & selectors.EVENT_READ else 0
    return readable | (select.EPOLLOUT if events & selectors.EVENT_WRITE else 0)


class PipeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._pipes = PipeSelector(self._report_error)
        super().__init__(self._pipes)

    def add_pipe_reader(self, descriptor: int, read: Callable[[], None]) -> None:
        """`read` is called outside of all tasks, like a reader of asyncio's."""
        self._pipes.add_reader(descriptor, read)

    def remove_pipe_reader(self, descriptor: int) -> None:
        self._pipes.remove_reader(descriptor)

    def _report_error(self, error: Exception) -> None:
        self.call_exception_handler({"message": "a reader of a pipe failed", "exception": error})


def new_pipe_loop() -> asyncio.AbstractEventLoop:
    return PipeLoop() if _HAS_EPOLL else asyncio.new_event_loop()
