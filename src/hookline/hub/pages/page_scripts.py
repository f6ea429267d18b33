"""Runs a hook's script in the hooks frame of an attached page."""

from __future__ import annotations

import asyncio
import contextvars
import json
import uuid
from typing import Any, Final

from hookline.hooks.host import Host, ScriptCall, ToolResult, current_hook, format_duration
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.hub.pages.attached_page import AttachedPage, PageGoneError
from hookline.runners.javascript import describe_syntax_error, syntax_error, to_json, tool_answer

MAX_CALLS: Final = 100  # of tools, by one script
MAX_LINES: Final = 200
_MAX_ERROR_LENGTH: Final = 2_000
_MAX_LINE_LENGTH: Final = 4_000
_CANCEL_SECONDS: Final = 1.0
_KINDS: Final = {
    "raised": FailureKind.RAISED,
    "unreadable": FailureKind.UNREADABLE_ANSWER,
    "timeout": FailureKind.TIMEOUT,
}


class ScriptRun:
    """One run. Its tool calls are made as its hook, and end with it."""

    def __init__(self, host: Host) -> None:
        self.id = uuid.uuid4().hex
        asked = current_hook.get()
        self.hook = asked.hook if asked else ""
        self.lines = 0
        self._host = host
        self._calls = 0
        self._context = contextvars.copy_context()
        self._tasks: set[asyncio.Task[ToolResult]] = set()

    async def call_tool(self, name: str, input: dict[str, Any]) -> dict[str, Any]:
        """The answer of `callTool`."""
        self._calls += 1
        if self._calls > MAX_CALLS:
            return {"content": f"a script may call tools {MAX_CALLS} times", "is_error": True}
        work = self._perform(name, input)
        task = asyncio.get_running_loop().create_task(work, context=self._context.copy())
        self._tasks.add(task)
        try:
            await asyncio.wait([task])
        finally:
            self._tasks.discard(task)
            task.cancel()
        return tool_answer(task)

    async def _perform(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self._host.call_tool(name, input)

    async def end(self) -> None:
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CANCEL_SECONDS)

    def cut_line(self, values: Any) -> str | None:
        """A line that the script logs; None if there were too many."""
        self.lines += 1
        if self.lines > MAX_LINES or not isinstance(values, list):
            return None
        return " ".join(str(value) for value in values[:50])[:_MAX_LINE_LENGTH]


async def run_script_in_page(page: AttachedPage, script: ScriptCall, host: Host, *, sees_document: bool) -> Any:
    """Returns what the script returned. Raises ActionError, and PageGoneError if the run had not begun.

    A run that has begun is never begun again: what it did may be done.
    """
    asked = current_hook.get()
    deadline = asyncio.get_running_loop().time() + script.timeout.total_seconds()
    slot = page.script_slot(len(asked.callers) if asked else 0)
    try:
        async with asyncio.timeout_at(deadline):
            await slot.acquire()
    except TimeoutError:
        raise _timeout(script) from None
    run = ScriptRun(host)
    try:
        if not page.has("hooks"):
            raise PageGoneError
        page.runs[run.id] = run
        data = {"run": run.id, "hook": run.hook, "source": script.source, "variables": to_json(dict(script.variables))}
        return await _ask_page(page, {**data, "document": sees_document}, script, deadline)
    finally:
        slot.release()
        if page.runs.pop(run.id, None) is not None:
            await run.end()
            await page.tell("kill", {"run": run.id})


async def _ask_page(page: AttachedPage, data: dict[str, Any], script: ScriptCall, deadline: float) -> Any:
    left = max(deadline - asyncio.get_running_loop().time(), 0.0)
    try:
        answer = await page.ask("script", {**data, "timeout": int(left * 1000)}, left)
    except TimeoutError:
        raise _timeout(script) from None
    except PageGoneError:
        raise ActionError(FailureKind.UNAVAILABLE, "the page was closed while the script ran") from None
    return _read_answer(answer, script)


def _read_answer(answer: Any, script: ScriptCall) -> Any:
    if not isinstance(answer, dict):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "the page's answer is not an object")
    if "error" in answer:
        raise _failure(answer, script)
    try:
        return json.loads(answer["returned"])
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "what the script returned cannot be read") from None


def _failure(answer: dict[str, Any], script: ScriptCall) -> ActionError:
    kind = _KINDS.get(str(answer.get("kind")), FailureKind.RAISED)
    if kind is FailureKind.TIMEOUT:
        return _timeout(script)
    if kind is FailureKind.RAISED and (broken := syntax_error(script.source)) is not None:
        return ActionError(FailureKind.CANNOT_START, describe_syntax_error(*broken))
    return ActionError(kind, str(answer["error"])[:_MAX_ERROR_LENGTH] or "the script failed")


def _timeout(script: ScriptCall) -> ActionError:
    return ActionError(FailureKind.TIMEOUT, f"did not answer within {format_duration(script.timeout)}")
