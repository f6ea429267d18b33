"""Writes the syntax tree of a pattern as source for RE2 or for the regex module."""

from __future__ import annotations

from hookline.lazy_dataclasses import replace
from hookline.patterns.syntax_tree import (
    ALL_CHARACTERS,
    NO_CHARACTERS,
    Alternation,
    BackReference,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    Ranges,
    RegexNode,
    Repeat,
    Sequence,
    children,
)

RE2_MAX_COUNT = 1000
_RE2_BOUNDARIES = {Boundary.TEXT_START: r"\A", Boundary.TEXT_END: r"\z", Boundary.WORD: r"\b"}


class NotLinearError(Exception):
    """RE2 cannot express a part of the tree."""


def to_re2(tree: RegexNode, *, whole: bool) -> str:
    """Raises NotLinearError for look-around, back-references and a Python `$` that more text may follow."""
    return _Re2Writer(exact=True, whole=whole).write(tree, last=True)


def to_re2_superset(tree: RegexNode) -> str:
    """A pattern that RE2 finds wherever the tree matches, and perhaps elsewhere: look-around always matches."""
    return _Re2Writer(exact=False, whole=False).write(tree, last=False)


class _Re2Writer:
    def __init__(self, *, exact: bool, whole: bool) -> None:
        self.exact = exact
        self.whole = whole

    def write(self, node: RegexNode, last: bool) -> str:
        match node:
            case CharacterSet():
                return write_set(node)
            case Sequence(parts):
                final = len(parts) - 1
                return "".join(self.write(part, last and index == final) for index, part in enumerate(parts))
            case Alternation(options):
                return "(?:" + "|".join(self.write(option, last) for option in options) + ")"
            case Repeat():
                return f"(?:{self.write(node.part, last=False)}){_format_quantifier(self.bounded_repeat(node))}"
            case Group(part):
                return f"(?:{self.write(part, last)})"
            case Boundary():
                return self.write_boundary(node, last)
            case LookAround() | BackReference():
                if self.exact:
                    raise NotLinearError
                return "(?s:.*)" if isinstance(node, BackReference) else "(?:)"

    def bounded_repeat(self, repeat: Repeat) -> Repeat:
        """RE2 counts to 1000 and reads braces with a larger number as plain text."""
        if max(repeat.least, repeat.most or 0) <= RE2_MAX_COUNT:
            return repeat
        if self.exact:
            raise NotLinearError
        return replace(repeat, least=min(repeat.least, RE2_MAX_COUNT), most=None)

    def write_boundary(self, edge: Boundary, last: bool) -> str:
        if edge in _RE2_BOUNDARIES:
            return _RE2_BOUNDARIES[edge]
        if not self.exact:
            return "(?:)"
        if edge is Boundary.NOT_WORD or not last:  # RE2 finds \B between the bytes of one character
            raise NotLinearError
        return r"\z" if self.whole else r"\n?\z"


def to_regex(tree: RegexNode) -> str:
    """Captures only groups with references. The result needs no flags."""
    return _write_regex(tree, _referenced_groups(tree))


_MATCH_NOTHING = "[^\\x00-\U0010ffff]"
_WORD_SET = "[0-9A-Z_a-z]"
_REGEX_BOUNDARIES = {
    Boundary.TEXT_START: r"\A",
    Boundary.TEXT_END: r"\Z",
    Boundary.LAST_LINE_END: r"(?=\n?\Z)",
    Boundary.WORD: f"(?:(?<={_WORD_SET})(?!{_WORD_SET})|(?<!{_WORD_SET})(?={_WORD_SET}))",
    Boundary.NOT_WORD: f"(?:(?<={_WORD_SET})(?={_WORD_SET})|(?<!{_WORD_SET})(?!{_WORD_SET}))",
}


def _write_regex(node: RegexNode, captured: set[int]) -> str:
    match node:
        case CharacterSet():
            return write_set(node)
        case Boundary():
            return _REGEX_BOUNDARIES[node]
        case Sequence(parts):
            return "".join(_write_regex(part, captured) for part in parts)
        case Alternation(options):
            return "(?:" + "|".join(_write_regex(option, captured) for option in options) + ")"
        case Repeat():
            return f"(?:{_write_regex(node.part, captured)}){_format_quantifier(node)}"
        case Group(part, number):
            return f"({f'?P<g{number}>' if number in captured else '?:'}{_write_regex(part, captured)})"
        case LookAround(part, ahead, negative):
            return f"(?{'' if ahead else '<'}{'!' if negative else '='}{_write_regex(part, captured)})"
        case BackReference():
            return _write_reference(node)


def _write_reference(reference: BackReference) -> str:
    written = "" if reference.unset_is_empty else "(?!)"
    for number in reversed(reference.groups):
        same = f"(?i:(?P=g{number}))" if reference.any_case else f"(?P=g{number})"
        written = f"(?(g{number}){same}|{written})"
    return written


def _referenced_groups(node: RegexNode) -> set[int]:
    found = set(node.groups) if isinstance(node, BackReference) else set()
    return found.union(*(_referenced_groups(child) for child in children(node)))


def _format_quantifier(repeat: Repeat) -> str:
    least, most = repeat.least, repeat.most
    sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    if sign is None:
        sign = f"{{{least}}}" if most == least else f"{{{least},{'' if most is None else most}}}"
    return sign + ("?" if repeat.lazy else "")


def write_set(chars: CharacterSet) -> str:
    """A character set that both engines read."""
    ranges = _without_surrogates(chars.ranges)
    if not chars.properties and ranges in (ALL_CHARACTERS, NO_CHARACTERS):
        return "(?s:.)" if (ranges == ALL_CHARACTERS) != chars.negated else _MATCH_NOTHING
    if not chars.properties and not chars.negated and ranges[0][0] == ranges[-1][1]:
        return escape_character(ranges[0][0])
    spans = (
        escape_character(low) if low == high else f"{escape_character(low)}-{escape_character(high)}"
        for low, high in ranges
    )
    return f"[{'^' if chars.negated else ''}{''.join(spans)}{''.join(chars.properties)}]"


def _without_surrogates(ranges: Ranges) -> Ranges:
    """Searched texts have no surrogates, and a range that ends among them could not be written."""
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        low, high = (0xE000 if 0xD800 <= low <= 0xDFFF else low), (0xD7FF if 0xD800 <= high <= 0xDFFF else high)
        if low <= high:
            kept.append((low, high))
    return tuple(kept)


def escape_character(code: int) -> str:
    """One character that both engines read, inside and outside a set."""
    character = chr(code)
    if code >= 0xA0 or (character.isascii() and character.isalnum()):
        return character
    return f"\\{character}" if 0x20 < code < 0x7F and character != "_" else f"\\x{code:02x}"
