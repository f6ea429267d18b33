"""The calls in a call: those of a `batch` tool, or the one that a tool passes on.

Nobody asks hooks about them when they are made, so they are decided with the call around them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import deep_equal
from hookline.hooks.outcome import Verdict
from hookline.hooks.tool_name import UNKNOWN_SERVER, mcp_address
from hookline.hooks.tools import NATIVE
from hookline.hooks.wrapped_calls import has_wrapped_calls
from hookline.hosts.agents.payload import inner_call_facts
from hookline.lazy_dataclasses import replace

TOO_MANY_CALLS: Final = "the call has more calls in it than hooks can check"
_CHANGED_WITHIN: Final = "a hook changes a call within this one: make that call on its own"


async def decide_inner_calls(made: Decision, decide: Callable[[dict[str, Any]], Awaitable[Decision]]) -> Decision:
    """The strictest decision about a call, as hooks left it, and about each call in it.

    decide: fires tool.before with the `tool` facts of a call.
    """
    tool = made.event.facts["tool"]
    if made.denied or not has_wrapped_calls(tool):
        return made
    inner = inner_call_facts(NATIVE.name, tool["input"])
    if inner is None:
        return replace(made, verdict=Verdict.DENY, reason=TOO_MANY_CALLS, by=None)
    address = mcp_address(str(tool.get("name")))
    server = address[0] if address is not None and address[0] != UNKNOWN_SERVER else None
    return await add_inner_decisions(made, inner, server, decide)


async def add_inner_decisions(
    made: Decision,
    inner: Sequence[dict[str, Any]],
    server: str | None,
    decide: Callable[[dict[str, Any]], Awaitable[Decision]],
) -> Decision:
    """The strictest of the decision and those about the calls in `inner`."""
    for facts in inner:
        if made.denied or made.halt:
            break
        tool = {**facts, "name": name_of_inner_call(facts["name"], server)}
        made = add_inner_decision(made, await decide(tool), tool["input"])
    return made


def name_of_inner_call(name: str, server: str | None) -> str:
    """Without another server's name it is a tool of the server that is called."""
    return name if server is None or mcp_address(name) else f"mcp.{server}.{name}"


def add_inner_decision(made: Decision, inner: Decision, input: Any) -> Decision:
    """The stricter one. A hook can change the call as it stands, but no call within it: that is denied."""
    if not deep_equal(inner.event.facts["tool"]["input"], input):
        inner = replace(inner, verdict=Verdict.DENY, reason=inner.reason or _CHANGED_WITHIN)
    notes = (*made.notes, *(note for note in inner.notes if note not in made.notes))
    if (inner.verdict > made.verdict and inner.verdict >= Verdict.ASK) or inner.halt:
        return replace(inner, event=made.event, notes=notes)
    if made.verdict is Verdict.ALLOW and inner.verdict is not Verdict.ALLOW:
        made = replace(made, verdict=Verdict.SILENT, reason="")
    return replace(made, notes=notes) if len(notes) > len(made.notes) else made
