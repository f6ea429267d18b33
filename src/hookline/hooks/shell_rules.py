"""Where a value may stand in a command: never as the command, never in what a program takes as code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hookline.hooks.shell_programs import (
    BUILTINS,
    CODE_OPTIONS,
    CODE_VARIABLES,
    HARMLESS_BUILTINS,
    INTERPRETERS,
    RUN_OTHERS,
    STARTERS,
    TAKE_CODE,
    Interpreter,
    program,
)
from hookline.hooks.shell_words import Scanned, Word, refuse

Words = Sequence[Word]

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_UNARY_TEST: Final = re.compile(r"-[bcdefghkLprsSuwxGNOnz]")
_BINARY_TEST: Final = re.compile(r"=|==|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)")
_STDIN: Final = re.compile(r"-|/dev/(?:stdin|fd/.*)|/proc/.*")
_LIKE_CODE_OPTION: Final = re.compile(r"-[a-zA-Z]*[ceEpr]|--(?:eval|print|command|execute)")
_RUNS_THE_REST: Final = re.compile(r"-exec|-execdir|-ok|-okdir")
_NEVER_BESIDE_VALUES: Final = frozenset(("eval", "let", "alias", "compgen"))
_PASS_AS_ARGUMENT: Final = "Pass it as an argument, e.g. bash -c 'echo \"$1\"' _ {{…}}, or through the environment."
_AFTER_DASHES: Final = "Write -- before it, so that its value cannot be taken for an option."
_OWN_CODE: Final = "Give it a script or code of its own."
_NAME_IT: Final = "Name the program yourself."


def check_commands(scanned: Scanned) -> None:
    """Raises BadTemplate where a value, or a variable that holds one, could be run."""
    rules = _Rules(_holding_values(scanned))
    for name in sorted(scanned.calculated & rules.values):
        refuse(f"${name} holds a value, and bash would evaluate it as arithmetic", 0)
    for command in scanned.commands:
        rules.check(command.words)


def _holding_values(scanned: Scanned) -> frozenset[str]:
    """The variables that this text may put a value into, directly or by way of another."""
    given = [pair for command in scanned.commands for pair in _assignments(command.words)]
    values: set[str] = set()
    size = -1
    while size < len(values):
        size = len(values)
        values |= {name for name, word in given if word is None or word.holes or word.reads & values}
    return frozenset(values)


def _assignments(words: Words) -> Iterator[tuple[str, Word | None]]:
    """Each variable that a command sets, and from what; None: from what it reads."""
    if words[0].keyword("for") and len(words) > 1:
        yield from ((words[1].text, word) for word in words[2:])
        return
    for word in words:
        if match := _ASSIGNMENT.match(word.bare_lead):
            yield match[1], word
    if any(word.text in ("read", "mapfile", "readarray", "getopts") for word in words):
        yield from ((word.text, None) for word in words if word.static)
    yield from ((word.text, None) for before, word in pairwise(words) if before.text == "-v")


@dataclass(frozen=True, slots=True)
class _Rules:
    values: frozenset[str]  # variables that hold values

    def holds(self, word: Word) -> bool:
        return word.holes or bool(word.reads & self.values)

    def any_holds(self, words: Words) -> bool:
        return any(self.holds(word) for word in words)

    def refuse_values(self, words: Words, what: str, hint: str = _PASS_AS_ARGUMENT) -> None:
        for word in words:
            if self.holds(word):
                refuse(what, word.position, hint)

    def check(self, words: Words) -> None:
        if words[0].keyword("function", "select", "coproc"):
            refuse(f"{words[0].text} cannot be followed safely", words[0].position)
        if words[0].keyword("for"):
            return
        words = self._after_assignments(words)
        if words:
            self._command(words[0], words[1:])

    def _after_assignments(self, words: Words) -> Words:
        for at, word in enumerate(words):
            match = _ASSIGNMENT.match(word.bare_lead)
            if match is None:
                return words[at:]
            self._assignment(match[1], word)
        return ()

    def _assignment(self, name: str, word: Word) -> None:
        if self.holds(word) and CODE_VARIABLES.fullmatch(name):
            refuse(f"a value in {name}, which decides what is run", word.position, "Use another variable.")

    def _command(self, first: Word, arguments: Words) -> None:
        self.refuse_values((first,), "a placeholder stands where the command's name belongs", _NAME_IT)
        if not first.solid and arguments:
            self.check(arguments)
        name = _program_named(first)
        if name in STARTERS:
            self._started_by(name, arguments)
        elif name in INTERPRETERS:
            _Arguments(self, name, INTERPRETERS[name], first).check(arguments)
        elif check := _OWN_RULES.get(name):
            check(self, arguments)
        elif name in BUILTINS or name in TAKE_CODE:
            self._takes_code(name, first, arguments)
        elif name not in HARMLESS_BUILTINS:
            self._some_program(name, arguments)

    def _some_program(self, name: str, arguments: Words) -> None:
        """It may run an interpreter that its arguments name."""
        for at, word in enumerate(arguments):
            option, rest = word.lead.split("=", 1)[0], arguments[at + 1 :]
            if CODE_OPTIONS.fullmatch(option):
                self.refuse_values((word, *_up_to_solid(rest)), f"a placeholder in what {option} runs")
            if word.static and _RUNS_THE_REST.fullmatch(word.text) and rest:
                self.check(rest)
            if not name and word.static and _LIKE_CODE_OPTION.fullmatch(word.text):
                self.refuse_values(
                    _up_to_solid(rest), f"a placeholder after {word.text} of a program that is not known"
                )
            self._perhaps_interpreter(name, word, rest)

    def _perhaps_interpreter(self, name: str, word: Word, rest: Words) -> None:
        inner = _program_named(word)
        how = INTERPRETERS.get(inner)
        if how is None or not self.any_holds(rest):
            return
        if name in RUN_OTHERS or any(each.static and how.code.fullmatch(each.text) for each in rest):
            _Arguments(self, inner, how, word).check(rest)

    def _takes_code(self, name: str, first: Word, arguments: Words) -> None:
        if name in _NEVER_BESIDE_VALUES:
            refuse(f"{name} may run what a value says", first.position, "Leave it out of a command with placeholders.")
        if name in ("source", ".") and arguments and _STDIN.fullmatch(arguments[0].text):
            refuse(f"{name} would run what it reads on stdin", first.position, _OWN_CODE)
        if name in ("declare", "typeset", "local", "readonly") and any(
            word.lead[:1] in ("-", "+") for word in arguments
        ):
            refuse(f"{name} with options may evaluate values", first.position, "Use a plain assignment.")
        self.refuse_values(arguments, f"a placeholder in what {name} may run as code")

    def _started_by(self, name: str, arguments: Words) -> None:
        if name == "command" and arguments and arguments[0].text in ("-v", "-V"):
            return
        inner = self._inner_command(name, arguments)
        if not inner:
            return
        replaces = any(word.lead.startswith(("-I", "-i", "--replace")) for word in arguments)
        if name == "xargs" and replaces and program(inner[0].text) in INTERPRETERS:
            refuse("xargs may write what it reads into code", inner[0].position, "Let it append instead, without -I.")
        self.check(inner)

    def _inner_command(self, name: str, arguments: Words) -> Words:
        """The command that another program starts; empty if there is none, or if it is in doubt and there are no values."""
        starter, rest = STARTERS[name], arguments
        operands = starter.operands
        while rest and (rest[0].lead.startswith("-") or operands):
            taken: int | None = 1
            if rest[0].lead.startswith("-"):
                taken = starter.words_of(rest[0].text) if rest[0].static else None
            else:
                operands -= 1
            if taken is None or not all(word.solid for word in rest[:taken]):
                self.refuse_values(arguments, f"what {name} runs cannot be told from its options")
                return ()
            self.refuse_values(rest[:taken], f"a placeholder before the command that {name} runs", _NAME_IT)
            rest = rest[taken:]
        if rest and not rest[0].solid:
            self.refuse_values(arguments, f"what {name} runs cannot be told from its options")
        return rest

    def test(self, arguments: Words) -> None:
        words = [word for word in arguments if not word.keyword("]")]
        if len(words) > 1 and words[0].keyword("!"):
            words = words[1:]
        known = (
            len(words) <= 1
            or (len(words) == 2 and words[0].static and _UNARY_TEST.fullmatch(words[0].text))
            or (len(words) == 3 and words[1].static and _BINARY_TEST.fullmatch(words[1].text))
        )
        if not known:
            hint = "Use one comparison, and && or || between two tests."
            self.refuse_values(words, "a test that may evaluate a value", hint)

    def printf(self, arguments: Words) -> None:
        if not self.any_holds(arguments):
            return
        form = arguments[0]
        if not form.lead or form.lead.startswith("-"):
            refuse("a placeholder that printf could take for an option", form.position, "Write printf '%s' before it.")
        if self.holds(form):
            self.refuse_values(arguments[1:], "placeholders in printf's format and after it", "Write %s in the format.")

    def export(self, arguments: Words) -> None:
        for word in arguments:
            if match := _ASSIGNMENT.match(word.bare_lead):
                self._assignment(match[1], word)
            else:
                self.refuse_values((word,), "a placeholder as the name of a variable", "Write NAME= before it.")

    def git(self, arguments: Words) -> None:
        self.refuse_values(_up_to_solid(arguments), "a placeholder as git's command", "Name the command yourself.")
        for at, word in enumerate(arguments):
            if word.static and word.text in ("-c", "--config-env", "--upload-pack"):
                self.refuse_values(_up_to_solid(arguments[at + 1 :]), "a placeholder in git's configuration")
            if word.static and word.text == "config":
                self.refuse_values(arguments[at + 1 :], "a placeholder in git's configuration")
        self._some_program("git", arguments)


_OWN_RULES: Final = {
    "test": _Rules.test,
    "[": _Rules.test,
    "printf": _Rules.printf,
    "export": _Rules.export,
    "git": _Rules.git,
}


@dataclass(slots=True)
class _Arguments:
    """The arguments of an interpreter, read as it reads them, as far as it takes to tell its code from its data."""

    rules: _Rules
    name: str
    how: Interpreter
    first: Word
    has_code: bool = False

    def check(self, arguments: Words) -> None:
        rest = arguments
        while rest:
            rest = self._after(rest[0], rest[1:])
        if not self.has_code:
            refuse(f"{self.name} would run what it reads on stdin", self.first.position, _OWN_CODE)

    def _after(self, word: Word, rest: Words) -> Words:
        """Takes one argument; what is left to look at."""
        how = self.how
        if word.static and word.text == "--":
            return self._operands(rest)
        if word.static and how.plain.fullmatch(word.text):
            return rest
        if word.static and how.code.fullmatch(word.text):
            return self._code(rest)
        if word.static and (how.taking.fullmatch(word.text) or how.setting.fullmatch(word.text)):
            return self._option_value(word, rest)
        if word.static and how.stdin.fullmatch(word.text):
            refuse(f"{self.name} would run what it reads on stdin", word.position, _OWN_CODE)
        if (word.lead[:1] in ("-", "+") and word.text != "-") or not word.solid:
            return self._in_doubt((word, *rest))
        if self.rules.holds(word) and not word.lead:
            refuse(f"a placeholder that {self.name} could take for an option", word.position, _AFTER_DASHES)
        if how.options_end:
            return self._operands((word, *rest))
        self._operand(word)
        return rest

    def _in_doubt(self, words: Words) -> Words:
        self.rules.refuse_values(words, f"what {self.name} runs cannot be told from its options")
        self.has_code = True
        return ()

    def _operands(self, words: Words) -> Words:
        if words and not words[0].solid:
            return self._in_doubt(words)
        if words:
            self._operand(words[0])
        return ()

    def _operand(self, word: Word) -> None:
        if not self.has_code and self.how.program_first:
            self.rules.refuse_values((word,), f"a placeholder in the code that {self.name} runs")
        elif not self.has_code and word.static and _STDIN.fullmatch(word.text):
            refuse(f"{self.name} would run what it reads on stdin", word.position, _OWN_CODE)
        self.has_code = True

    def _code(self, rest: Words) -> Words:
        if not rest:
            refuse(f"{self.name} gets its code from elsewhere", self.first.position, _OWN_CODE)
        self.rules.refuse_values(_up_to_solid(rest), f"a placeholder in the code that {self.name} runs")
        if rest[0].lead[:1] in ("-", "+"):
            refuse(f"the code that {self.name} runs cannot be told from its options", rest[0].position)
        self.has_code = True
        return () if self.how.options_end else rest[1:]

    def _option_value(self, option: Word, rest: Words) -> Words:
        sets = self.how.setting.fullmatch(option.text) and rest and _ASSIGNMENT.match(rest[0].lead)
        if not sets:
            self.rules.refuse_values(_up_to_solid(rest), f"a placeholder in an option of {self.name}")
        return rest[1:]


def _program_named(word: Word) -> str:
    """As far as it can be known: by its path, or by a variable like $SHELL or $PYTHON; else empty."""
    if word.static or "/" in word.text:
        return program(word.text)
    name = "".join(word.reads).lower() if not word.text else ""
    name = "bash" if name == "shell" else program(name)
    return name if name in INTERPRETERS else ""


def _up_to_solid(words: Words) -> Words:
    """The first word, and the next ones that would take its place if it vanished when the shell expands it."""
    for at, word in enumerate(words):
        if word.solid:
            return words[: at + 1]
    return words
