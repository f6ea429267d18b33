"""Hooks from one format to another and back, and what they decide."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookline.config.read import read_text
from hookline.dialects.table import dialect
from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.testing import ScriptedHost
from hookline.testing.facts import Session, session_facts


def loaded(name: str, value: Any, file: str = "settings.json") -> tuple[Hook, ...]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    document, unreadable = read_text(text, file)
    assert document is not None, unreadable
    found = dialect(name).load(document)
    assert not [problem for problem in found.problems if problem.severity == "error"], found.problems
    return found.hooks


def written(name: str, hooks: Sequence[Hook]) -> Any:
    """The file's value; nothing may be lost."""
    said = dialect(name).write(hooks)
    assert said.unsaid == ()
    return said.value


def through_native(hooks: Sequence[Hook]) -> tuple[Hook, ...]:
    return loaded("native", written("native", hooks), "hookline.json")


def decisions(hooks: Sequence[Hook], events: Sequence[tuple[str, dict[str, Any]]], directory: Path) -> list[Any]:
    """What counts of each decision: everything but the time that it took."""
    return asyncio.run(_decisions(Book([Layer("x", hooks)]), events, directory))


async def _decisions(book: Book, events: Sequence[tuple[str, dict[str, Any]]], directory: Path) -> list[Any]:
    host = ScriptedHost()
    heard = []
    for name, given in events:
        facts = session_facts(name, given, Session("s", "u", directory, 0.0))
        decision = await book.decide(Event(name, facts), host)
        await host.settle(decision)
        failures = [failure.kind for failure in decision.failures]
        notes = [(note.text, note.audience, note.place) for note in decision.notes]
        heard.append((decision.verdict, decision.reason, decision.halt, decision.event.facts, notes, failures))
    return heard
