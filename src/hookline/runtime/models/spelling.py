"""Names of tools as every provider takes them: `mcp.git.status` is told as `mcp__git__status`, and read back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

LONGEST: Final = 64
_TAKEN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


class Spelling:
    """Of the names in one request. A name that needs no other spelling keeps its own."""

    def __init__(self, names: Iterable[str]) -> None:
        known = sorted(set(names))
        self._told = {name: name for name in known if _fits(name)}
        used = set(self._told)
        for name in known:
            if name not in self._told:
                self._told[name] = _told(name, used)
                used.add(self._told[name])
        self._meant = {told: name for name, told in self._told.items()}

    def told(self, name: str) -> str:
        return self._told[name]

    def meant(self, told: str) -> str:
        """What the model made up stays as it is."""
        return self._meant.get(told, told)


def _fits(name: str) -> bool:
    return 0 < len(name) <= LONGEST and _TAKEN.issuperset(name)


def _told(name: str, used: set[str]) -> str:
    plain = "".join(each if each in _TAKEN else "_" for each in name.replace(".", "__")) or "_"
    if len(plain) <= LONGEST and plain not in used:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: LONGEST - 9]}_{digest}"
