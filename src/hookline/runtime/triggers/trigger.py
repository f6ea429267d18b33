"""A trigger that went off, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from hookline.hooks.event import Event
from hookline.hooks.placeholders import FactPlaceholder, fact_path
from hookline.hooks.templates import Template, parse_template


class TriggerKind(StrEnum):
    CRON = "cron"
    FILE = "file"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class Trigger:
    id: str
    kind: TriggerKind
    at: str  # five fields of cron, a glob of files, or a route like /deploy
    prompt: str  # {{trigger.…}} stands for what came with it
    agent: str | None = None  # None: the app's first
    timezone: str | None = None  # of a cron's fields; None: this machine's
    open: bool = False  # a route that asks for no token


@dataclass(frozen=True, slots=True)
class Activation:
    """`facts` are what hooks read as `trigger`: id, kind, at, time, and what came with it."""

    trigger: Trigger
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The trigger's prompt; what came with it is text in it and is not expanded again."""
        return prompt_template(self.trigger.prompt).render(Event("activation", {"trigger": self.facts}))


@dataclass(frozen=True, slots=True)
class ActivationResult:
    session: str = ""
    denied: str | None = None  # why hooks did not let it start a turn


ActivationHandler = Callable[[Activation], Awaitable[ActivationResult]]


def build_activation(trigger: Trigger, at: datetime, **facts: Any) -> Activation:
    known = {"id": trigger.id, "kind": trigger.kind.value, "at": trigger.at, "time": format_utc(at)}
    return Activation(trigger, {**known, **facts})


def format_utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def prompt_template(text: str) -> Template:
    """Raises BadTemplate where a placeholder names anything but `trigger.…`."""
    return parse_template(text, _trigger_placeholder)


def _trigger_placeholder(name: str) -> FactPlaceholder | None:
    path = fact_path(name)
    return FactPlaceholder(path) if path is not None and path[0] == "trigger" else None
