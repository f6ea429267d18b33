r"""Python's `re` syntax, as far as it can be answered in time.

`\d`, `\w` and `\s` know Unicode, as they do in Python; `\b` is a border between ASCII word characters.
Verbose patterns, conditional, atomic and possessive ones are refused.
"""

from __future__ import annotations

import re
from functools import cache
from typing import ClassVar

from hookline.patterns import charset
from hookline.patterns.charset import Ranges
from hookline.patterns.native import Native
from hookline.patterns.tree import Chars, Edge, Node

_UP_TO = re.compile(r"\{(),([0-9]{1,1000})\}")
_FLAGS = re.compile(r"\(\?([aimsu]{1,9})\)")
_COMMENT = re.compile(r"\(\?#[^)]*\)")
_CODE = re.compile(r"u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})")
_OCTAL = re.compile("0[0-7]{0,2}|[1-3][0-7][0-7]")
_LAST_ALPHANUMERIC = 0x32FFF


def parse(source: str) -> Node:
    return Python(source).parse()


class Python(Native):
    name_openings: ClassVar[tuple[str, ...]] = (r"\(\?P<",)
    octal: ClassVar[re.Pattern[str]] = _OCTAL
    edges: ClassVar[dict[str, Edge]] = {
        "A": Edge.TEXT_START,
        "Z": Edge.TEXT_END,
        "b": Edge.WORD,
        "B": Edge.NOT_WORD,
    }

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.ascii = False
        if flags := _FLAGS.match(source):
            self.at = flags.end()
            self.ascii = "a" in flags[1]
            self.flags = self.flags.changed("".join(set(flags[1]) & set("ims")), True)

    def end(self) -> Edge:
        return Edge.LAST_LINE_END

    def group(self) -> Node | None:
        if comment := _COMMENT.match(self.source, self.at):
            self.at = comment.end()
            return None
        return super().group()

    def flagged(self, flags: re.Match[str]) -> Node | None:
        if flags[3] == ")" or "U" in flags[0]:
            self.fail("flags for the whole pattern stand at its beginning")
        return super().flagged(flags)

    def quantifier(self) -> tuple[int, int | None] | None:
        if up_to := _UP_TO.match(self.source, self.at):
            self.at = up_to.end()
            return 0, int(up_to[2])
        return super().quantifier()

    def quoted(self) -> Node | None:
        self.fail(f"\\{self.peek()} means nothing")

    def property(self) -> None:
        return None

    def posix(self) -> None:
        return None

    def class_ranges(self, letter: str) -> Ranges:
        return super().class_ranges(letter) if self.ascii else _unicode_class(letter)

    def code(self, start: int) -> int:
        if found := _CODE.match(self.source, self.at):
            self.at = found.end()
            code = int(found[1] or found[2] or found[3], 16)
            return code if code <= charset.LAST else self.fail("there is no such character", start)
        if self.peek() == "x":
            self.fail("\\x needs two hexadecimal digits", start)
        return super().code(start)

    def member(self) -> Chars:
        return Chars(((8, 8),)) if self.take("\\b") else super().member()


@cache
def _unicode_class(letter: str) -> Ranges:
    """Asked of Python itself, whose version says which Unicode it knows."""
    if letter == "s":
        return charset.PYTHON_SPACE
    characters = "".join(map(chr, range(_LAST_ALPHANUMERIC)))
    return tuple((found.start(), found.end() - 1) for found in re.finditer(rf"\{letter}+", characters))
