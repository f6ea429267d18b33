"""Parses JSON with comments and trailing commas, in one pass without recursion, and records positions."""

from __future__ import annotations

from array import array
from typing import Any, NoReturn, TypeAlias

from hookline.config.document import (
    MAX_NESTING,
    MAX_VALUES,
    ConflictingKeys,
    Positions,
    SourceMap,
    SourceText,
    UnreadableValue,
)
from hookline.config.problem import Problem
from hookline.config.scalars import NumberTooLargeError, parse_float, parse_integer
from hookline.formatting import shorten
from hookline.lazy_imports import json, lazy_pattern

# A possessive group misbehaves before Python 3.11.5; these need none, because no two branches begin alike.
_SPACE = r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*"
_PLAIN = r'"([^"\\\x00-\x1f]*+)"'
_ESCAPED = r'("(?:[^"\\\x00-\x1f]++|\\[^\r\n])*")'

_TEXT = lazy_pattern(_ESCAPED)
_TEXT_SO_FAR = lazy_pattern(_ESCAPED[1:-2])
_GAP = lazy_pattern(_SPACE)
_KEY = lazy_pattern(f"{_SPACE}(?:{_PLAIN}|{_ESCAPED}){_SPACE}:{_SPACE}")
_VALUE = lazy_pattern(rf"{_PLAIN}|{_ESCAPED}|([\[{{])|([-+.\w$]++)")
_SEPARATOR = lazy_pattern(rf"{_SPACE}([,\]}}])")
_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_LIKE_NUMBER = lazy_pattern(r"[-+]?\.?[0-9]")

_CONTAINERS = (dict, list)
_LITERALS = {"true": True, "false": False, "null": None}
_NOT_FINITE = frozenset(sign + word for sign in ("", "-", "+") for word in ("NaN", "Infinity"))
_INTENDED_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}


def parse_json(source: SourceText) -> tuple[Any, SourceMap]:
    """The value, and the positions of all its parts. Empty text is `{}`."""
    return _JsonParser(source).parse()


def skip_gap(text: str, position: int) -> int:
    """The position after the spaces and comments there."""
    match = _GAP.match(text, position)
    return match.end() if match else position


def scalar_end(text: str, position: int) -> int:
    match = _VALUE.match(text, position)
    return match.end() if match else position


_OpenContainer: TypeAlias = "tuple[Any, array[int], int, str]"
"""A list or mapping that is still open, the positions of its parts, its start, and the bracket that closes it."""


class _JsonParser:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text
        self.positions: Positions = {}
        self.values = 0
        self.open_containers: list[_OpenContainer] = []
        self.conflicts: dict[int, list[Problem]] = {}
        self.root: Any = None

    def parse(self) -> tuple[Any, SourceMap]:
        root_at = skip_gap(self.text, 0)
        if root_at == len(self.text):
            return {}, SourceMap(self.source.starts, root_at)
        self.root, position = self.parse_value(root_at)
        position = self.advance(self.root, root_at, position)
        while self.open_containers:
            container, positions, _, _ = self.open_containers[-1]
            entry = self.parse_mapping_entry if type(container) is dict else self.parse_list_entry
            position = entry(container, positions, position)
        rest = skip_gap(self.text, position)
        if rest < len(self.text):
            self.fail(rest, f"Expected the end of the file, found {self.describe_found(rest)}.", "Remove what follows.")
        return self.root, SourceMap(self.source.starts, root_at, self.positions)

    def parse_mapping_entry(self, mapping: dict[str, Any], positions: array[int], position: int) -> int:
        match = _KEY.match(self.text, position)
        if match is None:
            return self.close_or_fail(position, "}")
        kind = match.lastindex or 1
        key_at = match.start(1) - 1 if kind == 1 else match.start(2)
        key: str = match[1] if kind == 1 else self.unescape(match[2], key_at)
        at = match.end()
        if key in mapping:
            number = 2 * list(mapping).index(key)
            problem = self.source.add_duplicate_key(key, key_at, positions[number])
            self.conflicts.setdefault(id(mapping), []).append(problem)
            positions[number : number + 2] = array("I", (key_at, at))
        else:
            positions.append(key_at)
            positions.append(at)
        value, position = self.parse_value(at)
        mapping[key] = value
        return self.advance(value, at, position)

    def parse_list_entry(self, items: list[Any], positions: array[int], position: int) -> int:
        at = skip_gap(self.text, position)
        if self.text.startswith("]", at):
            return self.close_or_fail(position, "]")
        value, position = self.parse_value(at)
        items.append(value)
        positions.append(at)
        return self.advance(value, at, position)

    def advance(self, value: Any, at: int, position: int) -> int:
        """Moves into a list or mapping that was just opened, or past the comma or closing bracket after a value."""
        if type(value) in _CONTAINERS:
            self.open_container(value, at)
            return position
        while self.open_containers:
            match = _SEPARATOR.match(self.text, position)
            if match is None:
                self.fail_after_value(position)
            position = match.end()
            if match[1] == ",":
                break
            self.close_container(match[1], position - 1)
        return position

    def open_container(self, container: Any, at: int) -> None:
        if len(self.open_containers) >= MAX_NESTING:
            self.source.fail_too_deep(at)
        positions = self.positions[id(container)] = array("I")
        self.open_containers.append((container, positions, at, "}" if type(container) is dict else "]"))

    def close_container(self, bracket: str, at: int) -> None:
        container, positions, opened_at, closing = self.open_containers.pop()
        positions.append(at + 1)
        if bracket != closing:
            opening = f"{self.text[opened_at]} on line {self.source.line(opened_at)}"
            self.fail(at, f"Found {bracket}, but the {opening} is still open.", f"Close it with {closing}.")
        if self.conflicts and id(container) in self.conflicts:
            self.replace_mapping(container, ConflictingKeys(container, self.conflicts.pop(id(container))), positions)

    def replace_mapping(self, mapping: dict[str, Any], conflicting: ConflictingKeys, positions: array[int]) -> None:
        """Repositions the mapping that was just closed."""
        self.positions[id(conflicting)] = positions
        parent = self.open_containers[-1][0] if self.open_containers else None
        if parent is None:
            self.root = conflicting
        elif type(parent) is list:
            parent[-1] = conflicting
        else:
            parent[next(key for key, value in parent.items() if value is mapping)] = conflicting

    def close_or_fail(self, position: int, bracket: str) -> int:
        """Closes the container after an opening bracket or a comma; anything else there is a problem."""
        at = skip_gap(self.text, position)
        if not self.text.startswith(bracket, at):
            self.fail_key(at)
        self.close_container(bracket, at)
        return self.advance(None, at, at + 1)

    def parse_value(self, at: int) -> tuple[Any, int]:
        match = _VALUE.match(self.text, at)
        if match is None:
            self.fail_value(at)
        self.values += 1
        if self.values > MAX_VALUES:
            self.source.fail_too_many_values(at)
        kind = match.lastindex
        if kind == 1:
            return match[1], match.end()
        if kind == 2:
            return self.unescape(match[2], at), match.end()
        if kind == 3:
            return ({} if match[3] == "{" else []), match.end()
        return self.parse_word(match[4], at), match.end()

    def parse_word(self, word: str, at: int) -> Any:
        if word in _LITERALS:
            return _LITERALS[word]
        number = _NUMBER.fullmatch(word)
        if number:
            return self.parse_number(word, number.lastindex is None, at)
        if word not in _NOT_FINITE:
            self.fail_word(word, at)
        what = f"{word} is not a JSON number."
        return UnreadableValue(self.source.add_problem("not-finite", at, what, "Write a finite number, or null."))

    def parse_number(self, word: str, whole: bool, at: int) -> int | float | UnreadableValue:
        try:
            return parse_integer(word) if whole else parse_float(word)
        except NumberTooLargeError:
            what = f"{shorten(word)} is too large."
            return UnreadableValue(
                self.source.add_problem(
                    "number-too-large", at, what, "Use a smaller number, or quote it to make it text."
                )
            )

    def unescape(self, quoted: str, at: int) -> str:
        try:
            return str(json.loads(quoted))
        except json.JSONDecodeError as error:
            hint = r"Write \\ for a backslash. The escapes are \" \\ \/ \b \f \n \r \t and \u with four hex digits."
            self.fail(at + error.pos, "Invalid escape in a string.", hint)

    def describe_found(self, at: int) -> str:
        if at >= len(self.text):
            return "the end of the file"
        match = _VALUE.match(self.text, at)
        return shorten(match[0]) if match else shorten(self.text[at])

    def fail_key(self, at: int) -> NoReturn:
        self.fail_unclosed(at)
        match = _TEXT.match(self.text, at)
        if match:
            after = skip_gap(self.text, match.end())
            what = f"Expected a colon after the key {shorten(match[0])}, found {self.describe_found(after)}."
            self.fail(after, what, "Add a : after the key.")
        hint = "Write the key in double quotes." if self.text[at] not in ",:]" else ""
        self.fail(at, f"Expected a key or }}, found {self.describe_found(at)}.", hint)

    def fail_value(self, at: int) -> NoReturn:
        self.fail_unclosed(at)
        hint = 'Write text in double quotes: "…".' if self.text[at] in "'`" else ""
        self.fail(at, f"Expected a value, found {self.describe_found(at)}.", hint)

    def fail_word(self, word: str, at: int) -> NoReturn:
        if _LIKE_NUMBER.match(word):
            hint = "Write digits without leading zeros, or quote it to make it text."
            self.fail(at, f"{shorten(word)} is not a number.", hint)
        hint = (
            f"Write {_INTENDED_WORDS[word]}."
            if word in _INTENDED_WORDS
            else f'Write text in double quotes: "{shorten(word)}".'
        )
        self.fail(at, f"{shorten(word)} is not a string, a number, true, false or null.", hint)

    def fail_after_value(self, position: int) -> NoReturn:
        at = skip_gap(self.text, position)
        self.fail_unclosed(at)
        self.fail(
            at,
            f"Expected a comma or {self.open_containers[-1][3]}, found {self.describe_found(at)}.",
            "Separate entries with a comma.",
        )

    def fail_unclosed(self, at: int) -> None:
        """Fails if a comment or string starts there that is never closed, or if the file ends there."""
        if self.text.startswith("/*", at):
            self.fail(at, "This comment is never closed.", "Close it with */.")
        if self.text.startswith('"', at) and not _TEXT.match(self.text, at):
            self.fail_text(at)
        if at < len(self.text):
            return
        if self.open_containers:
            _, _, opened_at, closing = self.open_containers[-1]
            self.fail(opened_at, f"This {self.text[opened_at]} is never closed.", f"Close it with {closing}.")
        self.fail(at, "Expected a value, found the end of the file.", "")

    def fail_text(self, at: int) -> NoReturn:
        match = _TEXT_SO_FAR.match(self.text, at)
        if match and self.text.startswith("\t", match.end()):
            self.fail(match.end(), "There is a tab in a string.", r"Write \t.")
        self.fail(at, "This string is not closed on its line.", r'Close it with ", or write \n for a line break.')

    def fail(self, at: int, what: str, hint: str) -> NoReturn:
        self.source.fail("syntax", at, what, hint)
