"""The parser that all regex syntaxes share: alternations, sequences, repetitions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NoReturn

from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.syntax_tree import BadPattern, LookAround, RegexNode, Repeat, make_alternation, make_sequence

MAX_GROUP_DEPTH = 100
UNBOUNDED_COUNT = 1_000_000_000
"""No text is long enough to distinguish so many repetitions from unlimited ones."""
_BRACES = lazy_pattern(r"\{([0-9]{1,1000})(,([0-9]{0,1000}))?\}")


@dataclass(frozen=True, slots=True)
class Flags:
    any_case: bool = False
    many_lines: bool = False
    dot_all: bool = False
    lazy: bool = False

    def with_letters(self, letters: str, to: bool) -> Flags:
        names = {"i": "any_case", "m": "many_lines", "s": "dot_all", "U": "lazy"}
        return replace(self, **{names[letter]: to for letter in letters})


class Parser(ABC):
    """Parses one source once. A subclass adds the atoms, escapes and classes of its syntax."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.depth = 0
        self.flags = Flags()
        self.group_count = 0

    @abstractmethod
    def atom(self) -> RegexNode | None:
        """The next part that may be repeated; None if it only changed the flags."""

    def parse(self) -> RegexNode:
        tree = self.alternation()
        if self.at < len(self.source):
            self.fail("there is a ) without its (")
        return tree

    def alternation(self) -> RegexNode:
        """Flags set inside a group end with it."""
        if self.depth > MAX_GROUP_DEPTH:
            self.fail(f"it is nested deeper than {MAX_GROUP_DEPTH} levels")
        self.depth += 1
        flags, options = self.flags, [self.branch()]
        while self.take("|"):
            options.append(self.branch())
        self.flags = flags
        self.depth -= 1
        return make_alternation(options)

    def branch(self) -> RegexNode:
        parts: list[RegexNode] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            start = self.at
            atom = self.atom()
            if atom is not None:
                parts.append(self.repetition(atom, start))
        return make_sequence(parts)

    def repetition(self, atom: RegexNode, start: int) -> RegexNode:
        bounds = self.quantifier()
        if bounds is None:
            return atom
        if not self.may_repeat(start):
            self.fail("nothing to repeat", start)
        least, most = bounds
        if most is not None and least > most:
            self.fail("the numbers of a repetition are out of order", start)
        if most is not None and most >= UNBOUNDED_COUNT:
            most = None
        lazy = self.take("?") != self.flags.lazy
        if self.quantifier() is not None:
            self.fail("a repetition cannot be repeated")
        return Repeat(atom, least, most, lazy)

    def may_repeat(self, start: int) -> bool:
        """Whether the part that begins at `start` may be repeated."""
        return True

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        braces = self.match_braces()
        if braces is None:
            return None
        self.at = braces.end()
        least, comma, most = braces.groups()
        return int(least), int(most) if most else None if comma else int(least)

    def match_braces(self) -> re.Match[str] | None:
        return _BRACES.match(self.source, self.at)

    def group_body(self) -> RegexNode:
        """Everything up to and including the closing parenthesis."""
        start = self.at
        inner = self.alternation()
        if not self.take(")"):
            self.fail("a ( is not closed", start - 1)
        return inner

    def lookaround(self) -> LookAround | None:
        for sign, ahead, negative in (("(?=", 1, 0), ("(?!", 1, 1), ("(?<=", 0, 0), ("(?<!", 0, 1)):
            if self.take(sign):
                return LookAround(self.group_body(), bool(ahead), bool(negative))
        return None

    def take(self, text: str) -> bool:
        if not self.source.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def next(self) -> str:
        character = self.peek()
        self.at += 1
        return character

    def number(self, digits: str, base: int, width: int) -> int | None:
        """Exactly `width` digits; takes nothing if there are fewer."""
        text = self.source[self.at : self.at + width]
        if len(text) < width or not set(text) <= set(digits):
            return None
        self.at += width
        return int(text, base)

    def fail(self, why: str, position: int | None = None) -> NoReturn:
        raise BadPattern(why, self.at if position is None else position)
