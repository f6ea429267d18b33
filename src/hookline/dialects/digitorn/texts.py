"""`{{tool.*}}` and `{turn}`: the format's placeholders, said in hookline's own names for facts.

A name that the format does not know stays as it is written. A path that leads nowhere is empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hookline.config.problem import Severity, nearest
from hookline.config.shape import Reader
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.placeholder import DOUBLE, SINGLE_OR_DOUBLE
from hookline.hooks.template import ShellTemplate, Template, shell_template, template
from hookline.hooks.tools import TONGUES

TONGUE: Final = TONGUES["digitorn"]
NUMBERS: Final = {
    "turn": "turn.number",
    "tokens": "context.tokens",
    "tools": "session.tool_calls",
    "messages": "messages | count",
    "max_turns": "turn.max",
}
"""What stands in single braces in a log line or a notification."""
PLACEHOLDERS: Final = ("tool.name", "tool.fqn", "tool.params.…", "tool.result.…", "tool.result", "tool.error")
_FIRST_WORDS: Final = ("tool", "workspace", *NUMBERS)


def fact_name(name: str) -> str | None:
    """`tool.params.path` → `tool.input.path`; None: the format has no such placeholder."""
    if name == "workspace":
        return name
    first, *rest = [part for part in name.split(".") if part] or [""]
    if first != "tool" or not rest or "|" in name:
        return None
    word, path = rest[0], rest[1:]
    if word == "params":
        return ".".join(("tool.input", *path))
    if word == "result":
        return ".".join(("tool.result", *path)) if path else "result.text"
    if path:
        return None
    return {"name": "tool.name", "fqn": "tool.name", "error": "tool.error"}.get(word)


@dataclass(frozen=True, slots=True)
class Said:
    """A text in hookline's own words."""

    source: str
    known: int  # placeholders
    unknown: tuple[str, ...] = ()  # names in double braces that stay as they are written


def said(text: str, *, numbers: bool = False) -> Said:
    pieces: list[str] = []
    unknown: list[str] = []
    known = done = 0
    for found, name, double in _placeholders(text, numbers):
        pieces.append(text[done : found.start()])
        done = found.end()
        fact = fact_name(name) if double else NUMBERS.get(name)
        if fact is not None:
            pieces.append("{{" + fact + "}}")
            known += 1
        elif double:
            pieces.append("{{open_braces}}" + found[0][2:])
            unknown.append(name)
        else:
            pieces.append(found[0])
    return Said("".join((*pieces, text[done:])), known, tuple(unknown))


def _placeholders(text: str, numbers: bool) -> Iterator[tuple[re.Match[str], str, bool]]:
    for found in (SINGLE_OR_DOUBLE if numbers else DOUBLE).finditer(text):
        double = found[1] is not None
        yield found, (found[1] if double else found[2]).strip(), double


def rendered(at: Reader, text: str, *, numbers: bool = False) -> Template:
    """Text in which placeholders stand among other text."""
    made = said(text, numbers=numbers)
    _warn_of_unknown(at, made)
    return template(made.source, Names(TONGUE))


def literal(at: Reader, text: str) -> str:
    """Text that the format does not render; whoever wrote a placeholder into it is told so."""
    if said(text).known:
        what = f"{at.place}: placeholders are not rendered here; they stay as they are written."
        at.problem("not-rendered", what, severity=Severity.WARNING)
    return text


def unrendered(text: str) -> Template:
    """The same as a template."""
    return template(DOUBLE.sub(lambda found: "{{open_braces}}" + found[0][2:], text), Names(TONGUE))


def filled(at: Reader) -> Filled:
    """A value in which every text is rendered; one that is a whole placeholder keeps its value's type."""
    return Filled(_filled(at))


def _filled(at: Reader) -> Any:
    value = at.value
    if isinstance(value, dict):
        return {key: _filled(place) for key, place in at.entries()}
    if isinstance(value, list):
        return [_filled(place) for place in at.items()]
    if not isinstance(value, str):
        return value
    made = said(value)
    _warn_of_unknown(at, made)
    if not made.known:
        return value
    whole = made.known == 1 and not made.unknown and DOUBLE.fullmatch(value.strip()) and value == value.strip()
    source = made.source[:-2] + " | or_empty}}" if whole else made.source
    return template(source, Names(TONGUE))


def shell(at: Reader, text: str) -> ShellTemplate:
    """Raises BadTemplate. A text without placeholders of ours is taken as it is, other braces included."""
    made = said(text)
    _warn_of_unknown(at, made)
    return shell_template(made.source, Names(TONGUE)) if made.known else ShellTemplate(text, (), (text,))


def _warn_of_unknown(at: Reader, made: Said) -> None:
    """Of those only that look as if something else was meant: `{{.State}}` is somebody else's template."""
    for name in dict.fromkeys(made.unknown):
        if nearest(name.split(".")[0], _FIRST_WORDS) is not None:
            what = f"{at.place}: {{{{{name}}}}} is not a placeholder; it stays as it is written."
            at.problem("unknown-placeholder", what, f"There are {', '.join(PLACEHOLDERS)}.", severity=Severity.WARNING)
