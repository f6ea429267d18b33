"""The commands that a shell text runs: also those inside `sudo`, `sh -c`, `eval`, `xargs`, functions and here-documents.

It is for matching, and reads more rather than less: whatever may run is a command. Where only the shell can know, the
command has an unknown program or unknown words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, pairwise
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.deletions import DELETERS, deletion_command
from hookline.shell.embedded_code import INTERPRETERS, embedded_commands
from hookline.shell.expansion import Environment, Fields, is_descriptor, mark_globs, printed_texts, visible_text
from hookline.shell.grammar import (
    ASSIGNMENT,
    HAS_UNKNOWN,
    PRIVATE_CHARACTERS,
    TEMPORARY,
    UNKNOWN,
    UNKNOWN_WORDS,
    UNREAD,
)
from hookline.shell.parsed_text import MARK, ParsedCommand, ParsedText, Path
from hookline.shell.plain_lines import PlainCommand, read_plain_line
from hookline.shell.program_languages import LANGUAGES, language_commands
from hookline.shell.programs import CODE_VARIABLES, SHELLS, program_name
from hookline.shell.script_programs import script_command
from hookline.shell.simple_commands import TextTooLong, parse_commands
from hookline.shell.wrappers import (
    OTHER_SHELLS,
    TAKES_ASSIGNMENTS,
    InnerCommand,
    add_input_words,
    found_files,
    shell_code,
    shell_code_position,
    unwrap,
)

_HAS_GLOB: Final = lazy_pattern(r"[*?\[]")
_MAX_DEPTH: Final = 8
_MAX_COMMANDS: Final = 4_000
_MAX_STEPS: Final = 30_000
_MAX_CHARACTERS: Final = 4_000_000
_MAX_PASSES: Final = 4
_OUTERMOST: Final = (-1, 0)  # the first step of every path: the text itself
_CACHED_LENGTH: Final = 4_096
_PROGRAM_VARIABLE: Final = lazy_pattern(
    r"\w+_COMMAND|\w*EDITOR|VISUAL|\w*PAGER|LESSOPEN|LESSCLOSE|BROWSER|GIT_EXTERNAL_DIFF|GIT_SSH|\w+_ASKPASS"
)
_DECLARATIONS: Final = frozenset(("export", "declare", "typeset", "local", "readonly"))
_READERS: Final = frozenset(("read", "mapfile", "readarray", "getopts"))
_INPUT_PROGRAMS: Final = frozenset(("at", "batch", "su", "sudo", "doas", "ssh", "newgrp", "runuser"))
"""Programs that may run what they read."""
_SOME_SHELL: Final = frozenset((f"{UNKNOWN}sh", f"{UNKNOWN_WORDS}sh"))  # the value of `$SHELL`
_STDIN_FILES: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_ONLY_CHECKS: Final = lazy_pattern("-[a-z]*n[a-z]*")
_SHELL_VALUE_OPTIONS: Final = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))


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


def read_commands(text: str) -> RunText:
    """What the text runs; UNREADABLE if it is too long."""
    if not text.isascii():
        text = PRIVATE_CHARACTERS.sub("\ufffd", text)
    read = _read_text if len(text) <= _CACHED_LENGTH else _read_text.__wrapped__
    return read(text.replace("\0", ""))


@lru_cache(maxsize=256)
def _read_text(text: str) -> RunText:
    plain = read_plain_line(text) if text.isascii() and len(text) <= _CACHED_LENGTH else None
    return parse_text(text) if plain is None else _run_plainly(plain)


def _run_plainly(plain: list[PlainCommand]) -> RunText:
    commands, files = list[RunCommand](), list[tuple[Path, str]]()
    for words, place, source, operator, discards_output in plain:
        path = (_OUTERMOST, place)
        commands.append(RunCommand(words, path, source, operator=operator))
        if discards_output:
            files.append((path, "/dev/null"))
    return RunText(tuple(commands), targets=("/dev/null",) if files else (), files=tuple(files))


def parse_text(text: str) -> RunText:
    """What read_commands finds, without its short way for plain lines."""
    reader = _Reader()
    try:
        reader.add_text(text, (), -1, 0)
    except (TextTooLong, RecursionError):
        return UNREADABLE
    return RunText(tuple(reader.commands), tuple(reader.settings), tuple(reader.targets), tuple(reader.files))


@dataclass(slots=True)
class _Place:
    """The command whose words are being looked at."""

    parsed: ParsedText
    command: ParsedCommand
    path: Path
    depth: int


@dataclass(slots=True)
class _Reader:
    commands: dict[RunCommand, int] = field(default_factory=dict)  # with their numbers
    settings: dict[str, None] = field(default_factory=dict)
    targets: dict[str, None] = field(default_factory=dict)
    files: dict[tuple[Path, str], None] = field(default_factory=dict)
    environment: Environment = field(default_factory=Environment)
    functions: set[str] = field(default_factory=set)
    aliases: dict[str, dict[str, None]] = field(default_factory=dict)
    scripts: dict[str, dict[str, None]] = field(default_factory=dict)  # what the text writes into a file of this name
    texts: Iterator[int] = field(default_factory=count)
    added: dict[tuple[str, Path, int], int] = field(default_factory=dict)
    visited: dict[int, int] = field(default_factory=dict)  # a command's number → the version of the variables
    steps: int = 0
    characters: int = 0

    def add_text(self, text: str, path: Path, parent: int, depth: int) -> None:
        """Goes over the commands until no variable gets a new value: a function may be defined before its variables."""
        self.characters += len(text)
        if depth > _MAX_DEPTH or self.characters > _MAX_CHARACTERS:
            raise TextTooLong
        number = self.added.setdefault((text, path, parent), next(self.texts))
        parsed = parse_commands(text)
        self.functions |= parsed.functions
        self.environment.redefined |= parsed.functions
        was_repeated = self.environment.is_repeated
        for passes in range(_MAX_PASSES):
            self.environment.is_repeated = was_repeated or passes > 0
            version = self.environment.version
            for command in parsed.commands:
                place = _Place(parsed, command, (*path, (-1 - number, 0), *command.path), depth)
                self._add_command(place, parent)
            has_values = parsed.expansions or self.environment.opened
            if not has_values or self.environment.version == version:
                break
        else:
            self._add(RunCommand((UNKNOWN_WORDS + UNREAD,), path, parent=parent))
        self.environment.is_repeated = was_repeated
        if HAS_UNKNOWN.search(text):
            self._add(RunCommand((UNKNOWN_WORDS,), path, parent=parent))

    def _add(self, command: RunCommand) -> int:
        """The command's number."""
        self.steps += 1
        known = self.commands.setdefault(command, len(self.commands))
        if known >= _MAX_COMMANDS or self.steps > _MAX_STEPS:
            raise TextTooLong
        return known

    def _add_command(self, place: _Place, parent: int) -> None:
        parsed, command = place.parsed, place.command
        self._assign(place)
        for target in command.targets:
            self.targets[parsed.unquote(target)] = None
        for word in (*command.targets, *command.sources):
            for fields in self.environment.expand(parsed, word):
                self.files |= dict.fromkeys((place.path, each) for each in fields)
        self._add_written_files(place, parent)
        if command.targets:
            self._note_scripts(command.targets, self.environment.raw_output(parsed, command), place)
        self._open_descriptors(place)
        if not command.words:
            return
        written = tuple(parsed.unquote(word) for word in command.words)
        source = visible_text(" ".join(command.source.split()))
        has_expansions = any(not word.isascii() and MARK.search(word) for word in command.words)
        number = -1
        if has_expansions:
            number = self._add(RunCommand(written, place.path, source, is_written=True, parent=parent))
            for inner in unwrap(written):
                if inner.words:
                    self._add(RunCommand(inner.words, place.path, is_written=True, parent=number))
        for fields in self.environment.expand_words(parsed, command.words):
            if fields:
                self._add_words(fields, place, parent, "" if has_expansions else source, replaces=number)

    def _add_written_files(self, place: _Place, parent: int) -> None:
        """A file that a redirection writes and that the text does not name, read as `tee file`: `f=x; echo > $f`."""
        for target in place.command.targets:
            if target.isascii() and not _HAS_GLOB.search(target):
                continue
            for fields in self.environment.expand(place.parsed, target):
                names = [each for each in fields if visible_text(each) not in ("", "/dev/null")]
                if names and not is_descriptor(names[0]):
                    self._add(RunCommand(("tee", *names), place.path, parent=parent))

    def _note_scripts(self, files: Sequence[str], texts: Sequence[str], place: _Place) -> None:
        """`echo 'rm x' > x.sh`: what the file says, in case it is run. Directories do not count, since a `cd` may stand
        between.
        """
        known = [text for text in texts if text and UNKNOWN_WORDS not in text and text != UNKNOWN]
        for file in files if known else ():
            for fields in self.environment.expand(place.parsed, file):
                for name in (_file_name(each) for each in fields):
                    if name and any(text not in self.scripts.setdefault(name, {}) for text in known):
                        self.scripts[name] |= dict.fromkeys(known)
                        self.environment.version += 1

    def _script_texts(self, file: str) -> Iterator[str]:
        if self.scripts and (texts := self.scripts.get(_file_name(file))):
            yield "\n".join(texts)

    def _open_descriptors(self, place: _Place) -> None:
        """`3<<<text`, `3< <(echo text)`, and every input of `exec`, which stays open."""
        parsed, command, environment = place.parsed, place.command, self.environment
        is_exec = command.words[:1] == ["exec"] and command.input != UNKNOWN
        for text in (*command.opened, *([command.input] if is_exec and command.input else ())):
            environment.open_descriptor(environment.expand_text(parsed, text))
        for source in command.sources:
            for expansion in parsed.expansions_of(source):
                if expansion.is_file and expansion.commands is not None:
                    environment.open_descriptor(environment.outputs(parsed, expansion.commands, expansion.depth))

    def _assign(self, place: _Place) -> None:
        parsed, environment = place.parsed, self.environment
        for assigned in place.command.assignments:
            if assigned.items is not None:
                items = environment.expand_words(parsed, assigned.items)
                environment.assign_items(assigned.name, items, appends=assigned.appends)
                continue
            if assigned.loops_arguments:
                values = [each for fields in environment.positionals for each in fields]
                environment.assign(assigned.name, [*values, UNKNOWN])
                continue
            if assigned.is_loop:
                fields = (each for fields in environment.expand(parsed, assigned.value) for each in fields)
                environment.assign(assigned.name, list(fields), is_certain=True)
                continue
            values = environment.expand_text(parsed, assigned.value)
            is_certain = place.command.is_certain
            is_literal = not assigned.appends and MARK.search(assigned.value) is None
            environment.assign(
                assigned.name, values, appends=assigned.appends, is_certain=is_certain, is_literal=is_literal
            )
            self._note_setting(assigned.name, parsed.unquote(assigned.value), assigned.appends)
            if _PROGRAM_VARIABLE.fullmatch(assigned.name):
                for value in values:
                    self.add_text(value.lstrip("|-"), place.path, -1, place.depth + 1)

    def _note_setting(self, name: str, value: str, appends: bool) -> None:
        if CODE_VARIABLES.fullmatch(name):
            self.settings[f"{name}{'+' if appends else ''}={value}"] = None

    def _add_words(
        self, fields: Fields, place: _Place, parent: int, source: str = "", *, replaces: int = -1, depth: int = 0
    ) -> None:
        """The command, and the commands inside it."""
        if place.depth + depth > _MAX_DEPTH:
            raise TextTooLong
        operator = place.command.operator
        number = self._add(RunCommand(fields, place.path, source, parent=parent, replaces=replaces, operator=operator))
        words = tuple(mark_globs(each) for each in fields)
        if not _SOME_SHELL.isdisjoint(words):
            words = tuple("sh" if each in _SOME_SHELL else each for each in words)
        name = program_name(words[0])
        if name in self.functions:
            self.environment.set_positionals(fields[1:])
        if name in _EFFECTS or name in TAKES_ASSIGNMENTS:
            self._apply(name, words, place)
        if self.visited.get(number) == self.environment.version:
            return
        self.visited[number] = self.environment.version
        for inner in self._inner_commands(name, words, place):
            if inner.code is not None:
                if inner.positionals is not None:
                    self.environment.set_positionals(inner.positionals)
                self.add_text(inner.code, place.path, number, place.depth + depth + 1)
            elif inner.words:
                self._add_words(inner.words, place, number, depth=depth + 1)

    def _inner_commands(self, name: str, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        for text in self.aliases.get(words[0], ()):
            yield InnerCommand(code=f"{text} {shlex.join(words[1:])}")
        for text in self._script_texts(words[0]):
            yield InnerCommand(code=text, positionals=tuple(words[1:]))
        found = shell_code_position(words)
        if found is not None:
            code = shell_code(words)
            for word in words[found[0] + 1 : found[0] + 2]:
                self.environment.set_script_name(word)
            if place.command.input:  # what the code reads: `sh -c 'eval "$(cat)"' <<< text`
                self.environment.open_descriptor(self._inputs(place))
            yield InnerCommand(code=code, positionals=tuple(words[found[0] + 2 :]))
        if name in SHELLS and found is None:
            yield from self._shell_input(words, place)
        elif name in (".", "source"):
            yield from (InnerCommand(code=text) for text in self._file_input(words[1:2], place))
        elif name in ("eval", "trap"):
            given = words[2:] if words[1:2] == ("--",) else words[1:]
            yield InnerCommand(code=" ".join(given if name == "eval" else given[:1]))
        elif name == "env":
            yield from (InnerCommand(code=text) for text in _split_strings(words))
        elif name == "git":
            yield from _git_alias(words)
        elif name in _INPUT_PROGRAMS or name in OTHER_SHELLS:
            yield from (InnerCommand(code=text) for text in self._inputs(place) if not HAS_UNKNOWN.search(text))
        elif name in INTERPRETERS:
            scripts = [text for word in words[1:2] for text in self._script_texts(word)]
            yield from embedded_commands((*words[1:], *self._inputs(place), *scripts))
        if name in LANGUAGES:
            yield from language_commands(name, words, self._inputs(place))
        if name.lower() in DELETERS and (deletion := deletion_command(name.lower(), words)):
            yield InnerCommand(deletion)
        if script := script_command(name, words):
            yield InnerCommand(script)
        if name == "tee" and (inputs := self._inputs(place)):
            self._note_scripts([word for word in place.command.words[1:] if word[:1] != "-"], inputs, place)
        if name in ("xargs", "parallel"):
            yield from self._with_input(name, words, place)
        else:
            yield from unwrap(words)

    def _with_input(self, name: str, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        at = next((n for n, word in enumerate(words) if word in (":::", "::::", ":::+")), len(words))
        given = " ".join(word for word in words[at:] if not word.startswith("::"))
        inputs = [given] if given else self._inputs(place) or [UNKNOWN_WORDS]
        replaced = next((word for before, word in pairwise(words) if before in ("-I", "-J")), "{}")
        attached = next((word[2:] for word in words if re.fullmatch(r"-[Ii].+", word)), "")
        if name == "parallel" and all(word.startswith("-") for word in words[1:at]):  # each is a command
            yield from (InnerCommand(code=word) for word in words[at:] if not word.startswith("::"))
        for inner in unwrap(words[:at]):
            if inner.words:
                yield inner
                for full in add_input_words(inner.words, inputs, attached or replaced):
                    yield InnerCommand(full)
                    if name == "parallel":
                        yield InnerCommand(code=" ".join(full))

    def _shell_input(self, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        """The code of a shell without -c: what it gets through a pipe, or a script that the same text wrote."""
        operands, arguments, at = list[str](), None, 1
        while at < len(words):
            if words[at] in _SHELL_VALUE_OPTIONS:
                at += 1
            elif words[at][:1] not in ("-", "+") or words[at] == "-":
                operands = list(words[at:])
                break
            elif _ONLY_CHECKS.fullmatch(words[at]):
                return
            elif re.fullmatch(r"-[a-z]*s[a-z]*", words[at]):
                arguments = words[at + 1 :]
                break
            at += 1
        texts = self._file_input(operands[:1], place) if operands else self._inputs(place)
        yield from (InnerCommand(code=text, positionals=arguments or tuple(operands[1:]) or None) for text in texts)

    def _file_input(self, operands: Sequence[str], place: _Place) -> Iterator[str]:
        """What a shell reads from this file, if it is its input or a process substitution."""
        for operand in operands:
            yield from self._script_texts(operand)
            if operand in _STDIN_FILES or is_descriptor(operand):
                yield from self._inputs(place) or [UNKNOWN]
                yield from self.environment.opened
            if operand.startswith("/dev/fd/" + UNKNOWN):
                for word in place.command.words:
                    for expansion in place.parsed.expansions_of(word):
                        if expansion.is_file and expansion.commands is not None:
                            yield from self.environment.outputs(place.parsed, expansion.commands, expansion.depth)

    def _inputs(self, place: _Place) -> list[str]:
        """What the command reads from a here-document or a pipe; nothing if it has neither."""
        parsed, command = place.parsed, place.command
        found = self.environment.expand_text(parsed, command.input) if command.input else []
        if self.scripts:
            names = [
                each for word in command.sources for fields in self.environment.expand(parsed, word) for each in fields
            ]
            found += [text for name in names for text in self._script_texts(name)]
        for other in parsed.commands:
            if _pipes_into(other.path, command.path):
                found += self._printed(parsed, other)
            elif other.has_input and not other.words and _is_inside(command.path, other.path):  # `done <<< text`
                found += self.environment.expand_text(parsed, other.input)
        reads_descriptor = command.reads_descriptor or any(
            is_descriptor(parsed.unquote(each)) for each in command.sources
        )
        if self.environment.opened and (reads_descriptor or not found):  # `exec <<<text` is the input of all others
            found += self.environment.descriptor_texts()
        return found

    def _printed(self, parsed: ParsedText, command: ParsedCommand) -> list[str]:
        name = program_name(parsed.unquote(command.words[0])) if command.words else ""
        if name == "cat" and self.scripts:
            fields = self.environment.expand_words(parsed, command.words[1:])
            if texts := [text for each in fields for word in each for text in self._script_texts(word)]:
                return texts
        if name == "find":
            if found := found_files([parsed.unquote(word) for word in command.words]):
                return [" ".join(found)]
            starts = [word for word in command.words[1:2] if not word.startswith("-")] or ["."]
            formats = _format_texts(parsed, command)
            return [*(f"{start}{UNKNOWN}" for start in self.environment.expand_text(parsed, starts[0])), *formats]
        if name == "tee" or (name == "cat" and len(command.words) == 1 and not command.input):
            return self._inputs(_Place(parsed, command, command.path, 0)) or [UNKNOWN]
        printed = self.environment.output(parsed, command)
        if printed != [UNKNOWN]:
            return printed
        printed = self.environment.filtered_output(
            parsed, command, self._inputs(_Place(parsed, command, command.path, 0))
        )
        return printed or [UNKNOWN, *_format_texts(parsed, command)]

    def _apply(self, name: str, words: Fields, place: _Place) -> None:
        """What a builtin does to variables, aliases and arguments."""
        environment = self.environment
        if name == "alias":
            for word in words[1:]:
                alias, has_value, value = word.partition("=")
                environment.redefined.add(alias)
                if has_value and value not in self.aliases.setdefault(alias, {}):
                    self.aliases[alias][value] = None
                    environment.version += 1
        elif name == "set":
            given = next((n for n, word in enumerate(words) if word in ("--", "-")), None)
            arguments = words[given + 1 :] if given is not None else words[1:]
            if given is not None or (arguments and arguments[0][:1] not in ("-", "+")):
                environment.set_positionals(tuple(arguments))
        elif name == "shift":
            environment.shift_positionals()
        elif name in _READERS:
            for variable in words[1:]:
                if re.fullmatch(r"[A-Za-z_]\w*", variable):
                    is_numbered = any(word.startswith("-") and "u" in word for word in words)
                    texts = [*self._inputs(place), *(environment.opened if is_numbered else ())]
                    environment.assign(variable, [*texts, *(word for text in texts for word in text.split()), UNKNOWN])
                    if name != "read" or any(re.fullmatch(r"-\w*a", word) for word in words):
                        environment.assign_items(variable, [tuple(text.split()) for text in texts])
            environment.assign("REPLY", [UNKNOWN])
        elif name == "printf" and words[1:2] == ("-v",) and len(words) > 3:
            environment.assign(words[2], printed_texts("printf", words[3:]), is_certain=place.command.is_certain)
        elif name in TAKES_ASSIGNMENTS:
            for word in words[1:]:
                if assigned := ASSIGNMENT.match(word):
                    is_reference = name in _DECLARATIONS and any(re.match(r"-\w*n", each) for each in words[1:])
                    value = UNKNOWN if is_reference else word[assigned.end() :]
                    environment.assign(
                        assigned[1],
                        [value],
                        appends=bool(assigned[3]),
                        is_certain=place.command.is_certain,
                        is_literal=not assigned[3] and not any(map(MARK.search, place.command.words)),
                    )
                    self._note_setting(assigned[1], visible_text(word[assigned.end() :]), bool(assigned[3]))


_EFFECTS: Final = frozenset(("alias", "set", "shift", "printf", *_READERS))


def _file_name(word: str) -> str:
    """Nothing if it is not known, but for what mktemp made."""
    name = word.rsplit("/", 1)[-1]
    return name if name == TEMPORARY else "" if HAS_UNKNOWN.search(name) else visible_text(name)


def _format_texts(parsed: ParsedText, command: ParsedCommand) -> Iterator[str]:
    """`git log --format='rm x' | sh`: what a program is told to print."""
    for word in command.words[1:]:
        text = re.sub(r"\A--?[\w-]+=|\\[n0]\Z", "", parsed.unquote(word)).strip()
        if " " in text:
            yield text


def _pipes_into(path: Path, other: Path) -> bool:
    """Whether the first command's output is the second one's input."""
    for (pipeline, stage), (other_pipeline, other_stage) in zip(path, other, strict=False):
        if pipeline != other_pipeline:
            return False
        if stage != other_stage:
            return stage % 2 == 0 and 0 < other_stage - stage <= 2
    return False


def _is_inside(path: Path, group: Path) -> bool:
    return len(path) > len(group) and path[: len(group)] == group


def _split_strings(words: Sequence[str]) -> Iterator[str]:
    """The texts that `env -S` splits into a command."""
    for at, word in enumerate(words):
        if word in ("-S", "--split-string") or re.fullmatch(r"-[iv0]+S", word):
            yield " ".join(words[at + 1 :])
        elif word.startswith(("-S", "--split-string=")):
            yield " ".join((word.removeprefix("-S").removeprefix("--split-string="), *words[at + 1 :]))


_GIT_PROGRAM: Final = lazy_pattern(
    r"(?is)(?:core\.(?:sshcommand|pager|editor|fsmonitor)|sequence\.editor|diff\.external|pager\.\w+)=(.*)"
)


def _git_alias(words: Sequence[str]) -> Iterator[InnerCommand]:
    """`git -c alias.p=push p`"""
    for at, word in enumerate(words[:-1]):
        found = re.match(r"(?i)alias\.([^=]+)=(.*)", words[at + 1], re.DOTALL) if word == "-c" else None
        if found and found[2].startswith("!"):
            yield InnerCommand(code=found[2][1:])
        elif word == "-c" and (setting := _GIT_PROGRAM.match(words[at + 1])):
            yield InnerCommand(code=setting[1])
        elif found and found[1] in words[at + 2 :]:
            used = words.index(found[1], at + 2)
            yield InnerCommand((words[0], *found[2].split(), *words[used + 1 :]))
