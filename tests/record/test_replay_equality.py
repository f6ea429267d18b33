"""Replaying recorded events under the same hooks gives the recorded decisions: random books of all seven dialects."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from engine.random_books import FILES, Chance, ProgramHost
from hookline.dialects.standard_agents import hooks_of
from hookline.engine import match_budget
from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.hook_files import HookFiles
from hookline.hooks.record_settings import RecordedFacts, RecordSettings
from hookline.project import load_text
from hookline.record.hooks_then import load_hook_files, read_hook_files
from hookline.record.record_reader import Record, read_records
from hookline.record.recorder import Recorder
from hookline.record.replayer import ReplayDifference, Replayer
from hookline.record.segment import RecordDirectory, record_directory
from hookline.standard_agents import collecting, define_agent, define_hook

EVENTS_PER_BOOK = 25
FULL = RecordSettings(facts=RecordedFacts.FULL)


@pytest.fixture(autouse=True)
def quiet_and_unhurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    logging.disable(logging.WARNING)
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 600.0)
    yield
    logging.disable(logging.NOTSET)


def text_book(chance: Chance) -> Book:
    """Files of some of the six dialects whose hooks are text."""
    books = []
    for dialect in chance.sample(list(FILES), k=chance.randint(1, len(FILES))):
        books.append(load_text(getattr(chance, dialect)(), FILES[dialect], dialect))
    files = HookFiles(tuple(file for book in books for file in book.files.files))
    return Book([Layer("named", [hook for book in books for hook in book.hooks])], files=files, record=FULL)


def python_hooks(chance: Chance) -> tuple[Hook, ...]:
    """Hooks of standard_agents, which answer by chance: only the record knows what they said."""
    with collecting() as definitions:
        for number in range(chance.randint(1, 3)):

            async def redact(state: Any, tool_call: Any, result: Any) -> Any:
                if chance.random() < 0.2:
                    raise ValueError("went wrong")
                return {**result, "result": f"changed {chance.random()}"} if chance.random() < 0.5 else result

            define_hook(hook="before_store_tool_result", id=f"redact_{number}", execute=redact)
        define_agent(name="helper", hooks=[f"redact_{n}" for n in range(len(definitions.hooks))])
    return hooks_of(definitions).hooks


def python_event(chance: Chance) -> Event:
    tool = {"name": "bash", "input": {"command": "ls"}, "ok": True, "result": chance.choice(["token 1", "fine"])}
    return Event("tool.store", {"agent": {"name": "helper"}, "session": {"id": "s"}, "tool": tool})


async def compare(directory: RecordDirectory, chance: Chance, book: Book, then: Book | None) -> int:
    """Records events, and replays them under the hooks as they are loaded from the texts that were kept."""
    recorder, host = Recorder(directory), ProgramHost()
    for _ in range(EVENTS_PER_BOOK):
        event = python_event(chance) if then is not None else chance.event()
        await recorder.decide(book, event, host)
        await host.drain()
    recorder.close()
    loaded: dict[str, Book] = {}

    def book_of(record: Record) -> Book:
        digest = record["hooks"]
        if digest not in loaded:
            loaded[digest] = then or load_hook_files(read_hook_files(directory, digest))
        return loaded[digest]

    replayer, replayed, spoken = Replayer(book_of, book_of), 0, 0
    for record in read_records(directory):
        found = await replayer.decide(record)
        if found is not None:
            was = {key: record.get(key) for key in ("event", "verdict", "reason", "hook", "halt", "facts", "trace")}
            now = found.decision.as_json()
            assert (found.difference, found.unknown) == (ReplayDifference.SAME, ()), json.dumps([was, now], indent=1)
            replayed += 1
            spoken += bool(record.get("trace"))
    assert spoken or then is None
    return replayed


def replay_random_books(tmp_path: Any, books: int, first_seed: int) -> int:
    async def run() -> int:
        replayed = 0
        for seed in range(first_seed, first_seed + books):
            chance, directory = Chance(seed), record_directory(tmp_path / str(seed))
            if seed % 7 == 6:
                hooks = Book([Layer("named", python_hooks(chance))], record=FULL)
                replayed += await compare(directory, chance, hooks, hooks)
            else:
                replayed += await compare(directory, chance, text_book(chance), None)
        return replayed

    return asyncio.run(run())


@pytest.mark.slow
def test_recorded_decisions_are_replayed(tmp_path: Any) -> None:
    assert replay_random_books(tmp_path, 35, 0) > 500


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_recorded_decisions_are_replayed(tmp_path: Any, part: int) -> None:
    assert replay_random_books(tmp_path, 170, 1000 * (part + 1)) > 2_500
