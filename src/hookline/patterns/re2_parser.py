"""RE2's syntax, with look-around and back-references added. https://github.com/google/re2/wiki/Syntax

RE2 itself compiles what it accepts. This parser handles what RE2 refuses, and helps to estimate a pattern's cost.
"""

from __future__ import annotations

import re
from typing import ClassVar

from hookline.lazy_imports import lazy_pattern
from hookline.patterns import syntax_tree
from hookline.patterns.parser import Parser
from hookline.patterns.syntax_tree import (
    BackReference,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    Ranges,
    RegexNode,
    children,
    complement,
    fold_case_re2,
    union,
    with_other_cases,
)

_CONTROL_ESCAPES = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_HEX = lazy_pattern(r"x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}")
_PROPERTY = lazy_pattern(r"([pP])(?:\{(\^?)([A-Za-z_]{1,40})\}|([A-Z]))")
_POSIX = lazy_pattern(r"\[:(\^?)([a-z]+):\]")
_NAME = r"([A-Za-z_][A-Za-z0-9_]{0,99})"
_FLAGS = lazy_pattern(r"\(\?([imsU]{0,9})(-[imsU]{1,9})?([:)])")

_POSIX_SETS: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0, 0x7F),),
    "blank": ((9, 9), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": syntax_tree.DIGITS,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((9, 13), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": syntax_tree.WORD_CHARACTERS,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


def parse(source: str) -> RegexNode:
    return Re2Parser(source).parse()


class Re2Parser(Parser):
    name_openings: ClassVar[tuple[str, ...]] = (r"\(\?P<", r"\(\?<")
    octal: ClassVar[re.Pattern[str]] = lazy_pattern("0[0-7]{0,2}|[1-7][0-7]{1,2}")
    boundaries: ClassVar[dict[str, Boundary]] = {
        "A": Boundary.TEXT_START,
        "z": Boundary.TEXT_END,
        "b": Boundary.WORD,
        "B": Boundary.NOT_WORD,
    }

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.names: dict[str, int] = {}

    def parse(self) -> RegexNode:
        tree = super().parse()
        for number in _reference_numbers(tree):
            if number > self.group_count:
                self.fail(f"there is no group {number}", 0)
        return tree

    def atom(self) -> RegexNode | None:
        start = self.at
        if self.peek() in "*+?":
            self.fail("nothing to repeat")
        if self.peek() == "(":
            return self.group()
        character = self.next()
        match character:
            case "^" | "$":
                return self.anchor(character)
            case ".":
                return CharacterSet(
                    syntax_tree.ALL_CHARACTERS if self.flags.dot_all else complement(syntax_tree.NEWLINE)
                )
            case "[":
                return self.character_set(start)
            case "\\":
                return self.escape(start)
            case _:
                return CharacterSet(self.fold_case(_single_range(ord(character))))

    def anchor(self, sign: str) -> RegexNode:
        if self.flags.many_lines:
            return LookAround(CharacterSet(complement(syntax_tree.NEWLINE)), ahead=sign == "$", negative=True)
        return Boundary.TEXT_START if sign == "^" else self.end_boundary()

    def end_boundary(self) -> Boundary:
        return Boundary.TEXT_END

    def group(self) -> RegexNode | None:
        start = self.at
        if look := self.lookaround():
            return look
        if flags := _FLAGS.match(self.source, self.at):
            return self.flag_group(flags)
        if name := self.match("(?:" + "|".join(self.name_openings) + ")" + _NAME + ">"):
            return self.capturing_group(name[1], start)
        if back := self.match(r"\(\?P=" + _NAME + r"\)"):
            return self.named_reference(back[1], start)
        if self.source.startswith("(?", self.at):
            self.fail("this kind of group is not supported")
        self.at += 1
        return self.capturing_group("", start)

    def match(self, expression: str) -> re.Match[str] | None:
        found = re.compile(expression).match(self.source, self.at)
        if found:
            self.at = found.end()
        return found

    def capturing_group(self, name: str, start: int) -> RegexNode:
        self.group_count += 1
        number = self.group_count
        if name in self.names:
            self.fail(f"two groups are named {name}", start)
        if name:
            self.names[name] = number
        return Group(self.group_body(), number)

    def flag_group(self, flags: re.Match[str]) -> RegexNode | None:
        if not (flags[1] or flags[2] or flags[3] == ":"):
            self.fail("there is no flag in this group")
        self.at = flags.end()
        before = self.flags
        self.flags = before.with_letters(flags[1], True).with_letters((flags[2] or "-")[1:], False)
        if flags[3] == ")":
            if self.quantifier() is not None:  # RE2 repeats what is before the flags, which nobody expects
                self.fail("a repetition after flags")
            return None
        inner = self.group_body()
        self.flags = before
        return inner

    def named_reference(self, name: str, start: int) -> RegexNode:
        if name not in self.names:
            self.fail(f"there is no group named {name} before this", start)
        return self.reference(self.names[name])

    def reference(self, number: int) -> RegexNode:
        return BackReference((number,), self.flags.any_case, unset_is_empty=False)

    def escape(self, start: int) -> RegexNode | None:
        if self.peek() in self.boundaries:
            return self.boundaries[self.next()]
        if back := self.match("k<" + _NAME + ">"):
            return self.named_reference(back[1], start)
        if self.peek() in ("Q", "E"):
            return self.quoted_text()
        if not self.octal.match(self.source, self.at) and (digits := self.match("[1-9][0-9]?")):
            return self.reference(int(digits[0]))
        return self.character_escape(start)

    def quoted_text(self) -> RegexNode | None:
        r"""\Q…\E, one character at a time, so that a repetition after it repeats the last one only."""
        if self.next() == "E":
            self.fail("there is a \\E without its \\Q")
        text, _, rest = self.source[self.at :].partition("\\E")
        self.source = self.source[: self.at] + "".join(f"\\x{{{ord(character):x}}}" for character in text) + rest
        return None

    def character_escape(self, start: int) -> CharacterSet:
        letter = self.peek()
        if not letter:
            self.fail("a \\ at the end escapes nothing", start)
        return (
            self.class_escape()
            or self.unicode_property()
            or CharacterSet(self.fold_case(_single_range(self.escape_code(start))))
        )

    def class_escape(self) -> CharacterSet | None:
        letter = self.peek()
        if letter not in ("d", "w", "s", "D", "W", "S"):
            return None
        self.at += 1
        ranges = self.fold_case(self.class_ranges(letter.lower()))
        return CharacterSet(complement(ranges) if letter.isupper() else ranges)

    def class_ranges(self, letter: str) -> Ranges:
        return {"d": syntax_tree.DIGITS, "w": syntax_tree.WORD_CHARACTERS, "s": syntax_tree.RE2_SPACE}[letter]

    def unicode_property(self) -> CharacterSet | None:
        found = _PROPERTY.match(self.source, self.at)
        if not found:
            return None
        if self.flags.any_case:
            self.fail("a Unicode class cannot ignore case together with look-around or back-references")
        self.at = found.end()
        negative = (found[1] == "P") != bool(found[2])
        return CharacterSet((), (f"\\{'P' if negative else 'p'}{{{found[3] or found[4]}}}",))

    def escape_code(self, start: int) -> int:
        """The character that an escape stands for."""
        if found := _HEX.match(self.source, self.at):
            self.at = found.end()
            code = int(found[1] or found[2], 16)
            return code if code <= syntax_tree.LAST_CODE_POINT else self.fail("there is no such character", start)
        if found := self.octal.match(self.source, self.at):
            self.at = found.end()
            return int(found[0], 8)
        letter = self.next() or self.fail("a \\ at the end escapes nothing", start)
        if letter in _CONTROL_ESCAPES:
            return _CONTROL_ESCAPES[letter]
        if letter.isalnum() and letter.isascii():
            self.fail(f"\\{letter} is not a known escape", start)
        return ord(letter)

    def character_set(self, start: int) -> CharacterSet:
        negated = self.take("^")
        ranges: list[Ranges] = []
        properties: list[str] = []
        first = True
        while first or not self.take("]"):
            first = False
            if self.at >= len(self.source):
                self.fail("a [ is not closed", start)
            member = self.set_member()
            ranges.append(member.ranges)
            properties += member.properties
        return CharacterSet(union(*ranges), tuple(properties), negated)

    def set_member(self) -> CharacterSet:
        start = self.at
        if posix := self.posix_class():
            return posix
        low = self.set_character()
        if isinstance(low, CharacterSet):
            return low
        if self.peek() != "-" or self.source[self.at + 1 : self.at + 2] in ("", "]"):
            return CharacterSet(self.fold_case(_single_range(low)))
        self.at += 1
        high = self.set_character()
        if isinstance(high, CharacterSet) or high < low:
            self.fail("a range of characters is out of order", start)
        return CharacterSet(self.fold_case(((low, high),)))

    def posix_class(self) -> CharacterSet | None:
        found = _POSIX.match(self.source, self.at)
        if not found:
            return None
        if found[2] not in _POSIX_SETS:
            self.fail(f"there is no class {found[0]}")
        self.at = found.end()
        ranges = self.fold_case(_POSIX_SETS[found[2]])
        return CharacterSet(complement(ranges) if found[1] else ranges)

    def set_character(self) -> int | CharacterSet:
        start = self.at
        character = self.next()
        if character != "\\":
            return ord(character) if character else self.fail("a [ is not closed", start)
        return self.class_escape() or self.unicode_property() or self.escape_code(start)

    def fold_case(self, ranges: Ranges) -> Ranges:
        """RE2 adds other cases to each class before it negates it, and to no negated one."""
        return with_other_cases(ranges, fold_case_re2) if self.flags.any_case else ranges


def _single_range(code: int) -> Ranges:
    return ((code, code),)


def _reference_numbers(node: RegexNode) -> list[int]:
    if isinstance(node, BackReference):
        return list(node.groups)
    return [number for child in children(node) for number in _reference_numbers(child)]
