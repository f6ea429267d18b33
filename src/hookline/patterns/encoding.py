"""Encodes any str as valid UTF-8 for RE2: `.` and negated sets stop at bytes that are not UTF-8.

A surrogate becomes the character SURROGATE_OFFSET above it, in the last plane, which is unassigned.
"""

from __future__ import annotations

SURROGATE_OFFSET = 0x100000

# For the bytes of UTF-32: 0x10, the plane that surrogates move to, where a byte is D8…DF, or where it is 0.
_SURROGATE = bytes(0x10 if 0xD8 <= byte <= 0xDF else 0 for byte in range(256))
_ZERO = bytes((0x10, *[0] * 255))


def encode_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")  # the only codec that passes surrogates without a call for each
        for second in range(0xA0, 0xC0):  # ED A0…BF starts a surrogate, F4 8D A0…BF the character that replaces it
            data = data.replace(bytes((0xED, second)), bytes((0xF4, 0x8D, second)))
        return data


def encode_utf16_units(text: str) -> bytes:
    """The text as JavaScript sees it: a character beyond U+FFFF is two surrogates."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) == 2 * len(text):
        return encode_utf8(text)
    wide = bytearray(2 * len(units))
    wide[0::4] = units[0::2]
    wide[1::4] = units[1::2]
    return _move_surrogates(wide)


def _move_surrogates(wide: bytearray) -> bytes:
    """Works on the whole text at once, without a Python step for each character."""
    planes = wide[2::4]
    moving = int.from_bytes(wide[1::4].translate(_SURROGATE), "little") & int.from_bytes(
        planes.translate(_ZERO), "little"
    )
    wide[2::4] = (moving | int.from_bytes(planes, "little")).to_bytes(len(planes), "little")
    return wide.decode("utf-32-le").encode()
