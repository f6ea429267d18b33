"""Reads and writes `hookline.yaml`: `on / when / then`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.config.scalars import format_duration, long_duration_pattern
from hookline.dialects.dialect import (
    Capability,
    LoadResult,
    NamedFolder,
    Pack,
    PackReference,
    WriteResult,
)
from hookline.dialects.native.actions import (
    ACTIONS,
    may_fail,
    may_stop,
    own_timeout,
    parse_action,
    total_timeout,
    write_action,
)
from hookline.dialects.native.conditions import CONDITIONS, parse_condition, write_condition
from hookline.dialects.native.key_hints import ACTION_HINT_STARTS, EVENT_HINT, FILE_HINTS, hook_hints
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    TEXTS,
    HookInfo,
    Key,
    LazyKeys,
    Schema,
    choice_key,
    duration_key,
    enum_schema,
    flag_key,
    integer_key,
    key_table,
    list_schema,
    mapping_schema,
    read_mapping,
    text_key,
    texts_key,
    write_mapping,
)
from hookline.dialects.native.on_error import (
    ON_ERROR,
    ON_ERROR_SCHEMA,
    cannot_ask,
    fails_closed,
    parse_on_error,
    redacts,
    undo_withhold_result,
    withhold_result,
    withholds,
    write_on_error,
)
from hookline.hooks.conditions.logic import find_conditions
from hookline.hooks.events import BACKGROUND_EVENTS, EVENTS, all_event_names, canonical_event, closest_event
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, EventCount, Hook, Limit, Origin, Scope
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.tools import VOCABULARIES
from hookline.lazy_dataclasses import field_names, replace
from hookline.lazy_imports import lazy_class, lazy_module

if TYPE_CHECKING:
    from hookline.dialects import capabilities
    from hookline.dialects.native import extends, history_conditions, record
    from hookline.hooks.actions.failing import InvalidAction
    from hookline.hooks.conditions.past_events import CountReached, HappenedBefore
else:  # many files need none of these
    capabilities = lazy_module("hookline.dialects.capabilities")
    extends = lazy_module("hookline.dialects.native.extends")
    history_conditions = lazy_module("hookline.dialects.native.history_conditions")
    record = lazy_module("hookline.dialects.native.record")
    InvalidAction = lazy_class("hookline.hooks.actions.failing", "InvalidAction")
    CountReached = lazy_class("hookline.hooks.conditions.past_events", "CountReached")
    HappenedBefore = lazy_class("hookline.hooks.conditions.past_events", "HappenedBefore")

NAME: Final = "native"
DEFAULT_TIMEOUT: Final = timedelta(seconds=30)
ON_PROBLEM: Final = ("open", "closed")
_GUARDING_KEYS: Final = ("on", "when", "scope", "names")  # without them nobody can say what a hook guards
_MAY_STOP: Final = May.DENY | May.ASK
_PACK_KEYS: Final = ("extends", "override", "options")
APP_KEY_NAMES: Final = (
    "agent", "agents", "model", "models", "mcp", "lsp", "triggers", "skills", "store", "private_hosts",
)  # fmt: skip


class NativeDialect:
    name = NAME
    has_app_keys = True

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).name in ("hookline.yaml", "hookline.yml", "hookline.local.yaml", "hookline.json"):
            return True
        if PurePath(document.file).parent.name == ".hookline":
            return True
        value = document.value
        if not isinstance(value, dict) or str(value.get("spec")).startswith("hooks/"):  # an interchange manifest
            return False
        is_native = "standard_agents" in value or _extends_pack(value.get("extends"))
        hooks = value.get("hooks", [] if is_native else None)
        return isinstance(hooks, list) and not ("runtime" in value or "agents" in value) and _looks_native(hooks)

    def load(self, document: Document) -> LoadResult:
        return self.load_extended(document, {})

    def pack_references(self, document: Document) -> tuple[PackReference, ...]:
        return extends.pack_references(document) if _uses_packs(document.value) else ()

    def load_extended(self, document: Document, packs: Mapping[str, Pack | Problem]) -> LoadResult:
        problems: list[Problem] = []
        at = Node.of(document, problems)
        hooks, folders = tuple(_parse_hooks(at, packs)), _parse_folders(at)
        at.has_unreadable_parts()  # the whole file is ours, so every syntax problem is an error
        closed = _parse_on_problem(at)
        settings = record.parse_record_settings(at) if at.get("record") is not None else None
        used, is_readable = _capabilities(document), _is_readable(document, packs)
        return LoadResult(hooks, tuple(problems), folders, used, is_readable, closed, settings)

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.native.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.conversion import write_each

        written: list[dict[str, Any]] = []
        not_expressible = write_each(hooks, lambda hook, _: _append_hook(written, _write_hook(hook)))
        return WriteResult({"version": 1, "hooks": written}, "yaml", not_expressible)


DIALECT: Final = NativeDialect()


def _extends_pack(extended: Any) -> bool:
    names = extended if isinstance(extended, list) else [extended]
    return any(isinstance(name, (str, dict)) and str(name).lstrip("{'").startswith("hookline:") for name in names)


def _uses_packs(value: Any) -> bool:
    return type(value) is dict and not value.keys().isdisjoint(_PACK_KEYS)


def _looks_native(hooks: list[Any]) -> bool:
    """Many programs have a list of hooks; ours have an event or an action."""
    return not hooks or any(isinstance(hook, dict) and ("on" in hook or "then" in hook) for hook in hooks)


def _capabilities(document: Document) -> tuple[Capability, ...]:
    value = document.value
    has_app = isinstance(value, dict) and not value.keys().isdisjoint(APP_KEY_NAMES)
    return capabilities.native_capabilities(document) if has_app else ()


def _is_readable(document: Document, packs: Mapping[str, Pack | Problem]) -> bool:
    """False if nobody can say which hooks the file has, or one of the packs that it extends."""
    value = document.value
    if value is None or type(value) is not dict:
        return value is None
    hooks = value.get("hooks")
    if not _is_known_version(value.get("version")) or not (hooks is None or type(hooks) is list):
        return False
    if not _uses_packs(value):
        return True
    problems: list[Problem] = []
    extended = [packs.get(each.name) for each in extends.pack_references(document, problems)]
    return not problems and all(isinstance(pack, Pack) and _is_readable(pack.document, pack.packs) for pack in extended)


def _is_known_version(version: Any) -> bool:
    return version is None or (version == 1 and not isinstance(version, bool))


def _parse_hooks(at: Node, packs: Mapping[str, Pack | Problem]) -> Iterator[Hook]:
    if at.value is None or at.value == {} or not _check_file(at):
        return
    seen: dict[tuple[str, Scope], Origin] = {}
    counts: dict[tuple[str, str], int] = {}
    for place in _hook_places(at, packs):
        for hook in _parse_hook(place, counts):
            if (first := seen.setdefault((hook.id, hook.scope), hook.origin)) != hook.origin:
                _report_duplicate(place, hook, first)
                continue
            yield hook


def _hook_places(at: Node, packs: Mapping[str, Pack | Problem]) -> Iterable[Node]:
    if _uses_packs(at.value):
        return extends.hook_places(at, packs, _check_file)
    hooks = at.get("hooks")
    return () if hooks is None else hooks.items()


def _check_file(at: Node) -> bool:
    """False if nothing in it can be read, because it is written for another version."""
    at.check_keys(FILE_KEYS, "a hookline file", FILE_HINTS)
    version = at.get("version")
    if version is not None and not _is_known_version(version.value):
        version.add_problem("unknown-version", f"version: {version.value!r} is not known.", "Write version: 1.")
        return False
    return True


def _report_duplicate(at: Node, hook: Hook, first: Origin) -> None:
    if first.file == hook.origin.file:
        what, hint = f"first on line {first.line}", "Give this hook another id."
    else:
        what = f"first in {first.file}:{first.line}"
        hint = f"Give this hook another id, or change the other one: override: {{{hook.id}: …}}."
    at.add_problem("duplicate-id", f"id {hook.id} is used twice; {what}.", hint)


def _parse_on_problem(at: Node) -> bool:
    place = at.get("on_problem")
    return place is not None and place.one_of(ON_PROBLEM) != "open"


def _parse_folders(at: Node) -> tuple[NamedFolder, ...]:
    named = at.get("standard_agents")
    if named is None:
        return ()
    return tuple(
        NamedFolder("standard_agents", path, place.line)
        for place in named.items(one_or_many=True)
        if (path := place.text(hint="Write the path of a folder with Python files.")) is not None
    )


def _parse_hook(at: Node, counts: dict[tuple[str, str], int]) -> Iterator[Hook]:
    """One hook for each event that it names; none if nobody can say what it guards.

    If only its action or its settings cannot be read, the hook stays and its action fails, so that its `on_error` applies.
    """
    before = len(at.problems)
    part = at.readable_part(_GUARDING_KEYS)
    if part is None:
        return
    at, damaged = part
    at.check_keys(HOOK_KEYS, "a hook", _HOOK_HINTS)
    if at.mapping() is None:
        return
    written = [(name, place) for name, place in at.entries() if name in HOOK_KEYS and place.value is not None]
    read = {name: HOOK_KEYS[name].read(place, None) for name, place in written if name not in ("when", "then")}
    values = {name: value for name, value in read.items() if value is not None}
    unreadable = (read.keys() - values.keys()) | damaged
    is_known = at.value.keys() <= HOOK_KEYS.keys() and not unreadable & {"names", "scope"}
    if at.value.get("on") is None and not any(_HOOK_HINTS.get(key) == EVENT_HINT for key in at.value):
        at.add_problem("missing-key", f"{at.location}: on is missing.", _ON_HINT)
    events = values.get("on", ())
    if not events:
        _check_without_event(at, values)
    for event in events:
        index = counts.get((at.document.file, event), 0)
        counts[at.document.file, event] = index + 1
        id = values.get("id") or f"{PurePath(at.document.file).name}:{event}[{index}]"
        own: list[Problem] = []  # a problem that another event noted first is this one's too
        place = at if event == events[0] else Node(at.document, at.path, own, at.value)
        hook = _build_hook(place, id, event, values, damaged)
        at.problems.extend(problem for problem in own if problem not in at.problems[before:])
        if hook is not None and is_known:
            yield _break_hook(hook, sorted(unreadable), at.value.get("then")) if unreadable else hook
            if _has_condition(hook.when, HappenedBefore):
                yield from history_conditions.memory_hooks(at.get("when"), hook, _hook_info(event, id, values))


def _has_condition(when: Condition, of_history: type[CountReached | HappenedBefore]) -> bool:
    """Until a file has the first one, their module is not imported, and no hook needs to be searched."""
    return "hookline.hooks.conditions.past_events" in sys.modules and any(find_conditions(when, of_history))


def _check_without_event(at: Node, values: dict[str, Any]) -> None:
    """Reports what is wrong with the condition and the action, as far as that depends on no event."""
    found: list[Problem] = []
    _build_hook(Node(at.document, at.path, found, at.value), "", "tool.before", values)
    at.problems.extend(each for each in found if each.severity is Severity.ERROR and each.code != "unknown-fact")


def _build_hook(
    at: Node, id: str, event: str, values: dict[str, Any], damaged: frozenset[str] = frozenset()
) -> Hook | None:
    timeout = values.get("timeout", DEFAULT_TIMEOUT)
    written = values.get("on_error")
    info = _hook_info(event, id, values)
    written_when = at.get("when")
    parsed = parse_condition(written_when, info)
    when, count = parsed, None
    if parsed is not None and _has_condition(parsed, CountReached):
        when, count = history_conditions.split_count(written_when, parsed) or (None, None)
    then = (
        InvalidAction("cannot run: its then cannot be read", _MAY_STOP) if "then" in damaged else _parse_then(at, info)
    )
    if when is None or then is None:
        return None
    if written is not None and cannot_ask(written, event) and (place := at.get("on_error")) is not None:
        what = f"{place.location}: ask counts as closed, because nobody can be asked about {event}."
        place.add_problem("on-error", what, "Write on_error: closed.", severity=Severity.WARNING)
    return Hook(
        id=id,
        event=event,
        when=when,
        then=then,
        origin=Origin(at.document.file, at.line, NAME),
        timeout=total_timeout(then, timeout),
        on_error=withhold_result(written or _default_on_error(at, then, event), event, id),
        order=values.get("order", 0),
        group=values.get("group", NAME),
        wait=not values.get("background", False) and event not in BACKGROUND_EVENTS,
        enabled=values.get("enabled", True),
        tags=values.get("tags", ()),
        scope=values.get("scope", GLOBAL_SCOPE),
        limit=_build_limit(values, count),
    )


def _hook_info(event: str, id: str, values: dict[str, Any]) -> HookInfo:
    timeout = values.get("timeout", DEFAULT_TIMEOUT)
    on_error = values.get("on_error")
    closed, withheld = fails_closed(on_error), withholds(on_error, event)
    return HookInfo(event, VOCABULARIES[values.get("names", NAME)], timeout, id, closed, withheld)


def _parse_then(at: Node, info: HookInfo) -> Action | None:
    place = at.get("then")
    if place is not None:
        return parse_action(place, info)
    if any(_HOOK_HINTS.get(key, "").startswith(ACTION_HINT_STARTS) for key in at.value):
        return None  # the unknown key was meant to be the action
    at.add_problem("missing-key", f"{at.location}: then is missing.", "Write then: {deny: reason}, or another action.")
    return InvalidAction("has no action", _MAY_STOP)


def _break_hook(hook: Hook, unreadable: Sequence[str], written: Any) -> Hook:
    """A hook with settings that cannot be read does not act as if they were absent."""
    action = InvalidAction(f"cannot run: its {unreadable[0]} cannot be read", hook.then.may, written=written)
    is_open = hook.on_error == SILENT and hook.then.constant is not None  # a constant answer has no on_error
    return replace(hook, then=action, on_error=ON_ERROR["closed"] if is_open and may_stop(action) else hook.on_error)


def _build_limit(values: dict[str, Any], count: EventCount | None) -> Limit:
    fires, cooldown, turns = (values.get(name) for name in ("max_fires", "cooldown", "cooldown_turns"))
    return UNLIMITED if fires is cooldown is turns is count is None else Limit(fires, cooldown, turns, count=count)


def _default_on_error(at: Node, then: Action, event: str) -> Outcome:
    if event in BACKGROUND_EVENTS:
        return SILENT
    if at.get("on_error") is not None:  # it cannot be read
        return ON_ERROR["closed"] if may_stop(then) or redacts(then, event) else SILENT
    if then.instant and redacts(then, event):
        return ON_ERROR["closed"]
    if not may_fail(then) or not (may_stop(then) or redacts(then, event)):
        return SILENT
    if isinstance(then, InvalidAction):  # its own problem is enough
        return ON_ERROR["closed"]
    text = f"{at.location}: on_error is not written; it counts as closed."
    hint = "Write on_error: closed, or open to let the event proceed when the hook fails."
    at.add_problem("on-error", text, hint, severity=Severity.WARNING)
    return ON_ERROR["closed"]


def _parse_events(at: Node, info: object) -> list[str]:
    if at.value == []:
        at.add_problem("empty", f"{at.location}: no event is named here.", _ON_HINT)
    found: list[str] = []
    for place in at.items(one_or_many=True):
        text = place.text()
        event = None if text is None else canonical_event(text)
        if event is not None:
            found.append(event)
        elif text is not None:
            guess = closest_event(text)
            hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
            place.add_problem("unknown-event", f"{place.location}: there is no event {text!r}.", hint)
    return list(dict.fromkeys(found))


def _parse_scope(at: Node, info: object) -> Scope | None:
    values = read_mapping(at, _SCOPE_KEYS, "scope", info)
    return None if values is None else Scope(**values)


def _write_hook(hook: Hook) -> dict[str, Any]:
    names = _used_vocabularies(hook)
    if len(names) > 1:
        from hookline.dialects.conversion import NotExpressible

        raise NotExpressible(f"it names tools in the words of {' and '.join(sorted(names))}")
    vocabulary, withheld = VOCABULARIES[next(iter(names))], _may_withhold(hook.on_error, hook.then)
    info = HookInfo(hook.event, vocabulary, hook.timeout, hook.id, withholds=withheld)
    return write_mapping(HOOK_KEYS, hook, info)


def _may_withhold(on_error: Outcome | None, then: Action) -> bool:
    """Whether a failure of the action, or of one of its steps, withholds a result."""
    if on_error is not None and undo_withhold_result(on_error) != on_error:
        return True
    from hookline.hooks.actions.chain import Chain  # loading a file needs none

    return isinstance(then, Chain) and any(_may_withhold(step.on_error, step.action) for step in then.steps)


def _append_hook(written: list[dict[str, Any]], value: dict[str, Any]) -> None:
    """A hook of several events becomes one again. Two hooks with one id get different ids, even if they are alike."""
    named = re.compile(rf"{re.escape(value['id'])}(#\d+)?")
    same = [each for each in written if named.fullmatch(each["id"]) and each.get("scope") == value.get("scope")]
    for each in same:
        events = each["on"] if isinstance(each["on"], list) else [each["on"]]
        if {**each, "id": "", "on": ""} == {**value, "id": "", "on": ""} and value["on"] not in events:
            each["on"] = [*events, value["on"]]
            return
    ids = {each["id"] for each in written}
    id, count = value["id"], 1
    while same and id in ids:
        count += 1
        id = f"{value['id']}#{count}"
    written.append({**value, "id": id})


def _used_vocabularies(hook: Hook) -> set[str]:
    """The vocabularies of the tool names in the hook; native if there are none."""
    found: set[str] = set()
    _collect_vocabularies(hook.when, found)
    _collect_vocabularies(hook.then, found)
    return found or {NAME}


def _collect_vocabularies(value: Any, found: set[str]) -> None:
    vocabulary = getattr(value, "vocabulary", None)
    if vocabulary is not None:
        found.add(vocabulary.name)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _collect_vocabularies(part, found)
    elif isinstance(value, dict):
        _collect_vocabularies(list(value.values()), found)
    else:
        _collect_vocabularies(
            [getattr(value, name, None) for name in field_names(value)], found
        )  # a cache may be unset


def _write_when(hook: Hook, info: HookInfo) -> Any:
    when = write_condition(hook.when)
    if hook.limit.count is not None:
        when = {
            **(when if isinstance(when, dict) else {"all": [when]}),
            "count": history_conditions.write_count(hook.limit.count),
        }
    return NOT_WRITTEN if when == {} else when


def _write_timeout(hook: Hook, info: HookInfo) -> Any:
    timeout = own_timeout(hook.then, hook.timeout)
    return NOT_WRITTEN if timeout == DEFAULT_TIMEOUT else format_duration(timeout)


def _write_on_error(hook: Hook, info: HookInfo) -> Any:
    is_open_by_default = not may_fail(hook.then) and not redacts(hook.then, hook.event)
    return NOT_WRITTEN if is_open_by_default and hook.on_error == SILENT else write_on_error(hook.on_error)


def _write_scope(hook: Hook, info: HookInfo) -> Any:
    return write_mapping(_SCOPE_KEYS, hook.scope) or NOT_WRITTEN


def _write_cooldown(hook: Hook, info: HookInfo) -> Any:
    return NOT_WRITTEN if hook.limit.cooldown is None else format_duration(hook.limit.cooldown)


def _write_unless_none(value: Any) -> Any:
    return NOT_WRITTEN if value is None else value


_ON_HINT: Final = "Write on: and an event, such as tool.before."
_EVENT: Final[Schema] = {
    "anyOf": [
        {"description": "hookline's own name", **enum_schema(EVENTS)},
        {"description": "another format's name", **enum_schema(sorted(set(all_event_names()) - set(EVENTS)))},
    ]
}
_SCOPE_KEYS: Final = key_table(
    text_key(
        "agent",
        help="the agent's id or name",
        write=lambda scope: scope.agent or NOT_WRITTEN,
        example="agent: reviewer",
    ),
    text_key(
        "prompt", help="the prompt's name", write=lambda scope: scope.prompt or NOT_WRITTEN, example="prompt: main"
    ),
    text_key(
        "session", help="the session's id", write=lambda scope: scope.session or NOT_WRITTEN, example="session: 3f2a"
    ),
)
HOOK_KEYS: Final = key_table(
    text_key(
        "id",
        default="`<file>:<event>[<index>]`",
        help="its name in reasons, the log and `by`",
        write=lambda hook, _: hook.id,
        example="id: no-push",
    ),
    Key(
        "on",
        read=_parse_events,
        write=lambda hook, _: hook.event,
        schema={"anyOf": [_EVENT, {"type": "array", "items": _EVENT, "minItems": 1}]},
        required=True,
        help="an [event](../events.md), or a list of events; the names of every dialect work",
        example="'on': [tool.before, tool.after]",
    ),
    Key(
        "when",
        read=parse_condition,
        write=_write_when,
        schema={"$ref": "#/$defs/when"},
        default="`always`",
        help="its [condition](../conditions.md)",
        example="when: {runs: {program: rm, flags: [r, f]}}",
    ),
    Key(
        "then",
        read=parse_action,
        write=lambda hook, info: write_action(hook.then, info),
        schema={"$ref": "#/$defs/then"},
        required=True,
        help="its [action](../actions.md), or a list of actions as a chain",
        example="then: {deny: A person does that.}",
    ),
    duration_key(
        "timeout",
        default="`30s`",
        help="how long the action may take: a number and `ms`, `s`, `m` or `h`, at most `24h`",
        write=_write_timeout,
        example="timeout: 10s",
    ),
    Key(
        "on_error",
        read=parse_on_error,
        write=_write_on_error,
        schema=ON_ERROR_SCHEMA,
        default="`open`; `closed` for a waiting action that may deny or ask, and for one that changes a tool's result",
        help="[what a failure counts as](../actions.md#when-an-action-fails)",
        example="on_error: closed",
    ),
    choice_key(
        "names",
        VOCABULARIES,
        default="`native`",
        help="whose names for tools and fields it uses, and its programs get",
        write=lambda hook, info: NOT_WRITTEN if info.vocabulary.name == NAME else info.vocabulary.name,
    ),
    Key(
        "order",
        read=lambda at, _: at.integer(),
        write=lambda hook, _: hook.order or NOT_WRITTEN,
        schema={"type": "integer"},
        default="`0`",
        help="lower runs first; equal ones run in the order in which they were loaded",
        example="order: -10",
    ),
    text_key(
        "group",
        empty=True,
        default="`native`",
        help="hooks that a deny or `on_error: stop` ends together",
        write=lambda hook, _: NOT_WRITTEN if hook.group == NAME else hook.group,
        example="group: deploys",
    ),
    flag_key(
        "background",
        default="`false`",
        help="`true`: start it and do not wait, so its answer cannot count",
        write=lambda hook, _: NOT_WRITTEN if hook.wait or hook.event in BACKGROUND_EVENTS else True,
    ),
    flag_key(
        "enabled",
        default="`true`",
        help="`false` turns it off",
        write=lambda hook, _: NOT_WRITTEN if hook.enabled else False,
    ),
    texts_key(
        "tags",
        default="`[]`",
        help="words for `hookline list` and your own tools",
        write=lambda hook, _: list(hook.tags) or NOT_WRITTEN,
        example="tags: [git, team]",
    ),
    Key(
        "scope",
        read=_parse_scope,
        write=_write_scope,
        schema=lambda: mapping_schema(_SCOPE_KEYS),
        mapping=_SCOPE_KEYS,
        default="`{}`, everywhere",
        help="`{agent: …, prompt: …, session: …}`: only for that agent (its id or name), prompt or session",
        example="scope: {agent: reviewer}",
    ),
    integer_key(
        "max_fires",
        least=1,
        hint="Leave it out for no limit.",
        default="no limit",
        help="how often it may fire in a session",
        write=lambda hook, _: _write_unless_none(hook.limit.max_fires),
        example="max_fires: 3",
    ),
    Key(
        "cooldown",
        read=lambda at, _: at.duration(is_long=True),
        schema={"type": "string", "pattern": long_duration_pattern()},
        default="none",
        help="how long it does not fire again in a session after it fired",
        write=_write_cooldown,
        example="cooldown: 10m",
    ),
    integer_key(
        "cooldown_turns",
        least=1,
        default="none",
        help="for how many turns it does not fire again after it fired",
        write=lambda hook, _: _write_unless_none(hook.limit.cooldown_turns),
        example="cooldown_turns: 2",
    ),
)
_HOOK_HINTS: Final = hook_hints(CONDITIONS, ACTIONS)
FILE_KEYS: Final[LazyKeys[Key]] = LazyKeys(
    {
        "version": Key(
            "version", schema={"const": 1}, default="`1`", help="`1`, if you write it; another number is a problem"
        ),
        **dict.fromkeys(_PACK_KEYS, "extends.EXTENDS_KEYS"),
        "hooks": Key(
            "hooks",
            schema=list_schema("hook"),
            help="the list of hooks",
            example="hooks: [{id: no-push, 'on': tool.before, when: {runs: {program: git, subcommand: push}}, then: deny}]",
        ),
        "on_problem": Key(
            "on_problem",
            schema=enum_schema(ON_PROBLEM),
            default="`open`",
            help="in your own file, `closed` [stops every tool call](../broken-config.md#stop-every-call) while a config "
            "file has errors",
        ),
        "record": Key(
            "record",
            schema=lambda: record.record_schema(),
            help="in your own file, what is [recorded](../record.md#settings): `off`, or a mapping with `facts` and `keep`",
            example="record: {facts: none, keep: 7d}",
        ),
        **dict.fromkeys(APP_KEY_NAMES, "app_schema.APP_KEYS"),
        "standard_agents": Key(
            "standard_agents",
            schema=TEXTS,
            help="the folder with the project's standard_agents definitions",
            example="standard_agents: agents",
        ),
    }
)
