"""The words in what hooks do that could be paths, and those that stand for whatever files are found there.

A shell is read loosely here, and other languages as if they were shell: a word too many does no harm.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.actions.answer import Say
from hookline.hooks.actions.call import Call
from hookline.hooks.actions.change import Change
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.program import Program
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Outcome
from hookline.hooks.shell_programs import program
from hookline.project.searched_words import Token, searched_in

MOST_WORDS: Final = 50_000
_MOST_CHARACTERS: Final = 8_000_000  # of all words together
_MOST_EXPANDED: Final = 256  # words that one word with braces may stand for
_LONGEST_PATH: Final = 4_096
_DEEPEST: Final = 4  # a command in a command's quotes, and so on
_SHELLS: Final = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "su", "ssh", "watch", "parallel"))

_BREAK: Final = re.compile(r"""(?:\$\w+|[\s'"`;|&<>()${}=,:\[\]*?!#\\])+""")
_TOKEN: Final = re.compile(
    r"""(?P<operator>[;&|()`<>\n]+)
    |(?:[^\s;&|()`<>'"\\]++|\\.|'[^']*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|['"\\])++""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""'([^']*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)"|\\(.)""", re.DOTALL)
_WRITTEN: Final = re.compile(
    r"""(?<![<=\-\\])(?:&|\d)?(?<![<=\-\\])>{1,2}\|?[ \t]*(?:"[^"$`\\]*"|'[^']*'|[\w./~+-]+)(?=[\s;&|)]|$)"""
)
"""A redirection: what a command writes is not what it runs."""
_VARIABLE: Final = re.compile(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\w+|\$")
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
_HERE: Final = re.compile(r"(?<![^/])(?:\.?/)+(?!$)")  # ./ and // lead nowhere


class TooManyNames(HooklineError):
    """More than can be watched, so such a file cannot be trusted."""


@dataclass(frozen=True, slots=True)
class Names:
    words: tuple[str, ...] = ()  # each may be the path of a file, or of a directory from which another one leads on
    searched: tuple[str, ...] = ()  # directories and patterns of which every file counts
    beside: tuple[str, ...] = ()  # each may be the path of a file in the directory of the document itself


NO_NAMES: Final = Names()


def names_in(hooks: Iterable[Hook], texts: Iterable[str] = (), prose: Iterable[str] = ()) -> Names:
    """Of everything that these hooks do, of these texts, and of prose that counts for files beside it alone.

    Raises TooManyNames.
    """
    found = _Found()
    for text, is_command in dict.fromkeys(each for hook in hooks for each in _texts_in(hook.then)):
        for word, is_searched in _names(text, is_command):
            found.add(word, found.searched if is_searched else found.words)
    for given, held in ((texts, found.words), (prose, found.beside)):
        for text in given:
            for word, _ in _names(text, is_command=False):
                found.add(word, held)
                found.add(word.rstrip(".") or word, held)  # at the end of a sentence
    return Names(tuple(found.words), tuple(found.searched), tuple(found.beside))


class _Found:
    def __init__(self) -> None:
        self.words, self.searched, self.beside = (dict[str, None]() for _ in range(3))
        self._words = self._characters = 0

    def add(self, word: str, held: dict[str, None]) -> None:
        if word in held:
            return
        held[word] = None
        self._words += 1
        self._characters += len(word)
        if self._words > MOST_WORDS or self._characters > _MOST_CHARACTERS:
            raise TooManyNames(f"its commands have more than {MOST_WORDS} words")


def _names(text: str, is_command: bool) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is searched for files."""
    text = _WRITTEN.sub(" ", text)
    words = (text, *_BREAK.split(text))
    yield from ((word, False) for word in map(_collapsed, words) if word)
    yield from _names_in_shell(text, is_command, _DEEPEST)


def _names_in_shell(text: str, is_command: bool, depth: int) -> Iterator[tuple[str, bool]]:
    """What stands in quotes is a command where a shell gets it, or where it holds one: `"$(…)"`."""
    tokens = list(_tokens(text))
    for_shell = False
    for token in tokens:
        if token.operator:
            for_shell = False
            continue
        for each in _expanded(token.text):
            yield from ((word, False) for word in _words_of(each))
        if depth and any(char in token.text for char in " \t\n;"):
            holds = for_shell or "$(" in token.text or "`" in token.text
            yield from _names_in_shell(token.text, is_command and holds, depth - 1)
        for_shell = for_shell or program(token.text) in _SHELLS
    for found in searched_in(tokens) if is_command else ():
        yield from ((word, True) for word in map(_collapsed, _expanded(found)) if word)


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        operator = match["operator"] is not None
        yield Token(match[0] if operator else _unquoted(match[0]), operator)


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda match: next(group for group in match.groups() if group is not None), word)


def _words_of(word: str) -> Iterator[str]:
    """The word, and what stands around signs that also part names, as in --config=a,b:c."""
    for part in (word, *_VARIABLE.split(word)):
        value = part.partition("=")[2]
        for piece in (part, value, *(each for sign in "=:,@#!" if sign in part for each in part.split(sign))):
            yield from filter(None, (_collapsed(piece),))
        yield from filter(None, (_collapsed(each) for sign in ":," if sign in value for each in value.split(sign)))


def _collapsed(word: str) -> str:
    """Empty where it cannot be a path."""
    word = _HERE.sub(lambda match: "/" if match.start() == 0 and match[0][0] == "/" else "", word)
    return word if len(word) <= _LONGEST_PATH and "\0" not in word else ""


def _expanded(word: str) -> Iterator[str]:
    """The word itself, and the words that the shell makes of its braces. Raises TooManyNames."""
    yield word
    if _BRACES.search(word) is None:
        return
    made = list(islice(_without_braces(word), _MOST_EXPANDED + 1))
    if len(made) > _MOST_EXPANDED:
        raise TooManyNames(f"a word with braces in its commands stands for more than {_MOST_EXPANDED} words")
    yield from made


def _without_braces(word: str) -> Iterator[str]:
    waiting = [word]
    while waiting:
        each = waiting.pop()
        braces = _BRACES.search(each)
        if braces is None:
            yield each
        else:
            waiting += [
                each[: braces.start()] + part + each[braces.end() :]
                for part in islice(braces[1].split(","), _MOST_EXPANDED + 1)
            ]


def _texts_in(value: Any) -> Iterator[tuple[str, bool]]:
    """Every text in an action that could make something run, and whether it is a command."""
    waiting, seen = [(value, False)], set()
    while waiting:
        each, is_command = waiting.pop()
        if isinstance(each, str):
            yield each, is_command
        elif id(each) not in seen:
            seen.add(id(each))
            if isinstance(each, Program) and each.argv:
                yield shlex.join(part.source for part in each.argv), True
            is_command = is_command or isinstance(each, (Program, Call, Change))
            waiting += [(part, is_command) for part in _parts(each)]


def _parts(value: Any) -> list[Any]:
    """All that is in it, but words for people and models: who is told of a file does not run it."""
    if isinstance(value, Outcome):
        return [value.changes]
    if isinstance(value, Say):
        return [value.outcome]
    if isinstance(value, (Log, Notify, Judge)):
        return []
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value) if not field.name.startswith("_")]
    return []
