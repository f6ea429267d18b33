"""Characters that nobody sees: a word with one of them inside looks the same to whoever reads it, and to a model."""

from __future__ import annotations

from typing import Final

from hookline.lazy_imports import lazy_pattern

_RANGES: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
)
"""What Unicode calls Default_Ignorable_Code_Point, up to U+FFFF."""
_HIGH_RANGES: Final = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
_HIGH_PREFIXES: Final = (b"\xf0\x9b\xb2", b"\xf0\x9d\x85", b"\xf3\xa0")  # how these begin in UTF-8
_INVISIBLE: Final = lazy_pattern(f"[{_RANGES}{_HIGH_RANGES}]+")
_characters: list[str] = []


def without_invisible(text: str) -> str:
    """The text as it looks; the same object if nothing in it is invisible.

    To look for each character is several times as fast as a pattern.
    """
    if text.isascii():
        return text
    if not _characters:
        _characters.extend(filter(_INVISIBLE.fullmatch, map(chr, range(0x10000))))
    if not any(map(text.__contains__, _characters)):
        encoded = text.encode("utf-8", "surrogatepass")
        if not any(prefix in encoded for prefix in _HIGH_PREFIXES):
            return text
    return _INVISIBLE.sub("", text)
