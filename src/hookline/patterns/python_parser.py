r"""Python's `re` syntax, as far as it can be searched in time.

`\d`, `\w` and `\s` match Unicode, as in Python; `\b` is a boundary of ASCII words. Verbose patterns are refused, as are
conditional, atomic and possessive groups.
"""

from __future__ import annotations

import re
from functools import cache
from typing import ClassVar

from hookline.lazy_imports import lazy_pattern
from hookline.patterns import syntax_tree
from hookline.patterns.re2_parser import Re2Parser
from hookline.patterns.syntax_tree import Boundary, CharacterSet, Ranges, RegexNode

_UP_TO = lazy_pattern(r"\{(),([0-9]{1,1000})\}")
_FLAGS = lazy_pattern(r"\(\?([aimsu]{1,9})\)")
_COMMENT = lazy_pattern(r"\(\?#[^)]*\)")
_CODE = lazy_pattern(r"u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})")
_OCTAL = lazy_pattern("0[0-7]{0,2}|[1-3][0-7][0-7]")
_LAST_ALPHANUMERIC = 0x32FFF


def parse(source: str) -> RegexNode:
    return PythonParser(source).parse()


class PythonParser(Re2Parser):
    name_openings: ClassVar[tuple[str, ...]] = (r"\(\?P<",)
    octal: ClassVar[re.Pattern[str]] = _OCTAL
    boundaries: ClassVar[dict[str, Boundary]] = {
        "A": Boundary.TEXT_START,
        "Z": Boundary.TEXT_END,
        "b": Boundary.WORD,
        "B": Boundary.NOT_WORD,
    }

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.ascii = False
        if flags := _FLAGS.match(source):
            self.at = flags.end()
            self.ascii = "a" in flags[1]
            self.flags = self.flags.with_letters("".join(set(flags[1]) & set("ims")), True)

    def end_boundary(self) -> Boundary:
        return Boundary.LAST_LINE_END

    def group(self) -> RegexNode | None:
        if comment := _COMMENT.match(self.source, self.at):
            self.at = comment.end()
            return None
        return super().group()

    def flag_group(self, flags: re.Match[str]) -> RegexNode | None:
        if flags[3] == ")" or "U" in flags[0]:
            self.fail("flags for the whole pattern must be at its start")
        return super().flag_group(flags)

    def quantifier(self) -> tuple[int, int | None] | None:
        if up_to := _UP_TO.match(self.source, self.at):
            self.at = up_to.end()
            return 0, int(up_to[2])
        return super().quantifier()

    def quoted_text(self) -> RegexNode | None:
        self.fail(f"\\{self.peek()} is not a known escape")

    def unicode_property(self) -> None:
        return None

    def posix_class(self) -> None:
        return None

    def class_ranges(self, letter: str) -> Ranges:
        return super().class_ranges(letter) if self.ascii else _unicode_class(letter)

    def escape_code(self, start: int) -> int:
        if found := _CODE.match(self.source, self.at):
            self.at = found.end()
            code = int(found[1] or found[2] or found[3], 16)
            return code if code <= syntax_tree.LAST_CODE_POINT else self.fail("there is no such character", start)
        if self.peek() == "x":
            self.fail("\\x needs two hexadecimal digits", start)
        return super().escape_code(start)

    def set_member(self) -> CharacterSet:
        return CharacterSet(((8, 8),)) if self.take("\\b") else super().set_member()


@cache
def _unicode_class(letter: str) -> Ranges:
    """Taken from Python itself, whose version decides about Unicode."""
    if letter == "s":
        return syntax_tree.PYTHON_SPACE
    characters = "".join(map(chr, range(_LAST_ALPHANUMERIC)))
    return tuple((found.start(), found.end() - 1) for found in re.finditer(rf"\{letter}+", characters))
