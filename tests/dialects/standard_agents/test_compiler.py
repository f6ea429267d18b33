"""How a definition becomes a hook: its event, its time limit, its answer to a failure."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dialects.standard_agents.agent_folder import (
    compile_hook,
)
from hookline import Event
from hookline.dialects.dialect import get_dialect
from hookline.dialects.standard_agents import hooks_of
from hookline.engine.book import Book, Layer
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.standard_agents import ThreadState, collecting, define_agent, define_hook


@pytest.mark.parametrize("kind", ["before_create_message", "before_update_message"])
def test_a_write_that_takes_too_long_to_judge_is_prevented(kind: str) -> None:
    async def forever(*_: Any) -> None:
        await asyncio.Event().wait()

    (hook,) = compile_hook(kind, forever)
    assert hook.timeout == timedelta(seconds=30)
    book = Book([Layer("x", [replace(hook, timeout=timedelta(milliseconds=30))])])
    decision = asyncio.run(book.decide(Event(hook.event, {"agent": {"name": "support"}, "message": {}})))
    assert decision.verdict is Verdict.DENY
    assert decision.failures[0].kind is FailureKind.TIMEOUT


def test_a_transform_that_takes_too_long_leaves_the_last_good_value() -> None:
    async def forever(state: ThreadState, messages: list[Any]) -> None:
        messages.clear()
        await asyncio.Event().wait()

    (hook,) = compile_hook("filter_messages", forever)
    book = Book([Layer("x", [replace(hook, timeout=timedelta(milliseconds=30))])])
    decision = asyncio.run(book.decide(Event(hook.event, {"agent": {"name": "support"}, "messages": [1]})))
    assert decision.verdict is Verdict.SILENT
    assert decision.event.facts["messages"] == [1]


def test_a_function_has_no_words_in_any_format() -> None:
    def function(state: Any, text: str) -> None: ...

    with collecting() as definitions:
        define_hook(hook="after_system_message", id="it", execute=function)
        define_agent(name="support", hooks=["it"])
    hooks = hooks_of(definitions).hooks
    for name in ("native", "standard_agents"):
        lines = get_dialect(name).write(hooks).not_expressible
        assert len(lines) == 1
        assert f"{__file__}:test_a_function_has_no_words_in_any_format.<locals>.function" in lines[0]


def test_each_of_the_twelve_has_its_event_and_its_answer_to_a_failure() -> None:
    from hookline.hooks.events import events_by_name
    from hookline.standard_agents import HOOK_NAMES

    assert set(events_by_name("standard_agents")) == set(HOOK_NAMES)

    async def nothing(*arguments: object) -> None: ...

    denying = {name for name in HOOK_NAMES if compile_hook(name, nothing)[0].on_error.verdict is Verdict.DENY}
    assert denying == {"before_create_message", "before_update_message"}
