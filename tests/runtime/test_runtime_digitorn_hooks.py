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
from hookline.runtime.updates import HistoryCompacted, Notification, StatusMessage, ToolCallFinished
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
    assert _fired(seen) == [("everyone", "0"), ("its_own", "0"), ("everyone", "0"), ("everyone", "1")]


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


def test_a_session_starts_once_with_its_prompt_and_not_again_when_it_is_resumed(tmp_path: Path) -> None:
    seen, store = UpdateRecorder(), f"sqlite:///{tmp_path / 'sessions.db'}"
    message = {"type": "notify", "message": "{turn} {messages}"}
    hooks = _app(
        {"id": "start", "on": "session_start", "action": message}, {"id": "turn", "on": "turn_start", "action": message}
    )

    async def work() -> None:
        options = {"file": "digitorn.yaml", "watch": seen, "store": store}
        async with open_runtime(tmp_path, hooks, ["one", "two"], **options) as (runtime, _):
            session = await runtime.start()
            assert _fired(seen) == []
            await session.ask("go")
            await session.ask("more")
        async with open_runtime(tmp_path, hooks, ["three"], **options) as (runtime, _):
            resumed = await runtime.resume(session.id)
            await resumed.ask("again")
            await resumed.end()
        async with open_runtime(tmp_path, hooks, ["four"], **options) as (runtime, _):
            await (await runtime.reopen(session.id)).ask("once more")

    run_async(work)
    assert _fired(seen) == [("start", "0 1"), ("turn", "0 1"), ("turn", "1 3"), ("turn", "2 5"), ("turn", "3 7")]


def test_injected_messages_of_a_session_s_start_are_where_they_are_of_any_event(tmp_path: Path) -> None:
    def inject(id: str, **how: str) -> dict[str, Any]:
        return {"id": id, "on": "session_start", "action": {"type": "inject_message", "content": id, **how}}

    hooks = _app(
        inject("auto"),
        inject("user", strategy="user"),
        inject("system", strategy="system"),
        inject("before", strategy="new_message", role="assistant"),
        inject("first", strategy="new_message", position="start"),
        inject("last", strategy="new_message", position="end"),
    )
    model = RecordingModel(["done"])

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, model=model, file="digitorn.yaml") as (runtime, _):
            await (await runtime.start()).ask("go")

    run_async(work)
    assert model.requests[0].messages == (
        {"role": "system", "content": "You are a helper.\n\nsystem"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "before"},
        {"role": "user", "content": "go\n\nauto\n\nuser"},
        {"role": "user", "content": "last"},
    )


def test_a_specialist_counts_its_own_turns(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    first = {"type": "turn_count", "threshold": 0}
    agents = [{"id": "reviewer", "hooks": [_notify("its_first", "turn_start", condition=first)]}]
    hooks = _app(_notify("each_first", "turn_start", condition=first), agents=agents)
    app = App((make_agent("helper"), make_agent("reviewer")))
    spawn = tool_call_step(("agent", {"agent": "reviewer", "prompt": "look"}))
    steps = (
        ScriptStep(calls=(("list_directory", {"path": "."}),)),
        spawn,
        ScriptStep(say="good"),
        spawn,
        ScriptStep(say="good"),
        ScriptStep(say="done"),
    )

    async def work() -> None:
        model = ScriptedModel(ModelScript(steps))
        async with open_runtime(tmp_path, hooks, file="digitorn.yaml", app=app, model=model, watch=seen) as (
            runtime,
            _,
        ):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert _fired(seen) == [("each_first", "0"), *[("each_first", "0"), ("its_first", "0")] * 2]


def _requests(
    tmp_path: Path, *hooks: dict[str, Any], steps: list[Any], seen: UpdateRecorder | None = None
) -> list[Any]:
    model = RecordingModel([*steps, "done"])

    async def work() -> None:
        async with open_runtime(tmp_path, _app(*hooks), model=model, file="digitorn.yaml", watch=seen) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    return model.requests


def test_a_new_message_is_never_between_a_call_and_its_result(tmp_path: Path) -> None:
    def inject(id: str, on: str, position: str) -> dict[str, Any]:
        how = {"type": "inject_message", "content": id, "strategy": "new_message", "position": position}
        return {"id": id, "on": on, "action": how}

    hooks = [
        inject(f"{on} {position}", on, position)
        for on in ("tool_start", "tool_end", "turn_end")
        for position in ("before_last", "end")
    ]
    calls = tool_call_step(("list_directory", {"path": "."}), ("glob", {"pattern": "*"}))
    for request in _requests(tmp_path, *hooks, steps=[calls, calls]):
        roles = [message["role"] for message in request.messages]
        for at, message in enumerate(request.messages):
            count = len(message.get("tool_calls") or ())
            assert roles[at + 1 : at + 1 + count] == ["tool"] * count
            assert roles[at] != "tool" or roles[at - 1] in ("assistant", "tool")
    texts = [message["content"] for message in request.messages]
    assert all(any(hook["id"] == text for text in texts) for hook in hooks)


def test_a_field_that_a_tool_does_not_have_is_left_out_with_a_warning(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    change = {"set": {"timeout": 60, "encoding": "utf-8", "content": "changed"}, "remove": ["dangerous_flag"]}
    hook = {"id": "h", "on": "tool_start", "action": {"type": "transform_params", "transformation": change}}
    _requests(tmp_path, hook, steps=[tool_call_step(("write_file", {"path": "a", "content": "b"}))], seen=seen)
    assert (tmp_path / "a").read_text() == "changed"
    warnings = [each.text for each in seen.of_type(StatusMessage) if each.level == "warning"]
    assert warnings == ["write_file has no field timeout, encoding; what hooks put there was left out"]


def test_a_field_that_the_model_invents_is_still_an_error(tmp_path: Path) -> None:
    hook = {
        "id": "h",
        "on": "tool_start",
        "action": {"type": "transform_params", "transformation": {"set": {"timeout": 1}}},
    }
    call = tool_call_step(("write_file", {"path": "a", "content": "b", "mode": "w"}))
    last = _requests(tmp_path, hook, steps=[call])[-1].messages[-1]["content"]
    assert last.startswith("Error: ")
    assert "mode" in last


def test_a_compaction_that_found_nothing_is_not_counted(tmp_path: Path) -> None:
    seen = UpdateRecorder()
    compact = {"type": "compact_context", "strategy": "truncate", "keep_recent": 4, "cooldown_turns": 50}
    hook = {"id": "once", "on": "turn_end", "max_fires": 1, "action": compact}
    look = tool_call_step(("list_directory", {"path": "."}))
    _requests(tmp_path, hook, steps=[look, look, look, look], seen=seen)
    assert len(seen.of_type(HistoryCompacted)) == 1


def test_a_module_action_may_call_a_tool_by_the_name_that_hooks_see(tmp_path: Path) -> None:
    def call(module: str, action: str, **params: str) -> dict[str, Any]:
        do = {"type": "module_action", "module": module, "action": action, "action_params": params}
        return {"id": f"{module}.{action}", "on": "tool_end", "action": do}

    seen = UpdateRecorder()
    hooks = (call("shell", "run", command="touch made"), call("web", "fetch", url="file:///etc/passwd"))
    _requests(tmp_path, *hooks, steps=[tool_call_step(("list_directory", {"path": "."}))], seen=seen)
    assert (tmp_path / "made").exists()
    called = [each.call.name for each in seen.of_type(ToolCallFinished)]
    assert called == ["bash", "fetch", "list_directory"]
