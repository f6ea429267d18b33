"""Edits JSON texts in place: comments, spaces and everything else that you wrote stay as they are.

An edit is a list of splices, so it can be taken out again to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hookline.config.document import MISSING, Document, KeyPath, SourceText, UnreadableError
from hookline.config.jsonc import parse_json, scalar_end, skip_gap
from hookline.config.reader import FileFormat, read_text
from hookline.errors import ConfigError, HooklineError
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import json, lazy_pattern

_STRING_OR_COMMENT: Final = lazy_pattern(r'"(?:[^"\\]++|\\.)*"|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/')
_INDENT: Final = lazy_pattern(r"[ \t]*")

JsonPath = tuple[str | int, ...]
ItemKey = str | None


@dataclass(frozen=True, slots=True)
class JsonSpan:
    """Where a value begins and ends in its text, and where its parts do."""

    start: int
    end: int
    value: Any
    item_start: int  # where its key begins; an element of a list begins at `start`
    members: dict[str, JsonSpan] = field(default_factory=dict)  # of a mapping
    items: tuple[JsonSpan, ...] = ()  # of a list

    @property
    def parts(self) -> tuple[JsonSpan, ...]:
        return self.items or tuple(self.members.values())

    @property
    def last_part_end(self) -> int:
        """The end of its last part; after the opening bracket if it is empty."""
        return self.parts[-1].end if self.parts else self.start + 1


def document_spans(document: Document) -> JsonSpan:
    """The spans of a document that was read from JSON."""
    return _build_span(document, document.value, document.source_map.root, document.source_map.root)


def parse_spans(text: str) -> JsonSpan:
    """The spans of any JSON text; unlike in a config file, control characters are fine. Raises HooklineError."""
    if text.startswith("\ufeff"):
        text = " " + text[1:]  # keeps every position
    source = SourceText("", text)
    try:
        value, source_map = parse_json(source)
    except UnreadableError:
        raise _first_problem_error(source) from None
    if source.problems:
        raise _first_problem_error(source)
    return document_spans(Document("", text, value, source_map))


def _first_problem_error(source: SourceText) -> HooklineError:
    problem = source.problems[0]
    return HooklineError(f"line {problem.line}: {problem.what} {problem.hint}".rstrip())


def _build_span(document: Document, value: Any, start: int, item_start: int) -> JsonSpan:
    positions = document.source_map.positions.get(id(value))
    if positions is None:
        return JsonSpan(start, scalar_end(document.text, start), value, item_start)
    *begins, end = positions
    if isinstance(value, list):
        items = tuple(_build_span(document, each, at, at) for each, at in zip(value, begins, strict=True))
        return JsonSpan(start, end, value, item_start, items=items)
    places = zip(value, begins[::2], begins[1::2], strict=True)
    members = {key: _build_span(document, value[key], at, key_at) for key, key_at, at in places}
    return JsonSpan(start, end, value, item_start, members)


def _find_container(document: Document, path: KeyPath) -> JsonSpan:
    span = document_spans(document)
    for step in path:
        span = span.members[step] if isinstance(step, str) else span.items[step]
    return span


def _find_comma(text: str, position: int) -> int | None:
    """Where the comma is, if one follows after spaces and comments."""
    at = skip_gap(text, position)
    return at if text.startswith(",", at) else None


def _tokens_end(text: str, start: int, end: int) -> int:
    """After the last comma or comment between two positions; the start if there are only spaces."""
    return start + len(text[start:end].rstrip(" \t\r\n"))


@dataclass(frozen=True, slots=True)
class Splice:
    """A text that is inserted at a position of the original text."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Addition:
    """One entry for the list at a path of keys; a missing list and its parents are created."""

    path: tuple[str, ...]
    entry: Any


def apply_splices(text: str, splices: Iterable[Splice]) -> str:
    for splice in sorted(splices, key=lambda each: each.at, reverse=True):
        text = text[: splice.at] + splice.text + text[splice.at :]
    return text


def parse_object(text: str, file: str) -> Document:
    """Raises ConfigError unless the text is a JSON object; comments are fine."""
    document, problems = read_text(text, file, FileFormat.JSON)
    if document is None:
        raise ConfigError(problems)
    if not isinstance(document.value, dict):
        raise HooklineError(f"{file}:{document.line()}  expected a JSON object, {{…}}.")
    return document


def addition_splices(
    text: str, file: str, keys: Mapping[str, Any], additions: Sequence[Addition]
) -> tuple[Splice, ...]:
    """The splices that add each entry to its list. `keys` are added to an empty file only."""
    document = parse_object(text, file)
    missing = _missing_items(document, {} if document.value else keys, additions)
    bom = len(text) - len(document.text)
    splices = [splice for path, items in missing.items() for splice in _insert_items(document, path, items)]
    return tuple(Splice(splice.at + bom, splice.text) for splice in splices)


def _missing_items(
    document: Document, keys: Mapping[str, Any], additions: Sequence[Addition]
) -> dict[JsonPath, list[tuple[ItemKey, Any]]]:
    """For each existing container, by its path, what to add to it."""
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
    """How many steps of the path exist. Raises HooklineError if one of them has the wrong type."""
    for depth in range(1, len(path) + 1):
        value = document.value_at(path[:depth])
        if value is MISSING:
            return depth - 1
        expected, shown = (list, "a list, […]") if depth == len(path) else (dict, "an object, {…}")
        if not isinstance(value, expected):
            where = f"{document.file}:{document.line(path[:depth])}"
            raise HooklineError(f"{where}  {'.'.join(path[:depth])} must be {shown}.")
    return len(path)


def _nest_entry(items: list[tuple[ItemKey, Any]], path: tuple[str, ...], entry: Any) -> None:
    """Adds the entry to the new keys of one container, next to those already planned."""
    value: Any = next((new for key, new in items if key == path[0]), None)
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
    container = _find_container(document, path)
    outside = _indent_at(text, container.start)
    if not container.parts:
        return [
            _insert_into_empty(
                text, container, _render_items(items, outside + unit, unit, newline), newline + outside, newline
            )
        ]
    if _is_inline(text, container):
        return _insert_after_last(
            text, container, " ", ", ".join(_render_inline(key, value) for key, value in items), newline
        )
    inside = _indent_at(text, container.parts[0].item_start)
    return _insert_after_last(text, container, newline, _render_items(items, inside, unit, newline), newline)


def _insert_into_empty(text: str, container: JsonSpan, items: str, closing: str, newline: str) -> Splice:
    at = _tokens_end(text, container.start + 1, container.end - 1)
    ending = "" if "\n" in text[at : container.end - 1] else closing
    return Splice(at, newline + items + ending)


def _insert_after_last(text: str, container: JsonSpan, glue: str, items: str, newline: str) -> list[Splice]:
    """Inserts after the last item and its comments, with a comma if there is none."""
    last, closing = container.last_part_end, container.end - 1
    at = _tokens_end(text, last, closing)
    if glue == " " and "//" in text[last:at]:
        glue = newline
    if _find_comma(text, last) is not None:
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
    """The text's own indentation: that of its first key."""
    if not document.value:
        return "  "
    container = document_spans(document)
    first = _indent_at(document.text, container.parts[0].item_start)
    outside = _indent_at(document.text, container.start)
    return first.removeprefix(outside) or "  " if not _is_inline(document.text, container) else "  "


def _is_inline(text: str, container: JsonSpan) -> bool:
    return "\n" not in text[container.start : container.parts[0].item_start]


def _indent_at(text: str, position: int) -> str:
    found = _INDENT.match(text, text.rfind("\n", 0, position) + 1)
    return found[0] if found else ""


def remove_item(text: str, file: str, path: JsonPath) -> str:
    """The text without one element or key, and without one of the commas next to it."""
    document = parse_object(text, file)
    body, container = document.text, _find_container(document, path[:-1])
    step, value = path[-1], document.value_at(path[:-1])
    index = step if isinstance(step, int) else list(value).index(step)
    for start, end in sorted(_cut_ranges(body, container, index), reverse=True):
        body = body[:start] + body[end:]
    return text[: len(text) - len(document.text)] + body


def _cut_ranges(text: str, container: JsonSpan, index: int) -> Iterator[tuple[int, int]]:
    item = container.parts[index]
    before = container.parts[index - 1].end if index else container.start + 1
    comma = _find_comma(text, item.end)
    if comma is None and index:
        comma = _find_comma(text, before)
    if comma is not None:
        yield comma, comma + 1
    start = len(text[: item.item_start].rstrip(" \t\r\n"))
    behind = item.end if comma is None or comma < item.end else comma + 1
    commented = "//" in text[before : item.item_start]  # the rest of the line must not end up in that comment
    yield (item.item_start if commented and _rest_of_line(text, behind).strip() else start), item.end


def _rest_of_line(text: str, position: int) -> str:
    ends = [end for end in (text.find("\n", position), text.find("\r", position)) if end >= 0]
    return text[position : min(ends, default=len(text))]


def remove_splices(installed: str, current: str, splices: Sequence[Splice]) -> str | None:
    """The current text without our splices; None if a later edit touched one of them."""
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
    """True if all of the original is still there, other text is only where our splices were, and no comment was added."""
    first, *middle, last = _texts_between_splices(original, splices)
    at = len(first)
    for piece in middle:
        found = current.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    framed = current.startswith(first) and current.endswith(last) and at + len(last) <= len(current)
    return framed and _comments(current) == _comments(original)


def _comments(text: str) -> list[str]:
    return [found for found in _STRING_OR_COMMENT.findall(text) if found.startswith("/")]


def _texts_between_splices(original: str, splices: Sequence[Splice]) -> list[str]:
    ends = sorted(splice.at for splice in splices)
    return [original[start:end] for start, end in zip([0, *ends], [*ends, len(original)], strict=True)]


def _splice_ranges(splices: Sequence[Splice]) -> list[tuple[int, int]]:
    """Where each splice is in the text that contains all of them."""
    found, moved = [], 0
    for splice in sorted(splices, key=lambda each: each.at):
        found.append((splice.at + moved, splice.at + moved + len(splice.text)))
        moved += len(splice.text)
    return found


def _common_prefix_length(text: str, other: str) -> int:
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))
