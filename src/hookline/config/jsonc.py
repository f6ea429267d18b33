"""JSON text, with comments and trailing commas → value and marks, in one pass without recursion."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeAlias

from hookline.config.document import MAX_NESTING, MAX_VALUES, ConflictingKeys, Positions, SourceText, UnreadableValue
from hookline.config.problem import Problem
from hookline.config.scalars import NumberTooLargeError, parse_float, parse_integer
from hookline.formatting import shorten

# A possessive group misbehaves before Python 3.11.5; these need none, because no two branches begin alike.
_SPACE = r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*"
_PLAIN = r'"([^"\\\x00-\x1f]*+)"'
_ESCAPED = r'("(?:[^"\\\x00-\x1f]++|\\[^\r\n])*")'

_TEXT = re.compile(_ESCAPED)
_TEXT_SO_FAR = re.compile(_ESCAPED[1:-2])
_GAP = re.compile(_SPACE)
_KEY = re.compile(f"{_SPACE}(?:{_PLAIN}|{_ESCAPED}){_SPACE}:{_SPACE}")
_VALUE = re.compile(rf"{_PLAIN}|{_ESCAPED}|([\[{{])|([-+.\w$]++)")
_SEPARATOR = re.compile(rf"{_SPACE}([,\]}}])")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_LIKE_NUMBER = re.compile(r"[-+]?\.?[0-9]")

_CONTAINERS = (dict, list)
_LITERALS = {"true": True, "false": False, "null": None}
_NOT_FINITE = frozenset(sign + word for sign in ("", "-", "+") for word in ("NaN", "Infinity"))
_INTENDED_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}


def parse_json(source: SourceText) -> tuple[Any, int, Positions]:
    """The value, where it begins, and the places of all its parts. Empty text is `{}`."""
    source.refuse_control_characters(0, len(source.text))
    return _JsonParser(source).parse()


_OpenContainer: TypeAlias = tuple[Any, Any, int, str]
"""A list or mapping whose end has not come yet, the places of its parts, where it began, and the bracket that ends it."""


class _JsonParser:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text
        self.places: Positions = {}
        self.values = 0
        self.open_containers: list[_OpenContainer] = []
        self.conflicts: dict[int, list[Problem]] = {}
        self.root: Any = None

    def parse(self) -> tuple[Any, int, Positions]:
        root_at = self.skip_gap(0)
        if root_at == len(self.text):
            return {}, root_at, self.places
        self.root, position = self.parse_value(root_at)
        position = self.advance(self.root, root_at, position)
        while self.open_containers:
            container, places, _, _ = self.open_containers[-1]
            entry = self.parse_mapping_entry if type(container) is dict else self.parse_list_entry
            position = entry(container, places, position)
        rest = self.skip_gap(position)
        if rest < len(self.text):
            self.fail(rest, f"The value has ended, but {self.describe_found(rest)} follows.", "Remove what follows.")
        return self.root, root_at, self.places

    def parse_mapping_entry(self, mapping: dict[str, Any], places: dict[str, tuple[int, int]], position: int) -> int:
        match = _KEY.match(self.text, position)
        if match is None:
            return self.close_or_fail(position, "}")
        kind = match.lastindex or 1
        key_at = match.start(1) - 1 if kind == 1 else match.start(2)
        key: str = match[1] if kind == 1 else self.unescape(match[2], key_at)
        if key in mapping:
            self.conflicts.setdefault(id(mapping), []).append(
                self.source.add_duplicate_key(key, key_at, places[key][0])
            )
        at = match.end()
        value, position = self.parse_value(at)
        mapping[key] = value
        places[key] = (key_at, at)
        return self.advance(value, at, position)

    def parse_list_entry(self, items: list[Any], places: list[int], position: int) -> int:
        at = self.skip_gap(position)
        if self.text.startswith("]", at):
            return self.close_or_fail(position, "]")
        value, position = self.parse_value(at)
        items.append(value)
        places.append(at)
        return self.advance(value, at, position)

    def advance(self, value: Any, at: int, position: int) -> int:
        """Goes into a list or mapping that was just opened, or past the comma or closing bracket behind a value."""
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
        places: Any = {} if type(container) is dict else []
        self.places[id(container)] = places
        self.open_containers.append((container, places, at, "}" if type(container) is dict else "]"))

    def close_container(self, bracket: str, at: int) -> None:
        container, places, opened_at, closing = self.open_containers.pop()
        if bracket != closing:
            opening = f"{self.text[opened_at]} on line {self.source.line(opened_at)}"
            self.fail(at, f"Found {bracket}, but the {opening} is still open.", f"Close it with {closing}.")
        if self.conflicts and id(container) in self.conflicts:
            self.replace_container(container, ConflictingKeys(container, self.conflicts.pop(id(container))), places)

    def replace_container(
        self, mapping: dict[str, Any], torn: ConflictingKeys, places: dict[str, tuple[int, int]]
    ) -> None:
        """Where the mapping stands that has just ended."""
        self.places[id(torn)] = places
        parent = self.open_containers[-1][0] if self.open_containers else None
        if parent is None:
            self.root = torn
        elif type(parent) is list:
            parent[-1] = torn
        else:
            parent[next(key for key, value in parent.items() if value is mapping)] = torn

    def close_or_fail(self, position: int, bracket: str) -> int:
        """After an opening bracket or a comma, where no entry follows."""
        at = self.skip_gap(position)
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
        what = f"{word} is not a number that JSON has."
        return UnreadableValue(self.source.add_problem("not-finite", at, what, "Write a finite number, or null."))

    def parse_number(self, word: str, whole: bool, at: int) -> int | float | UnreadableValue:
        try:
            return parse_integer(word) if whole else parse_float(word)
        except NumberTooLargeError:
            what = f"{shorten(word)} is too large a number."
            return UnreadableValue(
                self.source.add_problem("number-too-large", at, what, "Write it in quotes if it is meant as text.")
            )

    def unescape(self, quoted: str, at: int) -> str:
        try:
            return str(json.loads(quoted))
        except json.JSONDecodeError as error:
            hint = r"Write \\ for a backslash; escapes are \" \\ \/ \b \f \n \r \t and \u with four hex digits."
            self.fail(at + error.pos, "The text has a backslash that begins no escape.", hint)

    def skip_gap(self, position: int) -> int:
        match = _GAP.match(self.text, position)
        return match.end() if match else position

    def describe_found(self, at: int) -> str:
        if at >= len(self.text):
            return "the end of the file"
        match = _VALUE.match(self.text, at)
        return shorten(match[0]) if match else shorten(self.text[at])

    def fail_key(self, at: int) -> NoReturn:
        self.fail_unclosed(at)
        match = _TEXT.match(self.text, at)
        if match:
            behind = self.skip_gap(match.end())
            self.fail(
                behind,
                f"Expected a colon after the key {shorten(match[0])}, found {self.describe_found(behind)}.",
                "Write :",
            )
        hint = "Write the key in double quotes." if self.text[at] not in ",:]" else ""
        self.fail(at, f"Expected a key or }}, found {self.describe_found(at)}.", hint)

    def fail_value(self, at: int) -> NoReturn:
        self.fail_unclosed(at)
        hint = 'Text stands in double quotes: "…".' if self.text[at] in "'`" else ""
        self.fail(at, f"Expected a value, found {self.describe_found(at)}.", hint)

    def fail_word(self, word: str, at: int) -> NoReturn:
        if _LIKE_NUMBER.match(word):
            hint = "Write digits without leading zeros, or quote it as text."
            self.fail(at, f"{shorten(word)} is not a number.", hint)
        hint = (
            f"Write {_INTENDED_WORDS[word]}."
            if word in _INTENDED_WORDS
            else f'Write text in double quotes: "{shorten(word)}".'
        )
        self.fail(at, f"{shorten(word)} is neither text in quotes nor a number, true, false or null.", hint)

    def fail_after_value(self, position: int) -> NoReturn:
        at = self.skip_gap(position)
        self.fail_unclosed(at)
        self.fail(
            at,
            f"Expected a comma or {self.open_containers[-1][3]}, found {self.describe_found(at)}.",
            "Put a comma between two entries.",
        )

    def fail_unclosed(self, at: int) -> None:
        """Fails if what stands there begins and never ends, or if the file has ended."""
        if self.text.startswith("/*", at):
            self.fail(at, "The comment that begins here is never closed.", "Close it with */.")
        if self.text.startswith('"', at) and not _TEXT.match(self.text, at):
            self.fail_text(at)
        if at < len(self.text):
            return
        if self.open_containers:
            _, _, opened_at, closing = self.open_containers[-1]
            self.fail(
                opened_at, f"The {self.text[opened_at]} that stands here is never closed.", f"Close it with {closing}."
            )
        self.fail(at, "The file ends where a value is expected.", "")

    def fail_text(self, at: int) -> NoReturn:
        match = _TEXT_SO_FAR.match(self.text, at)
        if match and self.text.startswith("\t", match.end()):
            self.fail(match.end(), "The text has a tab in it.", r"Write \t.")
        self.fail(
            at, "The text that begins here is not closed on its line.", r'Close it with ", or write \n for a line end.'
        )

    def fail(self, at: int, what: str, hint: str) -> NoReturn:
        self.source.fail("syntax", at, what, hint)
