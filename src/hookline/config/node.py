"""Typed access to a document's values. Everything that is wrong becomes a problem, and reading goes on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from hookline.config.document import ConflictingKeys, Document, KeyPath, problems_of, problems_within
from hookline.config.problem import Problem, Severity
from hookline.config.scalars import parse_duration
from hookline.formatting import MAX_SHOWN_LENGTH, closest_match, closest_words, is_typo, shorten
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import json, lazy_pattern

MAX_GUESSES = 100
"""After so many problems, keys get no more spelling suggestions: each costs half a millisecond."""
MAX_LISTED: Final = 16
MAX_SUGGESTED: Final = 5
_FLAG_WORDS: Final = {
    **dict.fromkeys(("yes", "on", "true", "y", "1"), "true"),
    **dict.fromkeys(("no", "off", "false", "n", "0"), "false"),
}
_QUOTED_NUMBER: Final = lazy_pattern(r"-?\d{1,15}(?:\.\d{1,6})?")
_NO_HINTS: Final[Mapping[str, str]] = {}
_TYPO_CUTOFF: Final = 0.65  # high enough that `description` is not taken for `condition`
_PLAIN_KEY = lazy_pattern(r"[\w$-]+")


@dataclass(slots=True, eq=False)
class Node:
    """A value in a document. A method that does not find what it expects adds a problem and returns None.

    All nodes of one document share `problems`. An unreadable value only ever adds its own syntax problem.
    """

    document: Document
    path: KeyPath
    problems: list[Problem]
    value: Any = field(repr=False)

    @classmethod
    def of(cls, document: Document, problems: list[Problem] | None = None) -> Node:
        return cls(document, (), [] if problems is None else problems, document.value)

    @property
    def line(self) -> int:
        return self.document.line(self.path)

    @property
    def location(self) -> str:
        """Such as `hooks[3].when.tool`."""
        return format_path(self.path)

    def has_unreadable_parts(self) -> bool:
        """True if any part of it, at any depth, is unreadable; adds the problems of those parts."""
        found = problems_within(self.value) if self.document.syntax_problems else ()
        self.problems.extend(found)
        return bool(found)

    def readable_part(self, guarding: Collection[str]) -> tuple[Node, frozenset[str]] | None:
        """This mapping without the keys whose value cannot be read, and those keys; adds the problems of those parts.

        None if that leaves open what is guarded: one of the `guarding` keys cannot be read, or any key may be meant.
        """
        if not self.has_unreadable_parts():
            return self, frozenset()
        duplicates = self.value.duplicate_keys() if type(self.value) is ConflictingKeys else frozenset()
        if duplicates is None or not isinstance(self.value, dict):
            return None
        bad = duplicates | {key for key, value in self.value.items() if problems_within(value)}
        if bad & set(guarding) or "<<" in bad:
            return None
        readable = {key: value for key, value in self.value.items() if key not in bad}
        return Node(self.document, self.path, self.problems, readable), bad

    def check_keys(self, known: Collection[str], what: str, hints: Mapping[str, str] = _NO_HINTS) -> None:
        """Adds a problem for each unknown key. `what` names the owner of the keys: "a hook".

        `hints` say what to write instead of keys that other formats have.
        """
        if not self._is_mapping():
            return
        for key in self.value:
            if key not in known:
                self._add_unknown_key(key, known, what, hints.get(key, ""))

    def warn_unknown_keys(self, known: Collection[str], what: str, *, essential: Collection[str] = ()) -> None:
        """Adds a warning for each unknown key of another program's format, which ignores it.

        A typo of an `essential` key is an error: without that key, the value is weaker than its author meant.
        """
        for key in self.value if self._is_mapping() else ():
            if key in known:
                continue
            absent = [each for each in known if each not in self.value]
            needed = [each for each in absent if each in essential]
            guess = closest_match(key, absent if len(self.problems) < MAX_GUESSES else needed, cutoff=_TYPO_CUTOFF)
            severity = Severity.ERROR if guess in needed else Severity.WARNING
            text = self._with_location(f"{format_value(key)} is not a key of {what}, so it is ignored.")
            hint = f"Did you mean {guess}?" if guess else self._list_known(key, known)
            self._child(key, None).add_problem("unknown-key", text, hint, at_key=True, severity=severity)

    def report_misspelling(self, key: str) -> None:
        """Adds a problem if the key is absent and another one is a typo of it. For mappings with keys of other programs."""
        if type(self.value) is not dict or key in self.value:
            return
        written = next((each for each in self.value if is_typo(each, key)), None)
        if written is not None:
            what = self._with_location(f"{format_value(written)} is not read.")
            child = self._child(written, self.value[written])
            child.add_problem("unknown-key", what, f"Did you mean {key}?", at_key=True)

    def get(self, key: str) -> Node | None:
        """None if the key is absent or its value is null, or if this is not a mapping, which `check_keys` or `mapping` reports."""
        if type(self.value) is not dict:
            self.problems.extend(problems_of(self.value))
            return None
        value = self.value.get(key)
        return None if value is None else self._child(key, value)

    def require(self, key: str, hint: str) -> Node | None:
        """As `get`, but an absent key is a problem; the hint says what to write."""
        child = self.get(key)
        if child is None:
            self.add_problem("missing-key", self._with_location(f"{key} is missing."), hint)
        return child

    def items(self, *, one_or_many: bool = False) -> Iterator[Node]:
        """The elements of a list. With `one_or_many`, any other value is its own only element."""
        if type(self.value) is list:
            for index, value in enumerate(self.value):
                yield self._child(index, value)
        elif one_or_many:
            yield self
        else:
            self._add_list_problem()

    def entries(self) -> Iterator[tuple[str, Node]]:
        """Every key with its value, null too."""
        if self._is_mapping():
            for key, value in self.value.items():
                yield key, self._child(key, value)

    def mapping(self, *, hint: str = "") -> dict[str, Any] | None:
        return self.value if self._is_mapping(hint) else None

    def sequence(self) -> list[Any] | None:
        if type(self.value) is list:
            return self.value
        self._add_list_problem()
        return None

    def text(self, *, empty: bool = False, hint: str = "") -> str | None:
        """The text. An empty one is a problem unless `empty` allows it."""
        if type(self.value) is not str:
            self._add_type_problem("text", hint or self._quote_hint())
            return None
        if not self.value and not empty:
            self.add_problem("empty", self._with_location("the text is empty."), hint)
            return None
        return self.value

    def texts(self, *, empty: bool = False) -> tuple[str, ...] | None:
        """One text or a list of texts; None if any of them is not text."""
        found = [item.text(empty=empty) for item in self.items(one_or_many=True)]
        texts = tuple(text for text in found if text is not None)
        return texts if len(texts) == len(found) else None

    def some_texts(self, hint: str = "") -> tuple[str, ...] | None:
        """As `texts`, but an empty list is a problem: a guard that lists nothing would never act."""
        found = self.texts()
        if found != ():
            return found
        self.add_problem("empty", self._with_location("the list is empty."), hint)
        return None

    def number(self, *, least: float | None = None, most: float | None = None, hint: str = "") -> int | float | None:
        """A finite number. True and false are not numbers."""
        if type(self.value) not in (int, float) or not math.isfinite(self.value):
            self._add_type_problem("a number", self._unquote_hint() or hint)
            return None
        return self.value if self._check_range(least, most, hint) else None

    def integer(self, *, least: int | None = None, most: int | None = None, hint: str = "") -> int | None:
        """A whole number. As in JSON Schema, 1.0 is one."""
        whole = type(self.value) is int or (type(self.value) is float and self.value.is_integer())
        if not whole:
            self._add_type_problem("a whole number", self._unquote_hint() or hint)
            return None
        return int(self.value) if self._check_range(least, most, hint) else None

    def flag(self, *, hint: str = "") -> bool | None:
        if type(self.value) is not bool:
            meant = _FLAG_WORDS.get(self.value.lower()) if type(self.value) is str else None
            self._add_type_problem("true or false", f"Write {meant}." if meant else hint)
            return None
        return self.value

    def one_of(self, words: Collection[str], *, hint: str = "") -> str | None:
        if type(self.value) is str and self.value in words:
            return self.value
        may_guess = type(self.value) is str and len(self.problems) < MAX_GUESSES
        guess = closest_match(self.value, words) if may_guess else None
        suggestion = f"Did you mean {guess}?" if guess else ""
        what = f"{format_value(self.value)} is not one of: {', '.join(sorted(words))}."
        self.add_problem("unknown-word", self._with_location(what), hint or suggestion)
        return None

    def duration(self, *, is_long: bool = False) -> timedelta | None:
        """A text such as `10s`. It may be more than a day only if it may be long."""
        text = self.value
        if type(text) in (int, float):
            hint = f"Write {format_value(text)}s for seconds or {format_value(text)}ms for milliseconds."
            self._add_type_problem("a duration: it has no unit", hint)
            return None
        if type(text) is not str:
            self._add_type_problem("a duration", "Write a number and a unit: 500ms, 10s, 2m or 1h.")
            return None
        try:
            return parse_duration(text, is_long=is_long)
        except ValueError as error:
            what, _, hint = str(error).partition("; ")
            self.add_problem("wrong-type", self._with_location(f"{what}."), f"{hint[:1].upper()}{hint[1:]}.")
            return None

    def add_problem(
        self, code: str, what: str, hint: str = "", *, at_key: bool = False, severity: Severity = Severity.ERROR
    ) -> None:
        syntax_problems = problems_of(self.value)
        if syntax_problems:
            self.problems.extend(syntax_problems)
            return
        line = self.document.key_line(self.path) if at_key else self.document.line(self.path)
        found = Problem(code, self.document.file, line, what, hint, severity)
        if found not in self.problems[-1:]:  # reading a value twice reports it once
            self.problems.append(found)

    def _child(self, step: str | int, value: Any) -> Node:
        return Node(self.document, (*self.path, step), self.problems, value)

    def _is_mapping(self, hint: str = "") -> bool:
        if type(self.value) is dict:
            return True
        if self.document.is_json:
            self._add_type_problem("an object", hint or 'Write keys and values: {"key": "value"}.')
        else:
            self._add_type_problem("a mapping", hint or "Write keys and values: {key: value}.")
        return False

    def _add_list_problem(self) -> None:
        if self.document.is_json:
            self._add_type_problem("an array", "Put it in [ ].")
        else:
            self._add_type_problem("a list", "Put it in [ ], or start each element with -.")

    def _add_unknown_key(self, key: str, known: Collection[str], what: str, hint: str) -> None:
        guess = closest_match(key, known) if not hint and len(self.problems) < MAX_GUESSES else None
        text = self._with_location(f"{format_value(key)} is not a key of {what}.")
        if not hint and guess:
            hint = f"Did you mean {guess}?" + (f" {_list_all(known)}" if len(known) <= MAX_LISTED else "")
        self._child(key, None).add_problem("unknown-key", text, hint or self._list_known(key, known), at_key=True)

    def _list_known(self, key: str, known: Collection[str]) -> str:
        """Of many keys, those that are most like this one."""
        if len(known) <= MAX_LISTED:
            return _list_all(known)
        if len(self.problems) >= MAX_GUESSES:
            return ""
        return f"Known, among others: {', '.join(closest_words(key, sorted(set(known)), MAX_SUGGESTED))}."

    def _check_range(self, least: float | None, most: float | None, hint: str) -> bool:
        if least is not None and self.value < least:
            self.add_problem(
                "out-of-range", self._with_location(f"{format_value(self.value)} is less than {least}."), hint
            )
            return False
        if most is not None and self.value > most:
            self.add_problem(
                "out-of-range", self._with_location(f"{format_value(self.value)} is more than {most}."), hint
            )
            return False
        return True

    def _add_type_problem(self, wanted: str, hint: str) -> None:
        self.add_problem("wrong-type", self._with_location(f"{format_value(self.value)} is not {wanted}."), hint)

    def _with_location(self, what: str) -> str:
        return f"{self.location}: {what}" if self.path else what

    def _unquote_hint(self) -> str:
        is_quoted = type(self.value) is str and _QUOTED_NUMBER.fullmatch(self.value)
        return f"Write {self.value} without quotes." if is_quoted else ""

    def _quote_hint(self) -> str:
        if self.value is None or isinstance(self.value, (dict, list)):
            return "Write text."
        return f'Quote it: "{format_value(self.value)}".'


def _list_all(known: Collection[str]) -> str:
    return f"Known: {', '.join(sorted(set(known)))}."


def enclosing_hook_id(at: Node) -> str:
    """The id of the hook that contains this value; if it has none, the value's file and line."""
    value, id = at.document.value, ""
    for step in at.path:
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            id = value["id"]
        value = value[step]
    return id or f"{at.document.file}:{at.line}"


def format_path(path: KeyPath) -> str:
    place = ""
    for step in path:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            name = step if _PLAIN_KEY.fullmatch(step) else format_value(step)
            place += f".{name}" if place else name
    return place


def format_value(value: Any) -> str:
    """The value as JSON, cut at 60 characters. Only that much is rendered."""
    if isinstance(value, str):
        value = value[: MAX_SHOWN_LENGTH + 1]
    text = "".join(islice(json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value), MAX_SHOWN_LENGTH))
    return shorten(text)
