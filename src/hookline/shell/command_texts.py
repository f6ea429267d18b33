"""What the commands of a shell text read and print, as far as the text says it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.shell.embedded_code import INTERPRETERS, printed_literals
from hookline.shell.expansion import Environment, is_descriptor
from hookline.shell.filters import MADE_TEXT
from hookline.shell.grammar import HAS_UNKNOWN, UNKNOWN
from hookline.shell.parsed_text import ParsedCommand, ParsedText, Path, Place, TextTooLong, is_inside, pipes_into
from hookline.shell.programs import program_name
from hookline.shell.wrappers import found_files
from hookline.shell.written_files import WrittenFiles

_STDIN_FILES: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


@dataclass(slots=True)
class CommandTexts:
    environment: Environment
    files: WrittenFiles
    functions: set[str]
    deadline: float  # on the thread's clock
    memory: dict[tuple[str, int, int], tuple[ParsedCommand, list[str]]] = field(default_factory=dict)
    pipelines: dict[int, tuple[ParsedText, dict[int, list[ParsedCommand]]]] = field(default_factory=dict)

    def read_by(self, place: Place) -> list[str]:
        """What the command reads from a here-document or a pipe; nothing if it has neither."""
        return self._remember("read", place.command, lambda: self._find_inputs(place))

    def written_by(self, place: Place, is_input: bool) -> list[str]:
        """What the command writes into a file: what it reads, or what it prints."""
        return self.read_by(place) if is_input else self._redirected(place)

    def in_file(self, file: str, place: Place) -> Iterator[str]:
        """What a shell reads from this file, if the text writes it, or if it is the shell's input or a process substitution."""
        yield from self.files.literal_texts(file)
        if file in _STDIN_FILES or is_descriptor(file):
            yield from self.read_by(place) or [UNKNOWN]
            yield from self.environment.opened
        if file.startswith("/dev/fd/" + UNKNOWN):
            for word in place.command.words:
                for expansion in place.parsed.expansions_of(word):
                    if expansion.is_file and expansion.commands is not None:
                        yield from self.environment.outputs(place.parsed, expansion.commands, expansion.depth)

    def files_read(self, place: Place) -> Iterator[str]:
        """The files from which the command's input comes: `sh < file`, `cat file | sh`."""
        parsed, command = place.parsed, place.command
        words = list(command.sources)
        for other in self._same_pipeline(parsed, command.path) if self.files.has_computed else ():
            if pipes_into(other.path, command.path) and other.words[:1] and program_name(other.words[0]) == "cat":
                words += other.words[1:]
        for word in words:
            for fields in self.environment.expand(parsed, word):
                yield from fields

    def _find_inputs(self, place: Place) -> list[str]:
        parsed, command = place.parsed, place.command
        found = self.environment.expand_text(parsed, command.input) if command.input else []
        if self.files.texts:
            names = [
                each for word in command.sources for fields in self.environment.expand(parsed, word) for each in fields
            ]
            found += [text for name in names for text in self.files.literal_texts(name)]
        for other in self._same_pipeline(parsed, command.path):
            if pipes_into(other.path, command.path):
                found += self._printed(parsed, other)
            elif other.has_input and not other.words and is_inside(command.path, other.path):  # `done <<< text`
                found += self.environment.expand_text(parsed, other.input)
        reads_descriptor = command.reads_descriptor or any(
            is_descriptor(parsed.unquote(each)) for each in command.sources
        )
        if self.environment.opened and (reads_descriptor or not found):  # `exec <<<text` is the input of all others
            found += self.environment.descriptor_texts()
        return found

    def _redirected(self, place: Place) -> list[str]:
        """What the command prints, if a redirection takes it; for a group, what all its commands print."""
        parsed, command = place.parsed, place.command
        if command.words[:1] == ["exec"]:  # what all commands after it print
            return [MADE_TEXT]
        if command.words:
            return self._remember("printed", command, lambda: self._printed(parsed, command.without_targets()))
        return self._remember("printed", command, lambda: self._printed_by_group(parsed, command.path))

    def _printed_by_group(self, parsed: ParsedText, path: Path) -> list[str]:
        inner = [each for each in self._same_pipeline(parsed, path) if is_inside(each.path, path)]
        found = self.environment.outputs(parsed, inner, len(path) + 1)
        if any(map(HAS_UNKNOWN.search, found)):
            found += [text for each in inner for text in self._printed(parsed, each)]
        return found

    def _printed(self, parsed: ParsedText, command: ParsedCommand) -> list[str]:
        name = program_name(parsed.unquote(command.words[0])) if command.words else ""
        if name == "cat" and self.files.texts:
            fields = self.environment.expand_words(parsed, command.words[1:])
            if texts := [text for each in fields for word in each for text in self.files.literal_texts(word)]:
                return texts
        if name == "find":
            if found := found_files([parsed.unquote(word) for word in command.words]):
                return [" ".join(found)]
            starts = [word for word in command.words[1:2] if not word.startswith("-")] or ["."]
            formats = _format_texts(parsed, command)
            return [*(f"{start}{UNKNOWN}" for start in self.environment.expand_text(parsed, starts[0])), *formats]
        if name == "tee" or (name == "cat" and len(command.words) == 1 and not command.input):
            return self.read_by(Place(parsed, command, command.path, 0)) or [UNKNOWN]
        printed = self.environment.output(parsed, command)
        if printed != [UNKNOWN]:
            return printed
        printed = self.environment.filtered_output(
            parsed, command, self.read_by(Place(parsed, command, command.path, 0))
        )
        made = [MADE_TEXT] if name in self.functions else []
        if name in INTERPRETERS:
            made += printed_literals([parsed.unquote(word) for word in command.words])
        return [*(printed or [UNKNOWN, *_format_texts(parsed, command)]), *made]

    def _same_pipeline(self, parsed: ParsedText, path: Path) -> list[ParsedCommand]:
        """The commands that stand in the same outermost pipeline: only they may feed each other."""
        if id(parsed) not in self.pipelines:
            found: dict[int, list[ParsedCommand]] = {}
            for command in parsed.commands:
                found.setdefault(command.path[0][0], []).append(command)
            self.pipelines[id(parsed)] = (parsed, found)
        return self.pipelines[id(parsed)][1].get(path[0][0], [])

    def _remember(self, kind: str, command: ParsedCommand, find: Callable[[], list[str]]) -> list[str]:
        """What was found for this command since a variable last got a new value: groups that feed groups ask again and again."""
        key = (kind, id(command), self.environment.version)
        if key not in self.memory:
            if time.thread_time() > self.deadline:
                raise TextTooLong
            self.memory[key] = (command, list(dict.fromkeys(find())))
        return list(self.memory[key][1])


def _format_texts(parsed: ParsedText, command: ParsedCommand) -> Iterator[str]:
    """`git log --format='rm x' | sh`: what a program is told to print."""
    for word in command.words[1:]:
        text = re.sub(r"\A--?[\w-]+=|\\[n0]\Z", "", parsed.unquote(word)).strip()
        if " " in text:
            yield text
