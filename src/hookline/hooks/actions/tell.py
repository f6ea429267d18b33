"""Log, notify: words for the people who watch."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from hookline.hooks.action import May
from hookline.hooks.event import Event, Path
from hookline.hooks.host import Host, Notice, asking
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.template import Template

log = logging.getLogger("hookline")

LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def who() -> str:
    asked = asking.get()
    return asked.hook if asked else ""


@dataclass(frozen=True, slots=True)
class Log:
    """One line in the log, with the hook's id; never changes the outcome."""

    text: Template
    level: str = "info"  # a key of LEVELS
    instant = True
    constant = None
    may = May.NOTHING

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return self.text.reads()

    async def run(self, event: Event, host: Host) -> Outcome:
        log.log(LEVELS[self.level], "[%s] %s", who(), self.text.render(event))
        return SILENT


@dataclass(frozen=True, slots=True)
class Notify:
    message: Template
    title: Template
    level: str = "info"
    tag: str = ""
    instant = False
    constant = None
    may = May.NOTHING

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (*self.message.reads(), *self.title.reads())

    async def run(self, event: Event, host: Host) -> Outcome:
        message, title = self.message.render(event), self.title.render(event)
        await host.publish(Notice("notification", message, title, self.level, self.tag, who()))
        return SILENT
