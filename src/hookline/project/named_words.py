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
from hookline.hooks.actions.program import Program
from hookline.hooks.hook import Hook
from hookline.project.searched_words import Token, searched_in

MOST_WORDS: Final = 50_000
_MOST_CHARACTERS: Final = 8_000_000  # of all words together
_MOST_EXPANDED: Final = 256  # words that one word with braces may stand for
_LONGEST_PATH: Final = 4_096
_DEEPEST: Final = 4  # a command in a command's quotes, and so on

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


NO_NAMES: Final = Names()


def names_in(hooks: Iterable[Hook], texts: Iterable[str] = ()) -> Names:
    """Of everything that these hooks do, and of these texts. Raises TooManyNames."""
    words: dict[str, None] = {}
    searched: dict[str, None] = {}
    characters = 0
    for text in dict.fromkeys((*(text for hook in hooks for text in _texts_in(hook.then)), *texts)):
        for word, is_searched in _names(text):
            held = searched if is_searched else words
            if word in held:
                continue
            held[word] = None
            characters += len(word)
            if len(words) + len(searched) > MOST_WORDS or characters > _MOST_CHARACTERS:
                raise TooManyNames(f"its commands have more than {MOST_WORDS} words")
    return Names(tuple(words), tuple(searched))


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is searched for files."""
    text = _WRITTEN.sub(" ", text)
    words = (text, *_BREAK.split(text))
    yield from ((word, False) for word in map(_collapsed, words) if word)
    yield from _names_in_shell(text, _DEEPEST)


def _names_in_shell(text: str, depth: int) -> Iterator[tuple[str, bool]]:
    tokens = list(_tokens(text))
    for token in tokens:
        if token.operator:
            continue
        for each in _expanded(token.text):
            yield from ((word, False) for word in _words_of(each))
        if depth and any(char in token.text for char in " \t\n;"):
            yield from _names_in_shell(token.text, depth - 1)
    for found in searched_in(tokens):
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


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in an action, whatever kind of action it is."""
    waiting, seen = [value], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            if isinstance(each, Program) and each.argv:
                yield shlex.join(part.source for part in each.argv)
            waiting += _parts(each)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value) if not field.name.startswith("_")]
    return []
