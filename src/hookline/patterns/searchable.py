"""Any str as UTF-8 that RE2 can read to its end: a byte sequence that is not UTF-8 would stop `.` and negated sets.

A surrogate becomes the character SURROGATE_OFFSET above it, in the last plane, which nobody has assigned.
"""

from __future__ import annotations

SURROGATE_OFFSET = 0x100000


def as_code_points(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _with_moved_surrogates(text.encode("utf-8", "surrogatepass"))


def as_utf16_units(text: str) -> bytes:
    """As JavaScript sees it: a character beyond U+FFFF is two surrogates."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) == 2 * len(text):
        return as_code_points(text)
    wide = bytearray(2 * len(units))
    wide[0::4] = units[0::2]
    wide[1::4] = units[1::2]
    return _with_moved_surrogates(wide.decode("utf-32-le", "surrogatepass").encode("utf-8", "surrogatepass"))


def _with_moved_surrogates(data: bytes) -> bytes:
    for second in range(0xA0, 0xC0):  # U+D800…U+DFFF are ED A0 80…ED BF BF, U+10D800…U+10DFFF F4 8D A0 80…F4 8D BF BF
        data = data.replace(bytes((0xED, second)), bytes((0xF4, 0x8D, second)))
    return data
