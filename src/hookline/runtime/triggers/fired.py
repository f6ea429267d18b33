"""A trigger that went off, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hookline.hooks.event import Event
from hookline.hooks.facts import FactReader, fact_path
from hookline.hooks.template import Template, template
from hookline.runtime.app import Trigger


@dataclass(frozen=True, slots=True)
class Fired:
    """`facts` are what hooks read as `trigger`: id, kind, at, time, and what came with it."""

    trigger: Trigger
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The trigger's prompt; what came with it is text in it and is not expanded again."""
        return prompt_template(self.trigger.prompt).render(Event("activation", {"trigger": self.facts}))


@dataclass(frozen=True, slots=True)
class Answer:
    session: str = ""
    denied: str | None = None  # why hooks did not let it start a turn


Fire = Callable[[Fired], Awaitable[Answer]]


def fired(trigger: Trigger, at: datetime, **facts: Any) -> Fired:
    known = {"id": trigger.id, "kind": trigger.kind.value, "at": trigger.at, "time": utc(at)}
    return Fired(trigger, {**known, **facts})


def utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def prompt_template(text: str) -> Template:
    """Raises BadTemplate where a placeholder names anything but `trigger.…`."""
    return template(text, _of_trigger)


def _of_trigger(name: str) -> FactReader | None:
    path = fact_path(name)
    return FactReader(path) if path is not None and path[0] == "trigger" else None
