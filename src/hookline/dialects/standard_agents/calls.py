"""How each of the twelve hooks is called: its arguments, its thread state, and the changes in what it returns.

Returned values are checked against the hook's types and copied, so that a hook never keeps a part of the event.
"""

from __future__ import annotations

import base64
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.actions.python_function import ReturnValueError
from hookline.hooks.event import MISSING, REMOVED, Changes, Event, FactPath, copy_fact, deep_equal, read_path
from hookline.hooks.host import Abort, Host
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import json, lazy_logger
from hookline.standard_agents.definitions import Definitions
from hookline.standard_agents.messages import HookMessage, HookToolResult, LLMMessage, find_message_error
from hookline.standard_agents.signatures import HookName
from hookline.standard_agents.state import AbortSignal, ExecutionState, ThreadState, result_text

_MAX_DEPTH: Final = 100
_MAX_VALUES: Final = 1_000_000
_TYPE_NAMES: Final = {str: "text", float: "a number", int: "a whole number", NoneType: "None", bool: "true or false"}
SYSTEM: Final[FactPath] = ("system",)
MESSAGES: Final[FactPath] = ("messages",)
REQUEST: Final[FactPath] = ("request", "messages")
MESSAGE: Final[FactPath] = ("message",)
MESSAGE_ID: Final[FactPath] = ("message", "id")
UPDATES: Final[FactPath] = ("message", "updates")
SUBAGENT: Final[FactPath] = ("subagent",)
TOOL: Final[FactPath] = ("tool",)
OK: Final[FactPath] = ("tool", "ok")
MORE: Final[FactPath] = ("tool", "more")
_RESULT_PARTS: Final[dict[str, FactPath]] = {
    "result": ("tool", "result"),
    "error": ("tool", "error"),
    "attachments": ("tool", "attachments"),
}
_STATE_PATHS: Final[tuple[FactPath, ...]] = (("thread",), ("session", "id"), ("agent",), ("user",), ("execution",))

_log = lazy_logger("hookline")


@dataclass(frozen=True, slots=True)
class CallSpec:
    """How one hook is called; the thread state always comes first."""

    arguments: Callable[[Event], tuple[Any, ...]]
    reads: tuple[FactPath, ...] = ()
    changes: tuple[FactPath, ...] = ()
    parse_changes: Callable[[Any, Event], Changes] | None = None  # None: the hook may not return anything


@dataclass(frozen=True, slots=True)
class HookCall:
    """A call of one of the twelve hooks, for hooks of these definitions."""

    hook: HookName
    definitions: Definitions = field(compare=False, repr=False)

    @property
    def changes(self) -> tuple[FactPath, ...]:
        return CALL_SPECS[self.hook].changes

    @property
    def reads(self) -> tuple[FactPath, ...]:
        return (*_STATE_PATHS, *CALL_SPECS[self.hook].reads)

    def arguments(self, event: Event, host: Host) -> tuple[Any, ...]:
        state = thread_state(event.facts, host, self.definitions)
        if self.hook == "after_subagent_created":
            return (state, thread_state(_child_facts(event), host, self.definitions))
        return (state, *CALL_SPECS[self.hook].arguments(event))

    def changes_from(self, returned: Any, event: Event) -> Changes:
        parse_changes = CALL_SPECS[self.hook].parse_changes
        if parse_changes is None:
            raise ReturnValueError(f"returned {type(returned).__name__}, but {self.hook} changes nothing")
        return parse_changes(returned, event)


def _child_facts(event: Event) -> dict[str, Any]:
    """The child's facts are below `subagent`, in the same form as a thread's own; it has its parent's user."""
    child = event.read(SUBAGENT)
    facts = dict(child) if isinstance(child, dict) else {}
    if "thread" not in facts and "id" in facts:
        facts["thread"] = {"id": facts["id"]}
    return {"user": event.facts.get("user"), **facts}


def _no_arguments(event: Event) -> tuple[Any, ...]:
    return ()


def _single_argument(path: FactPath, default: Any) -> Callable[[Event], tuple[Any, ...]]:
    def arguments(event: Event) -> tuple[Any, ...]:
        return (_copy_fact(event, path, default),)

    return arguments


def _copy_fact(event: Event, path: FactPath, default: Any) -> Any:
    value = event.read(path)
    return copy_fact(default if value is MISSING or value is None else value)


def _update_arguments(event: Event) -> tuple[Any, ...]:
    id = event.read(MESSAGE_ID)
    return ("" if id is MISSING else id, _copy_fact(event, UPDATES, {}))


def _system_changes(returned: Any, event: Event) -> Changes:
    if not isinstance(returned, str):
        raise ReturnValueError(f"returned {type(returned).__name__}, not text or None")
    return () if returned == event.read(SYSTEM) else ((SYSTEM, str(returned)),)


def _messages_parser(path: FactPath, kind: type) -> Callable[[Any, Event], Changes]:
    def parse(returned: Any, event: Event) -> Changes:
        given = event.read(path)
        checked = check_messages(returned, kind, given if isinstance(given, list) else [])
        return () if checked is given else ((path, checked),)

    return parse


def _message_changes(returned: Any, event: Event) -> Changes:
    """A message returned without its id or time keeps those it had; its role and content must be there."""
    given = event.read(MESSAGE)
    known = given if isinstance(given, dict) else {}
    kept = {key: known[key] for key in ("id", "created_at") if key in known}
    checked = kept | check_record(returned, "the message")
    for key in ("role", "content"):
        if key in known and key not in checked:
            raise ReturnValueError(f"returned the message without {key}")
    _check_fields(checked)
    return ((MESSAGE, checked),)


def _update_changes(returned: Any, event: Event) -> Changes:
    checked = check_record(returned, "the updates")
    _check_fields(checked)
    return ((UPDATES, checked),)


def _check_fields(message: dict[str, Any]) -> None:
    wrong = find_message_error(message)
    if wrong is not None:
        raise ReturnValueError(f"returned a malformed message: {wrong}")


def _tool_arguments(event: Event) -> tuple[Any, ...]:
    return _tool_call(event), copy_fact(_tool_result(event))


def _tool_call(event: Event) -> dict[str, Any]:
    name, id, input = (event.read(("tool", key)) for key in ("name", "id", "input"))
    value = {} if input is MISSING or input is None else input
    arguments = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    function = {"name": name if isinstance(name, str) else "", "arguments": arguments}
    return {"id": "" if id in (MISSING, None) else str(id), "type": "function", "function": function}


def _tool_result(event: Event) -> dict[str, Any]:
    """The facts of a result under standard_agents' keys, without absent ones."""
    result: dict[str, Any] = {"status": "success" if _is_success(event) else "error"}
    for key, path in _RESULT_PARTS.items():
        value = event.read(path)
        if value is not MISSING and value is not None:
            result[key] = value if key == "attachments" else result_text(value)
    more = event.read(MORE)
    return {**(more if isinstance(more, dict) else {}), **result}


def _is_success(event: Event) -> bool:
    ok = event.read(OK)
    if isinstance(ok, bool):
        return ok
    return event.name != "tool.failed" and event.read(_RESULT_PARTS["error"]) in (MISSING, None, "")


def _typed_result_changes(returned: Any, event: Event) -> Changes:
    """Besides its type's keys, the result may have those that the host stores with a result."""
    given = _tool_result(event)
    checked = check_mapping(check_record(returned, "the result"), HookToolResult, "the result", frozenset(given))
    return _result_changes(checked, given, event)


def _untyped_result_changes(returned: Any, event: Event) -> Changes:
    checked = check_record(returned, "the result")
    if checked.get("status", "success") not in ("success", "error"):
        raise ReturnValueError("returned the result's status as neither success nor error")
    if not isinstance(checked.get("error", ""), str):
        raise ReturnValueError("returned the result's error, which is not text")
    return _result_changes(checked, _tool_result(event), event)


def _result_changes(returned: dict[str, Any], given: dict[str, Any], event: Event) -> Changes:
    """Only what differs. A result that is not text was passed as text; unless the hook changes it, it stays as it was."""
    if "attachments" in returned:
        check_attachments(returned["attachments"], "attachments")
    elif given.get("attachments"):
        _log.warning("[%s] returned a result without its attachments, so they are lost", current_hook_id())
    changes: list[tuple[FactPath, Any]] = []
    if returned.get("status", given["status"]) != given["status"]:
        changes.append((OK, returned["status"] == "success"))
    for key, path in _RESULT_PARTS.items():
        changes += _fact_change(path, returned.get(key, MISSING), given.get(key, MISSING))
    new, old = ({key: value for key, value in each.items() if _is_extra_key(key)} for each in (returned, given))
    changes += _fact_change(MORE, new or MISSING, old or MISSING)
    return tuple(changes)


def _fact_change(path: FactPath, new: Any, old: Any) -> list[tuple[FactPath, Any]]:
    if new is MISSING:
        return [] if old is MISSING else [(path, REMOVED)]
    return [] if new == old and type(new) is type(old) else [(path, new)]


def _is_extra_key(key: str) -> bool:
    return key != "status" and key not in _RESULT_PARTS


def thread_state(facts: Mapping[str, Any], host: Host, definitions: Definitions) -> ThreadState:
    thread = _first_text(facts, ("thread", "id"), ("session", "id")) or ""
    return ThreadState(
        thread,
        _agent_name(facts, definitions),
        _first_text(facts, ("user", "id"), ("user", "name")),
        _execution_state(facts, thread, host),
        partial(host.thread, thread),
        definitions,
    )


def _execution_state(facts: Mapping[str, Any], thread: str, host: Host) -> ExecutionState:
    """Before the first step there are no facts about it; the flow is then named after its thread."""
    given = facts.get("execution")
    known = given if isinstance(given, dict) else {}
    side: Literal["a", "b"] = "b" if known.get("side") == "b" else "a"
    step = known.get("step")
    step_count = step if isinstance(step, int) and not isinstance(step, bool) else 0
    flow = _first_text(known, ("flow",)) or f"flow_{thread}"
    stopped = known.get("stopped") is True
    return ExecutionState(flow, side, step_count, stopped, AbortSignal(partial(_thread_abort, host, thread)))


def _thread_abort(host: Host, thread: str) -> Abort:
    return host.thread(thread).abort


def _agent_name(facts: Mapping[str, Any], definitions: Definitions) -> str:
    """The agent's id or name, whichever is defined; `load_agent` finds it then."""
    id = _first_text(facts, ("agent", "id"))
    if id is not None and id in definitions.agents:
        return id
    name = _first_text(facts, ("agent", "name"))
    return name if name is not None and (id is None or name in definitions.agents) else id or ""


def _first_text(facts: Mapping[str, Any], *places: FactPath) -> str | None:
    for place in places:
        value = read_path(facts, place)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def copy_plain_data(value: Any, place: str) -> Any:
    """A copy of JSON-like data. Raises ReturnValueError for anything else."""
    return _copy_value(value, place, 0, [_MAX_VALUES])


def _copy_value(value: Any, place: str, depth: int, left: list[int]) -> Any:
    """`left` counts down: a value that contains itself twice would otherwise never end."""
    left[0] -= 1
    if depth > _MAX_DEPTH or left[0] < 0:
        raise ReturnValueError("returned more than fits in an event: nested too deep, or too many values")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ReturnValueError(f"returned {place} with a key that is not text")
        return {
            str.__str__(key): _copy_value(each, f"{place}.{key[:40]}", depth + 1, left) for key, each in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_copy_value(each, f"{place}[{at}]", depth + 1, left) for at, each in enumerate(value)]
    return _copy_scalar(value, place)


def _copy_scalar(value: Any, place: str) -> Any:
    """Reduces subclasses of text and numbers, such as enums, to plain values."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__float__(value)
    raise ReturnValueError(f"returned {place} as {_describe_value(value)}, which is not plain data")


def check_record(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ReturnValueError(f"returned {place} as {_describe_value(value)}, not as a mapping")
    copied: dict[str, Any] = copy_plain_data(value, place)
    return copied


def check_messages(value: Any, kind: type, given: list[Any]) -> list[dict[str, Any]]:
    """Each message must be of the kind, or equal to one that was given. Returns `given` itself if nothing was changed.

    A host may store more keys in a message than the kind has, or fewer. Extra keys may be returned, and keys that a
    given message lacks are not required.
    """
    if not isinstance(value, list):
        raise ReturnValueError(f"returned {_describe_value(value)}, not a list of messages")
    if _is_untouched(value, given):
        return given
    mappings = [each for each in given if isinstance(each, dict)]
    originals = {_value_identities(each): each for each in mappings}
    checked: list[Any] = [_find_original(each, originals) for each in value]
    if None in checked:
        extra = frozenset(str(key) for each in mappings for key in each)
        optional = frozenset(key for key in _required_keys(kind) if any(key not in each for each in mappings))
        for at, original in enumerate(checked):
            if original is None:
                checked[at] = _check_message(value[at], f"messages[{at}]", kind, (extra, optional, given))
    return given if deep_equal(checked, given) else checked


def _is_untouched(value: list[Any], given: list[Any]) -> bool:
    """True only if each message is an unchanged copy of the one given; see `_find_original`."""
    if len(value) != len(given) or set(map(type, value)) | set(map(type, given)) != {dict} or value != given:
        return False
    return all(
        map(
            operator.is_,
            chain.from_iterable(map(dict.values, value)),
            chain.from_iterable(map(dict.values, given)),
        )
    )


def _find_original(value: Any, originals: Mapping[tuple[int, ...], dict[str, Any]]) -> dict[str, Any] | None:
    """The message of which this is an unchanged copy, if all its values are plain: copies of those are the same objects.

    Long histories are checked in every turn, and hooks change few of their messages.
    """
    if type(value) is not dict:
        return None
    original = originals.get(_value_identities(value))
    return original if original is not None and list(original) == list(value) else None


def _value_identities(message: dict[str, Any]) -> tuple[int, ...]:
    return tuple(map(id, message.values()))


def _check_message(
    value: Any, place: str, kind: type, known: tuple[frozenset[str], frozenset[str], Sequence[Any]]
) -> dict[str, Any]:
    extra, optional, given = known
    copied = check_record(value, place)
    try:
        return check_mapping(copied, kind, place, extra, optional)
    except ReturnValueError:
        if any(deep_equal(copied, each) for each in given):
            return copied
        raise


def check_mapping(
    value: dict[str, Any], kind: type, place: str, extra: frozenset[str], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    hints, exact_types = _type_hints(kind), _exact_types(kind)
    missing = [key for key in _required_keys(kind) - optional if key not in value]
    if missing:
        raise ReturnValueError(f"returned {place} without {min(missing)}")
    unknown = [key for key in value if key not in hints and key not in extra]
    if unknown:
        raise ReturnValueError(f"returned {place} with the unknown key {unknown[0][:40]!r}")
    for key, each in value.items():
        if key in hints and type(each) not in exact_types[key] and not _matches_type(each, hints[key]):
            raise ReturnValueError(
                f"returned {place}.{key} as {_describe_value(each)}, not as {_describe_type(hints[key])}"
            )
    return value


def check_attachments(value: Any, place: str) -> None:
    """A list of files with data, or of references with a path."""
    if not isinstance(value, list):
        raise ReturnValueError(f"returned {place} as {_describe_value(value)}, not as a list")
    for at, each in enumerate(value):
        texts = each if isinstance(each, dict) else {}
        if not isinstance(texts.get("data"), str) and not isinstance(texts.get("path"), str):
            raise ReturnValueError(f"returned {place}[{at}] with neither data nor a path")
        if isinstance(texts.get("data"), str) and not _is_base64(texts["data"]):
            raise ReturnValueError(f"returned {place}[{at}] with data that is not base64")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _matches_type(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_matches_type(value, each) for each in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is list:
        return isinstance(value, list)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


@lru_cache(maxsize=16)
def _type_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@lru_cache(maxsize=16)
def _exact_types(kind: type) -> dict[str, frozenset[type]]:
    """The types that fit each key without a closer look: long histories are checked in every turn."""
    return {
        key: frozenset(each for each in _union_members(hint) if each in _TYPE_NAMES)
        for key, hint in _type_hints(kind).items()
    }


def _union_members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _required_keys(kind: type) -> frozenset[str]:
    found: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
    return found


def _describe_type(hint: Any) -> str:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(_describe_type(each) for each in get_args(hint))
    if origin is Literal:
        return " or ".join(get_args(hint))
    return _TYPE_NAMES.get(hint, "a list" if origin is list else str(hint))


def _describe_value(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return _TYPE_NAMES.get(type(value), f"a {type(value).__name__}")


_RESULT_PATHS: Final = (OK, *_RESULT_PARTS.values(), MORE)

CALL_SPECS: Final[dict[HookName, CallSpec]] = {
    "after_thread_created": CallSpec(_no_arguments),
    "after_subagent_created": CallSpec(_no_arguments, (SUBAGENT,)),
    "after_system_message": CallSpec(_single_argument(SYSTEM, ""), (SYSTEM,), (SYSTEM,), _system_changes),
    "filter_messages": CallSpec(
        _single_argument(MESSAGES, []), (MESSAGES,), (MESSAGES,), _messages_parser(MESSAGES, HookMessage)
    ),
    "prefilter_llm_history": CallSpec(
        _single_argument(REQUEST, []), (REQUEST,), (REQUEST,), _messages_parser(REQUEST, LLMMessage)
    ),
    "before_create_message": CallSpec(_single_argument(MESSAGE, {}), (MESSAGE,), (MESSAGE,), _message_changes),
    "after_create_message": CallSpec(_single_argument(MESSAGE, {}), (MESSAGE,)),
    "before_update_message": CallSpec(_update_arguments, (MESSAGE_ID, UPDATES), (UPDATES,), _update_changes),
    "after_update_message": CallSpec(_single_argument(MESSAGE, {}), (MESSAGE,)),
    "before_store_tool_result": CallSpec(_tool_arguments, (TOOL,), _RESULT_PATHS, _untyped_result_changes),
    "after_tool_call_success": CallSpec(_tool_arguments, (TOOL,), _RESULT_PATHS, _typed_result_changes),
    "after_tool_call_failure": CallSpec(_tool_arguments, (TOOL,), _RESULT_PATHS, _typed_result_changes),
}
