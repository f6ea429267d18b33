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
    return TomlScanner(text).document()


def _table(start: int, end: int) -> JsonSpan:
    return JsonSpan(start, end, {}, start)


class TomlScanner:
    """Reads a text that tomllib accepts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> JsonSpan:
        root = _table(0, len(self.text))
        current = root
        while self.skip_gap() < len(self.text):
            start = self.at
            if self.text.startswith("[", start):
                is_list = self.text.startswith("[[", start)
                self.at += 2 if is_list else 1
                path = self.read_key_path()
                self.at = self.text.index("]", self.at) + (2 if is_list else 1)
                current = _table(start, self.at) if is_list else self._open_table(root, path, start)
            else:
                self.read_statement(current)
        return root

    def _open_table(self, root: JsonSpan, path: list[str], start: int) -> JsonSpan:
        parent = _descend(root, path[:-1])
        known = parent.members.get(path[-1])
        found = JsonSpan(start, self.at, known.value if known else {}, start, known.members if known else {})
        parent.members[path[-1]] = found
        parent.value[path[-1]] = found.value
        return found

    def read_statement(self, table: JsonSpan) -> None:
        start = self.at
        path = self.read_key_path()
        self.at = self.text.index("=", self.at) + 1
        self.skip_blanks()
        span = self.read_value(start)
        parent = _descend(table, path[:-1])
        parent.members[path[-1]] = span
        parent.value[path[-1]] = span.value

    def read_key_path(self) -> list[str]:
        path: list[str] = []
        while True:
            self.skip_blanks()
            quoted = _STRING.match(self.text, self.at)
            found = quoted or _BARE_KEY.match(self.text, self.at)
            if found is None:
                raise HooklineError("a key of it cannot be read")
            self.at = found.end()
            path.append(_decode(found[0]) if quoted else found[0])
            self.skip_blanks()
            if not self.text.startswith(".", self.at):
                return path
            self.at += 1

    def read_value(self, item_start: int | None = None) -> JsonSpan:
        start = self.at
        begins = start if item_start is None else item_start
        if self.text.startswith("[", start):
            items = self._read_items()
            return JsonSpan(start, self.at, [each.value for each in items], begins, items=tuple(items))
        if self.text.startswith("{", start):
            table = JsonSpan(start, start, {}, begins)
            self._read_members(table)
            return JsonSpan(start, self.at, table.value, begins, table.members)
        found = _STRING.match(self.text, start) or _SCALAR.match(self.text, start)
        if found is None:
            raise HooklineError("a value of it cannot be read")
        self.at = found.end()
        return JsonSpan(start, self.at, _decode(found[0]), begins)

    def _read_items(self) -> list[JsonSpan]:
        items: list[JsonSpan] = []
        self.at += 1
        while not self.text.startswith("]", self.skip_gap()):
            if self.text[self.at] == ",":
                self.at += 1
            else:
                items.append(self.read_value())
        self.at += 1
        return items

    def _read_members(self, table: JsonSpan) -> None:
        self.at += 1
        while not self.text.startswith("}", self.skip_gap()):
            if self.text[self.at] == ",":
                self.at += 1
            else:
                self.read_statement(table)
        self.at += 1

    def skip_gap(self) -> int:
        """To the next token."""
        gap = _GAP.match(self.text, self.at)
        self.at = gap.end() if gap else self.at
        return self.at

    def skip_blanks(self) -> None:
        while self.text.startswith((" ", "\t"), self.at):
            self.at += 1


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
