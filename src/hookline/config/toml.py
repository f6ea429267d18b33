"""Parses TOML, and records the positions of keys and of the tables in a list."""

from __future__ import annotations

import re
import tomllib
from array import array
from typing import Any, Final

from hookline.config.document import KeyPath, Positions, SourceMap, SourceText
from hookline.config.toml_spans import TomlScanner
from hookline.errors import HooklineError

_PLACE: Final = re.compile(r"\s*\((?:at line (\d+), column \d+|at end of document)\)\Z")


def parse_toml(source: SourceText) -> tuple[Any, SourceMap]:
    """The value, and the positions of its parts. A value inside another one on its line has the position of that one."""
    try:
        value = tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        text = str(error)
        found = _PLACE.search(text)
        line = int(found[1]) if found and found[1] else len(source.starts)
        what = text[: found.start()] if found else text
        source.fail("bad-toml", source.starts[line - 1], f"This is not valid TOML: {what}.")
    positions: Positions = {}
    try:
        known = _PositionScanner(source.text).positions()
    except (HooklineError, ValueError, RecursionError):  # only lines are lost
        known = {}
    plain = _as_plain_data(value)
    _collect_positions(plain, (), 0, known, positions)
    return plain, SourceMap(source.starts, 0, positions)


def _as_plain_data(value: Any) -> Any:
    """Dates and times become texts."""
    if isinstance(value, dict):
        return {key: _as_plain_data(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_plain_data(each) for each in value]
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _collect_positions(value: Any, path: KeyPath, at: int, known: dict[KeyPath, int], found: Positions) -> None:
    if not isinstance(value, (dict, list)):
        return
    steps = list(value) if isinstance(value, dict) else list(range(len(value)))
    places = [known.get((*path, step), at) for step in steps]
    found[id(value)] = array("I", [each for each in places for _ in range(2 if isinstance(value, dict) else 1)])
    for step, place in zip(steps, places, strict=True):
        _collect_positions(value[step], (*path, step), place, known, found)


class _PositionScanner(TomlScanner):
    """Finds where each key and each `[[table]]` begins, in a text that tomllib accepts."""

    def positions(self) -> dict[KeyPath, int]:
        found: dict[KeyPath, int] = {}
        counts: dict[KeyPath, int] = {}
        table: KeyPath = ()
        while self.skip_gap() < len(self.text):
            start = self.at
            if self.text.startswith("[", start):
                is_list = self.text.startswith("[[", start)
                self.at += 2 if is_list else 1
                table = _resolve(self.read_key_path(), counts, is_list)
                self.at = self.text.index("]", self.at) + (2 if is_list else 1)
                if is_list:
                    found.setdefault(table[:-1], start)
                found.setdefault(table, start)
            else:
                self._read_entry(table, found)
        return found

    def _read_entry(self, table: KeyPath, found: dict[KeyPath, int]) -> None:
        start = self.at
        path: KeyPath = table
        for name in self.read_key_path():
            path = (*path, name)
            found.setdefault(path, start)
        self.at = self.text.index("=", self.at) + 1
        self.skip_blanks()
        self.read_value()


def _resolve(names: list[str], counts: dict[KeyPath, int], is_list: bool) -> KeyPath:
    """The path of a table: a list of tables on the way means its last one so far."""
    path: KeyPath = ()
    for number, name in enumerate(names):
        path = (*path, name)
        if is_list and number == len(names) - 1:
            counts[path] = counts.get(path, 0) + 1
        if path in counts:
            path = (*path, counts[path] - 1)
    return path
