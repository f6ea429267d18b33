"""The same decision without an event loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from engine.parts import (
    ALLOW,
    ASK,
    DENY,
    Desk,
    Does,
    Seen,
    at_once,
    book,
    call,
    changes,
    command,
    decide,
    hook,
    raises,
    says,
    sets_command,
)
from hookline.errors import HooklineError, MustWait
from hookline.hooks.action import May
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.conditions.text import Exists
from hookline.hooks.event import Event
from hookline.hooks.hook import Limit, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome, Verdict

_FIRST = (
    hook(ALLOW),
    hook(ASK, command("rm")),
    hook(sets_command("rm -rf"), command("^ls")),
    hook(DENY, command("-rf")),
)


def test_it_decides_without_a_running_loop() -> None:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    assert book(*_FIRST).decide_now(call("ls")).denied


def test_it_decides_inside_a_running_loop() -> None:
    async def inside() -> Verdict:
        return book(*_FIRST).decide_now(call("ls")).verdict

    assert asyncio.run(inside()) is Verdict.DENY


@pytest.mark.parametrize("text", ["ls", "rm", "rm -rf", "cat", ""])
@pytest.mark.parametrize("explain", [False, True])
def test_it_is_the_same_decision(text: str, explain: bool) -> None:
    held = book(*_FIRST, hook(raises(ValueError("boom")), command("cat")))
    now, awaited = held.decide_now(call(text), explain=explain), decide(held, call(text), explain=explain)
    assert _without_times(now.as_json()) == _without_times(awaited.as_json())
    assert now.failures == awaited.failures


def _without_times(decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "trace": [{**row, "ms": 0} for row in decision["trace"]]}


def test_it_starts_no_task_timer_or_thread() -> None:
    async def inside() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        before = len(asyncio.all_tasks())
        book(*_FIRST).decide_now(call("ls"))
        return len(asyncio.all_tasks()) - before, len(loop._scheduled)  # type: ignore[attr-defined]

    assert asyncio.run(inside()) == (0, 0)


def test_it_refuses_before_anyone_is_asked_or_anything_claimed() -> None:
    seen, desk = Seen(), Desk()
    limited = hook(seen, limit=Limit(max_fires=1))
    held = book(limited, hook(says(Outcome()), id="slow"))
    with pytest.raises(MustWait, match="slow"):
        held.decide_now(call(), desk)
    assert not seen.events
    assert desk.counts.fires(limited, "") == (0, None)


def test_a_refusal_is_an_error_of_ours_that_says_what_to_do() -> None:
    with pytest.raises(HooklineError, match=r"await book\.decide"):
        book(hook(says(Outcome()))).decide_now(call())


@pytest.mark.parametrize(
    "more", [{"enabled": False}, {"scope": Scope(agent="other")}, {"when": command("never")}, {"event": "tool.after"}]
)
def test_a_hook_that_is_not_asked_has_not_to_be_waited_for(more: dict[str, Any]) -> None:
    when = more.pop("when", None)
    slow = hook(says(Outcome()), when, **more) if when else hook(says(Outcome()), **more)
    assert book(hook(DENY), slow).decide_now(call()).denied


@pytest.mark.parametrize("more", [{"enabled": False}, {"scope": Scope(agent="other")}])
def test_a_hook_that_no_change_can_bring_in_has_not_to_be_waited_for(more: dict[str, Any]) -> None:
    held = book(hook(sets_command("two")), hook(says(Outcome()), **more))
    assert held.decide_now(call()).event.facts["tool"]["input"]["command"] == "two"


def test_it_refuses_where_a_change_could_bring_in_a_hook_that_waits() -> None:
    seen = Seen()
    with pytest.raises(MustWait):
        book(hook(seen), hook(sets_command("two")), hook(says(Outcome()), command("two"))).decide_now(call())
    assert not seen.events


def test_it_refuses_where_a_recorded_failure_could_bring_in_a_hook_that_waits() -> None:
    chain = Chain((Step("log", replace(raises(ValueError("boom")), may=May.NOTHING)),))
    waiting = hook(says(Outcome()), Exists(("metadata", "hook_failures")))
    seen = Seen()
    with pytest.raises(MustWait):
        book(hook(seen), hook(chain), waiting).decide_now(call())
    assert not seen.events


def test_it_refuses_where_an_on_error_changes_something() -> None:
    quiet = replace(raises(ValueError("boom")), may=May.NOTHING)
    failing = hook(quiet, on_error=Outcome(changes=((("tool", "input", "command"), "two"),)))
    with pytest.raises(MustWait):
        book(failing, hook(says(Outcome()), command("two"))).decide_now(call())


def test_a_background_hook_needs_a_loop() -> None:
    with pytest.raises(MustWait):
        book(hook(DENY, wait=False)).decide_now(call(), Desk())


def test_an_action_that_lied_about_being_instant_is_refused_and_ended() -> None:
    ended: list[bool] = []

    async def lies(event: Event, host: Host) -> Outcome:
        try:
            await asyncio.sleep(1)
        finally:
            ended.append(True)
        return Outcome()

    desk = Desk()
    limited = hook(Does(lies, instant=True), limit=Limit(max_fires=1), timeout=timedelta(seconds=1))

    async def inside() -> None:
        with pytest.raises(MustWait):
            book(limited).decide_now(call(), desk)

    asyncio.run(inside())
    assert ended == [True]
    assert desk.counts.fires(limited, "") == (0, None)


def test_an_unknown_event_is_an_error_that_names_the_events() -> None:
    with pytest.raises(HooklineError, match=r"no event 'tool.befor'.*tool.before"):
        book().decide_now(Event("tool.befor", {}))
    with pytest.raises(HooklineError, match="no event"):
        decide(book(), Event("tool.befor", {}))


def test_instant_actions_see_their_changes_in_order_now_as_well() -> None:
    seen: list[str] = []
    note = at_once(lambda event: seen.append(event.facts["tool"]["input"]["command"]) or Outcome(), May.NOTHING)
    book(hook(note), hook(changes(("tool.input.command", "two"))), hook(note)).decide_now(call("one"))
    assert seen == ["one", "two"]
