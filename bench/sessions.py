"""Many sessions of hookline's own agent at once, with hooks and tools, in one process and one SQLite file.

`python -m bench.sessions [SESSIONS]` prints the table; without a number, the thousand of `make bench-load`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial, wraps
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

from bench.conversation import ANSWER, EXCHANGES, MODEL, SYSTEM, TURNS, Conversation, current, write_workspace
from bench.table import table
from bench.timing import format_seconds
from hookline.engine.book import Book, Layer
from hookline.project import load, load_text
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import Chunk, CompletionRequest, RequestedCall, TextChunk, TokenUsage
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings
from hookline.runtime.storage.store import file_url
from hookline.runtime.turn import Turn

_NATIVE = """
hooks:
  - {id: no-keys, on: tool.before, when: {tool: write_file, input: {path: '\\.env$', content: KEY}}, then: {deny: no keys}}
  - {id: brief, on: prompt.submit, then: {tell: {text: Keep it short., to: agent}}}
"""
_FLO = {
    "hooks": {"PreToolUse": [{"matcher": "^(bash|storage)$", "inputMatchers": {"key": "^secret"}, "action": "deny"}]}
}
_DIGITORN = """
runtime:
  hooks:
    - {id: room, on: turn_end, condition: {type: context_pressure, threshold: 0.9}, action: {type: compact_context}}
"""
_STANDARD = """
from hookline.standard_agents import define_agent, define_hook

@define_hook(hook="filter_messages", id="the_last_hundred")
async def the_last_hundred(state, messages):
    return messages[-100:]

define_agent(name="helper", hooks=["the_last_hundred"])
"""


@dataclass
class Costs:
    hooks: float = 0.0  # processor seconds, including gathering facts
    turns: list[float] = field(default_factory=list)


@dataclass
class Figures:
    sessions: int
    turns_per_second: float
    turn: float
    slowest_turns: float  # one of a hundred takes longer
    cpu: float  # of one turn, in all threads
    hooks: float  # of one turn
    memory: float  # MiB of a session that is open

    def row(self) -> dict[str, str]:
        return {
            "sessions at once": f"{self.sessions:,}",
            "turns a second": f"{self.turns_per_second:,.0f}",
            "turn, p50": format_seconds(self.turn),
            "turn, p99": format_seconds(self.slowest_turns),
            "processor, a turn": format_seconds(self.cpu),
            "of that, hooks": f"{format_seconds(self.hooks)} ({self.hooks / self.cpu:.0%})",
            "hooks in a turn of 50 ms": f"{self.hooks / MODEL.total_seconds():.2%}",
            "memory, a session": f"{self.memory * 1024:,.0f} KiB",
        }


def figures(sessions: int) -> Figures:
    """Measured in a process of its own, because of its memory."""
    run = [sys.executable, "-m", "bench.sessions", "--measure", str(sessions)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return Figures(**json.loads(done.stdout))


async def _measure(sessions: int) -> Figures:
    costs = _record_costs()
    with tempfile.TemporaryDirectory() as place:
        async with open_sessions(Path(place)) as converse:
            await converse("warm up")
            before, costs.hooks = _resident(), 0.0
            costs.turns.clear()
            begun, cpu = perf_counter(), process_time()
            await asyncio.gather(*(converse(f"task {n}") for n in range(sessions)))
            seconds, cpu = perf_counter() - begun, process_time() - cpu
            turns = len(costs.turns)
            assert turns == sessions * TURNS, turns
            memory = (_resident() - before) / sessions
    slowest = statistics.quantiles(costs.turns, n=100)[98]
    return Figures(
        sessions, turns / seconds, statistics.median(costs.turns), slowest, cpu / turns, costs.hooks / turns, memory
    )


@asynccontextmanager
async def open_sessions(place: Path) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Yields a function that holds one conversation in a session of its own."""
    async with Runtime.open(place, _settings(place)) as runtime:
        yield partial(_session, runtime)


async def _session(runtime: Runtime, name: str) -> None:
    current.set(Conversation())
    session = await runtime.start()
    for number in range(EXCHANGES):
        assert await session.ask(f"{name}.{number}") == ANSWER


class _ScriptedModel:
    """As little work as the models of other frameworks that are made for tests."""

    name = "script"
    context_limit = 128_000

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        call = await current.get().next_call()
        if call is None:
            yield TextChunk(ANSWER)
        else:
            id, tool, input = call
            yield RequestedCall(id, tool, json.dumps(input))
        yield TokenUsage(1000, 20)

    async def close(self) -> None: ...


def _settings(place: Path) -> Settings:
    write_workspace(place)
    app = App((Agent("helper", AgentSide(Prompt("main", SYSTEM))),))
    store = file_url(place / "store.db")
    return Settings(home=place, env={}, app=app, book=_book(place), model=_ScriptedModel(), store=store)


def _book(place: Path) -> Book:
    (place / "agents").mkdir()
    (place / "agents" / "limit.py").write_text(_STANDARD)
    books = [
        load_text(_NATIVE, "hookline.yaml"),
        load_text(json.dumps(_FLO), "hub.json", "flo"),
        load_text(_DIGITORN, "digitorn.yaml", "digitorn"),
        load(place / "agents", "standard_agents"),
    ]
    assert not any(book.problems for book in books), [book.problems for book in books]
    book = Book(Layer(str(n), each.hooks) for n, each in enumerate(books))
    assert len(book.hooks) == 5
    return book


def _record_costs() -> Costs:
    """Starts recording the processor time of hooks and the duration of turns."""
    costs = Costs()
    decide, run = AgentSession.decide, Turn.run

    @wraps(decide)
    async def timed_decide(*asked: Any) -> Any:
        return await _TimedSteps(decide(*asked), costs)

    @wraps(run)
    async def timed_run(turn: Turn) -> Any:
        begun = perf_counter()
        try:
            return await run(turn)
        finally:
            costs.turns.append(perf_counter() - begun)

    AgentSession.decide, Turn.run = timed_decide, timed_run  # type: ignore[method-assign]
    return costs


class _TimedSteps:
    """Times the steps of a coroutine, without the waiting between them."""

    def __init__(self, work: Coroutine[Any, Any, Any], costs: Costs) -> None:
        self._work = work
        self._costs = costs

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[], Any] = partial(self._work.send, None)
        while True:
            begun = thread_time()
            try:
                waits = step()
            except StopIteration as done:
                return done.value
            finally:
                self._costs.hooks += thread_time() - begun
            try:
                value = yield waits
                step = partial(self._work.send, value)
            except BaseException as error:
                step = partial(self._work.throw, error)


def _resident() -> float:
    """MiB of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    if "--measure" in sys.argv:
        print(json.dumps(asdict(asyncio.run(_measure(int(sys.argv[-1]))))))
        return
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    print(table([figures(1).row(), figures(sessions).row()]))


if __name__ == "__main__":
    main()
