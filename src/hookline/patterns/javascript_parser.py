"""JavaScript's `new RegExp(source)` without flags, as in ECMAScript 2025 with Annex B.

JavaScript sees a text as UTF-16 units; surrogates are where hookline.patterns.encoding puts them. JavaScript also clears
the groups inside a repetition at each iteration, and the regex module does not. So a back-reference to a group that is
certainly unset becomes empty, and one that would read the value of an earlier iteration is refused.
"""

from __future__ import annotations

import re
from itertools import count

from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import lazy_pattern
from hookline.patterns import syntax_tree
from hookline.patterns.encoding import SURROGATE_OFFSET
from hookline.patterns.parser import Parser
from hookline.patterns.syntax_tree import (
    EMPTY_SEQUENCE,
    Alternation,
    BackReference,
    BadPattern,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    Ranges,
    RegexNode,
    Repeat,
    Sequence,
    children,
    complement,
    fold_case_javascript,
    union,
    with_other_cases,
)


@dataclass(frozen=True, slots=True)
class GroupPosition:
    order: int
    above: tuple[RegexNode, ...]


def resolve_references(tree: RegexNode, mentions: dict[int, tuple[int, ...]]) -> RegexNode:
    """The tree with references only to groups that may be set. `mentions`: the groups for each negative number."""
    places: dict[int, GroupPosition] = {}
    _locate_groups(tree, (), count(), places)
    return _rewrite_references(tree, (), count(), places, mentions)


def _locate_groups(
    node: RegexNode, above: tuple[RegexNode, ...], order: count[int], places: dict[int, GroupPosition]
) -> None:
    here = GroupPosition(next(order), above)
    if isinstance(node, Group):
        places[node.number] = here
    for child in children(node):
        _locate_groups(child, (*above, node), order, places)


def _rewrite_references(
    node: RegexNode,
    above: tuple[RegexNode, ...],
    order: count[int],
    places: dict[int, GroupPosition],
    mentions: dict[int, tuple[int, ...]],
) -> RegexNode:
    here = GroupPosition(next(order), above)
    if isinstance(node, BackReference):
        numbers = mentions.get(node.groups[0], node.groups)
        kept = tuple(number for number in numbers if number in places and _may_be_set(here, number, places[number]))
        return replace(node, groups=kept) if kept else EMPTY_SEQUENCE
    inner = [_rewrite_references(child, (*above, node), order, places, mentions) for child in children(node)]
    match node:
        case Sequence():
            return Sequence(tuple(inner))
        case Alternation():
            return Alternation(tuple(inner))
        case Repeat() | Group() | LookAround():
            return replace(node, part=inner[0])
        case _:
            return node


def _may_be_set(reference: GroupPosition, number: int, group: GroupPosition) -> bool:
    shared = 0
    while shared < min(len(reference.above), len(group.above)) and reference.above[shared] is group.above[shared]:
        shared += 1
    if any(isinstance(node, Group) and node.number == number for node in reference.above):
        return False
    looks = [node for node in group.above[:shared] if isinstance(node, LookAround)]
    backwards = bool(looks) and not looks[-1].ahead
    if (reference.order < group.order) is not backwards:
        return False
    apart = group.above[shared:]
    if any(isinstance(node, LookAround) and node.negative for node in apart):
        return False
    if shared and isinstance(group.above[shared - 1], Alternation):  # they are in different branches of it
        return False
    return not _may_keep_old_value(group, shared) or _fail_old_value(number)


def _may_keep_old_value(group: GroupPosition, shared: int) -> bool:
    """A later iteration may skip the group."""
    for index, node in enumerate(group.above):
        if not isinstance(node, Repeat):
            continue
        below = group.above[max(index + 1, shared) :]
        if any(isinstance(inner, LookAround) for inner in below):
            return True
        if node.most != 1 and any(_may_skip(inner) for inner in below):
            return True
    return False


def _may_skip(node: RegexNode) -> bool:
    return isinstance(node, Alternation) or (isinstance(node, Repeat) and node.least == 0)


def _fail_old_value(number: int) -> bool:
    raise BadPattern(f"the back-reference to group {number} would read the value of an earlier iteration")


_CLASSES = {"d": syntax_tree.DIGITS, "w": syntax_tree.WORD_CHARACTERS, "s": syntax_tree.JAVASCRIPT_SPACE}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_HEX = "0123456789abcdefABCDEF"
_OCTAL = lazy_pattern("[0-3][0-7]{0,2}|[4-7][0-7]?")
_DECIMAL = lazy_pattern("[1-9][0-9]{0,1000}")
_NAME = lazy_pattern(r"((?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,8}\}|[^\\>()])+)>")
_MODIFIERS = lazy_pattern(r"\(\?([ims]{0,3})(-[ims]{0,3})?:")


def parse(source: str) -> RegexNode:
    reader = JavaScriptParser(split_utf16_units(source))
    tree = reader.parse()
    return resolve_references(tree, reader.groups_by_mention())


def split_utf16_units(source: str) -> str:
    """The source as UTF-16 units, a character each."""
    if source.isascii():
        return source
    units = source.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[index] | units[index + 1] << 8) for index in range(0, len(units), 2))


class JavaScriptParser(Parser):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.all_groups, self.has_names = _count_groups(source)
        self.branch_path: tuple[int, ...] = ()
        self.names: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
        self.mentions: list[tuple[str, int]] = []

    def groups_by_mention(self) -> dict[int, tuple[int, ...]]:
        """A `\\k<name>` may come before its group, so it is parsed as a negative number and resolved at the end."""
        found: dict[int, tuple[int, ...]] = {}
        for index, (name, position) in enumerate(self.mentions, 1):
            if name not in self.names:
                self.fail(f"there is no group named {name}", position)
            found[-index] = tuple(number for number, _ in self.names[name])
        return found

    def alternation(self) -> RegexNode:
        path = self.branch_path
        self.branch_path = (*path, self.at, 0)
        tree = super().alternation()
        self.branch_path = path
        return tree

    def branch(self) -> RegexNode:
        self.branch_path = (*self.branch_path[:-1], self.branch_path[-1] + 1)
        return super().branch()

    def may_repeat(self, start: int) -> bool:
        return not self.source.startswith(("^", "$", "\\b", "\\B", "(?<=", "(?<!"), start)

    def repetition(self, atom: RegexNode, start: int) -> RegexNode:
        repeated = super().repetition(atom, start)
        if not isinstance(repeated, Repeat):
            return repeated
        if repeated.most == 0 or (repeated.least == 0 and isinstance(atom, LookAround)):
            return EMPTY_SEQUENCE  # an iteration that matches nothing is undone
        return atom if isinstance(atom, LookAround) else repeated

    def atom(self) -> RegexNode:
        start = self.at
        if self.peek() == "(":
            return self.group()
        if self.peek() in "*+?" or self.match_braces():
            self.fail("nothing to repeat")
        character = self.next()
        match character:
            case "^" | "$":
                return self.anchor(character)
            case ".":
                return CharacterSet(
                    syntax_tree.ALL_CHARACTERS if self.flags.dot_all else complement(syntax_tree.JAVASCRIPT_LINE_ENDS)
                )
            case "[":
                return self.character_set(start)
            case "\\":
                return self.escape(start)
            case _:
                return self.chars(_single_range(ord(character)))

    def anchor(self, sign: str) -> RegexNode:
        if self.flags.many_lines:
            return LookAround(
                CharacterSet(complement(syntax_tree.JAVASCRIPT_LINE_ENDS)), ahead=sign == "$", negative=True
            )
        return Boundary.TEXT_START if sign == "^" else Boundary.TEXT_END

    def group(self) -> RegexNode:
        start = self.at
        look = self.lookaround()
        if look:
            return look
        if modifiers := _MODIFIERS.match(self.source, self.at):
            return self.modifier_group(modifiers)
        if self.take("(?<"):
            return self.named_group(start)
        if self.source.startswith("(?", self.at):
            self.fail("this kind of group does not exist")
        self.at += 1
        self.group_count += 1
        number = self.group_count
        return Group(self.group_body(), number)

    def modifier_group(self, modifiers: re.Match[str]) -> RegexNode:
        on, off = modifiers[1], (modifiers[2] or "")[1:]
        if len(set(on + off)) < len(on + off) or (modifiers[2] and not on + off):
            self.fail("these modifiers are empty or repeated")
        self.at = modifiers.end()
        flags = self.flags
        self.flags = flags.with_letters(on, True).with_letters(off, False)
        inner = self.group_body()
        self.flags = flags
        return Sequence((inner,))  # so that a look-ahead in a group is repeated like any group

    def named_group(self, start: int) -> RegexNode:
        name = self.group_name()
        if name is None:
            self.fail("a group's name cannot be read", start)
        self.group_count += 1
        number = self.group_count
        if any(not _are_exclusive(path, self.branch_path) for _, path in self.names.get(name, [])):
            self.fail(f"two groups are named {name}", start)
        self.names.setdefault(name, []).append((number, self.branch_path))
        return Group(self.group_body(), number)

    def group_name(self) -> str | None:
        found = _NAME.match(self.source, self.at)
        if not found:
            return None
        written = re.sub(
            r"\\u\{?([0-9a-fA-F]+)\}?", lambda code: chr(min(int(code[1], 16), syntax_tree.LAST_CODE_POINT)), found[1]
        )
        name = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if not name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier():
            return None
        self.at = found.end()
        return name

    def escape(self, start: int) -> RegexNode:
        letter = self.peek()
        if not letter:
            self.fail("a \\ at the end escapes nothing", start)
        if letter in "bB":
            self.at += 1
            return Boundary.WORD if letter == "b" else Boundary.NOT_WORD
        if letter == "k" and self.has_names:
            return self.named_reference(start)
        digits = _DECIMAL.match(self.source, self.at)
        if digits and int(digits[0]) <= self.all_groups:
            self.at = digits.end()
            return BackReference((int(digits[0]),), self.flags.any_case, unset_is_empty=True)
        return self.chars(self.character_escape(in_class=False))

    def named_reference(self, start: int) -> RegexNode:
        self.at += 1
        name = self.group_name() if self.take("<") else None
        if name is None:
            self.fail("\\k needs a group's name in < >", start)
        self.mentions.append((name, start))
        return BackReference((-len(self.mentions),), self.flags.any_case, unset_is_empty=True)

    def character_escape(self, in_class: bool) -> Ranges:
        """After the backslash. Without the `u` flag whatever means nothing else means itself."""
        octal = _OCTAL.match(self.source, self.at)
        if octal:
            self.at = octal.end()
            return _single_range(int(octal[0], 8))
        letter = self.next()
        if letter.lower() in _CLASSES:
            ranges = _CLASSES[letter.lower()]
            return complement(ranges) if letter.isupper() else ranges
        if letter in _CONTROLS:
            return _single_range(_CONTROLS[letter])
        if letter == "c":
            return self.control_escape(in_class)
        if letter in "xu":
            code = self.number(_HEX, 16, 2 if letter == "x" else 4)
            return _single_range(ord(letter) if code is None else code)
        return _single_range(ord(letter))

    def control_escape(self, in_class: bool) -> Ranges:
        letter = self.peek()
        if letter.isascii() and (letter.isalpha() or (in_class and (letter.isdigit() or letter == "_"))):
            self.at += 1
            return _single_range(ord(letter) % 32)
        self.at -= 1
        return _single_range(ord("\\"))

    def character_set(self, start: int) -> RegexNode:
        negated = self.take("^")
        members: list[Ranges] = []
        while not self.take("]"):
            if self.at >= len(self.source):
                self.fail("a [ is not closed", start)
            low = self.set_member()
            if self.peek() == "-" and self.source[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                members.append(self.set_range(low, self.set_member()))
            else:
                members.append(low)
        return self.chars(union(*members), negated)

    def set_member(self) -> Ranges:
        if self.peek() != "\\":
            return _single_range(ord(self.next()))
        self.at += 1
        if not self.peek():
            self.fail("a \\ at the end escapes nothing")
        if self.take("b"):
            return _single_range(8)
        return self.character_escape(in_class=True)

    def set_range(self, low: Ranges, high: Ranges) -> Ranges:
        if not (_is_single(low) and _is_single(high)):  # [\d-z] is a digit, a hyphen or z
            return union(low, _single_range(ord("-")), high)
        if low[0][0] > high[0][0]:
            self.fail("a range of characters is out of order")
        return ((low[0][0], high[0][0]),)

    def chars(self, ranges: Ranges, negated: bool = False) -> CharacterSet:
        if self.flags.any_case:
            ranges = with_other_cases(ranges, fold_case_javascript)
        ranges = _move_surrogate_ranges(ranges)
        return CharacterSet(complement(ranges) if negated else ranges)


def _count_groups(source: str) -> tuple[int, bool]:
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


def _single_range(code: int) -> Ranges:
    return ((code, code),)


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _move_surrogate_ranges(ranges: Ranges) -> Ranges:
    moved = [
        (max(low, 0xD800) + SURROGATE_OFFSET, min(high, 0xDFFF) + SURROGATE_OFFSET)
        for low, high in ranges
        if low <= 0xDFFF and high >= 0xD800
    ]
    return union(ranges, moved) if moved else ranges


def _are_exclusive(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Two places, as (group, branch, group, branch, …), lie in different branches of the same choice."""
    for index in range(0, min(len(one), len(other)), 2):
        if one[index] != other[index]:
            return False
        if one[index + 1] != other[index + 1]:
            return True
    return False
