"""Patterns that remember the short way in which they were written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hookline.patterns.commands import heard_in_doubt, started
from hookline.patterns.globs import command_prefix, host_of, like, literal, path_glob, tool_glob, word_prefix
from hookline.patterns.pattern import Pattern

WORDS: Final[Mapping[str, Callable[[str], Pattern]]] = {
    "exactly": literal,
    "contains": lambda text: literal(text, whole=False),
    "begins": word_prefix,
    "like": like,
    "glob": path_glob,
    "command": command_prefix,
    "starts": started,
    "host": host_of,
    "tool": tool_glob,
}


@dataclass(frozen=True, slots=True)
class Spelt:
    """`glob: "**/*.go"` rather than the pattern that it stands for, so that a file can be written back as it was."""

    word: str
    text: str
    pattern: Pattern = field(compare=False)
    search: Callable[..., bool] = field(compare=False, init=False, repr=False)  # the pattern's own: a way less to go

    def __post_init__(self) -> None:
        search = self.pattern.search
        object.__setattr__(self, "search", heard_in_doubt(search) if self.word == "starts" else search)

    @property
    def source(self) -> str:
        return self.text

    @property
    def needed(self) -> str | None:
        return self.pattern.needed

    def replace(self, text: str, new: str, deadline: float = math.inf) -> str:
        return self.pattern.replace(text, new, deadline)


def spelt(word: str, text: str) -> Spelt:
    """`word` is a key of WORDS. Raises BadPattern."""
    return Spelt(word, text, WORDS[word](text))
