"""Tool calls that a hook makes: hooks decide them like any other call, before they run."""

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
"""Runs a tool with the input that the hooks left. The decision is the one for exactly this call."""

MAX_CALL_DEPTH: Final = 3  # nested calls of hooks and tools
_call_depth: Final[ContextVar[int]] = ContextVar("call_depth", default=0)


class Decider(Protocol):
    """A book of hooks, or a wrapper around one."""

    async def decide(self, event: Event, host: Host) -> Decision: ...


async def call_tool_from_hook(
    book: Decider, host: Host, facts: dict[str, Any], call: tuple[str, dict[str, Any]], execute: ToolExecutor
) -> ToolResult:
    """Fires `tool.before` for a call that a hook or your code makes, and runs the tool with the input that hooks left.

    Hooks whose own calls led here are skipped. A deny, or an ask, which nobody can answer here, returns an error
    result. `tool.after` does not fire.
    """
    depth = _call_depth.get()
    if depth >= MAX_CALL_DEPTH:
        return ToolResult(None, False, f"hooks and tools call each other more than {MAX_CALL_DEPTH} levels deep")
    name, input = call
    caller = current_hook.get()
    tool = {
        "kind": str(kind_of_name(name)),
        "caller": caller.hook if caller else "",
        **(facts.get("tool") or {}),  # what the host knows about the call wins
        "name": name,
        "input": input,
    }
    token = _call_depth.set(depth + 1)
    try:
        decision = await book.decide(Event("tool.before", {**facts, "tool": tool}), host)
        if decision.verdict >= Verdict.ASK:
            return ToolResult(None, False, decision.reason or f"{name} needs approval")
        final_input = decision.event.read(("tool", "input"))
        if not isinstance(final_input, dict):
            return ToolResult(None, False, f"a hook replaced the input of {name} with a value that is not an object")
        return await execute(name, final_input, decision)
    finally:
        _call_depth.reset(token)
