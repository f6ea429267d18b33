"""Words that stay whole at the edge of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, get_character_cell_size

from hookline.config.problem import printable

_JOINERS: Final = "\u200c\u200d"
_TOKEN: Final = re.compile(r"\n|[^\S\n]+|\S+")


def spoken(text: str, after: str = "") -> str:
    """With escapes for whatever could move a cursor or hide something; letters and pictures that are no ASCII may be
    joined. `after` is the character before it.
    """
    shown = []
    for char in text:
        joins = char in _JOINERS and bool(after) and not after.isascii()
        shown.append(char if joins or char == "\n" else printable(char))
        after = char
    return "".join(shown)


class Flow:
    """Text that comes in pieces. A word is shown once it is whole, for only then is it known where it fits."""

    def __init__(self) -> None:
        self._column = 0
        self._space = ""
        self._word = ""

    def takes(self, piece: str, width: int) -> str:
        """What can be shown now."""
        return "".join(shown for token in _TOKEN.findall(piece) for shown in self._token(token, width))

    def rest(self, width: int) -> str:
        """What is still held back; the next piece begins a line."""
        shown = self._whole(width)
        self._column, self._space = 0, ""
        return shown

    def _token(self, token: str, width: int) -> Iterator[str]:
        if token == "\n":
            yield self._whole(width) + "\n"
            self._column, self._space = 0, ""
        elif token.isspace():
            yield self._whole(width)
            self._space += token
        else:
            for char in token:
                wide = get_character_cell_size(char) > 1  # scripts without spaces may be broken anywhere
                yield self._whole(width) if wide else ""
                self._word += char
                yield self._whole(width) if wide else ""

    def _whole(self, width: int) -> str:
        """The word that is complete now, on the line where there is room for it."""
        word, self._word = self._word, ""
        size = cell_len(word)
        if not word:
            return ""
        lead, self._space = self._space, ""
        if self._column and self._column + cell_len(lead) + size > width:
            lead = "\n"
            self._column = 0
        self._column += 0 if lead == "\n" else cell_len(lead)
        self._column = (self._column + size) % width if size > width else self._column + size
        return lead + word
