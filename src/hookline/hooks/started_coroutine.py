"""Continues a coroutine whose first step was made without a task, because most end with it."""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def continue_coroutine(work: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """The rest of a coroutine that waits for this."""
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
