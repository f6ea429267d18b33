"""Mappings and lists with placeholders in their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hookline.hooks.event import MISSING, Event, Path
from hookline.hooks.json_text import json_text
from hookline.hooks.template import Template, as_text


@dataclass(frozen=True, slots=True)
class Filled:
    """A value in which texts may be templates. Whoever gets it rendered gets a copy of the facts in it.

    A text that is one whole placeholder keeps its value's type; where that fact is absent, so is its key.
    """

    value: Any

    def reads(self) -> tuple[Path, ...]:
        return tuple(_paths_in(self.value))

    def render(self, event: Event) -> Any:
        return copied(_fill(self.value, event))

    def text(self, event: Event) -> str:
        """Its compact JSON."""
        return json_text(_fill(self.value, event), default=as_text)


def _fill(value: Any, event: Event) -> Any:
    if isinstance(value, Template):
        return value.found(event)
    if isinstance(value, dict):
        filled = {key: _fill(held, event) for key, held in value.items()}
        return {key: held for key, held in filled.items() if held is not MISSING}
    if isinstance(value, (list, tuple)):
        return [None if held is MISSING else held for held in (_fill(part, event) for part in value)]
    return value


def copied(value: Any) -> Any:
    """A deep copy of plain data, however deep it is; tuples become lists."""
    top, known = [value], dict[int, Any]()
    todo: list[tuple[Any, Any]] = [(top, 0)]
    while todo:
        holder, key = todo.pop()
        held = holder[key]
        if not isinstance(held, (dict, list, tuple)):
            continue
        if id(held) in known:
            holder[key] = known[id(held)]
            continue
        new: Any = dict(held) if isinstance(held, dict) else list(held)
        holder[key] = known[id(held)] = new
        todo += [(new, each) for each in (new if isinstance(new, dict) else range(len(new)))]
    return top[0]


def _paths_in(value: Any) -> list[Path]:
    if isinstance(value, Template):
        return list(value.reads())
    held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [path for part in held for path in _paths_in(part)]
