"""`extends`, `override` and `options`: a file that takes over the hooks of packs.

An override replaces whole keys of a hook. A hook that is changed by one counts as written where the override is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from hookline.config.document import ConflictingKeys, Document, KeyPath
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import PACK_PROBLEMS, Pack, PackReference
from hookline.dialects.native.app_schema import APP_KEYS
from hookline.dialects.native.keys import Key, Schema
from hookline.formatting import closest_match
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import lazy_pattern

_OPTION: Final = lazy_pattern(r"\$\{(\w+)\}")
_MAX_DEFAULT: Final = 120  # characters of an option's default in a message
_IGNORED_KEYS: Final = (*APP_KEYS, "on_problem", "record", "standard_agents")
_HINT: Final = "Write a pack such as hookline:recommended, or the path of a file such as ./team.yaml."


Packs = Mapping[str, Pack | Problem]
FileCheck = Callable[[Node], bool]
"""Reports what is wrong with a file as a whole. False if nothing in it can be read."""


@dataclass(frozen=True, slots=True)
class _WrittenHook:
    place: Node
    is_own: bool  # it is written in this file, not in a pack

    @property
    def id(self) -> Any:
        return self.place.value.get("id") if type(self.place.value) is dict else None


def pack_references(document: Document, problems: list[Problem] | None = None) -> tuple[PackReference, ...]:
    """The packs that it names. `problems` gets those of entries that name none."""
    at = Node.of(document, [] if problems is None else problems)
    return tuple(PackReference(name, place.line) for name, place, _ in _parse_extends(at))


def hook_places(at: Node, packs: Packs, check: FileCheck) -> Iterator[Node]:
    """Every hook of the packs, as this file changes them, then every hook of this file."""
    for written in _collect_hooks(at, packs, check, {}):
        yield written.place


def _collect_hooks(at: Node, packs: Packs, check: FileCheck, given: Mapping[str, Any]) -> list[_WrittenHook]:
    """`given` are the values that the extending file gives to the options of this one."""
    found: dict[tuple[str, KeyPath, str], _WrittenHook] = {}
    values = _option_values(at, given)
    for name, place, options in _parse_extends(at):
        pack = packs.get(name)
        if not isinstance(pack, Pack):
            at.problems.append(pack or _unknown_pack(place, name))
            continue
        given_to_pack = _filled(_valid_options(options, pack.document), values)
        top = Node(pack.document, (), at.problems, pack.document.value)
        for written in _hooks_of_pack(top, pack.packs, check, given_to_pack):
            key = (written.place.document.file, written.place.path, repr(written.place.value))
            found[key] = replace(written, is_own=False)  # a pack that two others extend counts once
    own = [_WrittenHook(place, True) for place in _own_places(at)]
    return [_fill_options(each, values) for each in _apply_overrides(at, [*found.values(), *own])]


def _hooks_of_pack(at: Node, packs: Packs, check: FileCheck, given: Mapping[str, Any]) -> list[_WrittenHook]:
    if not check(at):
        return []
    _warn_ignored_keys(at)
    return _collect_hooks(at, packs, check, given)


def _own_places(at: Node) -> Iterator[Node]:
    hooks = at.get("hooks")
    if hooks is not None:
        yield from hooks.items()


def _parse_extends(at: Node) -> Iterator[tuple[str, Node, Node | None]]:
    """The name of each pack, its place, and the options that it gets."""
    named = at.get("extends") if type(at.value) is dict else None
    for place in () if named is None else named.items(one_or_many=True):
        if type(place.value) is dict and len(place.value) == 1:
            [(name, options)] = place.entries()
            yield name, place, None if options.value is None else options
        elif (name_only := place.text(hint=_HINT)) is not None:
            yield name_only, place, None


def _unknown_pack(place: Node, name: str) -> Problem:
    what = f"{place.location}: {name} cannot be extended here."
    return Problem("no-pack", place.document.file, place.line, what, "Write the hooks themselves.")


def _valid_options(options: Node | None, pack: Document) -> dict[str, Any]:
    """For the others, the pack's defaults count: one mistake is reported once, where it is."""
    known = _plain_mapping(Node.of(pack).get("options"))
    if options is None or options.mapping() is None:
        return {}
    options.check_keys(known, f"the options of {pack.file}")
    before = len(options.problems)
    valid: dict[str, Any] = {}
    for name, place in options.entries():
        _check_option(place, name, known, pack)
        if len(options.problems) == before:
            valid[name] = place.value
        before = len(options.problems)
    return valid


def _check_option(place: Node, name: str, known: Mapping[str, Any], pack: Document) -> None:
    default = known.get(name)
    if name not in known or place.value is None or _is_passed_on(place.value):
        return
    if type(place.value) is dict:
        _check_addition(place, default, pack)
    elif not _is_like(place.value, default):
        what = f"{place.location}: this must be {_describe_type(default)}."
        place.add_problem("wrong-type", what, f"In {pack.file} it is {_shorten(default)}.")


def _shorten(default: Any) -> str:
    text = repr(default)
    return text if len(text) <= _MAX_DEFAULT else f"{text[:_MAX_DEFAULT]}…"


def _is_passed_on(value: Any) -> bool:
    return type(value) is str and _OPTION.fullmatch(value) is not None


def _check_addition(place: Node, default: Any, pack: Document) -> None:
    """`{add: [generated]}`"""
    place.check_keys(("add",), "an option")
    if type(default) is not list:
        what = f"{place.location}: only a list can be added to."
        place.add_problem("wrong-type", what, f"In {pack.file} it is {_shorten(default)}. Write the whole value.")
    elif not isinstance(place.value.get("add"), (str, list)):
        place.add_problem("wrong-type", f"{place.location}: add must be text or a list of texts.", "Write add: [name].")


def _is_like(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return type(value) is type(default)
    if isinstance(default, (int, float)):
        return isinstance(value, (int, float))
    return isinstance(value, (str, list)) if isinstance(default, (str, list)) else type(value) is type(default)


def _describe_type(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "a number" if isinstance(value, (int, float)) else "text or a list of texts"


def _plain_mapping(place: Node | None) -> dict[str, Any]:
    return place.value if place is not None and type(place.value) is dict else {}


def _option_values(at: Node, given: Mapping[str, Any]) -> dict[str, Any]:
    declared = at.get("options") if type(at.value) is dict else None
    if declared is not None:
        declared.mapping()
    known = _plain_mapping(declared)
    chosen = {name: value for name, value in given.items() if name in known and value is not None}
    return {**known, **{name: _with_default(value, known[name]) for name, value in chosen.items()}}


def _with_default(value: Any, default: Any) -> Any:
    """What `{add: …}` stands for. One that is wrong was reported, and the default counts."""
    if type(value) is not dict:
        return value
    added = value.get("add")
    if type(default) is not list or not isinstance(added, (str, list)):
        return default
    return [*default, *([added] if isinstance(added, str) else added)]


def _warn_ignored_keys(pack: Node) -> None:
    for key, place in pack.entries() if type(pack.value) is dict else ():
        if key in _IGNORED_KEYS:
            what = f"{key} has no effect in a file that another one extends: only its hooks count."
            place.add_problem("ignored", what, at_key=True, severity=Severity.WARNING)


def _apply_overrides(at: Node, hooks: list[_WrittenHook]) -> list[_WrittenHook]:
    overrides = at.get("override") if type(at.value) is dict else None
    if overrides is None or overrides.mapping() is None:
        return hooks
    changes = {id: change for id, change in overrides.entries() if change.mapping() is not None}
    if not any(problem.code in PACK_PROBLEMS for problem in at.problems):  # then the hook may be in that pack
        for id, change in changes.items():
            _check_override(id, change, hooks)
    return [hook if hook.is_own or hook.id not in changes else _override(hook, changes[hook.id]) for hook in hooks]


def _check_override(id: str, change: Node, hooks: list[_WrittenHook]) -> None:
    extended = [hook.id for hook in hooks if not hook.is_own]
    if id not in extended:
        is_own = any(hook.id == id for hook in hooks)
        guess = closest_match(id, [known for known in extended if isinstance(known, str)])
        hint = f"Did you mean {guess}?" if guess else "`hookline list` shows the hooks."
        what = "is a hook of this file" if is_own else "is not a hook of a pack that this file extends"
        change.add_problem(
            "unknown-hook", f"{change.location}: {id} {what}.", "Change it there." if is_own else hint, at_key=True
        )
    if "id" in change.value:
        change.add_problem("unknown-key", f"{change.location}: an override cannot change the id.", "Remove id.")


def _override(hook: _WrittenHook, change: Node) -> _WrittenHook:
    """Null removes a key, so that its default counts."""
    merged = {**hook.place.value, **{key: value for key, value in change.value.items() if key != "id"}}
    return replace(hook, place=Node(change.document, change.path, change.problems, merged))


def _fill_options(hook: _WrittenHook, values: Mapping[str, Any]) -> _WrittenHook:
    if not values:
        return hook
    place = hook.place
    return replace(hook, place=Node(place.document, place.path, place.problems, _filled(place.value, values)))


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """With each text that is the name of an option, such as ${fetches}, replaced by the option's value."""
    if isinstance(value, dict):
        filled = {key: _filled(part, values) for key, part in value.items()}
        return ConflictingKeys(filled, value.problems) if isinstance(value, ConflictingKeys) else filled
    if type(value) is list:
        return [_filled(part, values) for part in value]
    named = _OPTION.fullmatch(value) if type(value) is str else None
    return values.get(named[1], value) if named else value


_OPTION_VALUE: Final[Schema] = {"type": ["string", "number", "boolean", "array"]}
_OPTIONS: Final[Schema] = {"type": "object", "additionalProperties": _OPTION_VALUE}
_CHOSEN_OPTIONS: Final[Schema] = {
    "type": "object",
    "propertyNames": {"examples": ["build_directories"]},
    "additionalProperties": {
        "anyOf": [
            {**_OPTION_VALUE, "type": [*_OPTION_VALUE["type"], "null"]},
            {
                "type": "object",
                "properties": {
                    "add": {
                        "type": ["string", "array"],
                        "description": "what is added to the list that is the option's default",
                        "examples": [["generated"]],
                    }
                },
                "required": ["add"],
                "additionalProperties": False,
            },
        ]
    },
}
_EXTENDED: Final[Schema] = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "propertyNames": {"examples": ["hookline:recommended"]},
            "additionalProperties": {"anyOf": [_CHOSEN_OPTIONS, {"type": "null"}]},
        },
    ]
}
EXTENDS_KEYS: Final = (
    Key(
        "extends",
        schema={"anyOf": [_EXTENDED, {"type": "array", "items": _EXTENDED}]},
        help="[packs](../packs.md) whose hooks this file takes over: `hookline:recommended`, `./team.yaml`, or one with "
        "options, `hookline:budget: {fetches: 5}`; `{add: [generated]}` adds to an option's list",
        example="extends: ['hookline:recommended', {'hookline:budget': {fetches: 5}}]",
    ),
    Key(
        "override",
        schema={"type": "object", "additionalProperties": {"type": "object"}},
        help="changes to the packs' hooks, by id: `{no-force-push: {enabled: false}}`",
        example="override: {no-force-push: {enabled: false}}",
    ),
    Key(
        "options",
        schema=_OPTIONS,
        help="for a file that others extend: names and defaults of values that they may choose; a hook uses one as "
        "`${name}`",
        example="options: {fetches: 5}",
    ),
)
