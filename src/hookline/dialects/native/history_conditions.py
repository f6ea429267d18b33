"""`count` and `after`: conditions about what happened before in the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hookline.config.node import Node
from hookline.dialects.native.keys import (
    FLAG,
    NOT_WRITTEN,
    OBJECT,
    TEXTS,
    HookInfo,
    Key,
    Schema,
    choice_key,
    integer_key,
    key_table,
    mapping_schema,
    object_schema,
    read_mapping,
    value_schema,
    write_mapping,
)
from hookline.dialects.native.shell_conditions import RUNS
from hookline.hooks.conditions.logic import ALWAYS, All, AnyOf, Not, all_of, find_conditions
from hookline.hooks.conditions.past_events import CountReached, HappenedBefore, Remember
from hookline.hooks.conditions.shell_commands import RunsCommand, Unparsed
from hookline.hooks.conditions.text import Equals
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.hook import EventCount, Hook, Period
from hookline.hooks.outcome import SILENT
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import hashlib, json

_CALLS: Final = "tool.after"
_PROMPTS: Final = "prompt.submit"
_INNER: Final = ("tool", "kind", "input", "runs")
_SINCE: Final = ("write", "prompt")


def _parse_count(at: Node, info: HookInfo) -> Condition | None:
    values = read_mapping(at, _COUNT_KEYS, "count", info, hint="Write count: {more_than: 5, per: session}.")
    if values is None:
        return None
    return CountReached(EventCount(values["more_than"], values.get("per", Period.SESSION)))


def split_count(at: Node | None, when: Condition) -> tuple[Condition, EventCount | None] | None:
    """The condition without its count, which is the limit of the hook; None after a problem."""
    found = list(find_conditions(when, CountReached))
    if not found:
        return when, None
    parts = when.parts if isinstance(when, All) else (when,)
    others = [part for part in parts if not isinstance(part, CountReached)]
    if at is not None and (len(found) > 1 or any(any(find_conditions(part, CountReached)) for part in others)):
        what = f"{at.location}: count stands once, beside the other conditions, and in no list, any or not."
        at.add_problem("misplaced-count", what, "Write when: {tool: …, count: {more_than: 5, per: session}}.")
        return None
    return all_of(others), found[0].count


def write_count(count: EventCount) -> dict[str, Any]:
    return write_mapping(_COUNT_KEYS, count)


_COUNT_KEYS: Final = key_table(
    integer_key(
        "more_than",
        least=1,
        required=True,
        help="how many events meet the other conditions before the hook acts",
        write=lambda count: count.more_than,
        example="more_than: 5",
    ),
    choice_key(
        "per",
        Period,
        default="`session`",
        help="`session`, `turn`, `minute` or `hour`; the last two are the time before the event",
        write=lambda count: NOT_WRITTEN if count.per is Period.SESSION else str(count.per),
    ),
)
COUNT: Final = Key(
    "count",
    read=_parse_count,
    schema=lambda: mapping_schema(_COUNT_KEYS),
    mapping=_COUNT_KEYS,
    help="more than so many [such events](#count): from the next one on, the hook acts",
    example="count: {more_than: 5, per: session}",
)


def _parse_after(at: Node, info: HookInfo) -> Condition | None:
    hint = "Write after: {runs: pytest, ok: true, since: write}."
    if at.mapping(hint=hint) is None:
        return None
    before = len(at.problems)
    at.check_keys((*_INNER, "ok", "since"), "after")
    if not any(name in at.value for name in _INNER):
        at.add_problem("missing-key", f"{at.location}: it names no call.", hint)
    call = _inner_condition(at, info)
    ok = at.get("ok")
    wanted = None if ok is None else ok.flag()
    since = at.get("since")
    if since is not None and not isinstance(since.value, dict):
        since.one_of(_SINCE, hint="Write write, prompt, or conditions on a call: {kind: edit}.")
    if call is None or len(at.problems) > before:
        return None
    words = f"{call}{'' if wanted is None else ' and succeeded' if wanted else ' and failed'}"
    words += "" if since is None else f", since the last {since.value if isinstance(since.value, str) else 'such call'}"
    return HappenedBefore(_memory_key(at.value, info), words, at.value)


def _inner_condition(at: Node, info: HookInfo) -> Condition | None:
    from hookline.dialects.native.conditions import parse_condition  # it imports this module

    value = {name: part for name, part in at.value.items() if name in _INNER}
    return parse_condition(Node(at.document, at.path, at.problems, value), replace(info, event=_CALLS))


def _memory_key(value: Any, info: HookInfo) -> str:
    """The same condition in two hooks has one memory."""
    text = json.dumps([info.vocabulary.name, value], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def memory_hooks(at: Node | None, hook: Hook, info: HookInfo) -> Iterator[Hook]:
    """The hooks that remember what the hook's conditions `after` ask for. They answer nothing."""
    for number, condition in enumerate(find_conditions(hook.when, HappenedBefore) if at is not None else ()):
        assert at is not None
        yield from _observers(Node(at.document, at.path, [], condition.written), hook, info, condition, number)


def _observers(at: Node, hook: Hook, info: HookInfo, condition: HappenedBefore, number: int) -> Iterator[Hook]:
    call = _certain(_inner_condition(at, info) or ALWAYS)
    ok, since = condition.written.get("ok"), condition.written.get("since")
    seen: list[tuple[str, Condition, bool]] = []
    if since == "prompt":
        seen.append((_PROMPTS, ALWAYS, False))
    elif since == "write":
        seen.append((_CALLS, AnyOf((ToolKindIs(ToolKind.WRITE), ToolKindIs(ToolKind.EDIT))), False))
    elif since is not None:
        place = Node(at.document, at.path, [], since)
        from hookline.dialects.native.conditions import parse_condition

        seen.append((_CALLS, parse_condition(place, replace(info, event=_CALLS)) or ALWAYS, False))
    if ok is None:
        seen.append((_CALLS, call, True))
    else:
        ended = Equals(("tool", "ok"), ok)
        seen += ((_CALLS, all_of((call, ended)), True), (_CALLS, all_of((call, Not(ended))), False))
    for step, (event, when, happened) in enumerate(seen):
        yield replace(
            hook,
            id=f"{hook.id}.after{number or ''}.{step}",
            event=event,
            when=when,
            then=Remember(condition.key, happened, condition.words),
            on_error=SILENT,
            limit=type(hook.limit)(),
            group="",
            wait=True,
        )


def _certain(condition: Condition) -> Condition:
    """A command that only the shell can know did not surely run."""
    match condition:
        case All(parts):
            return All(tuple(map(_certain, parts)))
        case RunsCommand():
            return replace(condition, unparsed=Unparsed.IGNORED)
    return condition


def _write_after(condition: Condition) -> Any:
    return condition.written if isinstance(condition, HappenedBefore) else NOT_WRITTEN


def _after_schema() -> Schema:
    call = object_schema(
        {
            "tool": {"anyOf": [TEXTS, OBJECT], "description": "the tool's name, as in when", "examples": ["bash"]},
            "kind": {**TEXTS, "description": "the tool's kind, as in when", "examples": ["shell"]},
            "input": {
                **OBJECT,
                "description": "tests of its input, as in when",
                "examples": [{"command": "^make test"}],
            },
            "runs": {**value_schema(RUNS), "description": "a command that it runs, as in when", "examples": ["pytest"]},
            "ok": {**FLAG, "description": "whether it succeeded"},
            "since": {
                "anyOf": [{"enum": list(_SINCE)}, {"$ref": "#/$defs/when"}],
                "description": "what must not have come after it",
                "examples": ["write"],
            },
        }
    )
    return {**call, "anyOf": [{"required": [name]} for name in _INNER]}


AFTER: Final = Key(
    "after",
    read=_parse_after,
    write=_write_after,
    schema=_after_schema,
    help="a call that [happened before](#after) in this session: `tool`, `kind`, `input`, `runs`, with `ok` and `since`",
    example="after: {runs: pytest, ok: true, since: write}",
    example_event="stop",
)
