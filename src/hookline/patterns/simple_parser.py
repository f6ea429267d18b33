"""Reads the patterns that most people write in one pass: those that RE2 surely accepts and that mean the same in
every syntax.

The other parsers make a tree, which takes ten times as long, and RE2 would have to compile each pattern to check it. With
thousands of rules that is most of the loading time. Whatever is not surely simple is left to them.
"""

from __future__ import annotations

import re
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.patterns.emitter import write_set
from hookline.patterns.required_words import WORD_EDGE, Outline, outline_of_repeat
from hookline.patterns.syntax_tree import JAVASCRIPT_LINE_ENDS, JAVASCRIPT_SPACE, CharacterSet, complement

SIMPLE_TOKEN: Final = lazy_pattern(
    r"""([A-Za-z0-9/_\ \-=:,;@\#%&~<>"'!`]+)                                # 1 text
    | \\([./\\\-*+?()\[\]{}|^$"'=:,;@\#%&~<>!`]|x[2-7][0-9a-f])             # 2 an escaped character
    | (\\[dwsDWS]|\[\^?(?:[A-Za-z0-9_./:,=@%"'\ ](?:-[A-Za-z0-9])?)+-?\])   # 3 a set
    | (\.)                                                                  # 4
    | ([\^$]|\\[bAz])                                                       # 5 a boundary
    | ([*+?]\??|\{[0-9]{1,2}(?:,[0-9]{0,2})?\})                             # 6 a repetition
    | (\((?:\?:)?)                                                          # 7 a group opens
    | (\))                                                                  # 8
    | (\|)                                                                  # 9
    | (\(\?s:\.[*+]?\)) """,  # 10 as matchers write any text
    re.VERBOSE,
)
_RANGE: Final = lazy_pattern(r"(.)-([A-Za-z0-9])")
_MAX_LENGTH: Final = 400
_MAX_DEPTH: Final = 8
_MAX_REPETITIONS: Final = 100  # of all braces together: RE2 writes them out
_BOUNDARIES: Final = {"^": r"\A", "$": r"\z", r"\b": r"\b", r"\A": r"\A", r"\z": r"\z"}
_NATIVE_ONLY: Final = frozenset((r"\A", r"\z"))
_JAVASCRIPT_SETS: Final = {
    ".": write_set(CharacterSet(complement(JAVASCRIPT_LINE_ENDS))),
    r"\s": write_set(CharacterSet(JAVASCRIPT_SPACE)),
    r"\S": write_set(CharacterSet(complement(JAVASCRIPT_SPACE))),
}


def parse_simple(source: str, *, javascript: bool) -> tuple[str, Outline] | None:
    """RE2's source and the outline; None if the pattern is not simple. JavaScript's syntax, otherwise RE2's."""
    if len(source) > _MAX_LENGTH:
        return None
    written: list[str] = []
    parts: list[Outline] = []  # of the branch
    branches: list[Outline] = []  # of the group, before this one
    groups: list[tuple[list[Outline], list[Outline]]] = []  # that are open: their branches and parts so far
    at, repetitions, is_repeatable = 0, 0, False
    while at < len(source):
        token = SIMPLE_TOKEN.match(source, at)
        if token is None:
            return None
        at, kind, text = token.end(), token.lastindex, token[0]
        if kind == 1:
            written.append(text)
            parts += (text[:-1], text[-1]) if len(text) > 1 else (text,)  # a repetition is about the last character
        elif kind == 2:
            written.append(text)
            parts.append(literal_text(text))
        elif kind in (3, 4, 10):
            if (kind == 10 and javascript) or any(low > high for low, high in _RANGE.findall(text)):
                return None
            written.append(_JAVASCRIPT_SETS.get(text, text) if javascript else text)
            parts.append(None)
        elif kind == 5:
            if javascript and text in _NATIVE_ONLY:
                return None
            written.append(_BOUNDARIES[text])
            if text == r"\b":
                parts.append(WORD_EDGE)
        elif kind == 6:
            least, most = _read_bounds(text)
            is_counted = text[0] == "{"
            if (
                not is_repeatable
                or (most is not None and least > most)
                or (is_counted and (groups or written[-1] == ")"))
            ):
                return None
            repetitions += max(least, most or 0) if is_counted else 0
            if repetitions > _MAX_REPETITIONS:
                return None
            written.append(text)
            parts[-1] = outline_of_repeat(parts[-1], least, most)
        elif kind == 7:
            if len(groups) == _MAX_DEPTH:
                return None
            written.append("(?:")
            groups.append((branches, parts))
            branches, parts = [], []
        elif kind == 8:
            if not groups:
                return None
            written.append(")")
            inner: Outline = (*branches, parts) if branches else parts
            branches, parts = groups.pop()
            parts.append(inner)
        else:
            written.append("|")
            branches.append(parts)
            parts = []
        is_repeatable = kind not in (5, 6, 7, 9)
    if groups:
        return None
    return "".join(written), (*branches, parts) if branches else parts


def literal_text(token: str) -> str:
    """Of a token of the first two kinds."""
    if token[0] != "\\":
        return token
    return chr(int(token[2:], 16)) if token[1] == "x" else token[1]


def _read_bounds(quantifier: str) -> tuple[int, int | None]:
    if quantifier[0] != "{":
        return (1, None) if quantifier[0] == "+" else (0, 1 if quantifier[0] == "?" else None)
    least, comma, most = quantifier[1:-1].partition(",")
    return int(least), int(most) if most else None if comma else int(least)
