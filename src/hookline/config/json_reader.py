"""JSON text, with comments and trailing commas → value and marks, in one pass without recursion."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeAlias

from hookline.config.damage import Spoilt, Torn
from hookline.config.document import Places
from hookline.config.problem import Problem, short
from hookline.config.scalars import TooLarge, real_number, whole_number
from hookline.config.source import DEEPEST, MOST_VALUES, Source

# A possessive group misbehaves before Python 3.11.5; these need none, because no two branches begin alike.
_SPACE = r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)*"
_PLAIN = r'"([^"\\\x00-\x1f]*+)"'
_ESCAPED = r'("(?:[^"\\\x00-\x1f]++|\\[^\r\n])*")'

_TEXT = re.compile(_ESCAPED)
_TEXT_SO_FAR = re.compile(_ESCAPED[1:-2])
_GAP = re.compile(_SPACE)
_KEY = re.compile(f"{_SPACE}(?:{_PLAIN}|{_ESCAPED}){_SPACE}:{_SPACE}")
_VALUE = re.compile(rf"{_PLAIN}|{_ESCAPED}|([\[{{])|([-+.\w$]++)")
_NEXT = re.compile(rf"{_SPACE}([,\]}}])")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][-+]?[0-9]++)?")
_LIKE_NUMBER = re.compile(r"[-+]?\.?[0-9]")

_CONTAINERS = (dict, list)
_WORDS = {"true": True, "false": False, "null": None}
_NOT_FINITE = frozenset(sign + word for sign in ("", "-", "+") for word in ("NaN", "Infinity"))
_MEANT = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}


def read_json(source: Source) -> tuple[Any, int, Places]:
    """The value, where it begins, and the places of all its parts. Empty text is `{}`."""
    source.refuse_control_characters(0, len(source.text))
    return _Parse(source).read()


_Open: TypeAlias = tuple[Any, Any, int, str]
"""A list or mapping whose end has not come yet, the places of its parts, where it began, and the bracket that ends it."""


class _Parse:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.places: Places = {}
        self.values = 0
        self.opened: list[_Open] = []
        self.torn: dict[int, list[Problem]] = {}
        self.root: Any = None

    def read(self) -> tuple[Any, int, Places]:
        root_at = self.after_gap(0)
        if root_at == len(self.text):
            return {}, root_at, self.places
        self.root, position = self.value(root_at)
        position = self.after(self.root, root_at, position)
        while self.opened:
            container, places, _, _ = self.opened[-1]
            entry = self.entry_of_mapping if type(container) is dict else self.entry_of_list
            position = entry(container, places, position)
        rest = self.after_gap(position)
        if rest < len(self.text):
            self.fail(rest, f"The value has ended, but {self.found(rest)} follows.", "Remove what follows.")
        return self.root, root_at, self.places

    def entry_of_mapping(self, mapping: dict[str, Any], places: dict[str, tuple[int, int]], position: int) -> int:
        match = _KEY.match(self.text, position)
        if match is None:
            return self.end_or_fail(position, "}")
        kind = match.lastindex or 1
        key_at = match.start(1) - 1 if kind == 1 else match.start(2)
        key: str = match[1] if kind == 1 else self.unescaped(match[2], key_at)
        if key in mapping:
            self.torn.setdefault(id(mapping), []).append(self.source.duplicate(key, key_at, places[key][0]))
        at = match.end()
        value, position = self.value(at)
        mapping[key] = value
        places[key] = (key_at, at)
        return self.after(value, at, position)

    def entry_of_list(self, items: list[Any], places: list[int], position: int) -> int:
        at = self.after_gap(position)
        if self.text.startswith("]", at):
            return self.end_or_fail(position, "]")
        value, position = self.value(at)
        items.append(value)
        places.append(at)
        return self.after(value, at, position)

    def after(self, value: Any, at: int, position: int) -> int:
        """Goes into a list or mapping that was just opened, or past the comma or closing bracket behind a value."""
        if type(value) in _CONTAINERS:
            self.open(value, at)
            return position
        while self.opened:
            match = _NEXT.match(self.text, position)
            if match is None:
                self.fail_after_value(position)
            position = match.end()
            if match[1] == ",":
                break
            self.close(match[1], position - 1)
        return position

    def open(self, container: Any, at: int) -> None:
        if len(self.opened) >= DEEPEST:
            self.source.too_deep(at)
        places: Any = {} if type(container) is dict else []
        self.places[id(container)] = places
        self.opened.append((container, places, at, "}" if type(container) is dict else "]"))

    def close(self, bracket: str, at: int) -> None:
        container, places, opened_at, closing = self.opened.pop()
        if bracket != closing:
            opening = f"{self.text[opened_at]} on line {self.source.line(opened_at)}"
            self.fail(at, f"Found {bracket}, but the {opening} is still open.", f"Close it with {closing}.")
        if self.torn and id(container) in self.torn:
            self.replace(container, Torn(container, self.torn.pop(id(container))), places)

    def replace(self, mapping: dict[str, Any], torn: Torn, places: dict[str, tuple[int, int]]) -> None:
        """Where the mapping stands that has just ended."""
        self.places[id(torn)] = places
        parent = self.opened[-1][0] if self.opened else None
        if parent is None:
            self.root = torn
        elif type(parent) is list:
            parent[-1] = torn
        else:
            parent[next(key for key, value in parent.items() if value is mapping)] = torn

    def end_or_fail(self, position: int, bracket: str) -> int:
        """After an opening bracket or a comma, where no entry follows."""
        at = self.after_gap(position)
        if not self.text.startswith(bracket, at):
            self.fail_key(at)
        self.close(bracket, at)
        return self.after(None, at, at + 1)

    def value(self, at: int) -> tuple[Any, int]:
        match = _VALUE.match(self.text, at)
        if match is None:
            self.fail_value(at)
        self.values += 1
        if self.values > MOST_VALUES:
            self.source.too_many(at)
        kind = match.lastindex
        if kind == 1:
            return match[1], match.end()
        if kind == 2:
            return self.unescaped(match[2], at), match.end()
        if kind == 3:
            return ({} if match[3] == "{" else []), match.end()
        return self.word(match[4], at), match.end()

    def word(self, word: str, at: int) -> Any:
        if word in _WORDS:
            return _WORDS[word]
        number = _NUMBER.fullmatch(word)
        if number:
            return self.number(word, number.lastindex is None, at)
        if word not in _NOT_FINITE:
            self.fail_word(word, at)
        what = f"{word} is not a number that JSON has."
        return Spoilt(self.source.note("not-finite", at, what, "Write a finite number, or null."))

    def number(self, word: str, whole: bool, at: int) -> int | float | Spoilt:
        try:
            return whole_number(word) if whole else real_number(word)
        except TooLarge:
            what = f"{short(word)} is too large a number."
            return Spoilt(self.source.note("number-too-large", at, what, "Write it in quotes if it is meant as text."))

    def unescaped(self, quoted: str, at: int) -> str:
        try:
            return str(json.loads(quoted))
        except json.JSONDecodeError as error:
            hint = r"Write \\ for a backslash; escapes are \" \\ \/ \b \f \n \r \t and \u with four hex digits."
            self.fail(at + error.pos, "The text has a backslash that begins no escape.", hint)

    def after_gap(self, position: int) -> int:
        match = _GAP.match(self.text, position)
        return match.end() if match else position

    def found(self, at: int) -> str:
        if at >= len(self.text):
            return "the end of the file"
        match = _VALUE.match(self.text, at)
        return short(match[0]) if match else short(self.text[at])

    def fail_key(self, at: int) -> NoReturn:
        self.fail_unclosed(at)
        match = _TEXT.match(self.text, at)
        if match:
            behind = self.after_gap(match.end())
            self.fail(
                behind, f"Expected a colon after the key {short(match[0])}, found {self.found(behind)}.", "Write :"
            )
        hint = "Write the key in double quotes." if self.text[at] not in ",:]" else ""
        self.fail(at, f"Expected a key or }}, found {self.found(at)}.", hint)

    def fail_value(self, at: int) -> NoReturn:
        self.fail_unclosed(at)
        hint = 'Text stands in double quotes: "…".' if self.text[at] in "'`" else ""
        self.fail(at, f"Expected a value, found {self.found(at)}.", hint)

    def fail_word(self, word: str, at: int) -> NoReturn:
        if _LIKE_NUMBER.match(word):
            hint = "Write digits without leading zeros, or quote it as text."
            self.fail(at, f"{short(word)} is not a number.", hint)
        hint = f"Write {_MEANT[word]}." if word in _MEANT else f'Write text in double quotes: "{short(word)}".'
        self.fail(at, f"{short(word)} is neither text in quotes nor a number, true, false or null.", hint)

    def fail_after_value(self, position: int) -> NoReturn:
        at = self.after_gap(position)
        self.fail_unclosed(at)
        self.fail(
            at, f"Expected a comma or {self.opened[-1][3]}, found {self.found(at)}.", "Put a comma between two entries."
        )

    def fail_unclosed(self, at: int) -> None:
        """Fails if what stands there begins and never ends, or if the file has ended."""
        if self.text.startswith("/*", at):
            self.fail(at, "The comment that begins here is never closed.", "Close it with */.")
        if self.text.startswith('"', at) and not _TEXT.match(self.text, at):
            self.fail_text(at)
        if at < len(self.text):
            return
        if self.opened:
            _, _, opened_at, closing = self.opened[-1]
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
        self.source.stop("syntax", at, what, hint)
