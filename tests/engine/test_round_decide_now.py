"""The same decision without an event loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from engine.hook_factories import (
    ALLOW,
    ASK,
    DENY,
    FakeHost,
    FunctionAction,
    RecordingAction,
    changing_action,
    command_changing_action,
    command_matches,
    decide,
    instant_action,
    make_book,
    make_hook,
    raising_action,
    returning_action,
    tool_call_event,
)
from hookline.errors import HooklineError, MustWait
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.conditions.text import Exists
from hookline.hooks.event import Event
from hookline.hooks.hook import Limit, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import May

_FIRST = (
    make_hook(ALLOW),
    make_hook(ASK, command_matches("rm")),
    make_hook(command_changing_action("rm -rf"), command_matches("^ls")),
    make_hook(DENY, command_matches("-rf")),
)


def test_it_decides_without_a_running_loop() -> None:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    assert make_book(*_FIRST).decide_now(tool_call_event("ls")).denied


def test_it_decides_inside_a_running_loop() -> None:
    async def inside() -> Verdict:
        return make_book(*_FIRST).decide_now(tool_call_event("ls")).verdict

    assert asyncio.run(inside()) is Verdict.DENY


@pytest.mark.parametrize("text", ["ls", "rm", "rm -rf", "cat", ""])
@pytest.mark.parametrize("explain", [False, True])
def test_it_is_the_same_decision(text: str, explain: bool) -> None:
    held = make_book(*_FIRST, make_hook(raising_action(ValueError("boom")), command_matches("cat")))
    now, awaited = (
        held.decide_now(tool_call_event(text), explain=explain),
        decide(held, tool_call_event(text), explain=explain),
    )
    assert _without_times(now.as_json()) == _without_times(awaited.as_json())
    assert now.failures == awaited.failures


def _without_times(decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "trace": [{**row, "ms": 0} for row in decision["trace"]]}


def test_it_starts_no_task_timer_or_thread() -> None:
    async def inside() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        before = len(asyncio.all_tasks())
        make_book(*_FIRST).decide_now(tool_call_event("ls"))
        return len(asyncio.all_tasks()) - before, len(loop._scheduled)  # type: ignore[attr-defined]

    assert asyncio.run(inside()) == (0, 0)


def test_it_refuses_before_anyone_is_asked_or_anything_claimed() -> None:
    seen, desk = RecordingAction(), FakeHost()
    limited = make_hook(seen, limit=Limit(max_fires=1))
    held = make_book(limited, make_hook(returning_action(Outcome()), id="slow"))
    with pytest.raises(MustWait, match="slow"):
        held.decide_now(tool_call_event(), desk)
    assert not seen.events
    assert desk.counts.fires(limited, "") == (0, None)


def test_a_refusal_is_an_error_of_ours_that_says_what_to_do() -> None:
    with pytest.raises(HooklineError, match=r"await book\.decide"):
        make_book(make_hook(returning_action(Outcome()))).decide_now(tool_call_event())


@pytest.mark.parametrize(
    "more",
    [{"enabled": False}, {"scope": Scope(agent="other")}, {"when": command_matches("never")}, {"event": "tool.after"}],
)
def test_a_hook_that_is_not_asked_has_not_to_be_waited_for(more: dict[str, Any]) -> None:
    when = more.pop("when", None)
    slow = (
        make_hook(returning_action(Outcome()), when, **more) if when else make_hook(returning_action(Outcome()), **more)
    )
    assert make_book(make_hook(DENY), slow).decide_now(tool_call_event()).denied


@pytest.mark.parametrize("more", [{"enabled": False}, {"scope": Scope(agent="other")}])
def test_a_hook_that_no_change_can_bring_in_has_not_to_be_waited_for(more: dict[str, Any]) -> None:
    held = make_book(make_hook(command_changing_action("two")), make_hook(returning_action(Outcome()), **more))
    assert held.decide_now(tool_call_event()).event.facts["tool"]["input"]["command"] == "two"


def test_it_refuses_where_a_change_could_bring_in_a_hook_that_waits() -> None:
    seen = RecordingAction()
    with pytest.raises(MustWait):
        make_book(
            make_hook(seen),
            make_hook(command_changing_action("two")),
            make_hook(returning_action(Outcome()), command_matches("two")),
        ).decide_now(tool_call_event())
    assert not seen.events


def test_it_refuses_where_a_recorded_failure_could_bring_in_a_hook_that_waits() -> None:
    chain = Chain((ChainStep("log", replace(raising_action(ValueError("boom")), may=May.NOTHING)),))
    waiting = make_hook(returning_action(Outcome()), Exists(("metadata", "hook_failures")))
    seen = RecordingAction()
    with pytest.raises(MustWait):
        make_book(make_hook(seen), make_hook(chain), waiting).decide_now(tool_call_event())
    assert not seen.events


def test_it_refuses_where_an_on_error_changes_something() -> None:
    quiet = replace(raising_action(ValueError("boom")), may=May.NOTHING)
    failing = make_hook(quiet, on_error=Outcome(changes=((("tool", "input", "command"), "two"),)))
    with pytest.raises(MustWait):
        make_book(failing, make_hook(returning_action(Outcome()), command_matches("two"))).decide_now(tool_call_event())


def test_a_background_hook_needs_a_loop() -> None:
    with pytest.raises(MustWait):
        make_book(make_hook(DENY, wait=False)).decide_now(tool_call_event(), FakeHost())


def test_an_action_that_lied_about_being_instant_is_refused_and_ended() -> None:
    ended: list[bool] = []

    async def lies(event: Event, host: Host) -> Outcome:
        try:
            await asyncio.sleep(1)
        finally:
            ended.append(True)
        return Outcome()

    desk = FakeHost()
    limited = make_hook(FunctionAction(lies, instant=True), limit=Limit(max_fires=1), timeout=timedelta(seconds=1))

    async def inside() -> None:
        with pytest.raises(MustWait):
            make_book(limited).decide_now(tool_call_event(), desk)

    asyncio.run(inside())
    assert ended == [True]
    assert desk.counts.fires(limited, "") == (0, None)


def test_an_unknown_event_is_an_error_that_names_the_events() -> None:
    with pytest.raises(HooklineError, match=r"no event 'tool.befor'.*tool.before"):
        make_book().decide_now(Event("tool.befor", {}))
    with pytest.raises(HooklineError, match="no event"):
        decide(make_book(), Event("tool.befor", {}))


def test_instant_actions_see_their_changes_in_order_now_as_well() -> None:
    seen: list[str] = []
    note = instant_action(lambda event: seen.append(event.facts["tool"]["input"]["command"]) or Outcome(), May.NOTHING)
    make_book(make_hook(note), make_hook(changing_action(("tool.input.command", "two"))), make_hook(note)).decide_now(
        tool_call_event("one")
    )
    assert seen == ["one", "two"]


def test_what_is_decided_again_still_has_its_limits() -> None:
    async def lies(event: Event, host: Host) -> Outcome:
        await asyncio.sleep(0)
        return Outcome()

    lying = make_hook(FunctionAction(lies, instant=True), group="other")
    book, host = make_book(make_hook(DENY, limit=Limit(max_fires=1), group="own"), lying), FakeHost()
    with pytest.raises(MustWait):
        book.decide_now(tool_call_event(), host)
    assert decide(book, tool_call_event(), host).denied
    assert not decide(book, tool_call_event(), host).denied
