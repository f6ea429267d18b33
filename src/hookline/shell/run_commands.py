"""The commands that a shell text runs: also those inside `sudo`, `sh -c`, `eval`, `xargs`, functions and here-documents.

It is for matching, and reads more rather than less: whatever may run is a command. Where only the shell can know, the
command has an unknown program or unknown words.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count, pairwise
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell import git_settings
from hookline.shell.command_texts import CommandTexts
from hookline.shell.deletions import DELETERS, deletion_command
from hookline.shell.embedded_code import (
    CODE_SUFFIXES,
    INTERPRETERS,
    computed_commands,
    embedded_commands,
)
from hookline.shell.expansion import Environment, Fields, is_descriptor, mark_globs, printed_texts, visible_text
from hookline.shell.filters import MADE_TEXT
from hookline.shell.grammar import (
    ASSIGNMENT,
    HAS_UNKNOWN,
    PRIVATE_CHARACTERS,
    UNKNOWN,
    UNKNOWN_WORDS,
    UNREAD,
)
from hookline.shell.parsed_text import MARK, Path, Place, TextTooLong
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
from hookline.shell.run_text import UNREADABLE, RunCommand, RunText
from hookline.shell.script_programs import script_command
from hookline.shell.simple_commands import parse_commands
from hookline.shell.wrappers import (
    OTHER_SHELLS,
    TAKES_ASSIGNMENTS,
    InnerCommand,
    add_input_words,
    shell_code,
    shell_code_position,
    unwrap,
)
from hookline.shell.written_files import UNKNOWN_TEXT, WrittenFiles

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
_ONLY_CHECKS: Final = lazy_pattern("-[a-z]*n[a-z]*")
_LISTS_PARTS: Final = frozenset(("--test", "--list"))
_UNKNOWN_COMMAND: Final = (UNKNOWN_WORDS, UNKNOWN_WORDS)  # not `eval "$x"`: nothing says that it is what was printed


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
class _Reader:
    commands: dict[RunCommand, int] = field(default_factory=dict)  # with their numbers
    settings: dict[str, None] = field(default_factory=dict)
    targets: dict[str, None] = field(default_factory=dict)
    files: dict[tuple[Path, str], None] = field(default_factory=dict)
    environment: Environment = field(default_factory=Environment)
    functions: set[str] = field(default_factory=set)
    aliases: dict[str, dict[str, None]] = field(default_factory=dict)
    git_aliases: dict[str, dict[str, None]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)  # texts of files that are being read
    evaluates_values: bool = False  # `${x@P}`: the values of variables are expanded again
    texts: Iterator[int] = field(default_factory=count)
    added: dict[tuple[str, Path, int], int] = field(default_factory=dict)
    visited: dict[int, int] = field(default_factory=dict)  # a command's number → the version of the variables
    steps: int = 0
    characters: int = 0
    deadline: float = field(default_factory=lambda: time.thread_time() + _MAX_SECONDS)
    written: WrittenFiles = field(init=False)
    command_texts: CommandTexts = field(init=False)

    def __post_init__(self) -> None:
        self.written = WrittenFiles(self.environment)
        self.command_texts = CommandTexts(self.environment, self.written, self.functions, self.deadline)

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
                place = Place(parsed, command, (*path, (-1 - number, 0), *command.path), depth)
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

    def _add_command(self, place: Place, parent: int) -> None:
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
            self._note_texts(command.targets, self.environment.raw_output(parsed, command), place)
            self._note_copied_output(place)
            for target in command.targets:
                for fields in self.environment.expand(parsed, target):
                    self.written.note_writer(fields, place, is_input=False)
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

    def _add_written_files(self, place: Place, parent: int) -> None:
        """A file that a redirection writes and that the text does not name, read as `tee file`: `f=x; echo > $f`."""
        for target in place.command.targets:
            if target.isascii() and not _HAS_GLOB.search(target):
                continue
            for fields in self.environment.expand(place.parsed, target):
                names = [each for each in fields if visible_text(each) not in ("", "/dev/null")]
                if names and not is_descriptor(names[0]):
                    self._add(RunCommand(("tee", *names), place.path, parent=parent))

    def _add_expanded_targets(self, place: Place) -> None:
        """bash expands the word after `>&` a second time: `echo >&'$(date)'` runs date."""
        for target in place.command.targets:
            for fields in self.environment.expand(place.parsed, target):
                for text in filter(_SUBSTITUTES_IN_WORD.search, map(visible_text, fields)):
                    self.add_text(f": {text}", place.path, -1, place.depth + 1)

    def _note_texts(self, files: Sequence[str], texts: Sequence[str], place: Place) -> None:
        """`echo 'rm x' > x.sh`: what the file says, in case it is run."""
        known = [text for text in texts if text and UNKNOWN_WORDS not in text and text != UNKNOWN]
        for file in files if known else ():
            for fields in self.environment.expand(place.parsed, file):
                self.written.note_texts(fields, known)

    def _computed_texts(self, file: str) -> list[str]:
        found = self.written.computed_texts(file, self.command_texts.written_by)
        return [text for text in found if text not in self.running]

    def _computed_inputs(self, place: Place) -> Iterator[str]:
        for file in self.command_texts.files_read(place):
            yield from self._computed_texts(file)

    def _texts_in(self, files: Iterable[str], place: Place) -> Iterator[str]:
        for file in files:
            yield from self.command_texts.in_file(file, place)

    def _run_computed(self, texts: Iterable[str], positionals: Fields = ()) -> Iterator[InnerCommand]:
        """These are read besides what else is known of a file, never instead of it."""
        for text in texts:
            if text == UNKNOWN_TEXT:
                yield InnerCommand(_UNKNOWN_COMMAND)
            else:
                self.running.add(text)
                yield InnerCommand(code=text, positionals=positionals or None)
                self.running.discard(text)

    def _run_computed_code(self, name: str, words: Fields, place: Place) -> Iterator[InnerCommand]:
        """The same for code of another language."""
        if not self.written.has_computed:
            return
        texts = [
            text for file in self._code_files(name, words, self.written.writers) for text in self._computed_texts(file)
        ]
        texts += self._computed_inputs(place)
        known = [text for text in dict.fromkeys(texts) if not HAS_UNKNOWN.search(text)]
        if len(known) < len(texts):
            yield InnerCommand(_UNKNOWN_COMMAND)
        if name in INTERPRETERS:
            yield from embedded_commands(known)
            yield from computed_commands((name,), known, (), ())
        if name in LANGUAGES:
            yield from language_commands(name, words, tuple(known))

    def _note_copied_output(self, place: Place) -> None:
        """`cat $(which git) > g`"""
        parsed, command = place.parsed, place.command
        if [parsed.unquote(word) for word in command.words[:1]] == ["cat"]:
            for target in command.targets:
                for fields in self.environment.expand_words(parsed, [target, *command.words[1:]]):
                    self.written.note_copies((fields[0], source) for source in fields[1:])

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
                for text in self.written.literal_texts(file)
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

    def _run_scripts(self, files: Sequence[str]) -> Iterator[InnerCommand]:
        """Files that a program runs without naming them. What they run in turn does not run them again: a hook may call git."""
        for text in (text for file in files for text in self.written.literal_texts(file)):
            if text not in self.running:
                self.running.add(text)
                yield InnerCommand(code=text)
                self.running.discard(text)

    def _open_descriptors(self, place: Place) -> None:
        """`3<<<text`, `3< <(echo text)`, and every input of `exec`, which stays open."""
        parsed, command, environment = place.parsed, place.command, self.environment
        is_exec = command.words[:1] == ["exec"] and command.input != UNKNOWN
        for text in (*command.opened, *([command.input] if is_exec and command.input else ())):
            environment.open_descriptor(environment.expand_text(parsed, text))
        for source in command.sources:
            for expansion in parsed.expansions_of(source):
                if expansion.is_file and expansion.commands is not None:
                    environment.open_descriptor(environment.outputs(parsed, expansion.commands, expansion.depth))

    def _assign(self, place: Place) -> None:
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

    def _run_variable(self, name: str, values: Sequence[str], place: Place) -> None:
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

    def _startup_texts(self, file: str, place: Place) -> Iterator[str]:
        """What a shell runs before its own commands, if the line says it."""
        yield from self.written.literal_texts(file)
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
        self, fields: Fields, place: Place, parent: int, source: str = "", *, replaces: int = -1, depth: int = 0
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
            self.written.note_copies(renamed_files(name, words))
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

    def _inner_commands(self, name: str, words: Fields, place: Place) -> Iterator[InnerCommand]:
        yield from self._first_word_commands(words)
        found = shell_code_position(words)
        if found is not None:
            code = shell_code(words)
            for word in words[found[0] + 1 : found[0] + 2]:
                self.environment.set_script_name(word)
            if place.command.input:  # what the code reads: `sh -c 'eval "$(cat)"' <<< text`
                self.environment.open_descriptor(self.command_texts.read_by(place))
            yield InnerCommand(code=code, positionals=tuple(words[found[0] + 2 :]))
        elif name.lower().startswith(("pwsh", "powershell")):
            code = shell_code(words)
            yield from () if code is None else (InnerCommand(code=code),)
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
            yield from self._run_computed_code(name, words, place)
        if name in LANGUAGES:
            yield from language_commands(
                name, words, (*self.command_texts.read_by(place), *self._code_texts(name, words, place))
            )
        if name in PACKAGE_PROGRAMS:
            yield from package_commands(words, self.written.literal_texts("package.json"))
        if name.lower() in DELETERS and (deletion := deletion_command(name.lower(), words)):
            yield InnerCommand(deletion)
        if name == "run-parts" and not _LISTS_PARTS.intersection(words):
            yield from self._run_scripts(tuple(self.written.texts))
        if script := script_command(name, words):
            yield InnerCommand(script)
        if name == "tee" and (inputs := self.command_texts.read_by(place)):
            self._note_texts([word for word in place.command.words[1:] if word[:1] != "-"], inputs, place)
        if name in INPUT_WRITERS and not self._is_code(place):
            self.written.note_writer(files_of_input(name, words), place, is_input=True)
        if name in ("xargs", "parallel"):
            yield from self._with_input(name, words, place)
        else:
            yield from unwrap(words)

    def _first_word_commands(self, words: Fields) -> Iterator[InnerCommand]:
        """What the first word stands for: an alias, a file that the line writes or copies, or a value."""
        for text in self.aliases.get(words[0], ()):
            yield InnerCommand(code=f"{text} {shlex.join(words[1:])}")
            if text[-1:].isspace():  # the next word may be an alias too
                seconds = self.aliases.get("".join(words[1:2]), ())
                yield from (InnerCommand(code=f"{text}{each} {shlex.join(words[2:])}") for each in seconds)
        for text in self.written.literal_texts(words[0]):
            yield InnerCommand(code=text, positionals=tuple(words[1:]))
        yield from self._run_computed(self._computed_texts(words[0]), tuple(words[1:]))
        yield from (InnerCommand((program, *words[1:])) for program in self.written.programs_copied(words[0]))

    def _commands_by_name(self, name: str, words: Fields, place: Place) -> Iterator[InnerCommand]:
        """What a builtin, git or an interpreter runs."""
        if name in (".", "source"):
            yield from (InnerCommand(code=text) for text in self._texts_in(words[1:2], place))
            yield from self._run_computed(text for word in words[1:2] for text in self._computed_texts(word))
        elif name in ("eval", "trap"):
            given = words[2:] if words[1:2] == ("--",) else words[1:]
            yield InnerCommand(code=" ".join(given if name == "eval" else given[:1]))
        elif name == "env":
            yield from (InnerCommand(code=text) for text in _split_strings(words))
        elif name == "git":
            yield from self._git_commands(words)
        elif name in _INPUT_PROGRAMS or name in OTHER_SHELLS:
            yield from (
                InnerCommand(code=text) for text in self.command_texts.read_by(place) if not HAS_UNKNOWN.search(text)
            )
            yield from self._run_computed(self._computed_inputs(place))
        elif name in INTERPRETERS:
            inputs, scripts = self.command_texts.read_by(place), list(self._code_texts(name, words, place))
            yield from embedded_commands((*words[1:], *inputs, *scripts))
            values = [each for values in self.environment.variables.values() for each in values]
            yield from computed_commands(words, scripts, inputs, values)
            for text in (*words[1:], *inputs):
                self.written.note_code(text)

    def _is_code(self, place: Place) -> bool:
        """Whether the command is code of another language: what that writes is not its input."""
        words = place.command.words
        return bool(words) and program_name(place.parsed.unquote(words[0])) in INTERPRETERS

    def _with_input(self, name: str, words: Fields, place: Place) -> Iterator[InnerCommand]:
        at = next((n for n, word in enumerate(words) if word in (":::", "::::", ":::+")), len(words))
        given = " ".join(word for word in words[at:] if not word.startswith("::"))
        files = [after for before, after in pairwise(words) if before in ("-a", "--arg-file")]
        files += [word.partition("=")[2] for word in words if word.startswith("--arg-file=")]
        texts = list(self._texts_in(files, place))
        inputs = [given] if given else texts or self.command_texts.read_by(place) or [UNKNOWN_WORDS]
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

    def _shell_input(self, words: Fields, place: Place) -> Iterator[InnerCommand]:
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
        texts = self._texts_in(operands[:1], place) if operands else self.command_texts.read_by(place)
        given = arguments or tuple(operands[1:])
        yield from (InnerCommand(code=text, positionals=given or None) for text in texts)
        made = self._computed_texts(operands[0]) if operands else self._computed_inputs(place)
        yield from self._run_computed(made, given)

    def _code_texts(self, name: str, words: Fields, place: Place) -> Iterator[str]:
        """What the text writes into files that the program reads as code: those that its words name, and its usual ones."""
        for file in self._code_files(name, words, self.written.texts):
            if self.written.texts or file.startswith("/dev/fd/" + UNKNOWN):
                yield from (text for text in self._texts_in([file], place) if not HAS_UNKNOWN.search(text))

    def _code_files(self, name: str, words: Fields, written: Collection[str]) -> dict[str, None]:
        """Those that its words name, and its usual ones among these."""
        files = [word for each in words[1:] for word in (each, each[2:] if each.startswith("-f") else "") if word]
        if written:
            suffixes = CODE_SUFFIXES.get(name, ())
            files += [file for file in written if file.endswith(suffixes) and suffixes]
            files += CODE_FILES.get(name, ())
        return dict.fromkeys(files)

    def _startup_commands(self, words: Fields, place: Place) -> Iterator[InnerCommand]:
        """`bash --rcfile file`, and startup files that the same text writes."""
        files = [after for before, after in pairwise(words) if before in ("--rcfile", "--init-file")]
        files += [file for file in _STARTUP_FILES if file in self.written.texts]
        yield from (InnerCommand(code=text) for text in self._texts_in(files, place))

    def _apply(self, name: str, words: Fields, place: Place) -> None:
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
                    texts = [*self.command_texts.read_by(place), *(environment.opened if is_numbered else ())]
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


def _split_strings(words: Sequence[str]) -> Iterator[str]:
    """The texts that `env -S` splits into a command."""
    for at, word in enumerate(words):
        if word in ("-S", "--split-string") or re.fullmatch(r"-[iv0]+S", word):
            yield " ".join(words[at + 1 :])
        elif word.startswith(("-S", "--split-string=")):
            yield " ".join((word.removeprefix("-S").removeprefix("--split-string="), *words[at + 1 :]))
