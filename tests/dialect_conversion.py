"""Converts hooks between dialects, and compares what they decide."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.testing import ScriptedHost


def load_hooks(name: str, value: Any, file: str = "settings.json") -> tuple[Hook, ...]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    document, unreadable = read_text(text, file)
    assert document is not None, unreadable
    found = get_dialect(name).load(document)
    assert not [problem for problem in found.problems if problem.severity == "error"], found.problems
    return found.hooks


def write_hooks(name: str, hooks: Sequence[Hook]) -> Any:
    """The file's value; everything must be expressible."""
    written = get_dialect(name).write(hooks)
    assert written.not_expressible == ()
    return written.value


def round_trip_native(hooks: Sequence[Hook]) -> tuple[Hook, ...]:
    return load_hooks("native", write_hooks("native", hooks), "hookline.json")


def decision_summaries(
    hooks: Sequence[Hook], events: Sequence[tuple[str, dict[str, Any]]], directory: Path
) -> list[Any]:
    """Everything about each decision except how long it took."""
    return asyncio.run(_decisions(Book([Layer("x", hooks)]), events, directory))


async def _decisions(book: Book, events: Sequence[tuple[str, dict[str, Any]]], directory: Path) -> list[Any]:
    host = ScriptedHost()
    summaries = []
    for name, given in events:
        facts = session_facts(name, given, SessionInfo("s", "u", directory, 0.0))
        decision = await book.decide(Event(name, facts), host)
        await host.settle(decision)
        failures = [failure.kind for failure in decision.failures]
        told = {failure.text: str(failure.kind) for failure in decision.failures}  # in the words of each dialect
        notes = [(told.get(note.text, note.text), note.audience, note.place) for note in decision.notes]
        reason = told.get(decision.reason, decision.reason)
        summaries.append((decision.verdict, reason, decision.halt, decision.event.facts, notes, failures))
    return summaries
