"""The commands that a shell text runs: also those inside `sudo`, `sh -c`, `eval`, `xargs`, functions and here-documents.

It is for matching, and reads more rather than less: whatever may run is a command. Where only the shell can know, the
command has an unknown program or unknown words.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count, pairwise
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell import git_settings
from hookline.shell.deletions import DELETERS, deletion_command
from hookline.shell.embedded_code import (
    CODE_SUFFIXES,
    INTERPRETERS,
    computed_commands,
    embedded_commands,
    printed_literals,
    written_texts,
)
from hookline.shell.expansion import Environment, Fields, is_descriptor, mark_globs, printed_texts, visible_text
from hookline.shell.filters import MADE_TEXT
from hookline.shell.grammar import (
    ASSIGNMENT,
    HAS_UNKNOWN,
    PRIVATE_CHARACTERS,
    TEMPORARY,
    UNKNOWN,
    UNKNOWN_WORDS,
    UNREAD,
)
from hookline.shell.parsed_text import MARK, ParsedCommand, ParsedText, Path, TextTooLong
from hookline.shell.plain_lines import PlainCommand, read_plain_line
from hookline.shell.program_languages import (
    CODE_FILES,
    LANGUAGES,
    PACKAGE_PROGRAMS,
    language_commands,
    package_commands,
)
from hookline.shell.programs import CODE_VARIABLES, EVALUATORS, SHELL_VALUE_OPTION, SHELLS, program_name
from hookline.shell.renamed_programs import INPUT_WRITERS, RENAMERS, files_of_input, renamed_files
from hookline.shell.script_programs import script_command
from hookline.shell.simple_commands import parse_commands
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
_STEPS_BETWEEN_LOOKS: Final = 32  # at the clock
_MAX_SECONDS: Final = 0.5  # of processor time, so that a busy machine reads the same
_OUTERMOST: Final = (-1, 0)  # the first step of every path: the text itself
_CACHED_LENGTH: Final = 4_096
_PROGRAM_VARIABLE: Final = lazy_pattern(
    r"\w+_COMMAND|\w*EDITOR|VISUAL|\w*PAGER|LESSOPEN|LESSCLOSE|BROWSER|GIT_EXTERNAL_DIFF|GIT_SSH|\w+_ASKPASS"
)
_PROMPT_VARIABLE: Final = lazy_pattern(r"PS[0-4]|R?PROMPT\d?")
_STARTUP_VARIABLES: Final = frozenset(("BASH_ENV", "ENV"))
_GIT_CONFIG_VARIABLES: Final = frozenset(("GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"))
_STARTUP_FILES: Final = (
    *(".bashrc", ".bash_profile", ".bash_login", ".profile", ".bash_logout", ".bash_aliases"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc"),
)
_SUBSTITUTES: Final = lazy_pattern(r"\$\(|`")
_SUBSTITUTES_IN_WORD: Final = lazy_pattern(r"[$<>]\(|`")
_SUBSCRIPT: Final = lazy_pattern(r"\[[^\]]*+")
_FUNCTION_VARIABLE: Final = lazy_pattern(r"BASH_FUNC_([^=%(]+)(?:%%|\(\))=(.*)", re.DOTALL)
_DECLARATIONS: Final = frozenset(("export", "declare", "typeset", "local", "readonly"))
_READERS: Final = frozenset(("read", "mapfile", "readarray", "getopts"))
_INPUT_PROGRAMS: Final = frozenset(("at", "batch", "su", "sudo", "doas", "ssh", "newgrp", "runuser"))
"""Programs that may run what they read."""
_SOME_SHELL: Final = frozenset((f"{UNKNOWN}sh", f"{UNKNOWN_WORDS}sh"))  # the value of `$SHELL`
_STDIN_FILES: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_ONLY_CHECKS: Final = lazy_pattern("-[a-z]*n[a-z]*")
_LISTS_PARTS: Final = frozenset(("--test", "--list"))
_UNKNOWN_TEXT: Final = UNKNOWN_WORDS + UNKNOWN  # of a file that the text writes
_UNKNOWN_COMMAND: Final = (UNKNOWN_WORDS, UNKNOWN_WORDS)  # not `eval "$x"`: nothing says that it is what was printed


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


_Writing = tuple[Path, bool]  # the command, and whether it writes what it reads, as `tee` does, and not what it prints


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
    copies: dict[str, dict[str, None]] = field(default_factory=dict)  # what a file of this name is a copy of
    written: dict[str, dict[_Writing, _Place]] = field(
        default_factory=dict
    )  # where the text writes a file of this name
    code_texts: dict[str, dict[str, None]] = field(default_factory=dict)  # of code that writes a file of this name
    asked: set[str] = field(default_factory=set)  # names of files that may be run
    memory: dict[tuple[str, int, int], tuple[ParsedCommand, list[str]]] = field(default_factory=dict)
    git_aliases: dict[str, dict[str, None]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)  # texts of files that are being read
    evaluates_values: bool = False  # `${x@P}`: the values of variables are expanded again
    texts: Iterator[int] = field(default_factory=count)
    added: dict[tuple[str, Path, int], int] = field(default_factory=dict)
    visited: dict[int, int] = field(default_factory=dict)  # a command's number → the version of the variables
    pipelines: dict[int, tuple[ParsedText, dict[int, list[ParsedCommand]]]] = field(default_factory=dict)
    steps: int = 0
    characters: int = 0
    deadline: float = field(default_factory=lambda: time.thread_time() + _MAX_SECONDS)

    def add_text(self, text: str, path: Path, parent: int, depth: int) -> None:
        """Goes over the commands until no variable gets a new value: a function may be defined before its variables."""
        self.characters += len(text)
        if depth > _MAX_DEPTH or self.characters > _MAX_CHARACTERS:
            raise TextTooLong
        number = self.added.setdefault((text, path, parent), next(self.texts))
        parsed = parse_commands(text)
        self.functions |= parsed.functions
        self.evaluates_values |= any(each.operator == "@" and each.argument == "P" for each in parsed.expansions)
        self.environment.redefined |= parsed.functions
        was_repeated = self.environment.is_repeated
        for passes in range(_MAX_PASSES):
            self.environment.is_repeated = was_repeated or passes > 0
            version = self.environment.version
            for command in parsed.commands:
                place = _Place(parsed, command, (*path, (-1 - number, 0), *command.path), depth)
                self._add_command(place, parent)
            has_values = parsed.expansions or parsed.functions or self.environment.opened
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
        if known >= _MAX_COMMANDS or self.steps > _MAX_STEPS or self._is_late():
            raise TextTooLong
        return known

    def _is_late(self) -> bool:
        return self.steps % _STEPS_BETWEEN_LOOKS == 0 and time.thread_time() > self.deadline

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
            self._add_expanded_targets(place)
            self._note_scripts(command.targets, self.environment.raw_output(parsed, command), place)
            self._note_copied_output(place)
            for target in command.targets:
                for fields in self.environment.expand(parsed, target):
                    self._note_written(fields, place, is_input=False)
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

    def _add_expanded_targets(self, place: _Place) -> None:
        """bash expands the word after `>&` a second time: `echo >&'$(date)'` runs date."""
        for target in place.command.targets:
            for fields in self.environment.expand(place.parsed, target):
                for text in filter(_SUBSTITUTES_IN_WORD.search, map(visible_text, fields)):
                    self.add_text(f": {text}", place.path, -1, place.depth + 1)

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

    def _note_written(self, files: Iterable[str], place: _Place, *, is_input: bool) -> None:
        for name in filter(None, map(_file_name, files)):
            places = self.written.setdefault(name, {})
            if (place.path, is_input) not in places:
                places[place.path, is_input] = place
                self.environment.version += name in self.asked

    def _made_texts(self, file: str) -> list[str]:
        """What else is in a file that the text writes, as a pipe would pass it on: what a filter or a group prints, what
        code writes, what was in the file that it is a copy of. _UNKNOWN_TEXT for what only running it says.
        """
        name = _file_name(file)
        self.asked.add(name)
        found = dict[str, None]()
        names = [name] if name else self._files_matching(file)
        sources = (source for each in names for source in self.copies.get(each, ()))
        for each in dict.fromkeys((*names, *map(_file_name, sources))):
            for (_, is_input), place in self.written.get(each, {}).items():
                found |= dict.fromkeys((self._inputs(place) if is_input else self._saved(place)) or [UNKNOWN])
            found |= self.code_texts.get(each, {})
            if each != name:
                found |= dict.fromkeys(self._script_texts(each))
        known = self.scripts.get(name, {})
        texts = [_UNKNOWN_TEXT if text == UNKNOWN else text for text in found]
        return [text for text in texts if text and text not in known and text not in self.running]

    def _files_matching(self, file: str) -> list[str]:
        """`sh x*.sh`: the files of such a name that the text writes. `sh *` and `sh $x` may be any file, also another one."""
        parts = file.rsplit("/", 1)[-1].split(UNKNOWN)
        if not any(parts) or any(map(HAS_UNKNOWN.search, parts)):
            return []
        return [each for each in {**self.scripts, **self.written, **self.copies} if _fits(each, parts)]

    def _writes_files(self) -> bool:
        return bool(self.written or self.copies or self.code_texts)

    def _saved(self, place: _Place) -> list[str]:
        """What the command prints, if a redirection takes it; for a group, what all its commands print."""
        parsed, command = place.parsed, place.command
        if command.words[:1] == ["exec"]:  # what all commands after it print
            return [MADE_TEXT]
        if command.words:
            return self._remember("saved", command, lambda: self._printed(parsed, command.without_targets()))
        return self._remember("saved", command, lambda: self._printed_by_group(parsed, command.path))

    def _printed_by_group(self, parsed: ParsedText, path: Path) -> list[str]:
        inner = [each for each in self._same_pipeline(parsed, path) if _is_inside(each.path, path)]
        found = self.environment.outputs(parsed, inner, len(path) + 1)
        if any(map(HAS_UNKNOWN.search, found)):
            found += [text for each in inner for text in self._printed(parsed, each)]
        return found

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

    def _run_made(self, texts: Iterable[str], positionals: Fields = ()) -> Iterator[InnerCommand]:
        """These are read besides what else is known of a file, never instead of it."""
        for text in texts:
            if text == _UNKNOWN_TEXT:
                yield InnerCommand(_UNKNOWN_COMMAND)
            else:
                self.running.add(text)
                yield InnerCommand(code=text, positionals=positionals or None)
                self.running.discard(text)

    def _made_inputs(self, place: _Place) -> Iterator[str]:
        """What the command reads of such a file: `sh < file`, `cat file | sh`."""
        parsed, command = place.parsed, place.command
        words = list(command.sources)
        for other in self._same_pipeline(parsed, command.path) if self._writes_files() else ():
            if _pipes_into(other.path, command.path) and other.words[:1] and program_name(other.words[0]) == "cat":
                words += other.words[1:]
        for word in words:
            for fields in self.environment.expand(parsed, word):
                yield from (text for each in fields for text in self._made_texts(each))

    def _run_made_code(self, name: str, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        """The same for code of another language."""
        if not self._writes_files():
            return
        texts = [text for file in self._code_files(name, words, self.written) for text in self._made_texts(file)]
        texts += self._made_inputs(place)
        known = [text for text in dict.fromkeys(texts) if not HAS_UNKNOWN.search(text)]
        if len(known) < len(texts):
            yield InnerCommand(_UNKNOWN_COMMAND)
        if name in INTERPRETERS:
            yield from embedded_commands(known)
            yield from computed_commands((name,), known, (), ())
        if name in LANGUAGES:
            yield from language_commands(name, words, tuple(known))

    def _note_copied_output(self, place: _Place) -> None:
        """`cat $(which git) > g`"""
        parsed, command = place.parsed, place.command
        if [parsed.unquote(word) for word in command.words[:1]] == ["cat"]:
            for target in command.targets:
                for fields in self.environment.expand_words(parsed, [target, *command.words[1:]]):
                    self._note_copies((fields[0], source) for source in fields[1:])

    def _note_copies(self, files: Iterable[tuple[str, str]]) -> None:
        for file, source in files:
            name = _file_name(file)
            known = {mark_globs(source): None, **self.copies.get(_file_name(source), {})}
            if name and not known.keys() <= self.copies.setdefault(name, {}).keys():
                self.copies[name] |= known
                self.environment.version += 1

    def _programs_copied(self, file: str) -> Iterator[str]:
        """The programs that this file is a copy of. A copy of a copy was noted with the first program."""
        for source in self.copies.get(_file_name(file), ()):
            if _file_name(source) not in self.copies:
                yield source

    def _note_git_settings(self, settings: git_settings.Settings) -> None:
        for key, value in settings:
            alias = git_settings.alias_of(key)
            if alias and value not in self.git_aliases.setdefault(alias, {}):
                self.git_aliases[alias][value] = None
                self.environment.version += 1

    def _git_commands(self, words: Fields) -> Iterator[InnerCommand]:
        variables = self.environment.variables
        settings = [
            *git_settings.settings_of_words(words, variables),
            *git_settings.settings_of_variables(variables),
            *(
                setting
                for file in git_settings.SETTINGS_FILES
                for text in self._script_texts(file)
                for setting in git_settings.settings_of_text(text)
            ),
        ]
        self._note_git_settings(iter(settings))
        for key, value in settings:
            yield from git_settings.run_by_setting(key, value)
        for key, value in git_settings.stored_settings(words):
            if git_settings.alias_of(key):  # a later command may use it
                yield git_settings.run_by_alias(words[0], value, ())
        if self.git_aliases:
            at = next((at for at, word in enumerate(words) if word in self.git_aliases), len(words))
            for value in self.git_aliases[words[at]] if at < len(words) else ():
                yield git_settings.run_by_alias(words[0], value, words[at + 1 :])
        yield from git_settings.run_by_transport(words)
        yield from git_settings.push_of_words(words)
        yield from self._run_scripts(git_settings.HOOKS)
        given = git_settings.as_options(words, variables)
        if given and given != words:
            yield InnerCommand(given)

    def _script_texts(self, file: str) -> Iterator[str]:
        if self.scripts and (texts := self.scripts.get(_file_name(file))):
            yield "\n".join(texts)

    def _run_scripts(self, files: Sequence[str]) -> Iterator[InnerCommand]:
        """Files that a program runs without naming them. What they run in turn does not run them again: a hook may call git."""
        for text in (text for file in files for text in self._script_texts(file)):
            if text not in self.running:
                self.running.add(text)
                yield InnerCommand(code=text)
                self.running.discard(text)

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
            self._run_variable(assigned.name, values, place)

    def _run_variable(self, name: str, values: Sequence[str], place: _Place) -> None:
        """What the shell or another program runs because of a variable, also in its prompt or before its first command."""
        texts = list[str]()
        if _PROGRAM_VARIABLE.fullmatch(name):
            texts = [value.lstrip("|-") for value in values]
        elif _PROMPT_VARIABLE.fullmatch(name):
            texts = [_as_document(value) for value in values if _SUBSTITUTES.search(value)]
        elif name in _GIT_CONFIG_VARIABLES:
            found = (each for value in values for each in self._startup_texts(value, place))
            self._note_git_settings(each for text in found for each in git_settings.settings_of_text(text))
        elif name in _STARTUP_VARIABLES:
            texts = [text for value in values for text in self._startup_texts(value, place)]
        elif self.evaluates_values or any(map(_has_computed_subscript, values)):  # `x='a[$(date)]'; ((x))`
            texts = [_as_document(value) for value in values if _SUBSTITUTES.search(value)]
        for text in dict.fromkeys(texts):
            self.add_text(text, place.path, -1, place.depth + 1)

    def _startup_texts(self, file: str, place: _Place) -> Iterator[str]:
        """What a shell runs before its own commands, if the line says it."""
        yield from self._script_texts(file)
        if is_descriptor(file) or file.startswith("/dev/fd/"):
            command, environment = place.command, self.environment
            words = (*command.words, *(each.value for each in command.assignments))
            found = [
                text
                for word in words
                for each in place.parsed.expansions_of(word)
                if each.is_file and each.commands is not None
                for text in environment.outputs(place.parsed, each.commands, each.depth)
            ]
            yield from found or [MADE_TEXT]

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
        if not words[0].isascii() and _may_be_shell(words):
            self._add_words(("sh", *words[1:]), place, number, depth=depth + 1)
        name = program_name(words[0])
        if name in self.functions:
            self.environment.set_positionals(fields[1:])
        if name in _EFFECTS or name in TAKES_ASSIGNMENTS:
            self._apply(name, words, place)
        elif name in RENAMERS:
            self._note_copies(renamed_files(name, words))
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
            if text[-1:].isspace():  # the next word may be an alias too
                seconds = self.aliases.get("".join(words[1:2]), ())
                yield from (InnerCommand(code=f"{text}{each} {shlex.join(words[2:])}") for each in seconds)
        for text in self._script_texts(words[0]):
            yield InnerCommand(code=text, positionals=tuple(words[1:]))
        yield from self._run_made(self._made_texts(words[0]), tuple(words[1:]))
        yield from (InnerCommand((program, *words[1:])) for program in self._programs_copied(words[0]))
        found = shell_code_position(words)
        if found is not None:
            code = shell_code(words)
            for word in words[found[0] + 1 : found[0] + 2]:
                self.environment.set_script_name(word)
            if place.command.input:  # what the code reads: `sh -c 'eval "$(cat)"' <<< text`
                self.environment.open_descriptor(self._inputs(place))
            yield InnerCommand(code=code, positionals=tuple(words[found[0] + 2 :]))
        if name in SHELLS:
            yield from self._startup_commands(words, place)
        if name in EVALUATORS:
            yield from _evaluated_arguments(name, words)
        if name in TAKES_ASSIGNMENTS:  # env 'BASH_FUNC_ls%%=() { rm x; }' bash
            functions = filter(None, map(_FUNCTION_VARIABLE.fullmatch, words))
            yield from (InnerCommand(code=f"{each[1]} {each[2]}") for each in functions)
        if name in SHELLS and found is None:
            yield from self._shell_input(words, place)
        else:
            yield from self._commands_by_name(name, words, place)
        if name in INTERPRETERS or name in LANGUAGES:
            yield from self._run_made_code(name, words, place)
        if name in LANGUAGES:
            yield from language_commands(name, words, (*self._inputs(place), *self._code_texts(name, words, place)))
        if name in PACKAGE_PROGRAMS:
            yield from package_commands(words, self._script_texts("package.json"))
        if name.lower() in DELETERS and (deletion := deletion_command(name.lower(), words)):
            yield InnerCommand(deletion)
        if name == "run-parts" and not _LISTS_PARTS.intersection(words):
            yield from self._run_scripts(tuple(self.scripts))
        if script := script_command(name, words):
            yield InnerCommand(script)
        if name == "tee" and (inputs := self._inputs(place)):
            self._note_scripts([word for word in place.command.words[1:] if word[:1] != "-"], inputs, place)
        if name in INPUT_WRITERS and not self._is_code(place):
            self._note_written(files_of_input(name, words), place, is_input=True)
        if name in ("xargs", "parallel"):
            yield from self._with_input(name, words, place)
        else:
            yield from unwrap(words)

    def _commands_by_name(self, name: str, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        """What a builtin, git or an interpreter runs."""
        if name in (".", "source"):
            yield from (InnerCommand(code=text) for text in self._file_input(words[1:2], place))
            yield from self._run_made(text for word in words[1:2] for text in self._made_texts(word))
        elif name in ("eval", "trap"):
            given = words[2:] if words[1:2] == ("--",) else words[1:]
            yield InnerCommand(code=" ".join(given if name == "eval" else given[:1]))
        elif name == "env":
            yield from (InnerCommand(code=text) for text in _split_strings(words))
        elif name == "git":
            yield from self._git_commands(words)
        elif name in _INPUT_PROGRAMS or name in OTHER_SHELLS:
            yield from (InnerCommand(code=text) for text in self._inputs(place) if not HAS_UNKNOWN.search(text))
            yield from self._run_made(self._made_inputs(place))
        elif name in INTERPRETERS:
            inputs, scripts = self._inputs(place), list(self._code_texts(name, words, place))
            yield from embedded_commands((*words[1:], *inputs, *scripts))
            values = [each for values in self.environment.variables.values() for each in values]
            yield from computed_commands(words, scripts, inputs, values)
            for text in (*words[1:], *inputs):
                self._note_code_texts(text)

    def _note_code_texts(self, code: str) -> None:
        """`open("x.sh", "w").write("rm x")`: any of its texts may be what it writes."""
        files, texts = written_texts(code)
        for name in filter(None, map(_file_name, files)):
            known = self.code_texts.setdefault(name, {_UNKNOWN_TEXT: None})
            if not known.keys() >= texts.keys():
                known |= texts
                self.environment.version += name in self.asked

    def _is_code(self, place: _Place) -> bool:
        """Whether the command is code of another language: what that writes is not its input."""
        words = place.command.words
        return bool(words) and program_name(place.parsed.unquote(words[0])) in INTERPRETERS

    def _with_input(self, name: str, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        at = next((n for n, word in enumerate(words) if word in (":::", "::::", ":::+")), len(words))
        given = " ".join(word for word in words[at:] if not word.startswith("::"))
        files = [after for before, after in pairwise(words) if before in ("-a", "--arg-file")]
        files += [word.partition("=")[2] for word in words if word.startswith("--arg-file=")]
        texts = [text for file in files for text in self._file_input([file], place)]
        inputs = [given] if given else texts or self._inputs(place) or [UNKNOWN_WORDS]
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
            if SHELL_VALUE_OPTION.fullmatch(words[at]):
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
        given = arguments or tuple(operands[1:])
        yield from (InnerCommand(code=text, positionals=given or None) for text in texts)
        made = self._made_texts(operands[0]) if operands else self._made_inputs(place)
        yield from self._run_made(made, given)

    def _code_texts(self, name: str, words: Fields, place: _Place) -> Iterator[str]:
        """What the text writes into files that the program reads as code: those that its words name, and its usual ones."""
        for file in self._code_files(name, words, self.scripts):
            if self.scripts or file.startswith("/dev/fd/" + UNKNOWN):
                yield from (text for text in self._file_input([file], place) if not HAS_UNKNOWN.search(text))

    def _code_files(self, name: str, words: Fields, written: Collection[str]) -> dict[str, None]:
        """Those that its words name, and its usual ones among these."""
        files = [word for each in words[1:] for word in (each, each[2:] if each.startswith("-f") else "") if word]
        if written:
            suffixes = CODE_SUFFIXES.get(name, ())
            files += [file for file in written if file.endswith(suffixes) and suffixes]
            files += CODE_FILES.get(name, ())
        return dict.fromkeys(files)

    def _startup_commands(self, words: Fields, place: _Place) -> Iterator[InnerCommand]:
        """`bash --rcfile file`, and startup files that the same text writes."""
        files = [after for before, after in pairwise(words) if before in ("--rcfile", "--init-file")]
        files += [file for file in _STARTUP_FILES if file in self.scripts]
        yield from (InnerCommand(code=text) for file in files for text in self._file_input([file], place))

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
        return self._remember("read", place.command, lambda: self._find_inputs(place))

    def _find_inputs(self, place: _Place) -> list[str]:
        parsed, command = place.parsed, place.command
        found = self.environment.expand_text(parsed, command.input) if command.input else []
        if self.scripts:
            names = [
                each for word in command.sources for fields in self.environment.expand(parsed, word) for each in fields
            ]
            found += [text for name in names for text in self._script_texts(name)]
        for other in self._same_pipeline(parsed, command.path):
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
        made = [MADE_TEXT] if name in self.functions else []
        if name in INTERPRETERS:
            made += printed_literals([parsed.unquote(word) for word in command.words])
        return [*(printed or [UNKNOWN, *_format_texts(parsed, command)]), *made]

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
                    self._run_variable(assigned[1], [value], place)


_EFFECTS: Final = frozenset(("alias", "set", "shift", "printf", *_READERS))


def _file_name(word: str) -> str:
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


def _format_texts(parsed: ParsedText, command: ParsedCommand) -> Iterator[str]:
    """`git log --format='rm x' | sh`: what a program is told to print."""
    for word in command.words[1:]:
        text = re.sub(r"\A--?[\w-]+=|\\[n0]\Z", "", parsed.unquote(word)).strip()
        if " " in text:
            yield text


def _may_be_shell(words: Sequence[str]) -> bool:
    """`/bin/b?sh -c code`: a program that a pattern names, with code."""
    base = words[0].rsplit("/", 1)[-1]
    if not any(re.fullmatch("-[a-z]*c", word) for word in words[1:]) or UNKNOWN_WORDS in base:
        return False
    pattern = re.compile(".*".join(map(re.escape, base.split(UNKNOWN))))
    return base != UNKNOWN and any(map(pattern.fullmatch, SHELLS))


def _as_document(text: str) -> str:
    """A command that runs only the substitutions in the text."""
    return f": <<HOOKLINE_TEXT\n{text}\nHOOKLINE_TEXT"


def _has_computed_subscript(text: str) -> bool:
    return any("$(" in found[0] or "`" in found[0] for found in _SUBSCRIPT.finditer(text))


def _evaluated_arguments(name: str, words: Sequence[str]) -> Iterator[InnerCommand]:
    for before, word in pairwise(words):
        if before == "-C" and name in ("compgen", "complete", "mapfile", "readarray"):
            yield InnerCommand(code=word)
        elif (
            _has_computed_subscript(word)
            or (name in _DECLARATIONS and "=(" in word)
            or (name in ("compgen", "complete") and _SUBSTITUTES.search(word))
        ):
            yield InnerCommand(code=_as_document(word))


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
