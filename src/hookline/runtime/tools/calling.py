"""Calls somebody's function: whatever it does, the answer is a result."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pydantic_core import to_jsonable_python

from hookline.errors import HooklineError
from hookline.hooks.actions.python import told
from hookline.hooks.host import ToolResult
from hookline.runtime.tools.aside import aside
from hookline.runtime.tools.built_in import failed


async def called(function: Callable[..., Any], positional: list[Any], named: dict[str, Any], timeout: timedelta) -> Any:
    """What somebody's function returns; a ToolResult that is not ok if it raises or takes too long."""
    seconds = timeout.total_seconds()
    late = failed(f"it did not answer within {seconds:g} s")
    deadline: asyncio.Timeout | None = None
    try:
        async with asyncio.timeout(seconds) as deadline:
            returned = (
                function(*positional, **named)
                if inspect.iscoroutinefunction(body_of(function))
                else await aside(lambda until: _carried_out(function, positional, named), seconds, "functions")
            )
            return await returned if inspect.isawaitable(returned) else returned
    except TimeoutError as error:
        return late if deadline is not None and deadline.expired() else failed(told(error))
    except HooklineError as error:
        return failed(str(error))
    except (Exception, SystemExit) as error:  # it may be anybody's code
        return failed(told(error))


def _carried_out(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    try:
        return function(*positional, **named)
    except StopIteration as error:  # which no Future can hold
        return failed(told(error))


def body_of(function: Callable[..., Any]) -> Any:
    """What is run: of a partial what it is part of, of an object its `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__


def plain(returned: Any) -> ToolResult:
    """As JSON has it."""
    if returned is None or isinstance(returned, str):
        return ToolResult(returned or "")
    try:
        return ToolResult(to_jsonable_python(returned, bytes_mode="base64", inf_nan_mode="null", fallback=str))
    except (ValueError, TypeError, RecursionError) as error:
        return failed(f"what the tool returned cannot be told: {told(error)}")
