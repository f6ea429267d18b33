"""Placeholders that name facts, in a tongue's words for tools and their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.event import MISSING, Event, Path, parse_path
from hookline.hooks.fields import field_value, input_in
from hookline.hooks.json_text import json_text
from hookline.hooks.shaped import Otherwise, Shaped, shaped
from hookline.hooks.tools import NATIVE, Tongue, name_in

_SHORT: Final[dict[str, Path]] = {
    "input": ("tool", "input"),
    "result": ("tool", "result"),
    "error": ("tool", "error"),
}
_ROOTS: Final = {
    "host", "session", "agent", "thread", "user", "execution", "cwd", "workspace", "time", "tool", "prompt", "stop",
    "turn", "context", "messages", "message", "metadata", "system", "request", "error", "approval", "subagent",
    "trigger",
}  # fmt: skip
FACTS: Final = frozenset((*_SHORT, *_ROOTS))
"""What the name of a fact begins with."""


def fact_path(name: str) -> Path | None:
    """`input.path` and `tool.input.path` are one place; None if no event has such a fact."""
    path = parse_path(name)
    if not path or not isinstance(path[0], str):
        return None
    if path[0] == "error" and path[1:2] in (("code",), ("message",)):
        return path
    if path[0] in _SHORT:
        return (*_SHORT[path[0]], *path[1:])
    return path if path[0] in _ROOTS else None


@dataclass(frozen=True, slots=True)
class FactReader:
    """A fact, with a tool's name and input as the tongue says them."""

    path: Path
    tongue: Tongue = NATIVE

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    def __call__(self, event: Event) -> Any:
        if self.path == ("tool", "name"):
            return name_in(event, self.tongue) or MISSING
        if self.path == ("tool", "input"):
            return input_in(event, self.tongue)
        if self.path[:2] == ("tool", "input"):
            return field_value(event, self.path[2:])
        return event.read(self.path)


@dataclass(frozen=True, slots=True)
class WholeEvent:
    """All facts and the event's name, as one object."""

    tongue: Tongue = NATIVE
    paths: tuple[Path, ...] = ((),)

    def __call__(self, event: Event) -> Any:
        facts = dict(event.facts)
        tool = facts.get("tool")
        if isinstance(tool, dict):
            said = {"name": name_in(event, self.tongue) or MISSING, "input": input_in(event, self.tongue)}
            facts["tool"] = {**tool, **{key: value for key, value in said.items() if value is not MISSING}}
        return {"event": event.name} | {**facts, "event": event.name}


@dataclass(frozen=True, slots=True)
class ResultText:
    """A tool's result as text: the text itself, or its JSON."""

    paths: tuple[Path, ...] = (("tool", "result"),)

    def __call__(self, event: Event) -> Any:
        value = event.read(("tool", "result"))
        if value is MISSING or isinstance(value, str):
            return value
        return json_text(value, default=str)


@dataclass(frozen=True, slots=True)
class OpenBraces:
    """Two braces as themselves: `{{open_braces}}.State}}` is the text `{{.State}}`, not a placeholder."""

    paths: tuple[Path, ...] = ()

    def __call__(self, event: Event) -> Any:
        return "{{"


@dataclass(frozen=True, slots=True)
class Names:
    """Resolves placeholders to facts, and `fact | shape` to a fact in another shape."""

    tongue: Tongue = NATIVE

    def __call__(self, name: str) -> FactReader | WholeEvent | ResultText | OpenBraces | Shaped | Otherwise | None:
        fact, bar, shape = name.partition("|")
        if bar:
            reader = self(fact.strip())
            return None if reader is None else shaped(reader, shape.strip())
        if name == "event":
            return WholeEvent(self.tongue)
        if name == "result.text":
            return ResultText()
        if name == "open_braces":
            return OpenBraces()
        path = fact_path(name)
        return None if path is None else FactReader(path, self.tongue)
