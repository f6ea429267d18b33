"""The names by which models hear of tools: letters, digits, `_` and `-`, at most 64, each once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from string import ascii_letters, digits
from typing import Final

LONGEST: Final = 64
_ALLOWED: Final = frozenset(ascii_letters + digits + "_-")
_START: Final = frozenset(ascii_letters + "_")


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
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{told[: LONGEST - len(mark) - 1]}_{mark}"
