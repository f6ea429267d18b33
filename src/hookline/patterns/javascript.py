"""JavaScript's `new RegExp(source)` without flags, read as ECMAScript 2025 with its Annex B says.

JavaScript sees a text as UTF-16 units. A surrogate stands here where hookline.patterns.searchable puts it.
"""

from __future__ import annotations

import re

from hookline.patterns import charset
from hookline.patterns.charset import Ranges, complement, fold_as_javascript, union, with_other_cases
from hookline.patterns.groups import resolved
from hookline.patterns.parser import Parser
from hookline.patterns.searchable import SURROGATE_OFFSET
from hookline.patterns.tree import EMPTY, Chars, Edge, Group, Look, Node, Reference, Repeat, Sequence

_CLASSES = {"d": charset.DIGITS, "w": charset.WORD, "s": charset.JAVASCRIPT_SPACE}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_HEX = "0123456789abcdefABCDEF"
_OCTAL = re.compile("[0-3][0-7]{0,2}|[4-7][0-7]?")
_DECIMAL = re.compile("[1-9][0-9]{0,1000}")
_NAME = re.compile(r"((?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,8}\}|[^\\>()])+)>")
_MODIFIERS = re.compile(r"\(\?([ims]{0,3})(-[ims]{0,3})?:")


def parse(source: str) -> Node:
    reader = JavaScript(in_units(source))
    tree = reader.parse()
    return resolved(tree, reader.groups_by_mention())


def in_units(source: str) -> str:
    """The source as UTF-16 units, a character each."""
    if source.isascii():
        return source
    units = source.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[index] | units[index + 1] << 8) for index in range(0, len(units), 2))


class JavaScript(Parser):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.all_groups, self.has_names = _groups_ahead(source)
        self.branch_path: tuple[int, ...] = ()
        self.names: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
        self.mentions: list[tuple[str, int]] = []

    def groups_by_mention(self) -> dict[int, tuple[int, ...]]:
        """A `\\k<name>` may stand before its group, so it is read as a negative number and looked up at the end."""
        found: dict[int, tuple[int, ...]] = {}
        for index, (name, position) in enumerate(self.mentions, 1):
            if name not in self.names:
                self.fail(f"there is no group named {name}", position)
            found[-index] = tuple(number for number, _ in self.names[name])
        return found

    def choice(self) -> Node:
        path = self.branch_path
        self.branch_path = (*path, self.at, 0)
        tree = super().choice()
        self.branch_path = path
        return tree

    def branch(self) -> Node:
        self.branch_path = (*self.branch_path[:-1], self.branch_path[-1] + 1)
        return super().branch()

    def may_repeat(self, start: int) -> bool:
        return not self.source.startswith(("^", "$", "\\b", "\\B", "(?<=", "(?<!"), start)

    def repeated(self, atom: Node, start: int) -> Node:
        repeated = super().repeated(atom, start)
        if not isinstance(repeated, Repeat):
            return repeated
        if repeated.most == 0 or (repeated.least == 0 and isinstance(atom, Look)):
            return EMPTY  # a round that takes nothing is undone
        return atom if isinstance(atom, Look) else repeated

    def atom(self) -> Node:
        start = self.at
        if self.peek() == "(":
            return self.group()
        if self.peek() in "*+?" or self.braces():
            self.fail("nothing to repeat")
        character = self.next()
        match character:
            case "^" | "$":
                return self.edge(character)
            case ".":
                return Chars(charset.EVERYTHING if self.flags.dot_all else complement(charset.JAVASCRIPT_LINE_ENDS))
            case "[":
                return self.set_of_characters(start)
            case "\\":
                return self.escape(start)
            case _:
                return self.chars(_one(ord(character)))

    def edge(self, sign: str) -> Node:
        if self.flags.many_lines:
            return Look(Chars(complement(charset.JAVASCRIPT_LINE_ENDS)), ahead=sign == "$", negative=True)
        return Edge.TEXT_START if sign == "^" else Edge.TEXT_END

    def group(self) -> Node:
        start = self.at
        look = self.look()
        if look:
            return look
        if modifiers := _MODIFIERS.match(self.source, self.at):
            return self.modified(modifiers)
        if self.take("(?<"):
            return self.named_group(start)
        if self.source.startswith("(?", self.at):
            self.fail("this kind of group does not exist")
        self.at += 1
        self.group_count += 1
        number = self.group_count
        return Group(self.grouped(), number)

    def modified(self, modifiers: re.Match[str]) -> Node:
        on, off = modifiers[1], (modifiers[2] or "")[1:]
        if len(set(on + off)) < len(on + off) or (modifiers[2] and not on + off):
            self.fail("these modifiers are empty or repeated")
        self.at = modifiers.end()
        flags = self.flags
        self.flags = flags.changed(on, True).changed(off, False)
        inner = self.grouped()
        self.flags = flags
        return Sequence((inner,))  # so that a look-ahead in a group is repeated like any group

    def named_group(self, start: int) -> Node:
        name = self.name()
        if name is None:
            self.fail("a group's name cannot be read", start)
        self.group_count += 1
        number = self.group_count
        if any(not _exclude_each_other(path, self.branch_path) for _, path in self.names.get(name, [])):
            self.fail(f"two groups are named {name}", start)
        self.names.setdefault(name, []).append((number, self.branch_path))
        return Group(self.grouped(), number)

    def name(self) -> str | None:
        found = _NAME.match(self.source, self.at)
        if not found:
            return None
        written = re.sub(r"\\u\{?([0-9a-fA-F]+)\}?", lambda code: chr(min(int(code[1], 16), charset.LAST)), found[1])
        name = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if not name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier():
            return None
        self.at = found.end()
        return name

    def escape(self, start: int) -> Node:
        letter = self.peek()
        if not letter:
            self.fail("a \\ at the end escapes nothing", start)
        if letter in "bB":
            self.at += 1
            return Edge.WORD if letter == "b" else Edge.NOT_WORD
        if letter == "k" and self.has_names:
            return self.named_reference(start)
        digits = _DECIMAL.match(self.source, self.at)
        if digits and int(digits[0]) <= self.all_groups:
            self.at = digits.end()
            return Reference((int(digits[0]),), self.flags.any_case, unset_is_empty=True)
        return self.chars(self.character_escape(in_class=False))

    def named_reference(self, start: int) -> Node:
        self.at += 1
        name = self.name() if self.take("<") else None
        if name is None:
            self.fail("\\k needs a group's name in < >", start)
        self.mentions.append((name, start))
        return Reference((-len(self.mentions),), self.flags.any_case, unset_is_empty=True)

    def character_escape(self, in_class: bool) -> Ranges:
        """After the backslash. Without the `u` flag whatever means nothing else means itself."""
        octal = _OCTAL.match(self.source, self.at)
        if octal:
            self.at = octal.end()
            return _one(int(octal[0], 8))
        letter = self.next()
        if letter.lower() in _CLASSES:
            ranges = _CLASSES[letter.lower()]
            return complement(ranges) if letter.isupper() else ranges
        if letter in _CONTROLS:
            return _one(_CONTROLS[letter])
        if letter == "c":
            return self.control(in_class)
        if letter in "xu":
            code = self.number(_HEX, 16, 2 if letter == "x" else 4)
            return _one(ord(letter) if code is None else code)
        return _one(ord(letter))

    def control(self, in_class: bool) -> Ranges:
        letter = self.peek()
        if letter.isascii() and (letter.isalpha() or (in_class and (letter.isdigit() or letter == "_"))):
            self.at += 1
            return _one(ord(letter) % 32)
        self.at -= 1
        return _one(ord("\\"))

    def set_of_characters(self, start: int) -> Node:
        negated = self.take("^")
        members: list[Ranges] = []
        while not self.take("]"):
            if self.at >= len(self.source):
                self.fail("a [ is not closed", start)
            low = self.member()
            if self.peek() == "-" and self.source[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                members.append(self.span(low, self.member()))
            else:
                members.append(low)
        return self.chars(union(*members), negated)

    def member(self) -> Ranges:
        if self.peek() != "\\":
            return _one(ord(self.next()))
        self.at += 1
        if not self.peek():
            self.fail("a \\ at the end escapes nothing")
        if self.take("b"):
            return _one(8)
        return self.character_escape(in_class=True)

    def span(self, low: Ranges, high: Ranges) -> Ranges:
        if not (_is_one(low) and _is_one(high)):  # [\d-z] is a digit, a hyphen or z
            return union(low, _one(ord("-")), high)
        if low[0][0] > high[0][0]:
            self.fail("a range of characters is out of order")
        return ((low[0][0], high[0][0]),)

    def chars(self, ranges: Ranges, negated: bool = False) -> Chars:
        if self.flags.any_case:
            ranges = with_other_cases(ranges, fold_as_javascript)
        ranges = _with_moved_surrogates(ranges)
        return Chars(complement(ranges) if negated else ranges)


def _groups_ahead(source: str) -> tuple[int, bool]:
    """How many groups there are, and whether one has a name: it decides what an escape means before they are read."""
    groups, named, at, in_class = 0, False, 0, False
    while at < len(source):
        if source[at] == "\\":
            at += 1
        elif in_class or source[at] == "[":
            in_class = source[at] != "]"
        elif source[at] == "(":
            with_name = source.startswith("(?<", at) and source[at + 3 : at + 4] not in ("=", "!")
            groups += with_name or not source.startswith("(?", at)
            named = named or with_name
        at += 1
    return groups, named


def _one(code: int) -> Ranges:
    return ((code, code),)


def _is_one(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _with_moved_surrogates(ranges: Ranges) -> Ranges:
    moved = [
        (max(low, 0xD800) + SURROGATE_OFFSET, min(high, 0xDFFF) + SURROGATE_OFFSET)
        for low, high in ranges
        if low <= 0xDFFF and high >= 0xD800
    ]
    return union(ranges, moved) if moved else ranges


def _exclude_each_other(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Two places, as (group, branch, group, branch, …), lie in different branches of the same choice."""
    for index in range(0, min(len(one), len(other)), 2):
        if one[index] != other[index]:
            return False
        if one[index + 1] != other[index + 1]:
            return True
    return False
