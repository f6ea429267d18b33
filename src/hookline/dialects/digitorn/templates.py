"""hookline's own names for facts, said in the format's placeholders.

`{{tool.*}}` and `{turn}`: the format's placeholders, said in hookline's own names for facts.

A name that the format does not know stays as it is written. A path that leads nowhere is empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Severity
from hookline.dialects.conversion import NotExpressible
from hookline.formatting import closest_match
from hookline.hooks.placeholders import PlaceholderResolver, fact_path
from hookline.hooks.templates import (
    DOUBLE_BRACES,
    SINGLE_OR_DOUBLE_BRACES,
    DataTemplate,
    ShellTemplate,
    Template,
    parse_shell_template,
    parse_template,
)
from hookline.hooks.tools import VOCABULARIES

VOCABULARY: Final = VOCABULARIES["digitorn"]
NUMBER_FACTS: Final = {
    "turn": "turn.number",
    "tokens": "context.tokens",
    "tools": "session.tool_calls",
    "messages": "messages | count",
    "max_turns": "turn.max",
}
"""What stands in single braces in a log line or a notification."""
PLACEHOLDERS: Final = ("tool.name", "tool.fqn", "tool.params.…", "tool.result.…", "tool.result", "tool.error")
_FIRST_WORDS: Final = ("tool", "workspace", *NUMBER_FACTS)


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
class TranslatedText:
    """A text in hookline's own words."""

    source: str
    known: int  # placeholders
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
            pieces.append("{{open_braces}}" + found[0][2:])
            unknown.append(name)
        else:
            pieces.append(found[0])
    return TranslatedText("".join((*pieces, text[done:])), known, tuple(unknown))


def _find_placeholders(text: str, numbers: bool) -> Iterator[tuple[re.Match[str], str, bool]]:
    for found in (SINGLE_OR_DOUBLE_BRACES if numbers else DOUBLE_BRACES).finditer(text):
        double = found[1] is not None
        yield found, (found[1] if double else found[2]).strip(), double


def read_template(at: Node, text: str, *, numbers: bool = False) -> Template:
    """Text in which placeholders stand among other text."""
    made = translate_placeholders(text, numbers=numbers)
    _warn_unknown_placeholders(at, made)
    return parse_template(made.source, PlaceholderResolver(VOCABULARY))


def read_literal(at: Node, text: str) -> str:
    """Text that the format does not render; whoever wrote a placeholder into it is told so."""
    if translate_placeholders(text).known:
        what = f"{at.location}: placeholders are not rendered here; they stay as they are written."
        at.add_problem("not-rendered", what, severity=Severity.WARNING)
    return text


def literal_template(text: str) -> Template:
    """The same as a template."""
    return parse_template(
        DOUBLE_BRACES.sub(lambda found: "{{open_braces}}" + found[0][2:], text), PlaceholderResolver(VOCABULARY)
    )


def read_data_template(at: Node) -> DataTemplate:
    """A value in which every text is rendered; one that is a whole placeholder keeps its value's type."""
    return DataTemplate(_read_data(at))


def _read_data(at: Node) -> Any:
    value = at.value
    if isinstance(value, dict):
        return {key: _read_data(place) for key, place in at.entries()}
    if isinstance(value, list):
        return [_read_data(place) for place in at.items()]
    if not isinstance(value, str):
        return value
    made = translate_placeholders(value)
    _warn_unknown_placeholders(at, made)
    if not made.known:
        return value
    whole = made.known == 1 and not made.unknown and DOUBLE_BRACES.fullmatch(value.strip()) and value == value.strip()
    source = made.source[:-2] + " | or_empty}}" if whole else made.source
    return parse_template(source, PlaceholderResolver(VOCABULARY))


def read_shell_template(at: Node, text: str) -> ShellTemplate:
    """Raises BadTemplate. A text without placeholders of ours is taken as it is, other braces included."""
    made = translate_placeholders(text)
    _warn_unknown_placeholders(at, made)
    return (
        parse_shell_template(made.source, PlaceholderResolver(VOCABULARY))
        if made.known
        else ShellTemplate(text, (), (text,))
    )


def _warn_unknown_placeholders(at: Node, made: TranslatedText) -> None:
    """Of those only that look as if something else was meant: `{{.State}}` is somebody else's template."""
    for name in dict.fromkeys(made.unknown):
        if closest_match(name.split(".")[0], _FIRST_WORDS) is not None:
            what = f"{at.location}: {{{{{name}}}}} is not a placeholder; it stays as it is written."
            at.add_problem(
                "unknown-placeholder", what, f"There are {', '.join(PLACEHOLDERS)}.", severity=Severity.WARNING
            )


_OPEN_BRACES: Final = "open_braces"
_NUMBER_NAMES: Final = {fact.replace(" ", ""): name for name, fact in NUMBER_FACTS.items()}
_PLACEHOLDER_NAMES: Final = {
    ("tool", "input"): "tool.params",
    ("tool", "result"): "tool.result",
    ("tool", "error"): "tool.error",
    ("tool", "name"): "tool.name",
    ("workspace",): "workspace",
}


def write_template(text: Template | ShellTemplate, *, numbers: bool = False) -> str:
    """Raises Unsaid where the format has no such placeholder, or would render what must stay as it is."""
    if not text.names:
        plain = text.source
    else:
        plain = "".join(
            piece if literal else _write_placeholder(piece, numbers) for piece, literal in _split_template(text.source)
        )
    if _normalize(translate_placeholders(plain, numbers=numbers).source) != _normalize(
        text.source if text.names else _escape_braces(text.source)
    ):
        raise NotExpressible("braces that would be taken for a placeholder")
    return plain


def constant_text(text: Template) -> str | None:
    """The text, where its only placeholders stand for braces."""
    if any(name != _OPEN_BRACES for name in text.names):
        return None
    return (
        "".join(piece if literal else "{{" for piece, literal in _split_template(text.source))
        if text.names
        else text.source
    )


def write_data(filled: DataTemplate) -> Any:
    """A rendered value, with the format's placeholders in it."""
    return _write_value(filled.value)


def _write_value(value: Any) -> Any:
    if isinstance(value, Template):
        return write_template(value)
    if isinstance(value, dict):
        return {key: _write_value(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_write_value(held) for held in value]
    if isinstance(value, str) and translate_placeholders(value).known:
        raise NotExpressible("braces that would be taken for a placeholder")
    return value


def omits_absent_fields(filled: Any) -> bool:
    """Whether a field is left out where its fact is absent; the format makes it empty text."""
    if isinstance(filled, Template):
        return DOUBLE_BRACES.fullmatch(filled.source) is not None and "or_empty" not in filled.source
    held = filled.values() if isinstance(filled, dict) else filled if isinstance(filled, (list, tuple)) else ()
    return any(omits_absent_fields(part) for part in held)


def write_literal(value: Any) -> Any:
    """A value that the format does not render; Unsaid where it would have to."""
    if isinstance(value, Template):
        text = constant_text(value)
        if text is None:
            raise NotExpressible("a rendered value where the format takes it as it is")
        return text
    if isinstance(value, dict):
        return {key: write_literal(held) for key, held in value.items()}
    return [write_literal(held) for held in value] if isinstance(value, (list, tuple)) else value


def _split_template(source: str) -> Iterator[tuple[str, bool]]:
    """Literal text, and the names of placeholders."""
    done = 0
    for found in DOUBLE_BRACES.finditer(source):
        yield source[done : found.start()], True
        yield found[1].strip(), False
        done = found.end()
    yield source[done:], True


def _write_placeholder(name: str, numbers: bool) -> str:
    if name == _OPEN_BRACES:
        return "{{"
    fact, _, shape = (part.strip() for part in name.partition("|"))
    if numbers and f"{fact}|{shape}".strip("|") in _NUMBER_NAMES:
        return "{" + _NUMBER_NAMES[f"{fact}|{shape}".strip("|")] + "}"
    path = ("tool", "result") if fact == "result.text" else fact_path(fact)
    if path is not None and shape in ("", "or_empty"):
        for start, word in _PLACEHOLDER_NAMES.items():
            if path[: len(start)] == start and (len(path) == len(start) or start[-1] in ("input", "result")):
                return "{{" + ".".join((word, *map(str, path[len(start) :]))) + "}}"
    raise NotExpressible(f"the placeholder {{{{{name}}}}}")


def _normalize(source: str) -> list[object]:
    """What a text says, whichever of its names a fact goes by."""
    shape: list[object] = [""]
    for piece, literal in _split_template(source):
        if literal or piece == _OPEN_BRACES:
            piece = piece if literal else "{{"
            shape = [*shape[:-1], f"{shape[-1]}{piece}"] if isinstance(shape[-1], str) else [*shape, piece]
        else:
            fact, _, how = (part.strip() for part in piece.partition("|"))
            path = ("tool", "result") if fact == "result.text" else fact_path(fact)
            shape += [(path, how if how != "or_empty" else ""), ""]
    return shape


def _escape_braces(text: str) -> str:
    return DOUBLE_BRACES.sub(lambda found: "{{" + _OPEN_BRACES + "}}" + found[0][2:], text)
