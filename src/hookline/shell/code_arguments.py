"""Refuses placeholders whose values could run: as the name of a command, or in text that a program takes as code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hookline.shell.programs import (
    BUILTINS,
    CODE_OPTIONS,
    CODE_PROGRAMS,
    CODE_VARIABLES,
    COMMAND_WRAPPERS,
    HARMLESS_BUILTINS,
    INTERPRETERS,
    PROGRAM_RUNNERS,
    Interpreter,
    program_name,
)
from hookline.shell.scanner import ScanResult, Word, refuse

Words = Sequence[Word]

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_UNARY_TEST: Final = re.compile(r"-[bcdefghkLprsSuwxGNOnz]")
_BINARY_TEST: Final = re.compile(r"=|==|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)")
_STDIN_PATH: Final = re.compile(r"-|/dev/(?:stdin|fd/.*)|/proc/.*")
_CODE_LIKE_OPTION: Final = re.compile(r"-[a-zA-Z]*[ceEpr]|--(?:eval|print|command|execute)")
_EXEC_OPTION: Final = re.compile(r"-exec|-execdir|-ok|-okdir")
_FORBIDDEN_BUILTINS: Final = frozenset(("eval", "let", "alias", "compgen"))
_HINT_PASS_AS_ARGUMENT: Final = (
    "Pass it as an argument, e.g. bash -c 'echo \"$1\"' _ {{…}}, or through the environment."
)
_HINT_DASHES: Final = "Write -- before it, so that the program does not take its value for an option."
_HINT_OWN_CODE: Final = "Name a script, or write the code in the command."
_HINT_NAME_PROGRAM: Final = "Write the program's name in the command."


def check_commands(scanned: ScanResult) -> None:
    """Raises BadTemplate if a value, or a variable that holds one, could run."""
    checker = _InjectionChecker(_variables_with_values(scanned))
    for name in sorted(scanned.arithmetic_variables & checker.values):
        refuse(f"bash would evaluate the value in ${name} as arithmetic", 0)
    for command in scanned.commands:
        checker.check(command.words)


def _variables_with_values(scanned: ScanResult) -> frozenset[str]:
    """The variables that may get a value in this text, directly or through another variable."""
    assignments = [pair for command in scanned.commands for pair in _find_assignments(command.words)]
    values: set[str] = set()
    size = -1
    while size < len(values):
        size = len(values)
        values |= {name for name, word in assignments if word is None or word.has_placeholder or word.reads & values}
    return frozenset(values)


def _find_assignments(words: Words) -> Iterator[tuple[str, Word | None]]:
    """Yields each variable that a command sets and the word that it is set to. None means input that the command reads."""
    if words[0].is_keyword("for") and len(words) > 1:
        yield from ((words[1].text, word) for word in words[2:])
        return
    for word in words:
        if match := _ASSIGNMENT.match(word.bare_lead):
            yield match[1], word
    if any(word.text in ("read", "mapfile", "readarray", "getopts") for word in words):
        yield from ((word.text, None) for word in words if word.static)
    yield from ((word.text, None) for before, word in pairwise(words) if before.text == "-v")


@dataclass(frozen=True, slots=True)
class _InjectionChecker:
    values: frozenset[str]  # variables that hold values

    def holds_value(self, word: Word) -> bool:
        return word.has_placeholder or bool(word.reads & self.values)

    def any_holds_value(self, words: Words) -> bool:
        return any(self.holds_value(word) for word in words)

    def refuse_values(self, words: Words, what: str, hint: str = _HINT_PASS_AS_ARGUMENT) -> None:
        for word in words:
            if self.holds_value(word):
                refuse(what, word.position, hint)

    def check(self, words: Words) -> None:
        if words[0].is_keyword("function", "select", "coproc"):
            refuse(f"{words[0].text} is not supported here", words[0].position)
        if words[0].is_keyword("for"):
            return
        words = self._skip_assignments(words)
        if words:
            self._check_command(words[0], words[1:])

    def _skip_assignments(self, words: Words) -> Words:
        for at, word in enumerate(words):
            match = _ASSIGNMENT.match(word.bare_lead)
            if match is None:
                return words[at:]
            self._check_assignment(match[1], word)
        return ()

    def _check_assignment(self, name: str, word: Word) -> None:
        if self.holds_value(word) and CODE_VARIABLES.fullmatch(name):
            refuse(f"a value in {name}, which controls what runs", word.position, "Use another variable.")

    def _check_command(self, first: Word, arguments: Words) -> None:
        self.refuse_values((first,), "a placeholder as the name of the command", _HINT_NAME_PROGRAM)
        if not first.cannot_vanish and arguments:
            self.check(arguments)
        name = _program_of(first)
        if name in COMMAND_WRAPPERS:
            self._check_wrapper(name, arguments)
        elif name in INTERPRETERS:
            _InterpreterArguments(self, name, INTERPRETERS[name], first).check(arguments)
        elif check := _CHECKS_BY_PROGRAM.get(name):
            check(self, arguments)
        elif name in BUILTINS or name in CODE_PROGRAMS:
            self._check_code_arguments(name, first, arguments)
        elif name not in HARMLESS_BUILTINS:
            self._check_program(name, arguments)

    def _check_program(self, name: str, arguments: Words) -> None:
        """Checks the options that run code, and an interpreter among the arguments."""
        for at, word in enumerate(arguments):
            option, rest = word.lead.split("=", 1)[0], arguments[at + 1 :]
            if CODE_OPTIONS.fullmatch(option):
                self.refuse_values(
                    (word, *_possible_first_words(rest)), f"a placeholder in the command that {option} runs"
                )
            if word.static and _EXEC_OPTION.fullmatch(word.text) and rest:
                self.check(rest)
            if not name and word.static and _CODE_LIKE_OPTION.fullmatch(word.text):
                self.refuse_values(
                    _possible_first_words(rest), f"a placeholder after {word.text} of an unknown program"
                )
            self._check_nested_interpreter(name, word, rest)

    def _check_nested_interpreter(self, name: str, word: Word, rest: Words) -> None:
        inner = _program_of(word)
        interpreter = INTERPRETERS.get(inner)
        if interpreter is None or not self.any_holds_value(rest):
            return
        if name in PROGRAM_RUNNERS or any(each.static and interpreter.code.fullmatch(each.text) for each in rest):
            _InterpreterArguments(self, inner, interpreter, word).check(rest)

    def _check_code_arguments(self, name: str, first: Word, arguments: Words) -> None:
        if name in _FORBIDDEN_BUILTINS:
            refuse(f"{name} may run a value as code", first.position, "Leave it out of a command with placeholders.")
        if name in ("source", ".") and arguments and _STDIN_PATH.fullmatch(arguments[0].text):
            refuse(f"{name} would run code from stdin", first.position, _HINT_OWN_CODE)
        if name in ("declare", "typeset", "local", "readonly") and any(
            word.lead[:1] in ("-", "+") for word in arguments
        ):
            refuse(f"{name} with options may evaluate values", first.position, "Use a plain assignment.")
        self.refuse_values(arguments, f"a placeholder in text that {name} may run as code")

    def _check_wrapper(self, name: str, arguments: Words) -> None:
        if name == "command" and arguments and arguments[0].text in ("-v", "-V"):
            return
        inner = self._find_inner_command(name, arguments)
        if not inner:
            return
        replaces = any(word.lead.startswith(("-I", "-i", "--replace")) for word in arguments)
        if name == "xargs" and replaces and program_name(inner[0].text) in INTERPRETERS:
            refuse(
                "xargs may insert its input into code", inner[0].position, "Leave out -I, so that it appends instead."
            )
        self.check(inner)

    def _find_inner_command(self, name: str, arguments: Words) -> Words:
        """The command that `name` runs. Empty if there is none, or if it is ambiguous and has no values."""
        wrapper, rest = COMMAND_WRAPPERS[name], arguments
        operands = wrapper.operands
        while rest and (rest[0].lead.startswith("-") or operands):
            taken: int | None = 1
            if rest[0].lead.startswith("-"):
                taken = wrapper.count_option_words(rest[0].text) if rest[0].static else None
            else:
                operands -= 1
            if taken is None or not all(word.cannot_vanish for word in rest[:taken]):
                self.refuse_values(arguments, f"it is not clear which words are options of {name} and which it runs")
                return ()
            self.refuse_values(rest[:taken], f"a placeholder before the command that {name} runs", _HINT_NAME_PROGRAM)
            rest = rest[taken:]
        if rest and not rest[0].cannot_vanish:
            self.refuse_values(arguments, f"it is not clear which words are options of {name} and which it runs")
        return rest

    def check_test(self, arguments: Words) -> None:
        words = [word for word in arguments if not word.is_keyword("]")]
        if len(words) > 1 and words[0].is_keyword("!"):
            words = words[1:]
        known = (
            len(words) <= 1
            or (len(words) == 2 and words[0].static and _UNARY_TEST.fullmatch(words[0].text))
            or (len(words) == 3 and words[1].static and _BINARY_TEST.fullmatch(words[1].text))
        )
        if not known:
            hint = "Use one comparison, and && or || between two tests."
            self.refuse_values(words, "a test that may evaluate a value", hint)

    def check_printf(self, arguments: Words) -> None:
        if not self.any_holds_value(arguments):
            return
        template = arguments[0]
        if not template.lead or template.lead.startswith("-"):
            refuse(
                "a placeholder that printf could take for an option", template.position, "Write printf '%s' before it."
            )
        if self.holds_value(template):
            self.refuse_values(
                arguments[1:], "placeholders both in printf's format and after it", "Write %s in the format."
            )

    def check_export(self, arguments: Words) -> None:
        for word in arguments:
            if match := _ASSIGNMENT.match(word.bare_lead):
                self._check_assignment(match[1], word)
            else:
                self.refuse_values((word,), "a placeholder as the name of a variable", "Write NAME= before it.")

    def check_git(self, arguments: Words) -> None:
        self.refuse_values(
            _possible_first_words(arguments), "a placeholder as git's command", "Write the command's name."
        )
        for at, word in enumerate(arguments):
            if word.static and word.text in ("-c", "--config-env", "--upload-pack"):
                self.refuse_values(_possible_first_words(arguments[at + 1 :]), "a placeholder in git's configuration")
            if word.static and word.text == "config":
                self.refuse_values(arguments[at + 1 :], "a placeholder in git's configuration")
        self._check_program("git", arguments)


_CHECKS_BY_PROGRAM: Final = {
    "test": _InjectionChecker.check_test,
    "[": _InjectionChecker.check_test,
    "printf": _InjectionChecker.check_printf,
    "export": _InjectionChecker.check_export,
    "git": _InjectionChecker.check_git,
}


@dataclass(slots=True)
class _InterpreterArguments:
    """Reads an interpreter's arguments the way it does, to tell code from data."""

    checker: _InjectionChecker
    name: str
    interpreter: Interpreter
    first: Word
    has_code: bool = False

    def check(self, arguments: Words) -> None:
        rest = arguments
        while rest:
            rest = self._take_argument(rest[0], rest[1:])
        if not self.has_code:
            refuse(f"{self.name} would run code from stdin", self.first.position, _HINT_OWN_CODE)

    def _take_argument(self, word: Word, rest: Words) -> Words:
        """Takes one argument and returns the rest."""
        interpreter = self.interpreter
        if word.static and word.text == "--":
            return self._take_operands(rest)
        if word.static and interpreter.flags.fullmatch(word.text):
            return rest
        if word.static and interpreter.code.fullmatch(word.text):
            return self._take_code(rest)
        if word.static and (
            interpreter.value_options.fullmatch(word.text) or interpreter.assignment_options.fullmatch(word.text)
        ):
            return self._take_option_value(word, rest)
        if word.static and interpreter.stdin.fullmatch(word.text):
            refuse(f"{self.name} would run code from stdin", word.position, _HINT_OWN_CODE)
        if (word.lead[:1] in ("-", "+") and word.text != "-") or not word.cannot_vanish:
            return self._refuse_ambiguous((word, *rest))
        if self.checker.holds_value(word) and not word.lead:
            refuse(f"a placeholder that {self.name} could take for an option", word.position, _HINT_DASHES)
        if interpreter.options_end:
            return self._take_operands((word, *rest))
        self._check_operand(word)
        return rest

    def _refuse_ambiguous(self, words: Words) -> Words:
        self.checker.refuse_values(words, f"it is not clear which words are options of {self.name} and which it runs")
        self.has_code = True
        return ()

    def _take_operands(self, words: Words) -> Words:
        if words and not words[0].cannot_vanish:
            return self._refuse_ambiguous(words)
        if words:
            self._check_operand(words[0])
        return ()

    def _check_operand(self, word: Word) -> None:
        if not self.has_code and self.interpreter.program_first:
            self.checker.refuse_values((word,), f"a placeholder in the code that {self.name} runs")
        elif not self.has_code and word.static and _STDIN_PATH.fullmatch(word.text):
            refuse(f"{self.name} would run code from stdin", word.position, _HINT_OWN_CODE)
        self.has_code = True

    def _take_code(self, rest: Words) -> Words:
        if not rest:
            refuse(f"{self.name} has no code after its option", self.first.position, _HINT_OWN_CODE)
        self.checker.refuse_values(_possible_first_words(rest), f"a placeholder in the code that {self.name} runs")
        if rest[0].lead[:1] in ("-", "+"):
            refuse(f"the code that {self.name} runs looks like an option", rest[0].position)
        self.has_code = True
        return () if self.interpreter.options_end else rest[1:]

    def _take_option_value(self, option: Word, rest: Words) -> Words:
        sets = self.interpreter.assignment_options.fullmatch(option.text) and rest and _ASSIGNMENT.match(rest[0].lead)
        if not sets:
            self.checker.refuse_values(_possible_first_words(rest), f"a placeholder in an option of {self.name}")
        return rest[1:]


def _program_of(word: Word) -> str:
    """The program's name, from its path or from a variable such as $SHELL or $PYTHON. Empty if it is not known."""
    if word.static or "/" in word.text:
        return program_name(word.text)
    name = "".join(word.reads).lower() if not word.text else ""
    name = "bash" if name == "shell" else program_name(name)
    return name if name in INTERPRETERS else ""


def _possible_first_words(words: Words) -> Words:
    """The first word, and the words that take its place if the shell expands it to nothing."""
    for at, word in enumerate(words):
        if word.cannot_vanish:
            return words[: at + 1]
    return words
