"""Patterns that are texts with gaps, such as `SECRET_7\\b`, `/p7/.*\\.py$` or `^write_file$`, searched without a regex engine.

They are most of what people write. A call of RE2 from Python takes longer than all that is done here for a short text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hookline.lazy_dataclasses import dataclass, replace
from hookline.patterns.simple_parser import SIMPLE_TOKEN, literal_text

LiteralSearch = Callable[[str], bool | None]
"""Whether the pattern matches; None if only RE2 can tell."""

MAX_RFIND_LENGTH: Final = 65_536
"""Characters in which `rfind` takes a third of the time of `find` and `in`, by CPython 3.11. Its worst case grows with
text × word, so that it is not for longer texts."""
_MAX_REJECTED: Final = 32  # occurrences without the edge that they need
_GAPS: Final = (".*?", ".*", "(?s:.*)")
_REPETITIONS: Final = frozenset("*+?{")
_LINE_ENDS: Final = "\n"
_JAVASCRIPT_LINE_ENDS: Final = "\n\r\u2028\u2029"
WORD_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_BY_FREQUENCY: Final = " etaoinsrlcdumphfgbyv_wk.,/-\"'=():\nx0123456789TSAECRIDPONLMFBUGHWVKYXJQZjqz"
"""The usual characters of prose and source code, the most frequent first."""


def rarest_character(word: str) -> int:
    """The position of the character that the fewest texts have.

    The C library finds one character ten times as fast as Python finds a word, so a search begins with it: mostly it is
    nowhere in the text, or only near the start.
    """
    ranks = [_BY_FREQUENCY.find(each) for each in word]
    return ranks.index(-1 if -1 in ranks else max(ranks))


def absence_test(word: str) -> Callable[[str], bool]:
    """Whether a text surely lacks the word. False if that would take long to tell: RE2 is faster in a long text."""
    at = rarest_character(word)
    character, size = word[at], len(word) - at

    def lacks_word(text: str) -> bool:
        last = text.rfind(character)
        return last < 0 or (last < MAX_RFIND_LENGTH and text.rfind(word, 0, last + size) < 0)

    return lacks_word


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    before: bool = False  # whether the edge of a word is before it
    after: bool = False


@dataclass(frozen=True, slots=True)
class _Shape:
    """Pieces with gaps between them."""

    pieces: list[_Piece]
    starts: bool  # whether the first piece is the start of the text
    ends: bool
    has_gaps: bool


def build_literal_search(source: str, *, whole: bool, javascript: bool) -> LiteralSearch | None:
    """For a pattern that `parse_simple` accepts; None if it is more than texts with gaps."""
    shape = _read_shape(source, whole)
    if shape is None:
        return None
    first = shape.pieces[0]
    if shape.starts and shape.ends and len(shape.pieces) == 1:
        word = first.text
        return None if first.before or first.after or shape.has_gaps else lambda text: text == word
    if not shape.starts and not shape.ends and not shape.has_gaps:
        return _search_piece(first)
    return _search_pieces(shape, _JAVASCRIPT_LINE_ENDS if javascript else _LINE_ENDS)


def _read_shape(source: str, whole: bool) -> _Shape | None:
    pieces = [_Piece("")]
    starts, ends, at = whole, False, 0
    while at < len(source):
        gap = next((each for each in _GAPS if source.startswith(each, at)), "")
        token = SIMPLE_TOKEN.match(source, at)
        end = at + len(gap) if gap else token.end() if token else at
        if token is None or ends or source[end : end + 1] in _REPETITIONS:
            return None
        kind, text, piece = token.lastindex, token[0], pieces[-1]
        if gap:
            pieces.append(_Piece(""))
        elif kind in (1, 2) and not piece.after:
            pieces[-1] = replace(piece, text=piece.text + literal_text(text))
        elif text == r"\b":
            pieces[-1] = replace(piece, after=True) if piece.text else replace(piece, before=True)
        elif text in ("^", r"\A") and at == 0:
            starts = True
        elif text in ("$", r"\z"):
            ends = True
        else:
            return None
        at = end
    return _trim(_Shape(pieces, starts, ends or whole, len(pieces) > 1))


def _trim(shape: _Shape) -> _Shape | None:
    """Without gaps at its ends, which stand for any text; None if a piece is empty."""
    pieces, starts, ends, has_gaps = shape.pieces, shape.starts, shape.ends, shape.has_gaps
    if has_gaps and pieces[0] == _Piece(""):
        pieces, starts = pieces[1:], False
    if has_gaps and pieces and pieces[-1] == _Piece(""):
        pieces, ends = pieces[:-1], False
    return _Shape(pieces, starts, ends, has_gaps) if pieces and all(piece.text for piece in pieces) else None


def _search_piece(piece: _Piece) -> LiteralSearch:
    """What `_search_pieces` does, in half the time for a piece alone."""
    word, size, has_edges = piece.text, len(piece.text), _edge_test(piece)

    def search(text: str) -> bool | None:
        if len(text) > MAX_RFIND_LENGTH:
            return None
        at = text.rfind(word)
        if at < 0 or has_edges is None or has_edges(text, at):
            return at >= 0
        for _ in range(_MAX_REJECTED):
            at = text.rfind(word, 0, at + size - 1)
            if at < 0 or has_edges(text, at):
                return at >= 0
        return None

    return search


def _search_pieces(shape: _Shape, line_ends: str) -> LiteralSearch:
    """Searches from the end: `rfind` takes a third of the time of `find`.

    The last occurrence of a piece before the one after it is always a good choice, because a gap can be long.
    """
    pieces, starts, ends, has_gaps = shape.pieces, shape.starts, shape.ends, shape.has_gaps
    head, tail = (pieces[0].text if starts else ""), (pieces[-1].text if ends else "")
    at_head, at_tail = (_edge_test(pieces[0]) if starts else None), (_edge_test(pieces[-1]) if ends else None)
    between = pieces[starts : len(pieces) - ends]
    rows = tuple((piece.text, len(piece.text), _edge_test(piece)) for piece in reversed(between))
    ends_of_lines = tuple(line_ends) if has_gaps else ()

    def search(text: str) -> bool | None:
        start, at = len(head), len(text) - len(tail)
        if at < start or (ends and not text.endswith(tail)) or (starts and not text.startswith(head)):
            return False
        if (at_tail is not None and not at_tail(text, at)) or (at_head is not None and not at_head(text, 0)):
            return False
        if at > MAX_RFIND_LENGTH:
            return None
        for word, size, has_edges in rows:
            at = text.rfind(word, start, at)
            if has_edges is not None:
                for _ in range(_MAX_REJECTED):
                    if at < 0 or has_edges(text, at):
                        break
                    at = text.rfind(word, start, at + size - 1)
                else:
                    return None
            if at < 0:
                return False
        for each in ends_of_lines:  # a gap ends there
            if each in text:
                return None
        return True

    return search


def _edge_test(piece: _Piece) -> Callable[[str, int], bool] | None:
    """Whether the edges are there if the piece is at this position. Beyond the ends of the text there is no word."""
    word, before, after = piece.text, piece.before, piece.after
    size, words = len(word), WORD_CHARACTERS
    first, last = word[0] in words, word[-1] in words
    if after and not before:
        return lambda text, at: (text[at + size : at + size + 1] in words) is not last
    if before and not after:
        return lambda text, at: (text[at - 1 : at] in words) is not first
    if not before:
        return None
    return lambda text, at: (
        (text[at - 1 : at] in words) is not first and (text[at + size : at + size + 1] in words) is not last
    )
