"""Where each value of a JSON text stands, comments and trailing commas allowed, so that a part can be replaced.

Where each list and mapping of a JSON text begins and ends, so that a piece of it can be put in or taken out.

Entries into a JSON text. Whatever else stands there, comments and spaces too, stays as it is.

Pieces out of a JSON text again. Whatever else stands there stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hookline.config.document import MISSING, Document, KeyPath
from hookline.config.reader import FileFormat, read_text
from hookline.errors import ConfigError, HooklineError

_GAP: Final = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*")
_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/')
_SCALAR: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[-+.\w$]++')


@dataclass(frozen=True, slots=True)
class ItemSpan:
    """One element of a list, or one key with its value."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ContainerSpan:
    start: int  # of its opening bracket
    end: int  # behind its closing one
    items: tuple[ItemSpan, ...]

    @property
    def last_item_end(self) -> int:
        """Behind its last item; behind the opening bracket where it has none."""
        return self.items[-1].end if self.items else self.start + 1


def find_container(document: Document, path: KeyPath = ()) -> ContainerSpan:
    """The list or mapping at a path that leads to one, in a document that was read from JSON."""
    value, at = document.value, document.marks.root
    for step in path:
        at = _key_and_value_start(document, value, step)[1]
        value = value[step]
    return _container_span(document, value, at)


def skip_gap(text: str, position: int) -> int:
    """Behind the spaces and comments that stand there."""
    found = _GAP.match(text, position)
    return found.end() if found else position


def find_comma(text: str, position: int) -> int | None:
    """Where the comma stands that is the next thing but spaces and comments."""
    at = skip_gap(text, position)
    return at if text.startswith(",", at) else None


def find_comments(text: str) -> list[str]:
    return [found for found in _STRING_OR_COMMENT.findall(text) if found.startswith("/")]


def tokens_end(text: str, start: int, end: int) -> int:
    """Behind the last comma or comment between two places; the start where there are only spaces."""
    return start + len(text[start:end].rstrip(" \t\r\n"))


def _container_span(document: Document, value: Any, at: int) -> ContainerSpan:
    steps = value if isinstance(value, dict) else range(len(value))
    items = []
    for step in steps:
        key_at, value_at = _key_and_value_start(document, value, step)
        items.append(ItemSpan(key_at, _value_end(document, value[step], value_at)))
    behind = items[-1].end if items else at + 1
    comma = find_comma(document.text, behind)
    closing = skip_gap(document.text, behind if comma is None else comma + 1)
    return ContainerSpan(at, closing + 1, tuple(items))


def _value_end(document: Document, value: Any, at: int) -> int:
    if isinstance(value, dict | list):
        return _container_span(document, value, at).end
    found = _SCALAR.match(document.text, at)
    return found.end() if found else at


def _key_and_value_start(document: Document, value: Any, step: str | int) -> tuple[int, int]:
    """Of the key and of the value; the same for an element of a list."""
    below = document.marks.places[id(value)]
    if isinstance(below, dict):
        return below[str(step)]
    return below[int(step)], below[int(step)]


JsonPath = tuple[str | int, ...]
ItemKey = str | None
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


def apply_splices(text: str, splices: Iterable[Splice]) -> str:
    for splice in sorted(splices, key=lambda each: each.at, reverse=True):
        text = text[: splice.at] + splice.text + text[splice.at :]
    return text


def parse_object(text: str, file: str) -> Document:
    """Raises ConfigError for what is no JSON, with comments or without."""
    document, problems = read_text(text, file, FileFormat.JSON)
    if document is None:
        raise ConfigError(problems)
    if not isinstance(document.value, dict):
        raise HooklineError(f"{file}:{document.line()}  a mapping is expected here, {{…}}")
    return document


def addition_splices(
    text: str, file: str, keys: Mapping[str, Any], additions: Sequence[Addition]
) -> tuple[Splice, ...]:
    """What to put in, so that each entry is in its list. `keys` are for a file that says nothing yet."""
    document = parse_object(text, file)
    missing = _missing_items(document, {} if document.value else keys, additions)
    bom = len(text) - len(document.text)
    splices = [splice for path, items in missing.items() for splice in _insert_items(document, path, items)]
    return tuple(Splice(splice.at + bom, splice.text) for splice in splices)


def _missing_items(
    document: Document, keys: Mapping[str, Any], additions: Sequence[Addition]
) -> dict[JsonPath, list[tuple[ItemKey, Any]]]:
    """Path of a container that exists → what it lacks."""
    found: dict[JsonPath, list[tuple[ItemKey, Any]]] = {}
    for key, value in keys.items():
        found.setdefault((), []).append((key, value))
    for addition in additions:
        depth = _existing_depth(document, addition.path)
        path = addition.path[:depth]
        if depth == len(addition.path):
            found.setdefault(path, []).append((None, addition.entry))
        else:
            _nest_entry(found.setdefault(path, []), addition.path[depth:], addition.entry)
    return found


def _existing_depth(document: Document, path: tuple[str, ...]) -> int:
    """How many steps of the path lead to something. Raises where that is of another kind than it must be."""
    for depth in range(1, len(path) + 1):
        value = document.value_at(path[:depth])
        if value is MISSING:
            return depth - 1
        expected, shown = (list, "a list, […]") if depth == len(path) else (dict, "a mapping, {…}")
        if not isinstance(value, expected):
            where = f"{document.file}:{document.line(path[:depth])}"
            raise HooklineError(f"{where}  {'.'.join(path[:depth])} must be {shown}")
    return len(path)


def _nest_entry(items: list[tuple[ItemKey, Any]], path: tuple[str, ...], entry: Any) -> None:
    """Puts the entry into the new keys of one container, beside those that are to be made there already."""
    value: Any = next((held for key, held in items if key == path[0]), None)
    if value is None:
        value = {} if path[1:] else []
        items.append((path[0], value))
    for step, rest in zip(path[1:], range(len(path) - 2, -1, -1), strict=True):
        value = value.setdefault(step, {} if rest else [])
    value.append(entry)


def _insert_items(document: Document, path: JsonPath, items: Sequence[tuple[ItemKey, Any]]) -> list[Splice]:
    text, newline = document.text, "\r\n" if "\r\n" in document.text else "\n"
    unit = _indent_unit(document)
    if skip_gap(text, 0) == len(text):
        before = newline if text and not text.endswith(("\n", "\r")) else ""
        return [
            Splice(len(text), f"{before}{{{newline}{_render_items(items, unit, unit, newline)}{newline}}}{newline}")
        ]
    around = find_container(document, path)
    outside = _indent_at(text, around.start)
    if not around.items:
        return [
            _insert_into_empty(
                text, around, _render_items(items, outside + unit, unit, newline), newline + outside, newline
            )
        ]
    if _is_inline(text, around):
        return _insert_after_last(
            text, around, " ", ", ".join(_render_inline(key, value) for key, value in items), newline
        )
    inside = _indent_at(text, around.items[0].start)
    return _insert_after_last(text, around, newline, _render_items(items, inside, unit, newline), newline)


def _insert_into_empty(text: str, around: ContainerSpan, items: str, closing: str, newline: str) -> Splice:
    at = tokens_end(text, around.start + 1, around.end - 1)
    closed = "" if "\n" in text[at : around.end - 1] else closing
    return Splice(at, newline + items + closed)


def _insert_after_last(text: str, around: ContainerSpan, glue: str, items: str, newline: str) -> list[Splice]:
    """Behind the last item and the comments that belong to it, with a comma where there is none."""
    last, closing = around.last_item_end, around.end - 1
    at = tokens_end(text, last, closing)
    if glue == " " and "//" in text[last:at]:
        glue = newline
    if find_comma(text, last) is not None:
        return [Splice(at, glue + items)]
    if at == last:
        return [Splice(at, "," + glue + items)]
    return [Splice(last, ","), Splice(at, glue + items)]


def _render_items(items: Sequence[tuple[ItemKey, Any]], indent: str, unit: str, newline: str) -> str:
    return f",{newline}".join(indent + _render_multiline(key, value, indent, unit, newline) for key, value in items)


def _render_multiline(key: ItemKey, value: Any, indent: str, unit: str, newline: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _render_inline(key: ItemKey, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _indent_unit(document: Document) -> str:
    """How far the text indents: as its first key does."""
    if not document.value:
        return "  "
    around = find_container(document)
    first = _indent_at(document.text, around.items[0].start)
    outside = _indent_at(document.text, around.start)
    return first.removeprefix(outside) or "  " if not _is_inline(document.text, around) else "  "


def _is_inline(text: str, around: ContainerSpan) -> bool:
    return "\n" not in text[around.start : around.items[0].start]


def _indent_at(text: str, position: int) -> str:
    found = _INDENT.match(text, text.rfind("\n", 0, position) + 1)
    return found[0] if found else ""


def remove_item(text: str, file: str, path: JsonPath) -> str:
    """The text without one element of a list or one key, and without one of the commas beside it."""
    document = parse_object(text, file)
    body, around = document.text, find_container(document, path[:-1])
    step, value = path[-1], document.value_at(path[:-1])
    index = step if isinstance(step, int) else list(value).index(step)
    for start, end in sorted(_cut_ranges(body, around, index), reverse=True):
        body = body[:start] + body[end:]
    return text[: len(text) - len(document.text)] + body


def _cut_ranges(text: str, around: ContainerSpan, index: int) -> Iterator[tuple[int, int]]:
    item = around.items[index]
    before = around.items[index - 1].end if index else around.start + 1
    comma = find_comma(text, item.end)
    if comma is None and index:
        comma = find_comma(text, before)
    if comma is not None:
        yield comma, comma + 1
    start = len(text[: item.start].rstrip(" \t\r\n"))
    behind = item.end if comma is None or comma < item.end else comma + 1
    commented = "//" in text[before : item.start]  # what follows must not come to stand in that comment
    yield (item.start if commented and _rest_of_line(text, behind).strip() else start), item.end


def _rest_of_line(text: str, position: int) -> str:
    """The rest of the line."""
    ends = [end for end in (text.find("\n", position), text.find("\r", position)) if end >= 0]
    return text[position : min(ends, default=len(text))]


def remove_splices(installed: str, current: str, splices: Sequence[Splice]) -> str | None:
    """The current text without what was spliced into the installed one; None where an edit since touched any of it."""
    same = _common_prefix_length(installed, current)
    most = min(len(installed), len(current)) - same
    same_end = len(installed) - min(_common_prefix_length(installed[::-1], current[::-1]), most)
    shift = len(current) - len(installed)
    for start, end in reversed(_splice_ranges(splices)):
        if end <= same:
            current = current[:start] + current[end:]
        elif start >= same_end:
            current = current[: start + shift] + current[end + shift :]
        else:
            return None
    return current


def differs_only_in_splices(original: str, current: str, splices: Sequence[Splice]) -> bool:
    """True if all of the original stands there, with something where we had put ours, and with no comment more."""
    first, *middle, last = _texts_between_splices(original, splices)
    at = len(first)
    for piece in middle:
        found = current.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    framed = current.startswith(first) and current.endswith(last) and at + len(last) <= len(current)
    return framed and find_comments(current) == find_comments(original)


def _texts_between_splices(original: str, splices: Sequence[Splice]) -> list[str]:
    ends = sorted(splice.at for splice in splices)
    return [original[start:end] for start, end in zip([0, *ends], [*ends, len(original)], strict=True)]


def _splice_ranges(splices: Sequence[Splice]) -> list[tuple[int, int]]:
    """Where each splice stands in the text that has them all."""
    found, moved = [], 0
    for splice in sorted(splices, key=lambda each: each.at):
        found.append((splice.at + moved, splice.at + moved + len(splice.text)))
        moved += len(splice.text)
    return found


def _common_prefix_length(text: str, other: str) -> int:
    """How many characters at their beginning are the same."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))


_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|\ufeff)*", re.S)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_WORD: Final = re.compile(r"[-+.\w]+")
_MAX_NESTING: Final = 100


class NotJsonError(ValueError):
    """The text is not JSON."""


@dataclass(frozen=True, slots=True)
class JsonSpan:
    start: int
    end: int
    value: Any
    members: dict[str, JsonSpan] = field(default_factory=dict)  # of an object
    items: tuple[JsonSpan, ...] = ()  # of a list


def parse_spans(text: str) -> JsonSpan:
    """The whole value. Raises Unreadable."""
    scan = _SpanScanner(text)
    whole = scan.parse_value(scan.skip_space(0), 0)
    if scan.skip_space(whole.end) != len(text):
        raise scan.error_at(whole.end)
    return whole


class _SpanScanner:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip_space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def error_at(self, at: int) -> NotJsonError:
        return NotJsonError(f"line {self._text.count(chr(10), 0, at) + 1} is not JSON")

    def parse_value(self, at: int, depth: int) -> JsonSpan:
        if depth > _MAX_NESTING:
            raise self.error_at(at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._parse_object(at, depth)
        if first == "[":
            return self._parse_list(at, depth)
        return self._parse_scalar(at)

    def _parse_scalar(self, at: int) -> JsonSpan:
        found = (_STRING if self._text.startswith('"', at) else _WORD).match(self._text, at)
        if found is None:
            raise self.error_at(at)
        try:
            return JsonSpan(at, found.end(), json.loads(found[0]))
        except ValueError:
            raise self.error_at(at) from None

    def _parse_object(self, at: int, depth: int) -> JsonSpan:
        members: dict[str, JsonSpan] = {}
        here = self.skip_space(at + 1)
        while not self._text.startswith("}", here):
            key = self._parse_scalar(here)
            here = self.skip_space(key.end)
            if not isinstance(key.value, str) or key.value in members or not self._text.startswith(":", here):
                raise self.error_at(here)
            members[key.value] = held = self.parse_value(self.skip_space(here + 1), depth + 1)
            here = self._skip_comma(held.end, "}")
        return JsonSpan(at, here + 1, {name: held.value for name, held in members.items()}, members)

    def _parse_list(self, at: int, depth: int) -> JsonSpan:
        items: list[JsonSpan] = []
        here = self.skip_space(at + 1)
        while not self._text.startswith("]", here):
            items.append(self.parse_value(here, depth + 1))
            here = self._skip_comma(items[-1].end, "]")
        return JsonSpan(at, here + 1, [held.value for held in items], items=tuple(items))

    def _skip_comma(self, at: int, closing: str) -> int:
        here = self.skip_space(at)
        if self._text.startswith(",", here):
            return self.skip_space(here + 1)
        if not self._text.startswith(closing, here):
            raise self.error_at(here)
        return here
