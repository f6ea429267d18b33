"""Entries into a JSON text. Whatever else stands there, comments and spaces too, stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookline.config.document import MISSING, Document
from hookline.config.read import Kind, read_text
from hookline.errors import ConfigError, HooklineError
from hookline.hosts.install.layout import Container, after_gap, comma_after, container, tokens_end

Path = tuple[str | int, ...]
Step = str | None
_INDENT: Final = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Splice:
    """A text that was put in at a place of the text before."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Addition:
    """One entry for the list at a path of keys; the list and what is around it are made where they are missing."""

    path: tuple[str, ...]
    entry: Any


def spliced(text: str, splices: Iterable[Splice]) -> str:
    for splice in sorted(splices, key=lambda each: each.at, reverse=True):
        text = text[: splice.at] + splice.text + text[splice.at :]
    return text


def read(text: str, file: str) -> Document:
    """Raises ConfigError for what is no JSON, with comments or without."""
    document, problems = read_text(text, file, Kind.JSON)
    if document is None:
        raise ConfigError(problems)
    if not isinstance(document.value, dict):
        raise HooklineError(f"{file}:{document.line()}  a mapping is expected here, {{…}}")
    return document


def added(text: str, file: str, keys: Mapping[str, Any], additions: Sequence[Addition]) -> tuple[Splice, ...]:
    """What to put in, so that each entry is in its list. `keys` are for a file that says nothing yet."""
    document = read(text, file)
    missing = _missing(document, {} if document.value else keys, additions)
    bom = len(text) - len(document.text)
    splices = [splice for path, items in missing.items() for splice in _put(document, path, items)]
    return tuple(Splice(splice.at + bom, splice.text) for splice in splices)


def _missing(
    document: Document, keys: Mapping[str, Any], additions: Sequence[Addition]
) -> dict[Path, list[tuple[Step, Any]]]:
    """Path of a container that exists → what it lacks."""
    found: dict[Path, list[tuple[Step, Any]]] = {}
    for key, value in keys.items():
        found.setdefault((), []).append((key, value))
    for addition in additions:
        depth = _existing(document, addition.path)
        path = addition.path[:depth]
        if depth == len(addition.path):
            found.setdefault(path, []).append((None, addition.entry))
        else:
            _join(found.setdefault(path, []), addition.path[depth:], addition.entry)
    return found


def _existing(document: Document, path: tuple[str, ...]) -> int:
    """How many steps of the path lead to something. Raises where that is of another kind than it must be."""
    for depth in range(1, len(path) + 1):
        value = document.at(path[:depth])
        if value is MISSING:
            return depth - 1
        expected, shown = (list, "a list, […]") if depth == len(path) else (dict, "a mapping, {…}")
        if not isinstance(value, expected):
            where = f"{document.file}:{document.line(path[:depth])}"
            raise HooklineError(f"{where}  {'.'.join(path[:depth])} must be {shown}")
    return len(path)


def _join(items: list[tuple[Step, Any]], path: tuple[str, ...], entry: Any) -> None:
    """Puts the entry into the new keys of one container, beside those that are to be made there already."""
    value: Any = next((held for key, held in items if key == path[0]), None)
    if value is None:
        value = {} if path[1:] else []
        items.append((path[0], value))
    for step, rest in zip(path[1:], range(len(path) - 2, -1, -1), strict=True):
        value = value.setdefault(step, {} if rest else [])
    value.append(entry)


def _put(document: Document, path: Path, items: Sequence[tuple[Step, Any]]) -> list[Splice]:
    text, newline = document.text, "\r\n" if "\r\n" in document.text else "\n"
    unit = _unit(document)
    if after_gap(text, 0) == len(text):
        before = newline if text and not text.endswith(("\n", "\r")) else ""
        return [Splice(len(text), f"{before}{{{newline}{_rendered(items, unit, unit, newline)}{newline}}}{newline}")]
    around = container(document, path)
    outside = _indent(text, around.start)
    if not around.items:
        return [_into_empty(text, around, _rendered(items, outside + unit, unit, newline), newline + outside, newline)]
    if _inline(text, around):
        return _behind(text, around, " ", ", ".join(_one_line(key, value) for key, value in items), newline)
    inside = _indent(text, around.items[0].start)
    return _behind(text, around, newline, _rendered(items, inside, unit, newline), newline)


def _into_empty(text: str, around: Container, items: str, closing: str, newline: str) -> Splice:
    at = tokens_end(text, around.start + 1, around.end - 1)
    closed = "" if "\n" in text[at : around.end - 1] else closing
    return Splice(at, newline + items + closed)


def _behind(text: str, around: Container, glue: str, items: str, newline: str) -> list[Splice]:
    """Behind the last item and the comments that belong to it, with a comma where there is none."""
    last, closing = around.last, around.end - 1
    at = tokens_end(text, last, closing)
    if glue == " " and "//" in text[last:at]:
        glue = newline
    if comma_after(text, last) is not None:
        return [Splice(at, glue + items)]
    if at == last:
        return [Splice(at, "," + glue + items)]
    return [Splice(last, ","), Splice(at, glue + items)]


def _rendered(items: Sequence[tuple[Step, Any]], indent: str, unit: str, newline: str) -> str:
    return f",{newline}".join(indent + _lines(key, value, indent, unit, newline) for key, value in items)


def _lines(key: Step, value: Any, indent: str, unit: str, newline: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _one_line(key: Step, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _unit(document: Document) -> str:
    """How far the text indents: as its first key does."""
    if not document.value:
        return "  "
    around = container(document)
    first = _indent(document.text, around.items[0].start)
    outside = _indent(document.text, around.start)
    return first.removeprefix(outside) or "  " if not _inline(document.text, around) else "  "


def _inline(text: str, around: Container) -> bool:
    return "\n" not in text[around.start : around.items[0].start]


def _indent(text: str, position: int) -> str:
    found = _INDENT.match(text, text.rfind("\n", 0, position) + 1)
    return found[0] if found else ""
