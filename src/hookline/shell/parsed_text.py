"""A shell text that was parsed: its commands, and the expansions in their words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern

# Quoted characters that would otherwise mean something in the unquoted word.
_QUOTED_CHARACTERS: Final = tuple(zip("{,}*?[", "\ue000\ue001\ue002\ue003\ue004\ue005", strict=True))
FIRST_MARK: Final = 0xF0000
MARK: Final = lazy_pattern("[\U000f0000-\U000ffffd]")
"""A character that stands for an expansion in a word."""


Path = tuple[tuple[int, int], ...]
"""Where a command stands: its pipeline and its stage in it, for each group around it. Stages of a pipe are even; a
substitution in a command is one stage before it."""


class TextTooLong(Exception):
    """The text has more words than can be read in time."""


@dataclass(slots=True)
class Assignment:
    name: str
    value: str  # a word
    items: list[str] | None = None  # of an array
    appends: bool = False
    is_loop: bool = False  # one of the words of `for name in …`
    loops_arguments: bool = False  # `for name; do`: each of the arguments


@dataclass(slots=True)
class ParsedCommand:
    words: list[str] = field(default_factory=list)  # with marks for expansions
    assignments: list[Assignment] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)  # the files that its redirections write
    sources: list[str] = field(default_factory=list)  # the files that its redirections read
    operator: str = ""  # before it: `;`, `&&`, `|`; nothing for the first command of a list
    source: str = ""  # the words as they are written
    input: str = ""  # of a here-document or here-string
    has_input: bool = False  # it has one of these
    opened: list[str] = field(default_factory=list)  # the texts of other descriptors: `3<<<text`
    reads_descriptor: bool = False  # its input is a descriptor: `<&3`
    path: Path = ()
    is_certain: bool = False  # it runs whatever the commands before it do, and in the same shell

    def without_targets(self) -> ParsedCommand:
        """The same command, but what it prints goes on."""
        return ParsedCommand(
            self.words,
            sources=self.sources,
            input=self.input,
            has_input=self.has_input,
            opened=self.opened,
            reads_descriptor=self.reads_descriptor,
            path=self.path,
        )


@dataclass(frozen=True, slots=True)
class Expansion:
    """A part of a word that the shell replaces."""

    written: str
    is_quoted: bool
    name: str = ""  # of a variable
    operator: str = ""  # of `${name…}`: `:-`, `+`; `!` for a reference, `[@]` for all items; `?` for any other
    argument: str = ""  # the word after the operator
    commands: tuple[ParsedCommand, ...] | None = None  # of a substitution
    depth: int = 0  # the length of the path of these commands, without groups
    is_file: bool = False  # a process substitution


@dataclass(frozen=True, slots=True)
class ParsedText:
    commands: list[ParsedCommand]
    expansions: list[Expansion]
    functions: set[str]

    def unquote(self, word: str) -> str:
        """The word without its quotes, with its expansions as they are written."""
        if word.isascii():
            return word
        found = MARK.sub(lambda mark: self.expansions[ord(mark[0]) - FIRST_MARK].written, word)
        return restore_characters(found)

    def expansions_of(self, word: str) -> list[Expansion]:
        return [self.expansions[ord(mark) - FIRST_MARK] for mark in MARK.findall(word)]

    def pieces(self, word: str) -> Iterator[str | Expansion]:
        """The texts and expansions of a word, in order."""
        at = 0
        for mark in MARK.finditer(word):
            if mark.start() > at:
                yield word[at : mark.start()]
            yield self.expansions[ord(mark[0]) - FIRST_MARK]
            at = mark.end()
        if at < len(word):
            yield word[at:]


@dataclass(slots=True)
class Place:
    """The command whose words are being looked at."""

    parsed: ParsedText
    command: ParsedCommand
    path: Path
    depth: int


def pipes_into(path: Path, other: Path) -> bool:
    """Whether the first command's output is the second one's input."""
    for (pipeline, stage), (other_pipeline, other_stage) in zip(path, other, strict=False):
        if pipeline != other_pipeline:
            return False
        if stage != other_stage:
            return stage % 2 == 0 and 0 < other_stage - stage <= 2
    return False


def is_inside(path: Path, group: Path) -> bool:
    return len(path) > len(group) and path[: len(group)] == group


def restore_characters(word: str) -> str:
    """The word with its quoted characters as they were."""
    for char, mark in _QUOTED_CHARACTERS:
        if mark in word:
            word = word.replace(mark, char)
    return word


def mark_quoted(text: str) -> str:
    """The text of a quotation, so that its characters mean nothing to the shell.

    `str.translate` takes a hundred times as long for a long text.
    """
    for char, mark in _QUOTED_CHARACTERS:
        if char in text:
            text = text.replace(char, mark)
    return text
