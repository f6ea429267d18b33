"""The hooks in force: layers that come and go, and many deciding at once."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from engine.hook_factories import (
    ASK,
    DENY,
    FakeHost,
    FunctionAction,
    RecordingAction,
    command_changing_action,
    command_matches,
    decide,
    input_matches,
    make_book,
    make_hook,
    returning_action,
    tool_call_event,
    tool_matches,
)
from hookline.engine.book import Book, Layer
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import All
from hookline.hooks.conditions.numbers import CustomCondition
from hookline.hooks.conditions.text import Fact, Matches
from hookline.hooks.event import Event, overlaps
from hookline.hooks.hook import Hook, Limit, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import Note, Outcome, Verdict
from hookline.lazy_imports import gc_paused
from hookline.patterns.pattern import pattern


def test_a_layer_is_added_replaced_by_name_and_taken_away() -> None:
    user = Layer("user", [make_hook(ASK, id="u")])
    skill, newer = Layer("skill", [make_hook(DENY, id="s1")]), Layer("skill", [make_hook(DENY, id="s2")])
    book = Book([user])
    with_skill = book.with_layer(skill)
    assert decide(book, tool_call_event()).by == "u"
    assert decide(with_skill, tool_call_event()).by == "s1"
    assert decide(with_skill.with_layer(newer), tool_call_event()).by == "s2"
    assert [layer.name for layer in with_skill.with_layer(newer).layers] == ["user", "skill"]
    assert decide(with_skill.without_layer("skill"), tool_call_event()).by == "u"
    assert decide(book.without_layer("nobody"), tool_call_event()).by == "u"


def test_a_changed_book_shares_the_layers_that_did_not_change() -> None:
    user = Layer("user", [make_hook(ASK)])
    desk = FakeHost()
    book = Book([user], desk, ["a problem"]).with_layer(Layer("skill", []))
    assert book.layers[0] is user
    assert book.host is desk
    assert book.problems == ("a problem",)


def test_a_round_in_flight_keeps_the_layers_that_it_began_with() -> None:
    async def swap() -> None:
        began, go_on = asyncio.Event(), asyncio.Event()

        async def wait(event: Event, host: Host) -> Outcome:
            began.set()
            await go_on.wait()
            return Outcome()

        book = Book([Layer("user", [make_hook(FunctionAction(wait))]), Layer("skill", [make_hook(DENY, id="skill")])])
        deciding = asyncio.create_task(book.decide(tool_call_event()))
        await began.wait()
        without = book.without_layer("skill")
        swapped = book.with_layer(Layer("skill", [make_hook(ASK, id="newer")]))
        go_on.set()
        assert (await deciding).by == "skill"
        assert (await without.decide(tool_call_event())).by is None
        assert (await swapped.decide(tool_call_event())).by == "newer"

    asyncio.run(swap())


def test_a_book_swapped_under_many_rounds_always_gives_a_whole_answer() -> None:
    """Each book denies by exactly one of two hooks that belong together; no round hears half of one book."""

    def layer(version: int) -> Layer:
        note = FixedAnswer(Outcome(notes=(Note(str(version)),)))
        return Layer(
            "project", [make_hook(note), make_hook(returning_action(Outcome())), make_hook(DENY, id=str(version))]
        )

    async def run() -> None:
        current = [Book([layer(0)])]

        async def fire() -> tuple[str | None, list[str]]:
            decision = await current[0].decide(tool_call_event())
            return decision.by, [note.text for note in decision.notes]

        async def swap() -> None:
            for version in range(1, 30):
                current[0] = current[0].with_layer(layer(version))
                await asyncio.sleep(0)

        *answers, _ = await asyncio.gather(*(fire() for _ in range(200)), swap())
        assert all(notes == [by] for by, notes in answers)

    asyncio.run(run())


def _guards() -> list[Hook]:
    """For n: a command `n…` is changed to `judged n…`, then denied by the guard of its number alone."""

    async def judge(event: Event, host: Host) -> Outcome:
        await asyncio.sleep(0)
        text = event.facts["tool"]["input"]["command"]
        return Outcome(changes=((("tool", "input", "command"), f"judged {text}"),))

    guards = [
        make_hook(DENY, All((tool_matches("bash"), command_matches(f"^judged {n};"))), id=str(n))
        for n in range(0, 100, 2)
    ]
    asks = [make_hook(ASK, command_matches(f"^judged {n};"), id=str(n)) for n in range(1, 100, 2)]
    return [make_hook(FunctionAction(judge), command_matches("^[0-9]+;")), *guards, *asks]


def _right(n: int, verdict: Verdict, by: str | None) -> bool:
    return (verdict, by) == (Verdict.ASK if n % 2 else Verdict.DENY, str(n))


async def _all_right(book: Book, times: int) -> bool:
    numbers = [n % 100 for n in range(times)]
    decisions = await asyncio.gather(*(book.decide(tool_call_event(f"{n};{'x' * n}")) for n in numbers))
    return all(_right(n, decision.verdict, decision.by) for n, decision in zip(numbers, decisions, strict=True))


def test_a_thousand_tasks_deciding_at_once_get_their_own_answers() -> None:
    assert asyncio.run(_all_right(make_book(*_guards()), 1000))


def test_eight_threads_with_their_own_loops_share_a_book() -> None:
    book, together = make_book(*_guards()), Barrier(8)

    def run(_: int) -> bool:
        together.wait(10)
        return asyncio.run(_all_right(book, 200))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_what_a_hook_reads_is_known() -> None:
    hooks = [
        make_hook(DENY, All((tool_matches("x"), input_matches("path", "y")))),
        make_hook(DENY, Matches(Fact(("messages", -1, "content")), pattern("z"))),
        make_hook(command_changing_action("two"), scope=Scope(agent="a", prompt="p", session="s")),
        make_hook(ASK, limit=Limit(cooldown=timedelta(seconds=1), cooldown_turns=2)),
    ]
    reads = make_book(*hooks).reads("tool.before")
    for path in [
        "tool.name",
        "tool.input.path",
        "messages",
        "agent.id",
        "agent.name",
        "agent.prompt",
        "session.id",
        "turn.number",
    ]:
        steps = tuple(path.split("."))
        assert any(overlaps(steps, found) for found in reads), path
    assert not any(overlaps(("context",), found) for found in reads)
    assert make_book(*hooks).reads("stop") == make_book(*hooks).reads("no event") == frozenset()


def test_a_third_partys_condition_may_read_anything() -> None:
    book = make_book(make_hook(DENY, CustomCondition("odd", lambda params, event: True)))
    assert any(overlaps(("messages",), found) for found in book.reads("tool.before"))


def test_hooks_of_other_events_are_not_asked() -> None:
    seen = RecordingAction()
    decide(make_book(make_hook(seen, event="tool.after")), tool_call_event())
    assert not seen.events


def test_an_empty_book_says_nothing() -> None:
    event = tool_call_event()
    decision = decide(Book(), event)
    assert (decision.verdict, decision.event) == (Verdict.SILENT, event)
    assert Book().decide_now(event).as_json()["trace"] == []


@pytest.mark.parametrize("on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(on: bool) -> None:
    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with gc_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_what_the_program_froze_stays_frozen() -> None:
    was_frozen = gc.get_freeze_count() > 0
    gc.freeze()
    try:
        with gc_paused():
            made = [[] for _ in range(1000)]
        assert gc.get_freeze_count() > len(made)
    finally:
        if not was_frozen:
            gc.unfreeze()


@pytest.mark.parametrize("facts", [{}, {"session": {"id": "x"}}, {"tool": {}}, {"tool": {"name": "", "input": {}}}])
@pytest.mark.parametrize("event", ["tool.before", "approval.request"])
def test_a_call_that_does_not_name_its_tool_is_denied_where_a_guard_is_in_force(
    event: str, facts: dict[str, Any]
) -> None:
    guarded = make_book(make_hook(DENY, tool_matches("^bash$"), event=event))
    for decision in (guarded.decide_now(Event(event, facts)), decide(guarded, Event(event, facts))):
        assert (decision.denied, decision.by) == (True, None)
        assert "does not name its tool" in decision.reason
    watched = make_book(make_hook(FixedAnswer(Outcome(notes=(Note("seen"),))), event=event))
    assert decide(watched, Event(event, facts)).verdict is Verdict.SILENT
    assert Book([]).decide_now(Event(event, facts)).verdict is Verdict.SILENT
