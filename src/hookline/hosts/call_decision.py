"""The decision about a call and the calls in it: those of a `batch` tool, or the one that a tool passes on.

Nobody asks hooks about the inner calls when they are made, so they are decided with the call around them. So is each part of
a call that has several, such as the items of a list of edits or the files of a patch. A call whose name
only other hosts have in the table, for tools of another kind, is decided as both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.hooks.event import Event, deep_equal
from hookline.hooks.host import Host
from hookline.hooks.inner_calls import has_inner_calls, may_have_parts
from hookline.hooks.outcome import Verdict
from hookline.hooks.tool_name import UNKNOWN_SERVER, is_own_session, mcp_address, other_meaning
from hookline.hooks.tools import NATIVE
from hookline.lazy_dataclasses import replace

TOO_MANY_CALLS: Final = "the call has more calls in it than hooks can check"
_CHANGED_WITHIN: Final = "a hook changes a call within this one: make that call on its own"


async def decide_with_inner_calls(book: Book, event: Event, fire: Callable[[Event], Awaitable[Decision]]) -> Decision:
    """Fires an event. For `tool.before`, it is the strictest decision about the call and each call in it."""
    made = await fire(event)
    if event.name != "tool.before" or not book.hears(event.name):
        return made
    return await decide_inner_calls(made, lambda tool: fire(Event(event.name, {**event.facts, "tool": tool})))


async def decide_without_record(book: Book, event: Event, host: Host, explain: bool = False) -> Decision:
    """Decides an event and the calls in a call, as for an agent. Writes no record."""
    return await decide_with_inner_calls(book, event, lambda each: book.decide(each, host, explain))


async def decide_inner_calls(made: Decision, decide: Callable[[dict[str, Any]], Awaitable[Decision]]) -> Decision:
    """The strictest decision about a call, as hooks left it, about each of its parts, and about each call in it.

    decide: fires tool.before with the `tool` facts of a call.
    """
    tool = made.event.facts.get("tool")
    if made.denied or not isinstance(tool, dict):
        return made
    if not is_own_session(made.event):
        host = str(made.event.read(("host", "name")))
        other = other_meaning(host.replace("-", "_"), tool)
        made = made if other is None else await add_inner_decisions(made, [other], None, decide)
    has_parts, has_calls = may_have_parts(tool), has_inner_calls(tool)
    if made.denied or not (has_parts or has_calls):
        return made
    from hookline.hosts.agents.payload import inner_call_facts, part_facts  # most calls are about one thing

    parts = part_facts(tool) if has_parts else []
    inner = inner_call_facts(NATIVE.name, tool["input"]) if has_calls else []
    if parts is None or inner is None:
        return replace(made, verdict=Verdict.DENY, reason=TOO_MANY_CALLS, by=None)
    made = await add_inner_decisions(made, parts, None, decide)
    if not inner:
        return made
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
    joined = _with_effects(made, inner)
    if (inner.verdict > made.verdict and inner.verdict >= Verdict.ASK) or inner.halt:
        return replace(joined, verdict=inner.verdict, reason=inner.reason, by=inner.by, halt=inner.halt)
    if made.verdict is Verdict.ALLOW and inner.verdict is not Verdict.ALLOW:
        return replace(joined, verdict=Verdict.SILENT, reason="", by=None)
    return joined


def _with_effects(made: Decision, inner: Decision) -> Decision:
    """Adds notes, requests and failures of the inner call, and the trace of its hooks that ran."""
    notes = tuple(note for note in inner.notes if note not in made.notes)
    ran = tuple(entry for entry in inner.trace if entry.outcome is not None or entry.failure is not None)
    if not (notes or inner.requests or inner.failures or ran):
        return made
    return replace(
        made,
        notes=(*made.notes, *notes),
        requests=(*made.requests, *inner.requests),
        failures=(*made.failures, *inner.failures),
        trace=(*made.trace, *ran),
    )
