"""hookline's own names for facts, said in the format's placeholders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hookline.dialects.digitorn.texts import NUMBERS, said
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.facts import fact_path
from hookline.hooks.filled import Filled
from hookline.hooks.placeholder import DOUBLE
from hookline.hooks.template import ShellTemplate, Template

_OPEN: Final = "open_braces"
_NUMBERS: Final = {fact.replace(" ", ""): name for name, fact in NUMBERS.items()}
_WORDS: Final = {
    ("tool", "input"): "tool.params",
    ("tool", "result"): "tool.result",
    ("tool", "error"): "tool.error",
    ("tool", "name"): "tool.name",
    ("workspace",): "workspace",
}


def text_of(text: Template | ShellTemplate, *, numbers: bool = False) -> str:
    """Raises Unsaid where the format has no such placeholder, or would render what must stay as it is."""
    if not text.names:
        plain = text.source
    else:
        plain = "".join(piece if literal else _placeholder(piece, numbers) for piece, literal in _pieces(text.source))
    if _shape(said(plain, numbers=numbers).source) != _shape(text.source if text.names else _kept(text.source)):
        raise Unsaid("braces that would be taken for a placeholder")
    return plain


def constant_of(text: Template) -> str | None:
    """The text, where its only placeholders stand for braces."""
    if any(name != _OPEN for name in text.names):
        return None
    return "".join(piece if literal else "{{" for piece, literal in _pieces(text.source)) if text.names else text.source


def value_of(filled: Filled) -> Any:
    """A rendered value, with the format's placeholders in it."""
    return _value(filled.value)


def _value(value: Any) -> Any:
    if isinstance(value, Template):
        return text_of(value)
    if isinstance(value, dict):
        return {key: _value(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(held) for held in value]
    if isinstance(value, str) and said(value).known:
        raise Unsaid("braces that would be taken for a placeholder")
    return value


def leaves_out(filled: Any) -> bool:
    """Whether a field is left out where its fact is absent; the format makes it empty text."""
    if isinstance(filled, Template):
        return DOUBLE.fullmatch(filled.source) is not None and "or_empty" not in filled.source
    held = filled.values() if isinstance(filled, dict) else filled if isinstance(filled, (list, tuple)) else ()
    return any(leaves_out(part) for part in held)


def literal_of(value: Any) -> Any:
    """A value that the format does not render; Unsaid where it would have to."""
    if isinstance(value, Template):
        text = constant_of(value)
        if text is None:
            raise Unsaid("a rendered value where the format takes it as it is")
        return text
    if isinstance(value, dict):
        return {key: literal_of(held) for key, held in value.items()}
    return [literal_of(held) for held in value] if isinstance(value, (list, tuple)) else value


def _pieces(source: str) -> Iterator[tuple[str, bool]]:
    """Literal text, and the names of placeholders."""
    done = 0
    for found in DOUBLE.finditer(source):
        yield source[done : found.start()], True
        yield found[1].strip(), False
        done = found.end()
    yield source[done:], True


def _placeholder(name: str, numbers: bool) -> str:
    if name == _OPEN:
        return "{{"
    fact, _, shape = (part.strip() for part in name.partition("|"))
    if numbers and f"{fact}|{shape}".strip("|") in _NUMBERS:
        return "{" + _NUMBERS[f"{fact}|{shape}".strip("|")] + "}"
    path = ("tool", "result") if fact == "result.text" else fact_path(fact)
    if path is not None and shape in ("", "or_empty"):
        for start, word in _WORDS.items():
            if path[: len(start)] == start and (len(path) == len(start) or start[-1] in ("input", "result")):
                return "{{" + ".".join((word, *map(str, path[len(start) :]))) + "}}"
    raise Unsaid(f"the placeholder {{{{{name}}}}}")


def _shape(source: str) -> list[object]:
    """What a text says, whichever of its names a fact goes by."""
    shape: list[object] = [""]
    for piece, literal in _pieces(source):
        if literal or piece == _OPEN:
            piece = piece if literal else "{{"
            shape = [*shape[:-1], f"{shape[-1]}{piece}"] if isinstance(shape[-1], str) else [*shape, piece]
        else:
            fact, _, how = (part.strip() for part in piece.partition("|"))
            path = ("tool", "result") if fact == "result.text" else fact_path(fact)
            shape += [(path, how if how != "or_empty" else ""), ""]
    return shape


def _kept(text: str) -> str:
    return DOUBLE.sub(lambda found: "{{" + _OPEN + "}}" + found[0][2:], text)
