"""Write to the log, or notify the people who watch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host, Notice, current_hook
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.templates import Template
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_logger

_log = lazy_logger("hookline")

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}  # the numbers of logging.DEBUG to logging.ERROR


def current_hook_id() -> str:
    asked = current_hook.get()
    return asked.hook if asked else ""


@dataclass(frozen=True, slots=True)
class Log:
    """Writes one line to the log, with the hook's id."""

    text: Template
    level: str = "info"  # a key of LEVELS
    instant = True
    constant = None
    label = "the action log"
    may = May.NOTHING

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.text.reads()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "log", self.text.source

    async def run(self, event: Event, host: Host) -> Outcome:
        _log.log(LEVELS[self.level], "[%s] %s", current_hook_id(), self.text.render(event))
        return SILENT


@dataclass(frozen=True, slots=True)
class Notify:
    message: Template
    title: Template
    level: str = "info"
    tag: str = ""
    instant = False
    constant = None
    label = "the action notify"
    may = May.NOTHING

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (*self.message.reads(), *self.title.reads())

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "notify", ": ".join(filter(None, (self.title.source, self.message.source)))

    async def run(self, event: Event, host: Host) -> Outcome:
        message, title = self.message.render(event), self.title.render(event)
        await host.publish(Notice("notification", message, title, self.level, self.tag, current_hook_id()))
        return SILENT
