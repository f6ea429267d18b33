"""Where the values of a TOML text begin and end, so that it can be edited without losing a comment."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from hookline.config.json_edit import JsonSpan
from hookline.errors import HooklineError
from hookline.lazy_imports import lazy_pattern

_GAP: Final = lazy_pattern(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY: Final = lazy_pattern(r"[A-Za-z0-9_-]+")
_STRING: Final = lazy_pattern(
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'"
)
_SCALAR: Final = lazy_pattern(r"[^,\]}#\n]*[^,\]}#\s]")
NOT_WRITTEN: Final = -1
"""The start of a table that only dotted keys and the headers of its own tables name."""


def parse_toml_spans(text: str) -> JsonSpan:
    """The spans of the whole text. A table with a header begins at its `[`. Raises HooklineError."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise HooklineError(f"it is not valid TOML: {error}") from None
    return _Scanner(text).document()


def _table(start: int, end: int) -> JsonSpan:
    return JsonSpan(start, end, {}, start)


class _Scanner:
    """Reads a text that tomllib accepts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> JsonSpan:
        root = _table(0, len(self._text))
        current = root
        while self._skip_gap() < len(self._text):
            start = self._at
            if self._text.startswith("[", start):
                is_list = self._text.startswith("[[", start)
                self._at += 2 if is_list else 1
                path = self._read_key_path()
                self._at = self._text.index("]", self._at) + (2 if is_list else 1)
                current = _table(start, self._at) if is_list else self._open_table(root, path, start)
            else:
                self._read_statement(current)
        return root

    def _open_table(self, root: JsonSpan, path: list[str], start: int) -> JsonSpan:
        parent = _descend(root, path[:-1])
        known = parent.members.get(path[-1])
        found = JsonSpan(start, self._at, known.value if known else {}, start, known.members if known else {})
        parent.members[path[-1]] = found
        parent.value[path[-1]] = found.value
        return found

    def _read_statement(self, table: JsonSpan) -> None:
        start = self._at
        path = self._read_key_path()
        self._at = self._text.index("=", self._at) + 1
        self._skip_blanks()
        span = self._read_value(start)
        parent = _descend(table, path[:-1])
        parent.members[path[-1]] = span
        parent.value[path[-1]] = span.value

    def _read_key_path(self) -> list[str]:
        path: list[str] = []
        while True:
            self._skip_blanks()
            quoted = _STRING.match(self._text, self._at)
            found = quoted or _BARE_KEY.match(self._text, self._at)
            if found is None:
                raise HooklineError("a key of it cannot be read")
            self._at = found.end()
            path.append(_decode(found[0]) if quoted else found[0])
            self._skip_blanks()
            if not self._text.startswith(".", self._at):
                return path
            self._at += 1

    def _read_value(self, item_start: int | None = None) -> JsonSpan:
        start = self._at
        begins = start if item_start is None else item_start
        if self._text.startswith("[", start):
            items = self._read_items()
            return JsonSpan(start, self._at, [each.value for each in items], begins, items=tuple(items))
        if self._text.startswith("{", start):
            table = JsonSpan(start, start, {}, begins)
            self._read_members(table)
            return JsonSpan(start, self._at, table.value, begins, table.members)
        found = _STRING.match(self._text, start) or _SCALAR.match(self._text, start)
        if found is None:
            raise HooklineError("a value of it cannot be read")
        self._at = found.end()
        return JsonSpan(start, self._at, _decode(found[0]), begins)

    def _read_items(self) -> list[JsonSpan]:
        items: list[JsonSpan] = []
        self._at += 1
        while not self._text.startswith("]", self._skip_gap()):
            if self._text[self._at] == ",":
                self._at += 1
            else:
                items.append(self._read_value())
        self._at += 1
        return items

    def _read_members(self, table: JsonSpan) -> None:
        self._at += 1
        while not self._text.startswith("}", self._skip_gap()):
            if self._text[self._at] == ",":
                self._at += 1
            else:
                self._read_statement(table)
        self._at += 1

    def _skip_gap(self) -> int:
        """To the next token."""
        gap = _GAP.match(self._text, self._at)
        self._at = gap.end() if gap else self._at
        return self._at

    def _skip_blanks(self) -> None:
        while self._text.startswith((" ", "\t"), self._at):
            self._at += 1


def _descend(table: JsonSpan, path: list[str]) -> JsonSpan:
    for name in path:
        inner = table.members.get(name)
        if inner is None:
            inner = table.members[name] = _table(NOT_WRITTEN, NOT_WRITTEN)
            table.value[name] = inner.value
        table = inner
    return table


def _decode(source: str) -> Any:
    return tomllib.loads(f"x = {source}")["x"]
