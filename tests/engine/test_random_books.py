"""Random books of all dialects: the engine decides as the reference, and each dialect as if it were alone.

`make fuzz` compares a million decisions: HOOKLINE_FUZZ is their number.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.random_books import DIALECTS, Chance, ProgramHost, load_hooks
from engine.random_large_books import LargeChance, make_project
from engine.reference import ReferenceRound
from hookline.engine import match_budget
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import May

DECISIONS = int(os.environ.get("HOOKLINE_FUZZ", "2000"))
PARTS = 8  # tests, so that they run side by side
EVENTS_PER_BOOK = 100 if "HOOKLINE_FUZZ" in os.environ else 25  # loading a book takes as long as some ten decisions
FIRST_SEED = random.randrange(10**9) if "HOOKLINE_FUZZ" in os.environ else 0


@pytest.fixture(autouse=True, scope="module")
def quiet_and_unhurried() -> Iterator[None]:
    logging.disable(logging.WARNING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match_budget, "WALL_SECONDS", 600.0)
        yield
    logging.disable(logging.NOTSET)


def asked(decision: Any) -> list[tuple[str, str, bool]]:
    return [(entry.hook.group, entry.hook.id, entry.again) for entry in decision.trace if not entry.skip_reason]


def described(decision: Any) -> dict[str, Any]:
    names = ("verdict", "reason", "by", "halt")
    return {name: getattr(decision, name) for name in names} | {
        "facts": decision.event.facts,
        "notes": list(decision.notes),
        "requests": list(decision.requests),
    }


def summarized(decision: Decision) -> dict[str, Any]:
    return {
        **described(decision),
        "asked": [(id, again) for _, id, again in asked(decision)],
        "failures": [(failure.hook, str(failure.kind)) for failure in decision.failures],
    }


def layers_of(chance: Chance) -> list[tuple[Hook, ...]]:
    dialects = chance.sample(DIALECTS, k=chance.randint(1, 7))
    return [load_hooks(chance, dialect) for dialect in dialects]


async def compare_with_reference(seed: int) -> None:
    chance = Chance(seed)
    layers = layers_of(chance)
    book = Book([Layer(str(n), hooks) for n, hooks in enumerate(layers)])
    host, reference_host = ProgramHost(), ProgramHost()
    fires: Counter[tuple[str, str, str]] = Counter()
    for _ in range(EVENTS_PER_BOOK):
        event = chance.event()
        reference = ReferenceRound(layers, event, reference_host, fires)
        expected = await reference.decide()
        decision = await book.decide(event, host)
        assert summarized(decision) == {
            **described(expected),
            "asked": expected.asked,
            "failures": expected.failures,
        }, f"seed {seed}"
        await reference.run_background()
        await host.drain()
        assert host.ran == reference_host.ran, f"seed {seed}"


@pytest.mark.parametrize("part", range(PARTS))
def test_the_engine_decides_as_the_reference(part: int) -> None:
    async def run() -> None:
        for number in range(DECISIONS // PARTS // EVENTS_PER_BOOK + 1):
            await compare_with_reference(FIRST_SEED + number * PARTS + part)

    asyncio.run(run())


async def compare_large_book(seed: int, root: Path) -> None:
    chance = LargeChance(seed, root)
    layers = chance.layers()
    book = Book([Layer(str(n), hooks) for n, hooks in enumerate(layers)])
    for _ in range(EVENTS_PER_BOOK):
        event = chance.event()
        expected = await ReferenceRound(layers, Event(event.name, event.facts), ProgramHost()).decide()
        decision = await book.decide(event, ProgramHost())
        assert described(decision) == described(expected), f"seed {seed}"
        assert [id for _, id, _ in asked(decision)] == [id for id, _ in expected.asked], f"seed {seed}"


@pytest.mark.parametrize("part", range(PARTS))
def test_a_large_book_decides_as_the_reference(part: int, tmp_path: Path) -> None:
    make_project(tmp_path)

    async def run() -> None:
        for number in range(DECISIONS // PARTS // EVENTS_PER_BOOK + 1):
            await compare_large_book(FIRST_SEED + number * PARTS + part, tmp_path)

    asyncio.run(run())


def answers(decision: Decision, group: str) -> list[tuple[Any, ...]]:
    """Which hooks of a dialect were asked, and what they answered."""
    return [
        (entry.hook.id, entry.again, entry.outcome, entry.failure and (entry.failure.kind, entry.failure.text))
        for entry in decision.trace
        if entry.hook.group == group and not entry.skip_reason
    ]


def changes_nothing(hook: Hook) -> bool:
    return not hook.may & May.CHANGE and not hook.may_change and not hook.may & May.HALT


async def compare_alone_and_together(seed: int) -> int:
    """Hooks of several dialects that neither change the event nor stop the agent; one dialect may also change it."""
    chance = Chance(seed)
    changing = chance.choice(DIALECTS)
    layers = []
    for dialect in DIALECTS:
        hooks = [hook for hook in load_hooks(chance, dialect) if hook.group == dialect]
        if dialect != changing:
            hooks = [hook for hook in hooks if changes_nothing(hook)]
        layers.append(tuple(hook for hook in hooks if not hook.may & May.HALT or dialect == changing))
    everyone = Book([Layer(str(n), hooks) for n, hooks in enumerate(layers)])
    alone = {dialect: Book([Layer(dialect, hooks)]) for dialect, hooks in zip(DIALECTS, layers, strict=True)}
    hosts = {dialect: ProgramHost() for dialect in [*DIALECTS, "all"]}
    compared = 0
    for _ in range(10):
        event = chance.event()
        together = await everyone.decide(event, hosts["all"])
        single = {dialect: await book.decide(event, hosts[dialect]) for dialect, book in alone.items()}
        await asyncio.gather(*(host.drain() for host in hosts.values()))
        if together.halt or single[changing].event.facts != event.facts:
            hosts = {
                dialect: ProgramHost() for dialect in hosts
            }  # what another dialect changed is seen, and counted, by all
            continue
        for dialect, decision in single.items():
            assert answers(together, dialect) == answers(decision, dialect), f"seed {seed}, {dialect}"
            compared += bool(decision.trace)
        assert together.verdict == max(decision.verdict for decision in single.values())
    return compared


def test_each_dialect_decides_as_if_it_were_alone() -> None:
    async def run() -> int:
        compared = 0
        for number in range(max(20, DECISIONS // 200)):
            compared += await compare_alone_and_together(FIRST_SEED + number)
        return compared

    assert asyncio.run(run()) > 20


def test_a_dialect_sees_its_own_changes_after_anothers_deny() -> None:
    async def run() -> None:
        for seed in range(60):
            chance = Chance(seed)
            denying = [
                hook for hook in load_hooks(chance, "flo") if hook.event == "tool.before" and changes_nothing(hook)
            ]
            native = [hook for hook in load_hooks(chance, "native") if not hook.may & May.HALT]
            native = [hook for hook in native if hook.group == "native"]
            event = Event(
                "tool.before", {"tool": {"name": "bash", "input": {"command": chance.choice(["rm -rf a", "ls"])}}}
            )
            alone = await Book([Layer("native", native)]).decide(event, ProgramHost())
            together = await Book([Layer("flo", denying), Layer("native", native)]).decide(event, ProgramHost())
            assert answers(together, "native") == answers(alone, "native"), seed

    asyncio.run(run())
