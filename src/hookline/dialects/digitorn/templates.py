"""digitorn's placeholders, `{{tool.*}}` and `{turn}`, to and from hookline's names for facts.

A name that digitorn does not have stays as it is written. A path to an absent value becomes empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Severity
from hookline.dialects.conversion import NotExpressible
from hookline.formatting import closest_match, is_typo
from hookline.hooks.event import fact_path
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import (
    DOUBLE_BRACES,
    OPEN_BRACES,
    SINGLE_OR_DOUBLE_BRACES,
    DataTemplate,
    ShellTemplate,
    Template,
    escape_braces,
    parse_shell_template,
    parse_template,
)
from hookline.hooks.tools import VOCABULARIES
from hookline.lazy_dataclasses import dataclass

VOCABULARY: Final = VOCABULARIES["digitorn"]
NUMBER_FACTS: Final = {
    "turn": "turn.number",
    "tokens": "context.tokens",
    "tools": "session.tool_calls",
    "messages": "messages | count",
    "max_turns": "turn.max",
}
"""The names in single braces in a log message or a notification."""
PLACEHOLDERS: Final = ("tool.name", "tool.fqn", "tool.params.…", "tool.result.…", "tool.result", "tool.error")
_FIRST_WORDS: Final = ("tool", "workspace", *NUMBER_FACTS)
_NUMBER_NAMES: Final = {fact.replace(" ", ""): name for name, fact in NUMBER_FACTS.items()}
_PLACEHOLDER_NAMES: Final = {
    ("tool", "input"): "tool.params",
    ("tool", "result"): "tool.result",
    ("tool", "error"): "tool.error",
    ("tool", "name"): "tool.name",
    ("workspace",): "workspace",
}


def fact_name(name: str) -> str | None:
    """`tool.params.path` → `tool.input.path`; None if digitorn has no such placeholder."""
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
class TranslatedText:
    """A text with hookline's placeholders."""

    source: str
    known: int  # how many placeholders were translated
    unknown: tuple[str, ...] = ()  # names in double braces that stay as they are written


def translate_placeholders(text: str, *, numbers: bool = False) -> TranslatedText:
    pieces: list[str] = []
    unknown: list[str] = []
    known = done = 0
    for found, name, double in _find_placeholders(text, numbers):
        pieces.append(text[done : found.start()])
        done = found.end()
        fact = fact_name(name) if double else NUMBER_FACTS.get(name)
        if fact is not None:
            pieces.append("{{" + fact + "}}")
            known += 1
        elif double:
            pieces.append(escape_braces(found[0]))
            unknown.append(name)
        else:
            pieces.append(found[0])
    return TranslatedText("".join((*pieces, text[done:])), known, tuple(unknown))


def _find_placeholders(text: str, numbers: bool) -> Iterator[tuple[re.Match[str], str, bool]]:
    for found in (SINGLE_OR_DOUBLE_BRACES if numbers else DOUBLE_BRACES).finditer(text):
        double = found[1] is not None
        yield found, (found[1] if double else found[2]).strip(), double


def read_template(at: Node, text: str, *, numbers: bool = False) -> Template:
    """Text that may contain placeholders."""
    translated = translate_placeholders(text, numbers=numbers)
    _warn_unknown_placeholders(at, translated)
    if numbers:
        _warn_misspelt_numbers(at, text)
    return parse_template(translated.source, PlaceholderResolver(VOCABULARY))


def read_literal(at: Node, text: str) -> str:
    """Text that digitorn does not render. A placeholder in it is a warning."""
    if translate_placeholders(text, numbers=True).known:
        what = f"{at.location}: placeholders are not rendered here; they stay as they are written."
        at.add_problem("not-rendered", what, severity=Severity.WARNING)
    return text


def warn_placeholders(at: Node) -> None:
    """Of a value that digitorn does not render, at any depth."""
    if isinstance(at.value, str):
        read_literal(at, at.value)
    for place in at.items() if isinstance(at.value, list) else ():
        warn_placeholders(place)
    for _, place in at.entries() if isinstance(at.value, dict) else ():
        warn_placeholders(place)


def literal_template(text: str) -> Template:
    """A template that renders to exactly this text."""
    return parse_template(escape_braces(text), PlaceholderResolver(VOCABULARY))


def read_data_template(at: Node) -> DataTemplate:
    """A value in which every text is rendered. A text that is one placeholder keeps the type of its value."""
    return DataTemplate(_read_data(at))


def _read_data(at: Node) -> Any:
    value = at.value
    if isinstance(value, dict):
        return {key: _read_data(place) for key, place in at.entries()}
    if isinstance(value, list):
        return [_read_data(place) for place in at.items()]
    if not isinstance(value, str):
        return value
    translated = translate_placeholders(value)
    _warn_unknown_placeholders(at, translated)
    _warn_unrendered_numbers(at, value)
    if not translated.known:
        return value
    is_single_placeholder = translated.known == 1 and not translated.unknown and DOUBLE_BRACES.fullmatch(value)
    source = translated.source[:-2] + " | or_empty}}" if is_single_placeholder else translated.source
    return parse_template(source, PlaceholderResolver(VOCABULARY))


def read_shell_template(at: Node, text: str) -> ShellTemplate:
    """Raises BadTemplate. A text without known placeholders is used unchanged, with any other braces."""
    translated = translate_placeholders(text)
    _warn_unknown_placeholders(at, translated)
    if not translated.known:
        return ShellTemplate(text, (), (text,))
    return parse_shell_template(translated.source, PlaceholderResolver(VOCABULARY))


def _warn_unknown_placeholders(at: Node, translated: TranslatedText) -> None:
    """Warns only of names that look like a typo: `{{.State}}` belongs to another program's templates."""
    for name in dict.fromkeys(translated.unknown):
        if closest_match(name.split(".")[0], _FIRST_WORDS) is not None:
            what = f"{at.location}: {{{{{name}}}}} is not a placeholder; it stays as it is written."
            at.add_problem(
                "unknown-placeholder", what, f"There are {', '.join(PLACEHOLDERS)}.", severity=Severity.WARNING
            )


def _warn_misspelt_numbers(at: Node, text: str) -> None:
    for name in _names_in_single_braces(text):
        meant = None if name in NUMBER_FACTS else next((each for each in NUMBER_FACTS if is_typo(name, each)), None)
        if meant is not None:
            what = f"{at.location}: {{{name}}} is not a placeholder; it stays as it is written."
            hint = f"Did you mean {{{meant}}}?"
            at.add_problem("unknown-placeholder", what, hint, severity=Severity.WARNING)


def _warn_unrendered_numbers(at: Node, text: str) -> None:
    for name in _names_in_single_braces(text):
        if name in NUMBER_FACTS:
            what = f"{at.location}: {{{name}}} is rendered in log and notify only; it stays as it is written."
            at.add_problem("not-rendered", what, severity=Severity.WARNING)


def _names_in_single_braces(text: str) -> Iterable[str]:
    """Each once; `${name}` is a variable of a shell."""
    found = (each for each in SINGLE_OR_DOUBLE_BRACES.finditer(text) if each[2] is not None)
    return dict.fromkeys(each[2].strip() for each in found if not text.endswith("$", 0, each.start()))


def write_template(text: Template | ShellTemplate, *, numbers: bool = False) -> str:
    """Raises NotExpressible if digitorn lacks a placeholder, or would render text that must stay as it is."""
    if text.names:
        parts = _split_template(text.source)
        source = text.source
        plain = "".join(piece if is_literal else _write_placeholder(piece, numbers) for piece, is_literal in parts)
    else:
        source = escape_braces(text.source)
        plain = text.source
    if _normalize(translate_placeholders(plain, numbers=numbers).source) != _normalize(source):
        raise NotExpressible("braces that would be taken for a placeholder")
    return plain


def constant_text(text: Template) -> str | None:
    """The text if its only placeholders are escaped braces, else None."""
    if any(name != OPEN_BRACES for name in text.names):
        return None
    if not text.names:
        return text.source
    return "".join(piece if is_literal else "{{" for piece, is_literal in _split_template(text.source))


def write_data(filled: DataTemplate) -> Any:
    """A rendered value with digitorn's placeholders."""
    return _write_value(filled.value)


def _write_value(value: Any) -> Any:
    if isinstance(value, (Template, ShellTemplate)):
        return write_template(value)
    if isinstance(value, dict):
        return {key: _write_value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_write_value(each) for each in value]
    if isinstance(value, str) and translate_placeholders(value).known:
        raise NotExpressible("braces that would be taken for a placeholder")
    return value


def omits_absent_fields(filled: Any) -> bool:
    """Whether a field is omitted if its fact is absent; digitorn would make it empty text."""
    if isinstance(filled, Template):
        return DOUBLE_BRACES.fullmatch(filled.source) is not None and "or_empty" not in filled.source
    parts = filled.values() if isinstance(filled, dict) else filled if isinstance(filled, (list, tuple)) else ()
    return any(omits_absent_fields(part) for part in parts)


def write_literal(value: Any) -> Any:
    """A value that digitorn does not render. Raises NotExpressible if it contains placeholders."""
    if isinstance(value, Template):
        text = constant_text(value)
        if text is None:
            raise NotExpressible("placeholders in a value that digitorn does not render")
        return text
    if isinstance(value, dict):
        return {key: write_literal(each) for key, each in value.items()}
    return [write_literal(each) for each in value] if isinstance(value, (list, tuple)) else value


def _split_template(source: str) -> Iterator[tuple[str, bool]]:
    """Pairs of a piece and whether it is literal text; otherwise it is the name of a placeholder."""
    done = 0
    for found in DOUBLE_BRACES.finditer(source):
        yield source[done : found.start()], True
        yield found[1].strip(), False
        done = found.end()
    yield source[done:], True


def _write_placeholder(name: str, numbers: bool) -> str:
    if name == OPEN_BRACES:
        return "{{"
    fact, _, filter_name = (part.strip() for part in name.partition("|"))
    number_name = _NUMBER_NAMES.get(f"{fact}|{filter_name}".strip("|"))
    if numbers and number_name is not None:
        return "{" + number_name + "}"
    path = ("tool", "result") if fact == "result.text" else fact_path(fact)
    if path is not None and filter_name in ("", "or_empty"):
        for start, word in _PLACEHOLDER_NAMES.items():
            if path[: len(start)] == start and (len(path) == len(start) or start[-1] in ("input", "result")):
                return "{{" + ".".join((word, *map(str, path[len(start) :]))) + "}}"
    raise NotExpressible(f"the placeholder {{{{{name}}}}}")


def _normalize(source: str) -> list[object]:
    """The parts of a template, independent of which of its names a fact has."""
    shape: list[object] = [""]
    for piece, is_literal in _split_template(source):
        if is_literal or piece == OPEN_BRACES:
            piece = piece if is_literal else "{{"
            shape = [*shape[:-1], f"{shape[-1]}{piece}"] if isinstance(shape[-1], str) else [*shape, piece]
        else:
            fact, _, filter_name = (part.strip() for part in piece.partition("|"))
            path = ("tool", "result") if fact == "result.text" else fact_path(fact)
            shape += [(path, filter_name if filter_name != "or_empty" else ""), ""]
    return shape
