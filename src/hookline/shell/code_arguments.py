"""Finds the arguments of a command that a program takes as code, or that name the program itself.

An argv list in a hook may have no placeholder there. In shell text such a placeholder is only worth a warning: the
author's own command decides what to do with an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import lazy_pattern
from hookline.shell.programs import (
    ARGUMENT_PROGRAMS,
    CODE_BUILTINS,
    CODE_OPTIONS,
    CODE_OPTIONS_BY_PROGRAM,
    CODE_PROGRAMS,
    CODE_VARIABLES,
    COMMAND_WRAPPERS,
    EXEC_OPTION,
    GIT_CODE_COMMANDS,
    GIT_CODE_OPTIONS,
    GIT_COMMANDS_WITH_CODE_OPTIONS,
    INTERPRETERS,
    PACKAGE_RUNNER_FLAGS,
    PACKAGE_RUNNERS,
    PROGRAM_RUNNERS,
    RUNNER_SUBCOMMANDS,
    RUNNING_MODULES,
    SHELLS,
    Interpreter,
    program_name,
)
from hookline.shell.scanner import SimpleCommand
from hookline.shell.word_scanner import Word

Words = Sequence[Word]

_ASSIGNMENT: Final = lazy_pattern(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_SHELL_FLAGS: Final = lazy_pattern(r"[-+][A-Za-z]+|--[a-z-]+")
_SHELL_FILE_OPTIONS: Final = frozenset(("--rcfile", "--init-file"))
_PERL_LOOP: Final = lazy_pattern(r"-[A-Za-z0]*[np][A-Za-z0]*")
_HINT_FILE: Final = "Write ./ before it, or let perl read stdin."
_HINT_ARGUMENT: Final = (
    'Give it as an argument of its own, which the code reads as "$1" or the like, or in a variable of env.'
)
_HINT_DASHES: Final = "Write -- before it, so that the program does not take its value for an option."
_HINT_NAME: Final = "Write the program's name."
_HINT_SCRIPT: Final = "Name a script, or write the code in the command."
_HINT_VARIABLE: Final = "Use a variable of your own."


@dataclass(frozen=True, slots=True)
class CodeArgument:
    """A word with a placeholder that becomes code. If that code is shell text, `shell` is the shell that reads it."""

    word: Word
    what: str
    hint: str = _HINT_ARGUMENT
    shell: str = ""


def find_code_arguments(argv: Words) -> Iterator[CodeArgument]:
    """For a program that is started without a shell."""
    yield from _check_command(argv)


def find_code_in_commands(commands: Sequence[SimpleCommand]) -> Iterator[CodeArgument]:
    """For the commands of a shell text."""
    yield from _check_unquoted_variables(commands)
    for command in commands:
        if not command.words[0].is_bare("for", "select", "function"):
            yield from _check_shell_command(command.words)


def _check_unquoted_variables(commands: Sequence[SimpleCommand]) -> Iterator[CodeArgument]:
    """The shell splits an unquoted value into words and expands the patterns in it."""
    words = [word for command in commands for word in command.words]
    assigned = [match for word in words if word.has_placeholder and (match := _ASSIGNMENT.match(word.lead))]
    values = {match[1] for match in assigned}
    for word in words:
        for name in sorted(word.unquoted_variables & values):
            if not _ASSIGNMENT.match(word.lead):
                yield CodeArgument(word, f"${name} has a value and is not quoted", f'Write "${name}".')


def is_code_variable(name: str) -> bool:
    """Whether programs execute the variable's value, or load from where it says."""
    return CODE_VARIABLES.fullmatch(name) is not None


def _check_shell_command(words: Words) -> Iterator[CodeArgument]:
    words, found = _skip_assignments(words)
    yield from found
    if not words:
        return
    name, arguments = _program_of(words[0]), words[1:]
    if name in CODE_BUILTINS:
        yield from _flag(arguments, f"a placeholder in text that {name} may run as code")
    elif name in ("export", "declare", "typeset", "local", "readonly"):
        yield from _check_declaration(name, arguments)
    elif name in ("test", "[", "printf"):
        options = [word.text for word in arguments]
        if "-v" in options:
            yield from _flag(arguments, f"a placeholder beside -v of {name}, which may evaluate it")
    else:
        yield from _check_command(words)


def _check_declaration(name: str, arguments: Words) -> Iterator[CodeArgument]:
    _, found = _skip_assignments(arguments)
    yield from found
    if any(re.match("[-+].*[in]", word.lead) for word in arguments):
        yield from _flag(arguments, f"a placeholder that {name} may evaluate", "Use a plain assignment.")
    yield from _flag([word for word in arguments if not word.lead], f"a placeholder that {name} takes for a name")


def _skip_assignments(words: Words) -> tuple[Words, list[CodeArgument]]:
    found: list[CodeArgument] = []
    for at, word in enumerate(words):
        match = _ASSIGNMENT.match(word.lead)
        if match is None:
            return words[at:], found
        if is_code_variable(match[1]):
            found += _flag((word,), f"a placeholder in {match[1]}, which decides what runs", _HINT_VARIABLE)
    return (), found


def _flag(words: Words, what: str, hint: str = _HINT_ARGUMENT) -> Iterator[CodeArgument]:
    return (CodeArgument(word, what, hint) for word in words if word.has_placeholder)


def _check_command(words: Words) -> Iterator[CodeArgument]:
    if not words:
        return
    first, arguments = words[0], words[1:]
    if first.has_placeholder:
        yield CodeArgument(first, "a placeholder in the program's name", _HINT_NAME)
        return
    name = _program_of(first)
    if name in CODE_OPTIONS_BY_PROGRAM or name not in ARGUMENT_PROGRAMS:
        yield from _check_options(name, arguments)
    if name in COMMAND_WRAPPERS:
        yield from _check_wrapper(name, arguments)
    elif name in SHELLS:
        yield from _check_shell(name, first, arguments)
    elif name in INTERPRETERS:
        yield from _InterpreterArguments(name, INTERPRETERS[name], first).check(arguments)
        if name == "perl" and any(word.static and _PERL_LOOP.fullmatch(word.text) for word in arguments):
            files = [word for word in arguments if not word.lead]
            yield from _flag(files, "a placeholder in a file name that perl runs if it ends with |", _HINT_FILE)
    elif name in CODE_PROGRAMS:
        yield from _flag(arguments, f"a placeholder in text that {name} may run as code")
    elif name == "git":
        yield from _check_git(arguments)
    elif name not in ARGUMENT_PROGRAMS:
        yield from _check_nested(name, arguments)


def _check_options(name: str, arguments: Words) -> Iterator[CodeArgument]:
    """Options whose value is a command."""
    own = CODE_OPTIONS_BY_PROGRAM.get(name)
    for at, word in enumerate(arguments):
        option = word.lead.split("=", 1)[0]
        if CODE_OPTIONS.fullmatch(option) or (own is not None and own.fullmatch(option)):
            values = (word,) if "=" in word.lead else (word, *arguments[at + 1 : at + 2])
            yield from _flag(values, f"a placeholder in the command that {option} runs")


def _check_nested(name: str, arguments: Words) -> Iterator[CodeArgument]:
    """A program among the arguments: after -exec, or an interpreter with its code."""
    if name in PACKAGE_RUNNERS:
        yield from _flag(_package_runner_words(arguments), "a placeholder in the program's name", _HINT_NAME)
    for at, word in enumerate(arguments):
        if word.static and word.text in RUNNER_SUBCOMMANDS.get(name, ()):
            yield from _flag(
                _package_runner_words(arguments[at + 1 :]), "a placeholder in the program's name", _HINT_NAME
            )
            break
    for at, word in enumerate(arguments):
        rest = arguments[at + 1 :]
        if name in ("find", "fd") and word.static and EXEC_OPTION.fullmatch(word.text):
            # find puts file names into the text, so a value with {} would not stay as it is
            yield from (replace(each, shell="") for each in _check_command(rest))
            return
        inner = _program_of(word)
        if inner in SHELLS or inner in INTERPRETERS:
            found = list(_check_command(arguments[at:])) if name in PROGRAM_RUNNERS or _has_code(inner, rest) else []
            yield from found if name in PROGRAM_RUNNERS else (replace(each, shell="") for each in found)
            if found:
                return


def _has_code(name: str, arguments: Words) -> bool:
    code = re.compile(r"-[A-Za-z]*c") if name in SHELLS else INTERPRETERS[name].code
    return any(word.static and code.fullmatch(word.text) for word in arguments)


def _package_runner_words(arguments: Words) -> Words:
    """The words up to the program that it runs. A word after an option may be that option's value."""
    is_value = False
    for at, word in enumerate(arguments):
        if not word.lead.startswith("-") and not is_value:
            return arguments[: at + 1]
        is_value = word.lead.startswith("-") and "=" not in word.text and word.text not in PACKAGE_RUNNER_FLAGS
    return arguments


def _check_wrapper(name: str, arguments: Words) -> Iterator[CodeArgument]:
    if name == "command" and arguments and arguments[0].text in ("-v", "-V"):
        return
    wrapper, rest = COMMAND_WRAPPERS[name], arguments
    operands = wrapper.operands
    while rest and (rest[0].lead.startswith("-") or operands):
        taken: int | None = 1
        if rest[0].lead.startswith("-"):
            taken = wrapper.count_option_words(rest[0].text) if rest[0].static else None
        else:
            operands -= 1
        if taken is None:
            yield from _flag(rest, f"it is not clear which words are options of {name} and which it runs")
            return
        yield from _flag(rest[:taken], f"a placeholder before the command that {name} runs", _HINT_NAME)
        rest = rest[taken:]
    if wrapper.sets_variables:
        rest, found = _skip_assignments(rest)
        yield from found
    replaces = name == "xargs" and any(word.lead.startswith(("-I", "-i", "--replace")) for word in arguments)
    check = _check_shell_command if name in ("command", "builtin") else _check_command
    yield from (replace(each, shell="") if replaces else each for each in check(rest))


def _check_shell(name: str, first: Word, arguments: Words) -> Iterator[CodeArgument]:
    """Its code is the first operand after its options, if -c is among them; otherwise that operand is a script."""
    has_code = only_checks = dashed = False
    rest = arguments
    while rest and rest[0].lead[:1] in ("-", "+"):
        option = rest[0]
        if not option.static or (option.text not in ("-", "--") and not _SHELL_FLAGS.fullmatch(option.text)):
            yield from _flag(rest, f"it is not clear which words are options of {name} and which it runs")
            return
        letters = "" if option.text.startswith("--") else option.text
        has_code, only_checks = has_code or "c" in letters, only_checks or "n" in letters
        takes_value = "o" in letters or "O" in letters or option.text in _SHELL_FILE_OPTIONS
        yield from _flag(rest[1:2] if takes_value else (), f"a placeholder in an option of {name}")
        rest = rest[2 if takes_value else 1 :]
        if option.text in ("-", "--"):
            dashed = True
            break
        if "s" in letters and not has_code:
            rest = ()
    if not rest:
        yield CodeArgument(first, f"{name} would run code from stdin", _HINT_SCRIPT)
    elif has_code and rest[0].has_placeholder:
        yield CodeArgument(rest[0], f"a placeholder in the code that {name} runs", shell=name)
    elif not has_code and rest[0].has_placeholder:
        yield from _flag_script(name, rest[0], only_checks=only_checks, dashed=dashed)


def _flag_script(name: str, word: Word, *, only_checks: bool, dashed: bool) -> Iterator[CodeArgument]:
    if not only_checks:
        yield CodeArgument(word, f"a placeholder that names the file that {name} runs", "Name the file.")
    elif not dashed and not word.lead:
        yield CodeArgument(word, f"a placeholder that {name} could take for an option", _HINT_DASHES)


def _check_git(arguments: Words) -> Iterator[CodeArgument]:
    rest = arguments
    while rest and rest[0].lead.startswith("-"):
        takes_value = rest[0].static and rest[0].text in (
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--config-env",
        )
        if GIT_CODE_OPTIONS.fullmatch(rest[0].lead.split("=", 1)[0]):
            yield from _flag(rest[: 1 + takes_value], "a placeholder in git's configuration")
        rest = rest[1 + takes_value :]
    if not rest:
        return
    yield from _flag(rest[:1], "a placeholder as git's command", "Write the command's name.")
    command = rest[0].text
    if command in GIT_CODE_COMMANDS or (command == "submodule" and any(word.text == "foreach" for word in rest)):
        yield from _flag(rest[1:], f"a placeholder in text that git {command} may run as code")
    if command in GIT_COMMANDS_WITH_CODE_OPTIONS:
        for option, value in pairwise((*rest, rest[0])):
            if GIT_CODE_OPTIONS.fullmatch(option.lead):
                yield from _flag((option, value), f"a placeholder in the command that {option.lead} runs")


@dataclass(slots=True)
class _InterpreterArguments:
    """Reads an interpreter's arguments the way it does, to tell code from data."""

    name: str
    interpreter: Interpreter
    first: Word
    has_code: bool = False
    only_checks: bool = False
    dashed: bool = False

    def check(self, arguments: Words) -> Iterator[CodeArgument]:
        rest = arguments
        while rest:
            found, rest = self._take(rest[0], rest[1:])
            yield from found
        if not self.has_code and not self.interpreter.program_first:
            yield CodeArgument(self.first, f"{self.name} would run code from stdin", _HINT_SCRIPT)

    def _take(self, word: Word, rest: Words) -> tuple[Iterator[CodeArgument], Words]:
        """Takes one argument, with the words that belong to it, and returns the rest."""
        interpreter, name = self.interpreter, self.name
        is_option = word.lead.startswith("-") and word.text != "-" and not self.dashed
        if is_option or (not self.has_code and interpreter.subcommands.fullmatch(word.text)):
            return self._take_option(word, rest)
        if self.has_code:
            ambiguous = (word,) if not word.lead and not self.dashed else ()
            what = f"a placeholder that {name} could take for an option"
            return _flag(ambiguous, what, _HINT_DASHES), rest if interpreter.permutes else ()
        self.has_code = True
        rest = rest if interpreter.permutes else ()
        if interpreter.program_first:
            return _flag((word,), f"a placeholder in the code that {name} runs"), rest
        if word.text == "-" and word.static:
            return iter((CodeArgument(word, f"{name} would run code from stdin", _HINT_SCRIPT),)), rest
        if not word.has_placeholder:
            return iter(()), rest
        return _flag_script(name, word, only_checks=self.only_checks, dashed=self.dashed), rest

    def _take_option(self, word: Word, rest: Words) -> tuple[Iterator[CodeArgument], Words]:
        interpreter, name = self.interpreter, self.name
        if not word.static:
            self.has_code = True
            return _flag((word, *rest), f"a placeholder in an option of {name}"), ()
        if word.text == "--":
            self.dashed = True
            return iter(()), rest
        if interpreter.code.fullmatch(word.text):
            self.has_code = True
            runs = interpreter.code_ends_options and bool(rest) and rest[0].text in RUNNING_MODULES
            code = rest if runs else rest[:1]
            return _flag(
                code, f"a placeholder in the code that {name} runs"
            ), () if interpreter.code_ends_options else rest[1:]
        if interpreter.checks.fullmatch(word.text):
            self.only_checks = True
            return iter(()), rest
        if word.text in interpreter.data_options:
            return iter(()), rest[interpreter.data_options[word.text] :]
        if interpreter.flags.fullmatch(word.text):
            return iter(()), rest
        if interpreter.assignment_options.fullmatch(word.text):
            unnamed = [value for value in rest[:1] if not _ASSIGNMENT.match(value.lead)]
            return _flag(unnamed, f"a placeholder in an option of {name}"), rest[1:]
        if interpreter.value_options.fullmatch(word.text):
            return _flag(rest[:1], f"a placeholder in an option of {name}"), rest[1:]
        self.has_code = True
        return _flag(rest, f"it is not clear which words are options of {name} and which it runs"), ()


def _program_of(word: Word) -> str:
    """The program's name, from its path. Empty if it is not known. Some file systems ignore its case."""
    name = program_name(word.text) if word.static or "/" in word.text else ""
    return name if name in INTERPRETERS else name.lower()
