"""Hooks of an app in its sessions: how turns and fires are counted, whose they are, and when a session is over."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from hookline.engine.book import Book, Layer
from hookline.project import load_text
from hookline.runtime.apps.app import App
from hookline.runtime.models.scripted import ModelScript, ScriptedModel, ScriptStep
from hookline.runtime.updates import Notification
from hookline.testing import FakeClock
from runtime.scripted_runtime import (
    RecordingModel,
    UpdateRecorder,
    make_agent,
    open_runtime,
    run_async,
    send_prompt,
    tool_call_step,
)


def _notify(id: str, on: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "on": on, "action": {"type": "notify", "message": "{turn}"}, **more}


def _app(*hooks: dict[str, Any], agents: list[dict[str, Any]] | None = None) -> str:
    return json.dumps({"runtime": {"hooks": hooks}, "agents": agents or []})


def _fired(seen: UpdateRecorder) -> list[tuple[str, str]]:
    return [(each.notice.hook, each.notice.message) for each in seen.of_type(Notification)]


def test_turns_count_from_0_through_the_session(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    hooks = _app(
        _notify("each", "turn_end"),
        _notify("third", "turn_start", condition={"type": "turn_count", "threshold": 2}),
        _notify("second", "turn_start", condition={"type": "turn_count", "every": 2}),
        _notify("once", "session_start"),
    )
    steps = [tool_call_step(("list_directory", {"path": "."})), "one", "two"]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps, file="digitorn.yaml", watch=seen) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            await session.ask("more")

    run_async(work)
    assert _fired(seen) == [
        ("once", "0"), ("each", "0"), ("each", "1"), ("third", "2"), ("second", "2"), ("each", "2"),
    ]  # fmt: skip


def test_limits_are_stored_with_the_session_and_hold_after_it_is_resumed(tmp_path: Path) -> None:
    store, clock = f"sqlite:///{tmp_path / 'sessions.db'}", FakeClock()
    hooks = _app(_notify("twice", "turn_end", max_fires=2), _notify("rarely", "turn_end", cooldown=3600))

    async def part(id: str | None, seen: UpdateRecorder) -> str:
        async with open_runtime(
            tmp_path, hooks, ["a", "b"], file="digitorn.yaml", watch=seen, store=store, clock=clock
        ) as (
            runtime,
            _,
        ):
            session = await (runtime.start() if id is None else runtime.resume(id))
            await session.ask("go")
            await session.ask("more")
            return str(session.id)

    first, second = UpdateRecorder(), UpdateRecorder()
    id = run_async(lambda: part(None, first))
    clock.advance(timedelta(hours=2))
    run_async(lambda: part(id, second))
    assert _fired(first) == [("twice", "0"), ("rarely", "0"), ("twice", "1")]
    assert _fired(second) == [("rarely", "2")]


def test_what_failed_can_be_read_by_later_hooks_of_the_turn_only(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    failing = {"type": "chain", "actions": [{"type": "pipe", "to": "no.such_tool", "on_error": "raise"}]}
    hooks = _app({"id": "breaks", "on": "tool_end", "action": failing, "max_fires": 1})
    look = "hooks: [{id: look, on: turn.end, when: {fact: {metadata.hook_failures.0.action: pipe}}, then: {notify: '{{turn.number}}'}}]"
    book = Book(
        [Layer("app", load_text(hooks, "digitorn.yaml").hooks), Layer("look", load_text(look, "hookline.yaml").hooks)]
    )
    steps = [tool_call_step(("list_directory", {"path": "."})), "done"]

    async def work() -> None:
        async with open_runtime(tmp_path, book, steps, watch=seen) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert _fired(seen) == [("look", "0")]


def test_an_agent_s_hooks_fire_for_that_agent_only(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    agents = [{"id": "reviewer", "hooks": [_notify("its_own", "turn_end")]}]
    hooks = _app(_notify("everyone", "turn_end"), agents=agents)
    app = App((make_agent("helper"), make_agent("reviewer")))
    spawn = tool_call_step(("agent", {"agent": "reviewer", "prompt": "look"}))
    model = ScriptedModel(ModelScript((spawn, ScriptStep(say="good"), ScriptStep(say="done"))))

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, file="digitorn.yaml", app=app, model=model, watch=seen) as (
            runtime,
            _,
        ):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert _fired(seen) == [("everyone", "1"), ("its_own", "1"), ("everyone", "0"), ("everyone", "2")]


def test_a_session_ends_once_when_it_is_deleted_or_idle_for_too_long(tmp_path: Path) -> None:
    seen, clock = UpdateRecorder(), FakeClock()
    hooks = _app(_notify("over", "session_end"))

    async def work() -> None:
        async with open_runtime(
            tmp_path, hooks, ["a", "b"], file="digitorn.yaml", watch=seen, clock=clock, idle=timedelta(minutes=30)
        ) as (runtime, _):
            deleted, idle = await runtime.start(), await runtime.start()
            await runtime.delete(deleted.id)
            assert await runtime.store.session(deleted.id) is None
            await idle.ask("go")
            clock.advance(timedelta(minutes=29))
            await runtime.expire()
            assert len(seen.of_type(Notification)) == 1
            clock.advance(timedelta(minutes=2))
            await runtime.expire()
            await runtime.expire()
            row = await runtime.store.session(idle.id)
            assert (row.ended if row else None) == "idle"

    run_async(work)
    assert len(seen.of_type(Notification)) == 2


def test_injected_messages_stay_and_the_stored_text_is_the_user_s_own(tmp_path: Path) -> None:
    inject = {"type": "inject_message", "content": "Follow the standards."}
    hooks = _app(
        {"id": "remind", "on": "turn_start", "condition": {"type": "turn_count", "threshold": 0}, "action": inject}
    )

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["a", "b"], file="digitorn.yaml") as (runtime, model):
            session = await runtime.start()
            await session.ask("go")
            await session.ask("more")
            assert isinstance(model, RecordingModel)
            for request in model.requests:
                assert request.messages[1]["content"] == "go\n\nFollow the standards."
            assert (await session.main.get_messages())[0]["content"] == "go"

    run_async(work)
