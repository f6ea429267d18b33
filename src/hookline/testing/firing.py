"""One event through hooks, from a Python test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline.engine.account import Decision
from hookline.engine.book import Book
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.project import load, load_text
from hookline.testing.case import event_named
from hookline.testing.facts import Session, session_facts
from hookline.testing.host import ScriptedHost
from hookline.testing.run import SESSION, USER, text_of, usual_name
from hookline.testing.waiting import waited


def fire(
    config: Book | Path | str | Mapping[str, Any],
    event: Event | Mapping[str, Any],
    *,
    dialect: str | None = None,
    host: Host | None = None,
    explain: bool = False,
) -> Decision:
    """The decision about `event`, with the facts that a session in the current directory would add.

    A Path is a file; text and a mapping are a config themselves, in the native format unless `dialect` says otherwise.
    An event may be written as in a case file: `{"name": "PreToolUse", "tool": {…}}`. An error in the config raises
    ConfigError. Without a host, programs are run here, and there are no tools and no model.
    """
    book = book_of(config, dialect)
    errors = [problem for problem in book.problems if problem.severity == "error"]
    if errors:
        raise ConfigError(errors)
    return waited(_decided(book, _event(event, dialect), host, explain))


def book_of(config: Book | Path | str | Mapping[str, Any], dialect: str | None) -> Book:
    if isinstance(config, Book):
        return config
    if isinstance(config, Path):
        return load(config, dialect)
    spoken = dialect or "native"
    return load_text(text_of(config), usual_name(spoken), spoken)


def _event(event: Event | Mapping[str, Any], dialect: str | None) -> Event:
    if isinstance(event, Event):
        name, given = event.name, event.facts
    else:
        name, given = str(event.get("name", "")), {key: value for key, value in event.items() if key != "name"}
    found = event_named(name, dialect)
    if found is None:
        raise HooklineError(f"there is no event {name!r}")
    return Event(found, given)


async def _decided(book: Book, event: Event, host: Host | None, explain: bool) -> Decision:
    if host is not None:
        return await book.decide(_known(event, host.clock.wall()), host, explain)
    alone = ScriptedHost(book=book)
    decision = await book.decide(_known(event, alone.time.wall()), alone, explain)
    await alone.settle(decision)
    return decision


def _known(event: Event, wall: float) -> Event:
    return Event(event.name, session_facts(event.name, event.facts, Session(SESSION, USER, Path.cwd(), wall)))
