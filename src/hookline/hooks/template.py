"""Text with placeholders. What a value brings is text: it is never expanded again and never becomes shell syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from hookline.hooks.event import MISSING, Event, Path
from hookline.hooks.placeholder import (
    DOUBLE,
    SINGLE_OR_DOUBLE,
    BadTemplate,
    Reader,
    Resolve,
    as_text,
    unknown_name,
)
from hookline.hooks.shell_quoting import Quote, quoted
from hookline.hooks.shell_rules import check_commands
from hookline.hooks.shell_scan import scan

__all__ = [
    "BadTemplate",
    "Resolve",
    "ShellTemplate",
    "Template",
    "as_text",
    "brace_template",
    "shell_template",
    "template",
]

Unknown = Literal["problem", "keep"]


@dataclass(frozen=True, slots=True)
class Template:
    source: str
    names: tuple[str, ...]
    _pieces: tuple[str | Reader, ...]

    @property
    def constant(self) -> bool:
        return not self.names

    def render(self, event: Event) -> str:
        return "".join(piece if isinstance(piece, str) else as_text(piece(event)) for piece in self._pieces)

    def value(self, event: Event) -> Any:
        """A text that is exactly one placeholder keeps its value's type; an absent one is empty text."""
        if len(self._pieces) != 1 or isinstance(self._pieces[0], str):
            return self.render(event)
        value = self._pieces[0](event)
        return "" if value is MISSING else value

    def found(self, event: Event) -> Any:
        """As `value`, but MISSING where the text is exactly one placeholder and its fact is absent."""
        if len(self._pieces) != 1 or isinstance(self._pieces[0], str):
            return self.render(event)
        return self._pieces[0](event)

    def reads(self) -> tuple[Path, ...]:
        """The facts behind its placeholders."""
        return tuple(path for piece in self._pieces if not isinstance(piece, str) for path in piece.paths)


def template(text: str, resolve: Resolve, *, unknown: Unknown = "problem") -> Template:
    return _template(text, resolve, DOUBLE, unknown)


def brace_template(text: str, resolve: Resolve, *, unknown: Unknown = "keep") -> Template:
    """Takes `{name}` beside `{{name}}`, as texts for people do."""
    return _template(text, resolve, SINGLE_OR_DOUBLE, unknown)


def _template(text: str, resolve: Resolve, pattern: re.Pattern[str], unknown: Unknown) -> Template:
    names: list[str] = []
    pieces: list[str | Reader] = []
    done = 0
    for match, name, reader in _placeholders(text, resolve, pattern):
        if reader is None:
            if unknown == "problem":
                raise unknown_name(name, match.start())
            continue
        if done < match.start():
            pieces.append(text[done : match.start()])
        pieces.append(reader)
        names.append(name)
        done = match.end()
    if done < len(text):
        pieces.append(text[done:])
    return Template(text, tuple(names), tuple(pieces))


def _placeholders(
    text: str, resolve: Resolve, pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str, Reader | None]]:
    for match in pattern.finditer(text):
        name = next(group for group in match.groups() if group is not None).strip()
        yield match, name, resolve(name) if name else None


@dataclass(frozen=True, slots=True)
class ShellTemplate:
    """Shell text in which each value is quoted for the place where it stands.

    A value stays one word, or a part of one, whatever it holds. What a program makes of that word is the program's
    affair: a value that begins with `-` may be taken for an option, so write `--` before it where the program knows it.
    """

    source: str
    names: tuple[str, ...]
    _pieces: tuple[str | tuple[Reader, Quote], ...]

    def reads(self) -> tuple[Path, ...]:
        """The facts behind its placeholders."""
        return tuple(path for piece in self._pieces if not isinstance(piece, str) for path in piece[0].paths)

    def render(self, event: Event) -> str:
        return "".join(
            piece if isinstance(piece, str) else quoted(as_text(piece[0](event)), piece[1]) for piece in self._pieces
        )


def shell_template(text: str, resolve: Resolve) -> ShellTemplate:
    """Raises BadTemplate where a value could become shell text, or where that cannot be ruled out.

    A text without placeholders is taken as it is.
    """
    found = list(_placeholders(text, resolve, DOUBLE))
    if not found:
        return ShellTemplate(text, (), (text,))
    for match, name, reader in found:
        if reader is None:
            raise unknown_name(name, match.start())
    scanned = scan(text, {match.start(): match.end() for match, _, _ in found})
    check_commands(scanned)
    pieces: list[str | tuple[Reader, Quote]] = []
    done = 0
    for match, _, reader in found:
        assert reader is not None
        pieces += [text[done : match.start()], (reader, scanned.quotes[match.start()])]
        done = match.end()
    pieces.append(text[done:])
    return ShellTemplate(text, tuple(name for _, name, _ in found), tuple(pieces))
