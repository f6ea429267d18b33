"""Finds the files that a command runs without naming them: by a pattern, in a directory, through a variable.

A directory that a program only reads, as in a linter's `check src`, does not count. Otherwise every edit in it would need
the user's trust again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.shell.grammar import ASSIGNMENT
from hookline.shell.programs import INTERPRETERS, SHELLS, program_name

_RUNNERS: Final = frozenset((*SHELLS, *INTERPRETERS, "fish", "pwsh", "tclsh", "run-parts")) - {
    "sed",
    "gsed",
    "jq",
    "yq",
}
_SOURCE_COMMANDS: Final = frozenset((".", "source", "eval"))
_BEFORE_COMMAND: Final = frozenset(
    ("do", "then", "else", "elif", "if", "while", "until", "!", "{", "exec", "-exec", "-execdir", "-ok", "-okdir")
)
_ARGUMENT_FEEDERS: Final = frozenset(("xargs", "parallel"))
_VARIABLE: Final = lazy_pattern(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$[\w@*]+|\$|\{\}|\{[^{},]*\.\.[^{},]*\}")
_LEADING_VARIABLE: Final = lazy_pattern(rf"(?:{_VARIABLE.pattern})/+(?=[^/])")
GLOB_BRACKETS: Final = lazy_pattern(r"\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]")
"""A set of characters. An open bracket that is never closed, as in `[ -f x ]`, is a plain character."""
_WILDCARD: Final = lazy_pattern(rf"[*?]|{GLOB_BRACKETS.pattern}|{_VARIABLE.pattern}")
_CASE_END: Final = lazy_pattern(r";;&?|;&")
_TOKEN: Final = lazy_pattern(
    r"""(?P<operator>[;&|()`<>\n]+)
    |(?:[^\s;&|()`<>'"\\]++|\\.|'[^']*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|['"\\])+""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED: Final = lazy_pattern(r"""'([^']*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)"|\\(.)""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ShellToken:
    text: str  # without its quotes
    is_operator: bool = False


def tokenize(text: str) -> Iterator[ShellToken]:
    """Splits any text loosely into words without their quotes, and operators. It never fails."""
    for match in _TOKEN.finditer(text):
        is_operator = match["operator"] is not None
        yield ShellToken(match[0] if is_operator else _unquote(match[0]), is_operator)


def _unquote(word: str) -> str:
    return _QUOTED.sub(lambda match: next(group for group in match.groups() if group is not None), word)


def find_run_patterns(tokens: Iterable[ShellToken]) -> list[str]:
    """The words whose matching files may all run, as globs with `*` for the unknown parts."""
    patterns: list[str] = []
    arguments: list[str] = []
    runs_unknown = False
    for before, command in _split_commands(tokens):
        for run in _words_run_by(command, has_input=before.rstrip("\n").endswith("|") or "<" in before):
            pattern = _to_glob(run)
            if pattern.strip("*./") or not _WILDCARD.search(run):
                patterns.append(pattern)
            else:
                runs_unknown = True
        arguments += _arguments_for_others(command)
    if runs_unknown:
        patterns += [_to_glob(word) for word in arguments if _VARIABLE.sub("", word)]
    return patterns


def _split_commands(tokens: Iterable[ShellToken]) -> Iterator[tuple[str, list[str]]]:
    """Yields each simple command with the operators before it. The patterns of a `case` are not commands."""
    before, words = "", list[str]()
    for token in tokens:
        if not token.is_operator:
            words.append(token.text)
            continue
        if words and not (_CASE_END.search(before) and token.text.startswith((")", "|"))):
            yield before, words
        before, words = (token.text if words else before + token.text), []
    if words:
        yield before, words


def _arguments_for_others(words: list[str]) -> list[str]:
    """The arguments that another command may get as files. Those of a program named by a variable do not count."""
    unknown = next((at for at, word in _command_positions(words) if not _to_glob(word).strip("*./")), len(words))
    return words[1:unknown]


def _command_positions(words: list[str]) -> Iterator[tuple[int, str]]:
    """The positions of programs, and of the keywords and assignments before them."""
    is_command = True
    for at, word in enumerate(words):
        if is_command:
            yield at, word
        is_command = word in _BEFORE_COMMAND or (is_command and ASSIGNMENT.match(word) is not None)


def _words_run_by(words: list[str], *, has_input: bool) -> Iterator[str]:
    """Yields what this command runs, `$` where that is unknown. `has_input` means that its stdin is a pipe or a file."""
    positions = dict(_command_positions(words))
    for at, word in enumerate(words):
        is_command = at in positions
        if is_command and _WILDCARD.search(_LEADING_VARIABLE.sub("", word, count=1)) and not ASSIGNMENT.match(word):
            yield word
        if program_name(word) in _RUNNERS or (is_command and word in _SOURCE_COMMANDS):
            run = _operands(words[at + 1 :])
            yield from run
            if not run and (has_input or _ARGUMENT_FEEDERS.intersection(words[:at])):
                yield "$"
        elif word in _ARGUMENT_FEEDERS and "{}" in words[at + 1 :][-1:]:
            yield "$"


def _operands(words: list[str]) -> list[str]:
    """The first operand, and one more per option before it: each option may take one as its value."""
    for options, word in enumerate(words):
        if not word.startswith("-") or word == "-":
            return words[options : 2 * options + 1]
    return []


def _to_glob(word: str) -> str:
    """The word as a glob. A leading variable is dropped: it may be any directory."""
    return _VARIABLE.sub("*", _LEADING_VARIABLE.sub("", word, count=1))
