"""Adds hookline's entries to a TOML or YAML file between marks, and removes them again. All other text stays.

An agent whose settings are TOML or YAML has no list that an editor of JSON could extend. In TOML, the entries are tables at
the end of the file. In YAML, they go below the events that the user's own `hooks` have, or into a new mapping at the end.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from hookline.config.json_edit import Splice, apply_splices
from hookline.config.toml_writer import write_tables
from hookline.errors import HooklineError
from hookline.hosts.agents.entries import HOOKS_KEY, Entry, MarkedFile

BEGIN: Final = "# hookline: begin"
END: Final = "# hookline: end"
_EVENT: Final = re.compile(r"/hookline/bridge [a-z-]+ (\w+)")
_MARKED: Final = re.compile(rf"^[ \t]*{BEGIN}\n.*?^[ \t]*{END}\n", re.DOTALL | re.MULTILINE)


def mark_splices(text: str, file: str, want: MarkedFile) -> tuple[Splice, ...]:
    """What to insert into a text without entries of hookline. Raises HooklineError if that is not possible."""
    splices = _toml_splices(text, want) if want.path.suffix == ".toml" else _yaml_splices(text, file, want)
    _check(apply_splices(text, splices), file, want)
    return splices


def remove_marked(text: str) -> str:
    """The text without everything between hookline's marks."""
    return _MARKED.sub("", text)


def has_marked(text: str, want: MarkedFile) -> bool:
    """True if the marked entries of the file are exactly the wanted ones."""
    try:
        clean = remove_marked(text)
        return clean != text and text == apply_splices(clean, mark_splices(clean, want.path.name, want))
    except HooklineError:
        return False


def marked_events(text: str) -> frozenset[str]:
    """The events of which a marked part speaks."""
    parts = "".join(_MARKED.findall(text))
    return frozenset(_EVENT.findall(parts))


def _toml_splices(text: str, want: MarkedFile) -> tuple[Splice, ...]:
    tables = write_tables(HOOKS_KEY, (entry for _, entry in want.entries))
    return (Splice(len(text), f"{_line_break(text)}{BEGIN}\n{tables}\n{END}\n"),)


def _line_break(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def _yaml_splices(text: str, file: str, want: MarkedFile) -> tuple[Splice, ...]:
    events = _yaml_events(text, file)
    if events is None:
        lines = [f"{HOOKS_KEY}:", *(line for event, entry in want.entries for line in _yaml_event(event, entry, "  "))]
        return (Splice(len(text), f"{_line_break(text)}{BEGIN}\n" + "\n".join(lines) + f"\n{END}\n"),)
    indent, first, items = events
    new = [line for event, entry in want.entries if event not in items for line in _yaml_event(event, entry, indent)]
    splices = [_yaml_splice(first, new, indent)] if new else []
    for event, entry in want.entries:
        if event in items:
            at, item_indent = items[event]
            splices.append(_yaml_splice(at, list(_yaml_item(entry, item_indent)), item_indent))
    return tuple(splices)


def _yaml_splice(at: int, lines: list[str], indent: str) -> Splice:
    return Splice(at, "\n".join((f"{indent}{BEGIN}", *lines, f"{indent}{END}", "")))


def _yaml_event(event: str, entry: Entry, indent: str) -> Iterator[str]:
    yield f"{indent}{event}:"
    yield from _yaml_item(entry, f"{indent}  ")


def _yaml_item(entry: Entry, indent: str) -> Iterator[str]:
    for number, (key, value) in enumerate(entry.items()):
        yield f"{indent}{'  ' if number else '- '}{key}: {json.dumps(value, ensure_ascii=False)}"


_YamlEvents = tuple[str, int, dict[str, tuple[int, str]]]


def _yaml_events(text: str, file: str) -> _YamlEvents | None:
    """The indentation and offset of the first of the user's events, and of the first entry of each. None: there are none."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise HooklineError(f"{file} is not valid YAML, so it cannot be edited: {error}") from None
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        raise HooklineError(f"{file} is not a mapping, so it cannot be edited")
    found = [value for key, value in root.value if key.value == HOOKS_KEY]
    if not found:
        return None
    hooks = found[0]
    if not isinstance(hooks, yaml.MappingNode) or hooks.flow_style or not hooks.value or len(found) > 1:
        raise HooklineError(
            f"{file}: write hooks as a mapping with one event on each line, or remove it, and try again"
        )
    items = {}
    for key, value in hooks.value:
        if not isinstance(value, yaml.SequenceNode) or value.flow_style or not value.value:
            raise HooklineError(f"{file}: write hooks.{key.value} as a list with one entry on each line, and try again")
        mark = value.start_mark
        items[str(key.value)] = (mark.index - mark.column, " " * mark.column)
    mark = hooks.value[0][0].start_mark
    return " " * mark.column, mark.index - mark.column, items


def _check(text: str, file: str, want: MarkedFile) -> None:
    """The agent must find each entry in the new text."""
    found = parse_settings(text, file, want.path.suffix)
    for event, entry in want.entries:
        if want.path.suffix == ".toml":
            ok = isinstance(found, dict) and entry in (found.get(HOOKS_KEY) or [])
        else:
            ok = isinstance(found, dict) and entry in ((found.get(HOOKS_KEY) or {}).get(event) or [])
        if not ok:
            raise HooklineError(f"{file} cannot be edited safely; add hookline's entries yourself")


def parse_settings(text: str, file: str, suffix: str) -> Any:
    """Raises HooklineError."""
    if suffix == ".toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise HooklineError(f"{file} is not valid TOML with hookline's entries in it: {error}") from None
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise HooklineError(f"{file} is not valid YAML with hookline's entries in it: {error}") from None
