"""Text for people: printable characters, short excerpts, the word that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_SHOWN_LENGTH = 60


MAX_WORD_LENGTH = 64
"""Words longer than this are not compared: nobody mistypes that much, and comparing costs their length squared."""


def printable(text: str) -> str:
    """The text with escapes for whatever could move a cursor, hide text or fail to be encoded."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def shorten(text: str) -> str:
    """At most 60 characters of it."""
    return text if len(text) <= MAX_SHOWN_LENGTH else text[: MAX_SHOWN_LENGTH - 1] + "…"


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant; case, `-` and `_` do not count, so `onError` finds `on_error`."""
    if len(word) > MAX_WORD_LENGTH:
        return None
    by_letters = {_fold_word(each): each for each in known}
    found = difflib.get_close_matches(_fold_word(word), by_letters, n=1, cutoff=0.6)
    return by_letters[found[0]] if found else None


def _fold_word(word: str) -> str:
    return word.casefold().replace("-", "").replace("_", "").replace(" ", "")
