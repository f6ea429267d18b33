"""Text for people: printable characters, short excerpts, suggestions for a mistyped word."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePath

from hookline.lazy_imports import difflib, lazy_pattern

MAX_SHOWN_LENGTH = 60
MAX_WORD_LENGTH = 64
"""Longer words get no suggestion: comparing takes time quadratic in their length."""
_NUMBER = lazy_pattern(r"([0-9]{1,9})")


def printable(text: str) -> str:
    """Escapes the characters that could move a cursor, hide text or fail to be encoded."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def shorten(text: str) -> str:
    """At most 60 characters."""
    return text if len(text) <= MAX_SHOWN_LENGTH else text[: MAX_SHOWN_LENGTH - 1] + "…"


def format_seconds(seconds: float) -> str:
    """As people say it: 200 ms, 1.5 s."""
    return f"{seconds * 1000:g} ms" if seconds < 1 else f"{seconds:g} s"


def natural_order(text: str) -> list[str | int]:
    """A sort key in which numbers count as numbers: `hooks[2]` comes before `hooks[10]`."""
    return [int(part) if at % 2 else part for at, part in enumerate(_NUMBER.split(text))]


def file_label(file: str) -> str:
    """The file's name, with a hidden directory, since several programs have a `settings.json`; `~/` for the user's own.

    Of a plugin or extension, with its name, since each has a `hooks/hooks.json`.
    """
    path = PurePath(file)
    if path.parts[-2:] == ("hooks", "hooks.json"):
        return "/".join((path.parent.parent.name, path.name)).lstrip("/")
    home = "~/" if file.startswith("~/") else ""
    return f"{home}{path.parent.name}/{path.name}" if path.parent.name.startswith(".") else path.name


def closest_match(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known word that was probably meant. Ignores case, `-` and `_`, so `onError` finds `on_error`."""
    if len(word) > MAX_WORD_LENGTH:
        return None
    by_letters = {fold_word(each): each for each in known}
    found = difflib.get_close_matches(fold_word(word), by_letters, n=1, cutoff=cutoff)
    if not found or (len(found[0]) <= 3 and not is_typo(word, found[0])):  # short words are alike by chance
        return None
    return by_letters[found[0]]


def closest_words(word: str, known: Iterable[str], most: int) -> list[str]:
    """The known words that are most like it, the closest first."""
    folded = fold_word(word[:MAX_WORD_LENGTH])
    return sorted(known, key=lambda each: -difflib.SequenceMatcher(None, fold_word(each), folded).ratio())[:most]


def is_typo(written: str, word: str) -> bool:
    """Whether one letter is missing, added, wrong or swapped with the next one, or only the case is different."""
    written, word = fold_word(written), fold_word(word)
    if abs(len(written) - len(word)) > 1:
        return False
    if written[:1] != word[:1] and written[-1:] != word[-1:] and len(written) > 2 < len(word):
        return False  # one mistake cannot touch both ends
    start = _common_start(written, word)
    end = _common_start(written[start:][::-1], word[start:][::-1])
    left, right = written[start : len(written) - end], word[start : len(word) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def _common_start(first: str, second: str) -> int:
    pairs = zip(first, second, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


@lru_cache(maxsize=4096)
def fold_word(word: str) -> str:
    """Without case, `-`, `_` and spaces, which people mix up."""
    return word.casefold().replace("-", "").replace("_", "").replace(" ", "")
