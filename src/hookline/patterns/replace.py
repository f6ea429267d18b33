"""Writing something else wherever a pattern is found."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from hookline.errors import Undecided
from hookline.patterns.searchable import SURROGATE_OFFSET, as_code_points

MOST: Final = 1.0
"""Seconds that it may take, whatever the deadline says."""

if TYPE_CHECKING:
    from hookline.patterns.engines import Backtracking, Linear


def replaced(linear: Linear | None, backtracking: Backtracking | None, text: str, new: str, deadline: float) -> str:
    """Each match from left to right becomes `new`, literally. Raises Undecided when the time is over."""
    limit = min(deadline, time.perf_counter() + MOST)
    if backtracking is not None:
        return backtracking.replaced(text, new, limit)
    assert linear is not None
    data = as_code_points(text)
    found = _in_bytes(linear, data, new.encode("utf-8", "surrogatepass"), limit)
    if found is data:
        return text
    left = found.decode("utf-8", "surrogatepass")
    return left if _encodable(text) else _with_surrogates_back(left)


def _in_bytes(linear: Linear, data: bytes, new: bytes, limit: float) -> bytes:
    pieces: list[bytes] = []
    kept = at = 0
    while at <= len(data):
        if time.perf_counter() > limit or len(data) - at > _LONGEST:
            raise Undecided
        start, end = linear.match(linear.anchor, data, at, len(data))[0]
        if start < 0:
            break
        if end == start:  # an empty match replaces nothing
            at = end + 1
            while at < len(data) and data[at] & 0xC0 == 0x80:  # the rest of a character
                at += 1
            continue
        pieces += [data[kept:start], new]
        kept = at = end
    return b"".join([*pieces, data[kept:]]) if pieces else data


_LONGEST = 16_000_000  # bytes


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_surrogates_back(text: str) -> str:
    low, high = 0xD800 + SURROGATE_OFFSET, 0xDFFF + SURROGATE_OFFSET
    return "".join(chr(ord(c) - SURROGATE_OFFSET) if low <= ord(c) <= high else c for c in text)
