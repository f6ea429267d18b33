"""A tool call that a hook makes is a call like any other: it is decided before it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.host import Host, ToolResult, current_hook
from hookline.hooks.outcome import Verdict
from hookline.hooks.tools import kind_of_name

ToolExecutor = Callable[[str, dict[str, Any], Decision], Awaitable[ToolResult]]
"""Runs a tool with the input that the hooks left; the decision is the one for exactly this call."""

MAX_CALL_DEPTH: Final = 3  # calls of hooks and tools within calls of hooks and tools
_call_depth: Final[ContextVar[int]] = ContextVar("around", default=0)  # such calls that are going on


class Decider(Protocol):
    """A book of hooks, or whoever asks one and tells others what it said."""

    async def decide(self, event: Event, host: Host) -> Decision: ...


async def call_tool_from_hook(
    book: Decider, host: Host, facts: dict[str, Any], call: tuple[str, dict[str, Any]], execute: ToolExecutor
) -> ToolResult:
    """Decides `tool.before` for a call that a hook or somebody's code makes, and runs it with the input that hooks left.

    Hooks whose own calls led here are not asked; a deny, or a question that nobody is there to answer, comes back as
    an error result. `tool.after` does not fire for it.
    """
    around = _call_depth.get()
    if around >= MAX_CALL_DEPTH:
        return ToolResult(None, False, f"calls of tools within calls of tools go at most {MAX_CALL_DEPTH} deep")
    token = _call_depth.set(around + 1)
    try:
        return await _decide_and_execute(book, host, facts, call, execute)
    finally:
        _call_depth.reset(token)


async def _decide_and_execute(
    book: Decider, host: Host, facts: dict[str, Any], call: tuple[str, dict[str, Any]], execute: ToolExecutor
) -> ToolResult:
    name, input = call
    asked = current_hook.get()
    declared = facts.get("tool") or {}  # what a host knows of the call says it there
    known = {"kind": str(kind_of_name(name)), "caller": asked.hook if asked else "", **declared}
    tool = {**known, "name": name, "input": input}
    decision = await book.decide(Event("tool.before", {**facts, "tool": tool}), host)
    if decision.verdict >= Verdict.ASK:
        return ToolResult(None, False, decision.reason or f"{name} needs a person's consent")
    left = decision.event.read(("tool", "input"))
    if not isinstance(left, dict):
        return ToolResult(None, False, f"a hook left {name} without an input that it could be called with")
    return await execute(name, left, decision)
