"""Reads the lines that need no parser: ordinary programs with plain or quoted words, joined by `&&`, `||`, `;` and `|`.

Most commands of an agent are such lines, and the parser takes ten times as long. What it finds in them is known: each
command as it is written. Any other line is left to the parser.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hookline.lazy_imports import lazy_pattern
from hookline.shell.deletions import DELETERS, deletion_command
from hookline.shell.embedded_code import INTERPRETERS, has_call
from hookline.shell.git_settings import may_name_program
from hookline.shell.program_languages import LANGUAGES, PACKAGE_PROGRAMS, has_commands
from hookline.shell.programs import EVALUATORS, SHELLS, program_name
from hookline.shell.renamed_programs import INPUT_WRITERS
from hookline.shell.script_programs import script_command
from hookline.shell.wrappers import OTHER_SHELLS, RUNS_ARGUMENTS, SUBCOMMANDS, TAKES_ASSIGNMENTS

SPECIAL_WORDS: Final = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select"),
        *("function", "in", "time", "coproc", "!", "{", "}", "[[", *SHELLS, *OTHER_SHELLS, *RUNS_ARGUMENTS),
        *("eval", "trap", "alias", "set", "read", "mapfile", "readarray", ".", "source", *TAKES_ASSIGNMENTS),
    )
)
"""Keywords, and programs that run or change something because of their arguments."""
_SPECIAL_WITH_OPTIONS: Final = SPECIAL_WORDS | {"printf", "getopts", "at", "batch", "newgrp"}
_MAY_RUN_TEXT: Final = EVALUATORS | PACKAGE_PROGRAMS
_RUN_FILES: Final = frozenset(("git", "run-parts", "rake"))
"""Programs that run files that the line may have written, without naming them."""
_WORD: Final = r"""(?:[\w./:@%+=,^~-]++|'[ -&(-~]*+'|"[ !#%-\[\]-_a-~]*+")+"""
_COMMAND: Final = lazy_pattern(
    rf"([\w./:@%+-]++(?: ++(?!2?>){_WORD})*)( ++2?> ?/dev/null(?=[ ;|&]|\Z))?( ++2>&1(?=[ ;|&]|\Z))? *+(&&|\|\||[;|]|\Z) *+"
)  # no group is possessive: before 3.11.4, Python goes on behind what a possessive group matched only in part
_WORDS: Final = lazy_pattern(_WORD)
_QUOTES: Final = lazy_pattern(r"""'([^']*)'|"([^"]*)\"""")


class PlainCommand(NamedTuple):
    words: tuple[str, ...]
    place: tuple[int, int]  # the number of its pipeline, and its place there, as in a path of ParsedCommand
    source: str
    operator: str  # before it
    discards_output: bool  # into /dev/null


def read_plain_line(text: str) -> list[PlainCommand] | None:
    """Its commands; None if only the parser can read it."""
    commands: list[PlainCommand] = []
    at, pipeline, stage, operator = 0, 0, 0, ""
    copies = False  # `echo 'rm x' | tee x.sh; ./x.sh`: only the parser knows what a script says
    while found := _COMMAND.match(text, at):
        source, discarded, _, next_operator = found.groups()
        has_quotes = "'" in source or '"' in source
        words = tuple(map(_unquote, _WORDS.findall(source)) if has_quotes else source.split())
        if not _is_ordinary(words) or (operator == "|" and _runs_input(words[0])):
            return None
        copies = copies or words[0] in INPUT_WRITERS or ("/" in words[0] and program_name(words[0]) in INPUT_WRITERS)
        if "  " in source:
            source = " ".join(source.split())
        commands.append(PlainCommand(words, (pipeline, stage), source, operator, discarded is not None))
        at, operator = found.end(), next_operator
        if not operator:
            return None if copies and any(_may_run_file(each.words[0]) for each in commands) else commands
        pipeline, stage = (pipeline, stage + 2) if operator == "|" else (pipeline + 1, 0)
    return None


def _may_run_file(program: str) -> bool:
    return "/" in program or program in _RUN_FILES or _runs_input(program) or program in PACKAGE_PROGRAMS


def _runs_input(program: str) -> bool:
    name = program_name(program)
    return name in INTERPRETERS or name in LANGUAGES


def _unquote(word: str) -> str:
    first = word[0]
    if first in "'\"" and first not in word[1:-1]:  # one quoted piece and nothing else
        return word[1:-1]
    return word if "'" not in word and '"' not in word else _QUOTES.sub(r"\1\2", word)


def _is_ordinary(words: tuple[str, ...]) -> bool:
    """Whether the first word is a program, and no argument makes it run another one."""
    first = words[0]
    name = lowered = first
    if not (first.isalpha() and first.islower()):
        name = program_name(first)
        if first in _SPECIAL_WITH_OPTIONS or name.lower() in _SPECIAL_WITH_OPTIONS:
            return False
        lowered = name.lower()
    if name in _SPECIAL_WITH_OPTIONS or (name == "git" and may_name_program(words)):
        return False
    if name in _MAY_RUN_TEXT and any("$(" in word or "`" in word or word in ("-C", "pkg") for word in words):
        return False
    if name in INTERPRETERS and has_call(words):
        return False
    if name in LANGUAGES and has_commands(words):
        return False
    if script_command(name, words) or (lowered in DELETERS and deletion_command(lowered, words)):
        return False
    return name not in SUBCOMMANDS or SUBCOMMANDS[name].isdisjoint(words)
