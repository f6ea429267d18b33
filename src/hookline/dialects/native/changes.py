"""`set:`, `remove:`, `append:` and `replace:`, which change the facts of the event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from hookline.config.node import Node
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.native.keys import (
    FACT,
    NOT_WRITTEN,
    OBJECT,
    TEXT,
    ActionKey,
    HookInfo,
    Key,
    Schema,
    key_table,
    mapping_schema,
    read_data_template,
    read_mapping,
    read_template,
    text_key,
    write_data,
    write_mapping,
)
from hookline.hooks.actions.change import INPUT_PATH, Append, ChangeFacts, Edit, Remove, Replace, Set
from hookline.hooks.event import EVERY_ITEM, FactPath, fact_path, path_source, path_text
from hookline.hooks.protocols import Action, May, TextPattern
from hookline.hooks.templates import Template
from hookline.patterns.pattern import BadPattern, pattern

_HIDING_CHANGES: Final = frozenset({"set", "remove", "replace"})
_EditT = TypeVar("_EditT", bound=Edit)


def _parse_change(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    return ChangeFacts(tuple(edit for name in _CHANGES for edit in options.get(name, ())))


def _parse_fact_path(at: Node, name: str) -> FactPath:
    path = fact_path(name)
    if path is None:
        hint = "Write input.…, result, prompt, or a fact's full path."
        at.add_problem("unknown-fact", f"{name} is not a fact.", hint)
    elif EVERY_ITEM in path:
        what = f"{name}: * stands for every item in a condition. A change needs one place."
        at.add_problem("unknown-fact", what, "Name an item by its number: 0, 1 … or -1 for the last.")
    return path or ()


def _report_not_object(at: Node) -> None:
    hint = "Name a field of it: input.command."
    at.add_problem("no-object", f"{at.location}: the tool's input would no longer be an object.", hint)


def _parse_set(at: Node, info: HookInfo) -> list[Edit]:
    edits: list[Edit] = []
    for name, place in at.entries():
        value = read_data_template(place, info.vocabulary)
        if value is None:
            continue
        path = _parse_fact_path(place, name)
        if path == INPUT_PATH and not isinstance(value.value, (dict, Template)):
            _report_not_object(place)
        edits.append(Set(path, value))
    return edits


def _parse_remove(at: Node, info: HookInfo) -> list[Edit]:
    paths = [_parse_fact_path(at, name) for name in at.texts() or ()]
    if INPUT_PATH in paths:
        _report_not_object(at)
    return [Remove(path) for path in paths]


def _parse_append(at: Node, info: HookInfo) -> list[Edit]:
    texts = [(_parse_fact_path(place, name), read_template(place, info.vocabulary)) for name, place in at.entries()]
    if any(path == INPUT_PATH for path, _ in texts):
        _report_not_object(at)
    return [Append(path, text) for path, text in texts if text is not None]


def _parse_replace(at: Node, info: HookInfo) -> list[Edit]:
    hint = "Write replace: {in: …, pattern: …, with: …}."
    found = [read_mapping(place, _REPLACE_KEYS, "replace", info, hint=hint) for place in at.items(one_or_many=True)]
    return [Replace(values["in"], values["pattern"], values["with"]) for values in found if values is not None]


def _parse_path(at: Node, info: HookInfo) -> FactPath | None:
    name = at.text()
    return None if name is None else _parse_fact_path(at, name)


def _parse_pattern(at: Node, info: HookInfo) -> TextPattern | None:
    source = at.text()
    try:
        return None if source is None else pattern(source)
    except BadPattern as bad:
        at.add_problem("bad-pattern", f"{at.location}: {bad.why}.")
        return None


def split_changes(action: ChangeFacts) -> tuple[ChangeFacts, ...]:
    """The change as several that each make their edits in the order of the keys, and give a fact one value."""
    if not any(isinstance(edit, (Set, Remove, Append, Replace)) for edit in action.edits):
        return (action,)
    parts: list[list[Edit]] = [[]]
    for edit in action.edits:
        last = parts[-1][-1] if parts[-1] else None
        same = any(type(edit) is type(each) and edit.path == each.path for each in parts[-1])
        if last is not None and (_key_index(edit) < _key_index(last) or (same and not isinstance(edit, Replace))):
            parts.append([])
        parts[-1].append(edit)
    return tuple(ChangeFacts(tuple(part)) for part in parts)


def _key_index(edit: Edit) -> int:
    for index, kind in enumerate((Set, Remove, Append, Replace)):
        if isinstance(edit, kind):
            return index
    raise NotExpressible(f"its change of {path_text(edit.path)}")


def _edits(action: Action, kind: type[_EditT]) -> list[_EditT]:
    edits: Sequence[Edit] = action.edits if isinstance(action, ChangeFacts) else ()
    return [edit for edit in edits if isinstance(edit, kind)]


def _write_set(action: Action, info: HookInfo) -> Any:
    if isinstance(action, ChangeFacts) and not action.edits:
        return {}
    return {path_source(edit.path): write_data(edit.value) for edit in _edits(action, Set)} or NOT_WRITTEN


def _write_remove(action: Action, info: HookInfo) -> Any:
    return [path_source(edit.path) for edit in _edits(action, Remove)] or NOT_WRITTEN


def _write_append(action: Action, info: HookInfo) -> Any:
    return {path_source(edit.path): edit.text.source for edit in _edits(action, Append)} or NOT_WRITTEN


def _write_replace(action: Action, info: HookInfo) -> Any:
    return [write_mapping(_REPLACE_KEYS, edit) for edit in _edits(action, Replace)] or NOT_WRITTEN


_REPLACE_KEYS: Final = key_table(
    Key(
        "in",
        read=_parse_path,
        schema=FACT,
        required=True,
        help="the fact; in a list or mapping, every text in it",
        write=lambda edit: path_source(edit.path),
        example="in: input.command",
    ),
    Key(
        "pattern",
        read=_parse_pattern,
        schema=TEXT,
        required=True,
        help="the [pattern](patterns.md) to look for",
        write=lambda edit: edit.pattern.source,
        example=r"pattern: '\bsudo '",
    ),
    text_key(
        "with",
        empty=True,
        required=True,
        help="the text instead, taken literally",
        write=lambda edit: edit.new,
        example="with: ''",
    ),
)


def _replace_schema() -> Schema:
    one = mapping_schema(_REPLACE_KEYS)
    return {"anyOf": [one, {"type": "array", "items": one}]}


_INPUT_PATTERN: Final = r"^\.*(tool\.+)?input\.*(?![\s\S])"
_FACT_EXCEPT_INPUT: Final[Schema] = {**FACT, "not": {"pattern": _INPUT_PATTERN}}  # the whole input stays an object
_CHANGES: Final = key_table(
    Key(
        "set",
        read=_parse_set,
        write=_write_set,
        schema={
            "type": "object",
            "propertyNames": FACT,
            "patternProperties": {
                _INPUT_PATTERN: {"anyOf": [OBJECT, {"type": "string", "pattern": r"\{\{"}]},
            },
        },
        help="give facts a value",
        example="{set: {input.timeout: 60}}",
    ),
    Key(
        "remove",
        read=_parse_remove,
        write=_write_remove,
        schema={"anyOf": [_FACT_EXCEPT_INPUT, {"type": "array", "items": _FACT_EXCEPT_INPUT}]},
        help="remove facts",
        example="{remove: input.timeout}",
    ),
    Key(
        "append",
        read=_parse_append,
        write=_write_append,
        schema={"type": "object", "propertyNames": _FACT_EXCEPT_INPUT, "additionalProperties": TEXT},
        help="add a line to facts",
        example="{append: {result: Checked.}}",
        example_event="tool.after",
    ),
    Key(
        "replace",
        read=_parse_replace,
        write=_write_replace,
        schema=_replace_schema,
        mapping=_REPLACE_KEYS,
        help="replace what a pattern matches",
        example=r"{replace: {in: input.command, pattern: '\bsudo ', with: ''}}",
    ),
)


def _action_key(change: Key) -> ActionKey:
    """One action may have several of these keys, so each is also an option of the others."""
    return ActionKey(
        change.name,
        read=_parse_change,
        write=change.write,
        schema=change.schema,
        help=change.help,
        example=change.example,
        example_event=change.example_event,
        mapping=change.mapping,
        options=_CHANGES,
        intended=_intended,
    )


def _intended(at: Node, info: HookInfo) -> May:
    """What only adds to a fact hides nothing."""
    return May.CHANGE if at.value.keys() & _HIDING_CHANGES else May.NOTHING


CHANGE_KEYS: Final = tuple(_action_key(change) for change in _CHANGES.values())
