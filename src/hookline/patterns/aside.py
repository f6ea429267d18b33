"""Searches that cannot be stopped at once: done on threads of their own, and left behind when the time is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, Queue
from typing import Any, TypeVar

T = TypeVar("T")

_free = threading.BoundedSemaphore(2)  # searches at a time; each may need memory


def aside(work: Callable[[], T], seconds: float) -> T:
    """What `work` returns or raises; TimeoutError once the time is over, while it may still go on for a moment."""
    begun = time.perf_counter()
    if not _free.acquire(timeout=seconds):
        raise TimeoutError
    answers: Queue[tuple[Any, BaseException | None]] = Queue(1)
    threading.Thread(target=_done, args=(work, answers), name="hookline-search", daemon=True).start()
    value: T = _answer(answers, seconds - (time.perf_counter() - begun))
    return value


def _done(work: Callable[[], T], answers: Queue[tuple[Any, BaseException | None]]) -> None:
    try:
        answers.put((work(), None))
    except BaseException as error:
        answers.put((None, error))
    finally:
        _free.release()


def _answer(answers: Queue[tuple[Any, BaseException | None]], seconds: float) -> Any:
    try:
        value, error = answers.get(timeout=max(seconds, 0.001))
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return value
