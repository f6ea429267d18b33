"""The files that a shell text writes: what is in them, and which programs they are copies of.

A file is known by its name without the directory, since a `cd` may stand between writing and running it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.shell.embedded_code import written_texts
from hookline.shell.expansion import Environment, mark_globs, visible_text
from hookline.shell.grammar import HAS_UNKNOWN, TEMPORARY, UNKNOWN, UNKNOWN_WORDS
from hookline.shell.parsed_text import Path, Place

UNKNOWN_TEXT: Final = UNKNOWN_WORDS + UNKNOWN
"""The content of a file that only running the text says."""

_Writer = tuple[Path, bool]  # the command, and whether it writes what it reads, as `tee` does, and not what it prints


@dataclass(slots=True)
class WrittenFiles:
    """Whatever is new about a file that may be run changes the version of the environment."""

    environment: Environment
    texts: dict[str, dict[str, None]] = field(default_factory=dict)  # what the text writes into a file, literally
    writers: dict[str, dict[_Writer, Place]] = field(default_factory=dict)  # the commands that write a file
    copies: dict[str, dict[str, None]] = field(default_factory=dict)  # what a file is a copy of
    code_texts: dict[str, dict[str, None]] = field(default_factory=dict)  # of code that writes a file
    asked: set[str] = field(default_factory=set)  # names of files that may be run

    @property
    def has_computed(self) -> bool:
        """Whether the text writes files whose content it does not say literally."""
        return bool(self.writers or self.copies or self.code_texts)

    def literal_texts(self, file: str) -> Iterator[str]:
        if self.texts and (texts := self.texts.get(file_name(file))):
            yield "\n".join(texts)

    def computed_texts(self, file: str, written_by: Callable[[Place, bool], list[str]]) -> list[str]:
        """What else is in the file, as a pipe would pass it on: what a filter or a group prints, what code writes, what was in
        the file that it is a copy of. UNKNOWN_TEXT for what only running the text says.
        """
        name = file_name(file)
        self.asked.add(name)
        found = dict[str, None]()
        names = [name] if name else self._names_matching(file)
        sources = (source for each in names for source in self.copies.get(each, ()))
        for each in dict.fromkeys((*names, *map(file_name, sources))):
            for (_, is_input), place in self.writers.get(each, {}).items():
                found |= dict.fromkeys(written_by(place, is_input) or [UNKNOWN])
            found |= self.code_texts.get(each, {})
            if each != name:
                found |= dict.fromkeys(self.literal_texts(each))
        known = self.texts.get(name, {})
        texts = [UNKNOWN_TEXT if text == UNKNOWN else text for text in found]
        return [text for text in texts if text and text not in known]

    def programs_copied(self, file: str) -> Iterator[str]:
        """The programs that this file is a copy of. A copy of a copy was noted with the first program."""
        for source in self.copies.get(file_name(file), ()):
            if file_name(source) not in self.copies:
                yield source

    def note_texts(self, files: Iterable[str], texts: Collection[str]) -> None:
        """`echo 'rm x' > x.sh`"""
        for name in filter(None, map(file_name, files)):
            if any(text not in self.texts.setdefault(name, {}) for text in texts):
                self.texts[name] |= dict.fromkeys(texts)
                self.environment.version += 1

    def note_writer(self, files: Iterable[str], place: Place, *, is_input: bool) -> None:
        for name in filter(None, map(file_name, files)):
            places = self.writers.setdefault(name, {})
            if (place.path, is_input) not in places:
                places[place.path, is_input] = place
                self.environment.version += name in self.asked

    def note_copies(self, files: Iterable[tuple[str, str]]) -> None:
        for file, source in files:
            name = file_name(file)
            known = {mark_globs(source): None, **self.copies.get(file_name(source), {})}
            if name and not known.keys() <= self.copies.setdefault(name, {}).keys():
                self.copies[name] |= known
                self.environment.version += 1

    def note_code(self, code: str) -> None:
        """`open("x.sh", "w").write("rm x")`: any of its texts may be what it writes."""
        files, texts = written_texts(code)
        for name in filter(None, map(file_name, files)):
            known = self.code_texts.setdefault(name, {UNKNOWN_TEXT: None})
            if not known.keys() >= texts.keys():
                known |= texts
                self.environment.version += name in self.asked

    def _names_matching(self, file: str) -> list[str]:
        """`sh x*.sh`: the files of such a name that the text writes. `sh *` and `sh $x` may be any file, also another one."""
        parts = file.rsplit("/", 1)[-1].split(UNKNOWN)
        if not any(parts) or any(map(HAS_UNKNOWN.search, parts)):
            return []
        return [each for each in {**self.texts, **self.writers, **self.copies} if _fits(each, parts)]


def file_name(word: str) -> str:
    """Nothing if it is not known, but for what mktemp made."""
    name = word.rsplit("/", 1)[-1]
    return name if name == TEMPORARY else "" if HAS_UNKNOWN.search(name) else visible_text(name)


def _fits(name: str, parts: Sequence[str]) -> bool:
    """Whether the name has these parts, one behind the other, with anything between them."""
    if not name.startswith(parts[0]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return name.endswith(parts[-1]) and len(name) - len(parts[-1]) >= at
