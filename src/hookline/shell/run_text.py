"""What a shell text runs, sets and writes, as `hookline.shell.run_commands` finds it."""

from __future__ import annotations

from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.shell.expansion import Fields
from hookline.shell.grammar import UNKNOWN_WORDS, UNREAD
from hookline.shell.parsed_text import Path


@dataclass(frozen=True, slots=True)
class RunCommand:
    """One command that may run."""

    words: Fields  # the program and its arguments; unknown parts are those of hookline.shell.expansion
    path: Path = ()
    source: str = ""  # as it is written, if it stands in the text itself
    is_written: bool = False  # the words have `$x` instead of its value
    parent: int = -1  # the number of the command that runs it
    replaces: int = -1  # the number of the command that it is, with its variables replaced
    operator: str = field(default="", compare=False)  # before it, as in ParsedCommand

    @property
    def program(self) -> str:
        """Its name without the directory."""
        return self.words[0].rsplit("/", 1)[-1]

    def feeds(self, other: RunCommand) -> bool:
        """Whether the other command may get what this one prints, through a pipe or a substitution."""
        for (pipeline, stage), (other_pipeline, other_stage) in zip(self.path, other.path, strict=False):
            if pipeline != other_pipeline or stage > other_stage:
                return False
            if stage < other_stage:
                return True
        return False


@dataclass(frozen=True, slots=True)
class RunText:
    """What a text runs, sets and writes."""

    commands: tuple[RunCommand, ...]
    settings: tuple[str, ...] = ()  # variables that make a program run something else, as NAME=value
    targets: tuple[str, ...] = ()  # the files that redirections write
    files: tuple[tuple[Path, str], ...] = ()  # the files that redirections read or write, with their values, and where


UNREADABLE: Final = RunText((RunCommand((UNKNOWN_WORDS + UNREAD,)),))
