"""Continues a coroutine that ran up to its first await without a task: most of them end there."""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def continue_coroutine(work: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """Runs the rest of the coroutine. `awaited` is what its first `send` returned."""
    try:
        while True:
            try:
                sent = yield awaited
            except BaseException as error:
                awaited = work.throw(error)
            else:
                awaited = work.send(sent)
    except StopIteration as done:
        answer: T = done.value
        return answer
