"""What each of the twelve hooks is called with, and what its answer changes."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hookline.dialects.standard_agents import shapes
from hookline.dialects.standard_agents.states import thread_state
from hookline.hooks.actions.python import Malformed
from hookline.hooks.actions.tell import who
from hookline.hooks.event import MISSING, REMOVED, Changes, Event, Path
from hookline.hooks.host import Host
from hookline.standard_agents.definitions import Definitions
from hookline.standard_agents.messages import HookMessage, HookToolResult, LLMMessage
from hookline.standard_agents.signatures import HookName
from hookline.standard_agents.state import result_text

_log = logging.getLogger("hookline")

SYSTEM: Final[Path] = ("system",)
MESSAGES: Final[Path] = ("messages",)
REQUEST: Final[Path] = ("request", "messages")
MESSAGE: Final[Path] = ("message",)
MESSAGE_ID: Final[Path] = ("message", "id")
UPDATES: Final[Path] = ("message", "updates")
SUBAGENT: Final[Path] = ("subagent",)
TOOL: Final[Path] = ("tool",)
OK: Final[Path] = ("tool", "ok")
MORE: Final[Path] = ("tool", "more")
_PARTS: Final[dict[str, Path]] = {
    "result": ("tool", "result"),
    "error": ("tool", "error"),
    "attachments": ("tool", "attachments"),
}
_STATE: Final[tuple[Path, ...]] = (("thread",), ("session", "id"), ("agent",), ("user",), ("execution",))


@dataclass(frozen=True, slots=True)
class Kind:
    given: Callable[[Event], tuple[Any, ...]]  # after the state
    reads: tuple[Path, ...] = ()
    changes: tuple[Path, ...] = ()
    changed: Callable[[Any, Event], Changes] | None = None  # None: nothing is returned


@dataclass(frozen=True, slots=True)
class Called:
    """One of the twelve, for hooks that were defined among these definitions."""

    hook: HookName
    definitions: Definitions = field(compare=False, repr=False)

    @property
    def changes(self) -> tuple[Path, ...]:
        return KINDS[self.hook].changes

    @property
    def reads(self) -> tuple[Path, ...]:
        return (*_STATE, *KINDS[self.hook].reads)

    def arguments(self, event: Event, host: Host) -> tuple[Any, ...]:
        state = thread_state(event.facts, host, self.definitions)
        if self.hook == "after_subagent_created":
            return (state, thread_state(_child(event), host, self.definitions))
        return (state, *KINDS[self.hook].given(event))

    def changed(self, returned: Any, event: Event) -> Changes:
        changed = KINDS[self.hook].changed
        if changed is None:
            raise Malformed(f"returned a {type(returned).__name__}, but {self.hook} changes nothing")
        return changed(returned, event)


def _child(event: Event) -> dict[str, Any]:
    """What is known of the child stands below `subagent` as it does of a thread at the top; its user is the parent's."""
    child = event.read(SUBAGENT)
    told = dict(child) if isinstance(child, dict) else {}
    if "thread" not in told and "id" in told:
        told["thread"] = {"id": told["id"]}
    return {"user": event.facts.get("user"), **told}


def _nothing(event: Event) -> tuple[Any, ...]:
    return ()


def _one(path: Path, default: Any) -> Callable[[Event], tuple[Any, ...]]:
    def given(event: Event) -> tuple[Any, ...]:
        return (_copy(event, path, default),)

    return given


def _copy(event: Event, path: Path, default: Any) -> Any:
    value = event.read(path)
    return copy.deepcopy(default if value is MISSING or value is None else value)


def _update(event: Event) -> tuple[Any, ...]:
    id = event.read(MESSAGE_ID)
    return ("" if id is MISSING else id, _copy(event, UPDATES, {}))


def _system(returned: Any, event: Event) -> Changes:
    if not isinstance(returned, str):
        raise Malformed(f"returned a {type(returned).__name__}, not text or None")
    return () if returned == event.read(SYSTEM) else ((SYSTEM, str(returned)),)


def _list_at(path: Path, kind: type) -> Callable[[Any, Event], Changes]:
    def changed(returned: Any, event: Event) -> Changes:
        held = event.read(path)
        return ((path, shapes.messages(returned, kind, held if isinstance(held, list) else [])),)

    return changed


def _record_at(path: Path) -> Callable[[Any, Event], Changes]:
    def changed(returned: Any, event: Event) -> Changes:
        return ((path, shapes.record(returned, str(path[-1]))),)

    return changed


def _call_and_result(event: Event) -> tuple[Any, ...]:
    return _tool_call(event), copy.deepcopy(_tool_result(event))


def _tool_call(event: Event) -> dict[str, Any]:
    name, id, input = (event.read(("tool", key)) for key in ("name", "id", "input"))
    given = {} if input is MISSING or input is None else input
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    called = {"name": name if isinstance(name, str) else "", "arguments": arguments}
    return {"id": "" if id in (MISSING, None) else str(id), "type": "function", "function": called}


def _tool_result(event: Event) -> dict[str, Any]:
    """The facts of a result by the format's names; what is absent, or None, is absent."""
    result: dict[str, Any] = {"status": "success" if _ok(event) else "error"}
    for key, path in _PARTS.items():
        value = event.read(path)
        if value is not MISSING and value is not None:
            result[key] = value if key == "attachments" else result_text(value)
    more = event.read(MORE)
    return {**(more if isinstance(more, dict) else {}), **result}


def _ok(event: Event) -> bool:
    ok = event.read(OK)
    if isinstance(ok, bool):
        return ok
    return event.name != "tool.failed" and event.read(_PARTS["error"]) in (MISSING, None, "")


def _typed_result(returned: Any, event: Event) -> Changes:
    """Beside its type's keys, it may have those that the host keeps with a result."""
    given = _tool_result(event)
    checked = shapes.mapping(shapes.record(returned, "the result"), HookToolResult, "the result", frozenset(given))
    return _changes_of(checked, given, event)


def _any_result(returned: Any, event: Event) -> Changes:
    checked = shapes.record(returned, "the result")
    if checked.get("status", "success") not in ("success", "error"):
        raise Malformed("returned the result's status as neither success nor error")
    if not isinstance(checked.get("error", ""), str):
        raise Malformed("returned the result's error as something else than text")
    return _changes_of(checked, _tool_result(event), event)


def _changes_of(returned: dict[str, Any], given: dict[str, Any], event: Event) -> Changes:
    """Only what differs: a result that is no text was handed over as text and stays what it is."""
    if "attachments" in returned:
        shapes.attachments(returned["attachments"], "attachments")
    elif given.get("attachments"):
        _log.warning("[%s] returned a result without its attachments, so they are lost", who())
    changes: list[tuple[Path, Any]] = []
    if returned.get("status", given["status"]) != given["status"]:
        changes.append((OK, returned["status"] == "success"))
    for key, path in _PARTS.items():
        changes += _change(path, returned.get(key, MISSING), given.get(key, MISSING))
    more, held = ({key: value for key, value in each.items() if _is_more(key)} for each in (returned, given))
    changes += _change(MORE, more or MISSING, held or MISSING)
    return tuple(changes)


def _change(path: Path, new: Any, old: Any) -> list[tuple[Path, Any]]:
    if new is MISSING:
        return [] if old is MISSING else [(path, REMOVED)]
    return [] if new == old and type(new) is type(old) else [(path, new)]


def _is_more(key: str) -> bool:
    return key != "status" and key not in _PARTS


_RESULT_CHANGES: Final = (OK, *_PARTS.values(), MORE)

KINDS: Final[dict[HookName, Kind]] = {
    "after_thread_created": Kind(_nothing),
    "after_subagent_created": Kind(_nothing, (SUBAGENT,)),
    "after_system_message": Kind(_one(SYSTEM, ""), (SYSTEM,), (SYSTEM,), _system),
    "filter_messages": Kind(_one(MESSAGES, []), (MESSAGES,), (MESSAGES,), _list_at(MESSAGES, HookMessage)),
    "prefilter_llm_history": Kind(_one(REQUEST, []), (REQUEST,), (REQUEST,), _list_at(REQUEST, LLMMessage)),
    "before_create_message": Kind(_one(MESSAGE, {}), (MESSAGE,), (MESSAGE,), _record_at(MESSAGE)),
    "after_create_message": Kind(_one(MESSAGE, {}), (MESSAGE,)),
    "before_update_message": Kind(_update, (MESSAGE_ID, UPDATES), (UPDATES,), _record_at(UPDATES)),
    "after_update_message": Kind(_one(MESSAGE, {}), (MESSAGE,)),
    "before_store_tool_result": Kind(_call_and_result, (TOOL,), _RESULT_CHANGES, _any_result),
    "after_tool_call_success": Kind(_call_and_result, (TOOL,), _RESULT_CHANGES, _typed_result),
    "after_tool_call_failure": Kind(_call_and_result, (TOOL,), _RESULT_CHANGES, _typed_result),
}
