"""The names by which models hear of tools: letters, digits, `_` and `-`, at most 64, each once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from string import ascii_letters, digits
from typing import Final

LONGEST: Final = 64
_ALLOWED: Final = frozenset(ascii_letters + digits + "_-")
_START: Final = frozenset(ascii_letters + "_")


class Spelling:
    """The names of one request, there and back."""

    def __init__(self, names: Iterable[str]) -> None:
        self._told = offered_names(sorted(set(names)))
        self._meant = {told: name for name, told in self._told.items()}

    def told(self, name: str) -> str:
        return self._told[name]

    def meant(self, told: str) -> str:
        """What the model made up stays as it is."""
        return self._meant.get(told, told)


def offered_names(own: Iterable[str]) -> dict[str, str]:
    """Own name → offered name. A name that can be offered as it is belongs to its tool; others make room for it."""
    names = tuple(own)
    taken = {name for name in names if _plain(name) == name}
    offered = {name: name for name in taken}
    for name in names:
        if name not in taken:
            plain = _plain(name)
            offered[name] = plain if plain not in taken else _marked(plain, name)
            taken.add(offered[name])
    return {name: offered[name] for name in names}


def _plain(name: str) -> str:
    told = "".join(char if char in _ALLOWED else "_" for char in name.replace(".", "__"))
    if told[:1] not in _START:
        told = f"_{told}"
    return told if len(told) <= LONGEST else _marked(told, name)


def _marked(told: str, name: str) -> str:
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{told[: LONGEST - len(mark) - 1]}_{mark}"
