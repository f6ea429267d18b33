"""Where a command runs whatever files it finds: by a pattern, in a directory, or in a variable that holds their names.

A linter's `check src` runs none of what it reads, so naming a directory alone is not enough: an edit there would
otherwise ask the user again each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hookline.shell.programs import INTERPRETERS, program_name

_RUNNERS: Final = frozenset((*INTERPRETERS, "fish", "pwsh", "tclsh", "run-parts")) - {"sed", "gsed"}
_SOURCE_COMMANDS: Final = frozenset((".", "source", "eval"))
_BEFORE_COMMAND: Final = frozenset(
    ("do", "then", "else", "elif", "if", "while", "until", "!", "{", "exec", "-exec", "-execdir", "-ok", "-okdir")
)
_ARGUMENT_FEEDERS: Final = frozenset(("xargs", "parallel"))
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_VARIABLE: Final = re.compile(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$[\w@*]+|\$|\{\}|\{[^{},]*\.\.[^{},]*\}")
_LEADING_VARIABLE: Final = re.compile(rf"(?:{_VARIABLE.pattern})/+(?=[^/])")
GLOB_BRACKETS: Final = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]")
"""One character of several. An open bracket that is not closed, as in `[ -f x ]`, is itself."""
_WILDCARD: Final = re.compile(rf"[*?]|{GLOB_BRACKETS.pattern}|{_VARIABLE.pattern}")
_CASE_END: Final = re.compile(r";;&?|;&")
_TOKEN: Final = re.compile(
    r"""(?P<operator>[;&|()`<>\n]+)
    |(?:[^\s;&|()`<>'"\\]++|\\.|'[^']*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|['"\\])++""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""'([^']*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)"|\\(.)""", re.DOTALL)


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
    """The words of which every file counts, as patterns with `*` for what is not known."""
    searched: list[str] = []
    arguments: list[str] = []
    anything = False
    for before, command in _split_commands(tokens):
        for run in _words_run_by(command, fed=before.rstrip("\n").endswith("|") or "<" in before):
            pattern = _to_glob(run)
            if pattern.strip("*./") or not _WILDCARD.search(run):
                searched.append(pattern)
            else:
                anything = True
        arguments += _arguments_for_others(command)
    if anything:
        searched += [_to_glob(word) for word in arguments if _VARIABLE.sub("", word)]
    return searched


def _split_commands(tokens: Iterable[ShellToken]) -> Iterator[tuple[str, list[str]]]:
    """Each simple command with the operators before it. What a `case` compares with is none."""
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
    """The arguments from which another command may get its files: not those of a program that is a variable."""
    unknown = next((at for at, word in _command_positions(words) if not _to_glob(word).strip("*./")), len(words))
    return words[1:unknown]


def _command_positions(words: list[str]) -> Iterator[tuple[int, str]]:
    """Where a program stands, or a keyword or an assignment before one."""
    begins = True
    for at, word in enumerate(words):
        if begins:
            yield at, word
        begins = word in _BEFORE_COMMAND or (begins and _ASSIGNMENT.match(word) is not None)


def _words_run_by(words: list[str], *, fed: bool) -> Iterator[str]:
    """What this command runs and does not simply name; `$` where nobody can know."""
    beginnings = dict(_command_positions(words))
    for at, word in enumerate(words):
        begins = at in beginnings
        if begins and _WILDCARD.search(_LEADING_VARIABLE.sub("", word, count=1)) and not _ASSIGNMENT.match(word):
            yield word
        if program_name(word) in _RUNNERS or (begins and word in _SOURCE_COMMANDS):
            run = _operands(words[at + 1 :])
            yield from run
            if not run and (fed or _ARGUMENT_FEEDERS.intersection(words[:at])):
                yield "$"
        elif word in _ARGUMENT_FEEDERS and "{}" in words[at + 1 :][-1:]:
            yield "$"


def _operands(words: list[str]) -> list[str]:
    """The first, and as many more as there are options before it, for each may have taken one as its value."""
    for options, word in enumerate(words):
        if not word.startswith("-") or word == "-":
            return words[options : 2 * options + 1]
    return []


def _to_glob(word: str) -> str:
    """Of a word that begins in a variable's directory, the rest: from any directory that is looked at."""
    return _VARIABLE.sub("*", _LEADING_VARIABLE.sub("", word, count=1))
