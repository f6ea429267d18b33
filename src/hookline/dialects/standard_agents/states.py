"""Facts → the thread's state, as a hook is handed it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from hookline.hooks.event import MISSING, read
from hookline.hooks.host import Host
from hookline.hooks.thread import Abort
from hookline.standard_agents.definitions import Definitions
from hookline.standard_agents.state import AbortSignal, ExecutionState, ThreadState


def thread_state(facts: Mapping[str, Any], host: Host, definitions: Definitions) -> ThreadState:
    thread = _first(facts, "thread.id", "session.id") or ""
    return ThreadState(
        thread,
        _agent(facts, definitions),
        _first(facts, "user.id", "user.name"),
        _execution(facts, thread, host),
        partial(host.thread, thread),
        definitions,
    )


def _execution(facts: Mapping[str, Any], thread: str, host: Host) -> ExecutionState:
    """Before the first step nothing is known of it, and the coming flow is named after its thread."""
    side: Literal["a", "b"] = "b" if _first(facts, "execution.side") == "b" else "a"
    step = _fact(facts, "execution.step")
    counted = step if isinstance(step, int) and not isinstance(step, bool) else 0
    flow = _first(facts, "execution.flow") or f"flow_{thread}"
    stopped = _fact(facts, "execution.stopped") is True
    return ExecutionState(flow, side, counted, stopped, AbortSignal(partial(_abort, host, thread)))


def _abort(host: Host, thread: str) -> Abort:
    return host.thread(thread).abort


def _agent(facts: Mapping[str, Any], definitions: Definitions) -> str:
    """The name that `load_agent` knows, where one of the agent's names is such."""
    known = [name for name in (_first(facts, "agent.id"), _first(facts, "agent.name")) if name is not None]
    return next((name for name in known if name in definitions.agents), known[0] if known else "")


def _first(facts: Mapping[str, Any], *places: str) -> str | None:
    for place in places:
        value = _fact(facts, place)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def _fact(facts: Mapping[str, Any], place: str) -> Any:
    value = read(facts, tuple(place.split(".")))
    return None if value is MISSING else value
