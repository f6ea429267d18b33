"""The tree of a pattern, written for RE2 or for the regex module."""

from __future__ import annotations

from dataclasses import replace

from hookline.patterns.charset import EVERYTHING, NOTHING, Ranges
from hookline.patterns.tree import Chars, Choice, Edge, Group, Look, Node, Reference, Repeat, Sequence, children

RE2_COUNTS_TO = 1000
_RE2_EDGES = {Edge.TEXT_START: r"\A", Edge.TEXT_END: r"\z", Edge.WORD: r"\b"}


class NotLinear(Exception):
    """RE2 has no word for a part of the tree."""


def for_re2(tree: Node, *, whole: bool) -> str:
    """Raises NotLinear for look-around, back-references and a Python `$` that more text may follow."""
    return _Re2(exact=True, whole=whole).write(tree, last=True)


def for_re2_at_least(tree: Node) -> str:
    """What RE2 finds wherever the tree is found, and perhaps elsewhere: look-around asks nothing here."""
    return _Re2(exact=False, whole=False).write(tree, last=False)


class _Re2:
    def __init__(self, *, exact: bool, whole: bool) -> None:
        self.exact = exact
        self.whole = whole

    def write(self, node: Node, last: bool) -> str:
        match node:
            case Chars():
                return written(node)
            case Sequence(parts):
                final = len(parts) - 1
                return "".join(self.write(part, last and index == final) for index, part in enumerate(parts))
            case Choice(options):
                return "(?:" + "|".join(self.write(option, last) for option in options) + ")"
            case Repeat():
                return f"(?:{self.write(node.part, last=False)}){_bounds(self.countable(node))}"
            case Group(part):
                return f"(?:{self.write(part, last)})"
            case Edge():
                return self.edge(node, last)
            case Look() | Reference():
                if self.exact:
                    raise NotLinear
                return "(?s:.*)" if isinstance(node, Reference) else "(?:)"

    def countable(self, repeat: Repeat) -> Repeat:
        """RE2 counts to 1000 and takes braces with a larger number as plain text."""
        if max(repeat.least, repeat.most or 0) <= RE2_COUNTS_TO:
            return repeat
        if self.exact:
            raise NotLinear
        return replace(repeat, least=min(repeat.least, RE2_COUNTS_TO), most=None)

    def edge(self, edge: Edge, last: bool) -> str:
        if edge in _RE2_EDGES:
            return _RE2_EDGES[edge]
        if not self.exact:
            return "(?:)"
        if edge is Edge.NOT_WORD or not last:  # RE2 sees \B between the bytes of one character
            raise NotLinear
        return r"\z" if self.whole else r"\n?\z"


def for_regex(tree: Node) -> str:
    """Only groups that are referred to are captured. The result has no flags and needs none."""
    return _write(tree, _referred(tree))


_NEVER = "[^\\x00-\U0010ffff]"
_WORD = "[0-9A-Z_a-z]"
_EDGES = {
    Edge.TEXT_START: r"\A",
    Edge.TEXT_END: r"\Z",
    Edge.LAST_LINE_END: r"(?=\n?\Z)",
    Edge.WORD: f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    Edge.NOT_WORD: f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}


def _write(node: Node, captured: set[int]) -> str:
    match node:
        case Chars():
            return written(node)
        case Edge():
            return _EDGES[node]
        case Sequence(parts):
            return "".join(_write(part, captured) for part in parts)
        case Choice(options):
            return "(?:" + "|".join(_write(option, captured) for option in options) + ")"
        case Repeat():
            return f"(?:{_write(node.part, captured)}){_bounds(node)}"
        case Group(part, number):
            return f"({f'?P<g{number}>' if number in captured else '?:'}{_write(part, captured)})"
        case Look(part, ahead, negative):
            return f"(?{'' if ahead else '<'}{'!' if negative else '='}{_write(part, captured)})"
        case Reference():
            return _reference(node)


def _reference(reference: Reference) -> str:
    written = "" if reference.unset_is_empty else "(?!)"
    for number in reversed(reference.groups):
        same = f"(?i:(?P=g{number}))" if reference.any_case else f"(?P=g{number})"
        written = f"(?(g{number}){same}|{written})"
    return written


def _referred(node: Node) -> set[int]:
    found = set(node.groups) if isinstance(node, Reference) else set()
    return found.union(*(_referred(child) for child in children(node)))


def _bounds(repeat: Repeat) -> str:
    least, most = repeat.least, repeat.most
    sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    if sign is None:
        sign = f"{{{least}}}" if most == least else f"{{{least},{'' if most is None else most}}}"
    return sign + ("?" if repeat.lazy else "")


def written(chars: Chars) -> str:
    """A set of characters, as either engine reads it."""
    ranges = _without_surrogates(chars.ranges)
    if not chars.properties and ranges in (EVERYTHING, NOTHING):
        return "(?s:.)" if (ranges == EVERYTHING) != chars.negated else _NEVER
    if not chars.properties and not chars.negated and ranges[0][0] == ranges[-1][1]:
        return escaped(ranges[0][0])
    spans = (escaped(low) if low == high else f"{escaped(low)}-{escaped(high)}" for low, high in ranges)
    return f"[{'^' if chars.negated else ''}{''.join(spans)}{''.join(chars.properties)}]"


def _without_surrogates(ranges: Ranges) -> Ranges:
    """A text has none when it is searched; a range that ends among them could not be written."""
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        low, high = (0xE000 if 0xD800 <= low <= 0xDFFF else low), (0xD7FF if 0xD800 <= high <= 0xDFFF else high)
        if low <= high:
            kept.append((low, high))
    return tuple(kept)


def escaped(code: int) -> str:
    """One character, as either engine reads it inside and outside a set."""
    character = chr(code)
    if code >= 0xA0 or (character.isascii() and character.isalnum()):
        return character
    return f"\\{character}" if 0x20 < code < 0x7F and character != "_" else f"\\x{code:02x}"
