"""What recording a decision costs beside appending a line to a file, and how fast recorded events are replayed."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.goals import Goal
from bench.timing import format_seconds
from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.project import load_text
from hookline.record.record_reader import read_records
from hookline.record.recorder import Recorder
from hookline.record.replayer import Replayer
from hookline.record.segment import RecordDirectory, record_directory

RULES = 100
EVENTS = 20_000
EVENTS_ASKED = 2_000
# Processor caches cool down between two decisions. The limit is for 170 decisions a second; a longer pause costs more.
PAUSES = {"6 ms apart": 0.006, "20 ms apart": 0.020}
COMMANDS = ("ls -la src", "git status", "pytest -q tests", "cat README.md", "rm -rf build")


def pattern_rules() -> Book:
    """Rules on commands and paths; one of them denies one in five of the events."""
    when = (
        "tool: bash, input: {{command: '^tool-{n} --force'}}",
        "tool: write_file, input: {{path: '/p{n}/.*[.]env$'}}",
    )
    rows = [
        f"  - {{id: rule-{n}, on: tool.before, when: {{{when[n % 2].format(n=n)}}}, then: {{deny: No.}}}}\n"
        for n in range(RULES - 1)
    ]
    last = "  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: '^rm '}}, then: {deny: No.}}\n"
    return load_text("hooks:\n" + "".join(rows) + last, "hookline.yaml")


def event(number: int) -> Event:
    """As a coding agent's call looks."""
    tool = {"name": "Bash", "kind": "shell", "id": f"toolu_{number:012}", "input": {"command": COMMANDS[number % 5]}}
    facts: dict[str, Any] = {
        "host": {"name": "claude-code"},
        "user": {"name": "ann"},
        "cwd": "/home/ann/project",
        "workspace": "/home/ann/project",
        "time": "2026-11-16T20:01:35Z",
        "session": {"id": "0b5d0d35-8a6e-4b1b-9a0e-7e1f7a7a7a7a"},
        "tool": tool,
    }
    return Event("tool.before", facts)


def record_costs() -> dict[str, float]:
    """Seconds that recording adds to a decision, busy and after pauses, and those of appending such a line."""
    with tempfile.TemporaryDirectory() as directory:
        recorder, book = Recorder(record_directory(Path(directory))), pattern_rules()
        file = os.open(f"{directory}/lines", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        line = b"x" * 700 + b"\n"
        calls: dict[str, Callable[[Event], object]] = {
            "decided": book.decide_now,
            "recorded": lambda asked: recorder.decide_now(book, asked),
            "a line appended": lambda asked: os.write(file, line),
        }
        times = {"busy": _busy(calls)}
        times |= {apart: _idle(calls, pause) for apart, pause in PAUSES.items()}
        os.close(file)
        recorder.close()
    costs = {f"recorded, {when}": taken["recorded"] - taken["decided"] for when, taken in times.items()}
    return costs | {f"a line appended, {when}": taken["a line appended"] for when, taken in times.items()}


def _busy(calls: dict[str, Callable[[Event], object]]) -> dict[str, float]:
    """Processor time of one call of each; they take turns. Each event is new, because it keeps what was read of it."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for start in range(0, EVENTS_ASKED, 200):
        for name, call in calls.items():
            events = [event(n) for n in range(start, start + 200)]
            begun = time.process_time()
            for asked in events:
                call(asked)
            times[name].append((time.process_time() - begun) / 200)
    return {name: statistics.median(taken) for name, taken in times.items()}


def _idle(calls: dict[str, Callable[[Event], object]], pause: float) -> dict[str, float]:
    """Processor time of one call of each after a pause: the medians; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(150):
        for name, call in calls.items():
            asked = event(number)
            time.sleep(pause)
            begun = time.process_time()
            call(asked)
            times[name].append(time.process_time() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def replay_rate() -> float:
    """Events a second of processor time."""
    with tempfile.TemporaryDirectory() as place:
        directory, book = record_directory(Path(place)), pattern_rules()
        recorder = Recorder(directory)
        for number in range(EVENTS):
            recorder.decide_now(book, event(number))
        recorder.close()
        times = []
        for _ in range(3):
            begun = time.process_time()
            assert asyncio.run(_replay(directory, book)) == EVENTS
            times.append(time.process_time() - begun)
        return EVENTS / min(times)


async def _replay(directory: RecordDirectory, book: Book) -> int:
    replayer, count = Replayer(lambda record: book, lambda record: book), 0
    for record in read_records(directory, lambda line: b'"kind":"decision"' in line):
        count += await replayer.decide(record) is not None
    return count


def goals(costs: dict[str, float], rate: float) -> Iterator[Goal]:
    yield Goal("recording a decision, busy", costs["recorded, busy"] / 30e-6, 1, "× 30 µs")
    yield Goal("recording a decision, 170 a second", costs["recorded, 6 ms apart"] / 150e-6, 1, "× 150 µs")
    yield Goal("replaying 50,000 events under 100 rules", 50_000 / rate, 1, "s of a core")


def row(costs: dict[str, float], rate: float) -> dict[str, str]:
    shown = {name: format_seconds(seconds) for name, seconds in costs.items()}
    return {"one decision": "processor time", **shown, "replayed": f"{rate:,.0f} events/s"}


if __name__ == "__main__":
    from bench.table import table

    print(table([row(record_costs(), replay_rate())]))
