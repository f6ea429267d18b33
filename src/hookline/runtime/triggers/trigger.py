"""Triggers as an app declares them, and what happens when one fires."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from typing import Any

from hookline.hooks.event import Event, fact_path
from hookline.hooks.placeholders import FactPlaceholder
from hookline.hooks.session_facts import format_utc
from hookline.hooks.templates import Template, parse_template
from hookline.lazy_dataclasses import dataclass, field


class TriggerKind(StrEnum):
    CRON = "cron"
    FILE = "file"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class Trigger:
    id: str
    kind: TriggerKind
    at: str  # cron fields, a glob of files, or a route such as /deploy
    prompt: str  # {{trigger.…}} inserts facts of the activation
    agent: str | None = None  # None: the app's first agent
    timezone: str | None = None  # of the cron fields; None: this machine's
    open: bool = False  # the route needs no token


@dataclass(frozen=True, slots=True)
class Activation:
    """A trigger that fired. Hooks read `facts` as `trigger`: id, kind, at, time, and the facts of its kind."""

    trigger: Trigger
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The trigger's prompt with its placeholders filled; inserted text is not expanded again."""
        return prompt_template(self.trigger.prompt).render(Event("activation", {"trigger": self.facts}))


@dataclass(frozen=True, slots=True)
class ActivationResult:
    session: str = ""
    denied: str | None = None  # why hooks denied the turn


ActivationHandler = Callable[[Activation], Awaitable[ActivationResult]]


def build_activation(trigger: Trigger, at: datetime, **facts: Any) -> Activation:
    known = {"id": trigger.id, "kind": trigger.kind.value, "at": trigger.at, "time": format_utc(at)}
    return Activation(trigger, {**known, **facts})


def prompt_template(text: str) -> Template:
    """Raises BadTemplate if a placeholder does not start with `trigger.`."""
    return parse_template(text, _trigger_placeholder)


def _trigger_placeholder(name: str) -> FactPlaceholder | None:
    path = fact_path(name)
    return FactPlaceholder(path) if path is not None and path[0] == "trigger" else None
