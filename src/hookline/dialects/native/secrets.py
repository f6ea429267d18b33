"""`secrets` and `redact`: texts that look like secrets, as a condition and as an action."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node
from hookline.dialects.native.keys import (
    FACT,
    NOT_WRITTEN,
    TEXTS,
    ActionKey,
    HookInfo,
    Key,
    enum_schema,
    key_table,
    mapping_schema,
    read_mapping,
    write_mapping,
)
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.conditions.logic import NEVER_HOLDS, Not
from hookline.hooks.event import EVERY_ITEM, FactPath, fact_path, parse_path, path_source
from hookline.hooks.events import EVENTS
from hookline.hooks.protocols import Action, Condition, May, TextPattern
from hookline.patterns.pattern import BadPattern, pattern

if TYPE_CHECKING:
    from hookline.hooks.actions.redact import RedactSecrets
    from hookline.hooks.conditions.secrets import SecretHints

_RESULTS: Final = (("tool", "result"), ("tool", "error"))
_INPUT: Final = ("tool", "input")


@cache
def _hints() -> SecretHints:
    from hookline.hooks.conditions.secrets import SecretHints
    from hookline.hooks.secret_formats import HINTS

    return SecretHints(pattern(HINTS))


def _default_paths(event: str) -> tuple[FactPath, ...]:
    """Where a secret may be: a tool's result after it ran, its input before, and what else the event is about."""
    facts = tuple(parse_path(fact) for fact in EVENTS[event].facts)
    if _RESULTS[0] in facts:
        return _RESULTS
    return (_INPUT,) if _INPUT in facts else facts


def _read_paths(at: Node, info: HookInfo) -> tuple[FactPath, ...] | None:
    found: list[FactPath] = []
    for name in at.texts() or ():
        path = fact_path(name)
        if path is None:
            at.add_problem(
                "unknown-fact", f"{name} is not a fact.", "Write input, input.…, result, prompt or a fact's path."
            )
            return None
        found.append(path)
    return tuple(found) or None


def _read_allow(at: Node, info: HookInfo) -> tuple[TextPattern, ...] | None:
    try:
        return tuple(pattern(source) for source in at.texts() or ())
    except BadPattern as bad:
        at.add_problem("bad-pattern", f"{at.location}: {bad.why}.")
        return None


def _parse_secrets(at: Node, info: HookInfo) -> Condition | None:
    from hookline.hooks.conditions.secrets import HasSecret, TextsIn

    if isinstance(at.value, dict):
        values = read_mapping(at, _KEYS, "secrets", info, hint="Write secrets: {in: input.content}.")
    else:
        flag = at.flag()
        values = None if flag is None else {}
    if values is None:
        return None
    paths = values.get("in") or _default_paths(info.event)
    if not paths:
        return NEVER_HOLDS
    condition = HasSecret(TextsIn(paths), _hints(), values.get("allow", ()), "in" not in values)
    return Not(condition) if at.value is False else condition


def _write_secrets(condition: Condition) -> Any:
    from hookline.hooks.conditions.secrets import HasSecret

    if not isinstance(condition, HasSecret):
        return NOT_WRITTEN
    paths = () if condition.is_default else condition.subject.paths
    return write_mapping(_KEYS, paths, condition.allow) or True


def _write_allow(paths: tuple[FactPath, ...], allow: tuple[TextPattern, ...]) -> Any:
    return [each.source for each in allow] or NOT_WRITTEN


def _write_paths(paths: tuple[FactPath, ...], allow: tuple[TextPattern, ...]) -> Any:
    names = [path_source(path) for path in paths]
    return NOT_WRITTEN if not names else names[0] if len(names) == 1 else names


_KEYS: Final = key_table(
    Key(
        "in",
        read=_read_paths,
        write=_write_paths,
        schema={"anyOf": [FACT, {"type": "array", "items": FACT}]},
        default="the tool's input; after a tool, its result and error; else the event's own facts",
        help="a fact, or a list of facts; in a list or mapping, every text in it",
        example="in: input.content",
    ),
    Key(
        "allow",
        read=_read_allow,
        write=_write_allow,
        schema=TEXTS,
        default="`[]`",
        help="a [pattern](patterns.md) for secrets that do not count, or a list",
        example="allow: ^AKIAIOSFODNN7EXAMPLE$",
    ),
)
SECRETS: Final = Key(
    "secrets",
    read=_parse_secrets,
    write=_write_secrets,
    schema=lambda: {"anyOf": [{"type": "boolean"}, mapping_schema(_KEYS)]},
    mapping=_KEYS,
    help="whether a text looks like a [secret](#secrets): a provider's token, a private key, a password",
    example="secrets: {in: input.content}",
)


def _parse_redact(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    from hookline.hooks.actions.redact import RedactSecrets

    if value.one_of(("secrets",), hint="Write redact: secrets. For a pattern of your own, write replace.") is None:
        return None
    paths = options.get("in") or _changeable_paths(info.event)
    if not paths:
        what = f"{value.location}: there is nothing to redact at {info.event}."
        value.add_problem(
            "no-action", what, "Use it on tool.before, tool.after or prompt.submit, or name a fact with in."
        )
        return None
    if any(EVERY_ITEM in path for path in paths):
        what = f"{value.location}: * stands for every item in a condition. A change needs one place."
        value.add_problem("unknown-fact", what, "Name the whole list; every text in it is redacted.")
        return None
    allow = options.get("allow", ())
    return ChangeFacts(tuple(RedactSecrets(path, _hints(), allow, "in" not in options) for path in paths))


def _changeable_paths(event: str) -> tuple[FactPath, ...]:
    return tuple(path for path in _default_paths(event) if EVENTS[event].accepts_change(path))


def _redactions(action: Action) -> list[RedactSecrets]:
    from hookline.hooks.actions.redact import RedactSecrets

    if not isinstance(action, ChangeFacts):
        return []
    edits = [edit for edit in action.edits if isinstance(edit, RedactSecrets)]
    return edits if len(edits) == len(action.edits) else []


def _write_option(key: Key, action: Action) -> Any:
    edits = _redactions(action)
    paths = () if not edits or edits[0].is_default else tuple(edit.path for edit in edits)
    return key.write(paths, edits[0].allow if edits else ())


REDACT: Final = ActionKey(
    "redact",
    read=_parse_redact,
    write=lambda action, info: "secrets" if _redactions(action) else NOT_WRITTEN,
    schema=enum_schema(("secrets",)),
    options=key_table(
        *(
            Key(
                key.name,
                read=key.read,
                write=lambda action, info, key=key: _write_option(key, action),
                schema=key.schema,
                default=key.default,
                help=key.help,
                example=key.example,
            )
            for key in _KEYS.values()
        )
    ),
    intended=lambda at, info: May.CHANGE,
    help="replace what looks like a [secret](conditions.md#secrets) with `***`",
    example="{redact: secrets}",
    example_event="tool.after",
)
