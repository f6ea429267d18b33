"""When an exchange is over: what hooks queued, how often they make it go on, and how it ends otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hooks.hook import Hook
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome
from hookline.hooks.protocols import May
from hookline.project import load_text
from hookline.runtime import exchange
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.updates import DecisionMade, Ending, ExchangeEnded, ToolCallFinished, ToolCallStarted
from runtime.multi_agent_apps import APP, SPAWN, MultiAgentModel, two_sided_app
from runtime.scripted_runtime import (
    RecordingModel,
    UpdateRecorder,
    open_runtime,
    run_async,
    send_prompt,
    tool_call_step,
)

WRITE = {"path": "made", "content": "x"}
LOOK = tool_call_step(("list_directory", {"path": "."}))


@dataclass
class Queues:
    """A hook's code that puts a tool off, the first so many times."""

    times: int
    tool: str = "write_file"
    input: dict[str, Any] = field(default_factory=lambda: WRITE)
    instant, constant, may = False, None, May.NOTHING

    def changes(self) -> tuple[()]:
        return ()

    reads = changes

    async def run(self, event: Event, host: Host) -> Outcome:
        if self.times > 0:
            self.times -= 1
            await host.thread(event.facts["thread"]["id"]).queue_tool(self.tool, self.input)
        return Outcome()


def _hook(on: str, queues: Queues) -> Hook:
    return replace(load_text(f"hooks: [{{id: q, on: {on}, then: {{log: x}}}}]", "hookline.yaml").hooks[0], then=queues)


def _book(*hooks: Hook, text: str = "") -> Book:
    beside = load_text(text, "hookline.yaml").hooks if text else ()
    return Book((Layer("test", (*hooks, *beside)),))


@pytest.mark.parametrize("on", ["turn.end", "stop"])
def test_what_a_hook_queues_at_the_last_answer_runs_and_the_model_hears_of_it(tmp_path: Path, on: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, _book(_hook(on, Queues(1))), ["one", "two"]) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, "two")
            assert [each.call.caller for each in seen.of_type(ToolCallFinished)] == ["queue"]
            assert isinstance(model, RecordingModel)
            assert [each["role"] for each in model.requests[-1].messages[-2:]] == ["assistant", "tool"]

    run_async(work)
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("on", ["turn.end", "stop"])
def test_a_hook_that_queues_at_every_answer_goes_on_five_times_at_most(tmp_path: Path, on: str) -> None:
    async def work() -> None:
        steps = [f"answer {n}" for n in range(20)]
        async with open_runtime(tmp_path, _book(_hook(on, Queues(99))), steps) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, f"answer {MAX_DENIED_STOPS}")
            assert len(seen.of_type(ToolCallFinished)) == MAX_DENIED_STOPS + 1  # each that was queued has run
            assert isinstance(model, RecordingModel)
            assert len(model.requests) == MAX_DENIED_STOPS + 1

    run_async(work)


def test_what_is_queued_is_decided_like_any_other_call(tmp_path: Path) -> None:
    no = "hooks: [{id: no, on: tool.before, then: {deny: nothing runs}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, _book(_hook("stop", Queues(1)), text=no), ["one", "two"]) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [(each.ran, each.result.error) for each in seen.of_type(ToolCallFinished)] == [
                (False, "nothing runs (hook no, hookline.yaml:1)")
            ]

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_a_queued_tool_that_stops_the_agent_stops_it(tmp_path: Path) -> None:
    halt = "hooks: [{id: halt, on: tool.before, when: {tool: write_file}, then: {halt: enough}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, _book(_hook("stop", Queues(1)), text=halt), ["one", "two"]) as (runtime, _):
            ended = (await send_prompt(await runtime.start(), "go")).last_end
            assert (ended.ending, ended.text) == (Ending.HALTED, "enough (hook halt, hookline.yaml:1)")

    run_async(work)


def test_what_was_queued_while_nothing_went_on_runs_before_the_model_is_asked(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", ["seen"]) as (runtime, model):
            session = await runtime.start()
            await session.main.queue_tool("write_file", WRITE)
            assert await session.ask("go") == "seen"
            assert isinstance(model, RecordingModel)
            assert [each["role"] for each in model.requests[0].messages[1:]] == ["user", "assistant", "tool"]

    run_async(work)


def test_two_sides_share_the_ceiling_of_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each side's own steps begin anew with its turn; the exchange's do not."""
    monkeypatch.setattr(exchange, "MAX_STEPS", 5)
    model = MultiAgentModel(buyer=[LOOK, "ten?", LOOK, "twelve?"], seller=[LOOK, "fifteen", LOOK, "deal"])
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, app=two_sided_app(), model=model) as (runtime, _):
            await send_prompt(await runtime.start(), "trade", seen)

    run_async(work)
    assert (seen.last_end.ending, seen.last_end.text) == (Ending.STEPS, "step limit reached: 5 steps")
    assert len(model.requests) == 5


def test_what_one_of_two_sides_queues_is_its_own(tmp_path: Path) -> None:
    model = MultiAgentModel(buyer=["ten?", "twelve?"], seller=["fifteen", "deal"])
    hook = _hook("turn.end", Queues(1))
    only_b = replace(
        hook,
        when=load_text(
            "hooks: [{id: b, on: turn.end, when: {fact: {execution.side: b}}, then: {log: x}}]", "hookline.yaml"
        )
        .hooks[0]
        .when,
    )

    async def work() -> None:
        async with open_runtime(tmp_path, _book(only_b), app=two_sided_app(max_session_turns=3), model=model) as (
            runtime,
            _,
        ):
            await send_prompt(await runtime.start(), "trade")

    run_async(work)
    assert [each["role"] for each in model.requests_to("seller")[1].messages] == [
        "system",
        "user",
        "user",
        "assistant",
        "assistant",
        "tool",
    ]
    assert [each["role"] for each in model.requests_to("buyer")[1].messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "user",
    ]


def test_a_stop_is_denied_five_times_at_most_whatever_the_agent_does_between(tmp_path: Path) -> None:
    hooks = "hooks: [{id: more, on: stop, then: {deny: run the tests}}]"
    steps = [step for n in range(20) for step in (f"answer {n}", LOOK)]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "answer 5"

    run_async(work)


def test_a_hook_knows_that_a_stop_was_denied_before_even_if_tools_ran_since(tmp_path: Path) -> None:
    hooks = "hooks: [{id: once, on: stop, when: {fact: {stop.active: false}}, then: {deny: run the tests}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one", LOOK, "two", LOOK, "three"]) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "two"

    run_async(work)


@pytest.mark.parametrize("again", [True, False], ids=["in another process", "in the same one"])
def test_two_ais_that_were_cut_off_go_on_with_the_one_whose_turn_it_was(tmp_path: Path, again: bool) -> None:
    store, app = f"sqlite:///{tmp_path / 'sessions.db'}", two_sided_app(max_session_turns=4)
    model = MultiAgentModel(
        buyer=["ten?", "twelve?"], seller=[ScriptStep(say="never", delay=timedelta(seconds=60)), "deal"]
    )

    async def cut_off(session: AgentSession) -> None:
        async for happening in session.say("trade"):
            if isinstance(happening, DecisionMade) and happening.decision.event.facts["execution"]["side"] == "b":
                session.cancel()

    async def going_on(session: AgentSession) -> None:
        assert await session.is_unfinished()
        flow = session.main.progress.flow
        seen = UpdateRecorder()
        async for happening in session.go_on():
            seen(happening)
        assert seen.last_end.ending is Ending.STEPS
        spoken = [(each.get("side"), each["content"]) for each in await session.main.history()]
        assert spoken[:4] == [(None, "trade"), ("a", "ten?"), ("b", "deal"), ("a", "twelve?")]
        assert session.main.progress.flow == flow
        assert not await session.is_unfinished()

    async def work() -> None:
        hooks = "hooks: [{id: s, on: turn.start, then: {log: x}}]"
        async with open_runtime(tmp_path, hooks, app=app, model=model, store=store) as (runtime, _):
            session = await runtime.start()
            await cut_off(session)
            if not again:
                await going_on(session)
        if again:
            async with open_runtime(tmp_path, hooks, app=app, model=model, store=store) as (runtime, _):
                await going_on(await runtime.resume(session.id))

    run_async(work)


def test_whoever_goes_on_is_in_the_same_flow(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [LOOK, ScriptStep(say="never", delay=timedelta(seconds=60)), "done"]
        async with open_runtime(tmp_path, "hooks: [{id: s, on: turn.start, then: {log: x}}]", steps) as (runtime, _):
            session, seen = await runtime.start(), UpdateRecorder()
            async for happening in session.say("go"):
                seen(happening)
                if seen.events.count("turn.start") == 2:
                    session.cancel()
            async for happening in session.go_on():
                seen(happening)
            about = [each.decision.event.facts for each in seen.of_type(DecisionMade)]
            assert len({each["execution"]["flow"] for each in about}) == 1
            assert [each["execution"]["step"] for each in about] == [1, 2, 3]
            assert [each["prompt"] for each in about] == ["go"] * 3

    run_async(work)


@pytest.mark.parametrize(
    ("on", "steps", "ending"),
    [
        ("stop", ["one"], Ending.ANSWERED),
        ("prompt.submit", ["one"], Ending.REFUSED),
        ("model.error", [ScriptStep(error=ErrorCode.AUTH, message="no key")], Ending.FAILED),
    ],
)
def test_what_hooks_counted_is_kept_however_an_exchange_ends(
    tmp_path: Path, on: str, steps: list[Any], ending: Ending
) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"
    then = "{deny: no}" if on == "prompt.submit" else "{log: x}"
    hooks = f"hooks: [{{id: once, on: {on}, max_fires: 1, then: {then}}}]"

    async def fired(id: str | None) -> tuple[str, list[str]]:
        async with open_runtime(tmp_path, hooks, steps, store=store) as (runtime, _):
            session = await (runtime.start() if id is None else runtime.resume(id))
            seen = await send_prompt(session, "go")
            assert id is not None or seen.last_end.ending is ending
            return session.id, seen.events

    async def work() -> None:
        id, first = await fired(None)
        _, second = await fired(id)
        assert (first, second) == ([on], [])

    run_async(work)


def test_a_sub_agent_whose_task_is_not_stored_has_an_end_as_any_other(tmp_path: Path) -> None:
    model = MultiAgentModel(boss=[SPAWN, "fine"], reviewer=["never"])
    hooks = "hooks: [{id: no, on: message.create, when: {fact: {message.depth: 1}}, then: {deny: not that task}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, app=APP, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [(each.agent, each.ending, each.text) for each in seen.of_type(ExchangeEnded)] == [
                ("reviewer", Ending.FAILED, "not that task (hook no, hookline.yaml:1)"),
                ("boss", Ending.ANSWERED, "fine"),
            ]

    run_async(work)


def test_a_hook_that_stops_the_agent_at_a_summary_stops_it(tmp_path: Path) -> None:
    hooks = (
        "hooks: [{id: shorter, on: prompt.submit, when: {prompt: second}, then: {compact: {keep_recent: 1, strategy: truncate}}}, "
        "{id: halt, on: message.create, when: {fact: {message.content: '^\\[2 earlier'}}, then: {halt: not without me}}]"
    )

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one", "two"]) as (runtime, _):
            session = await runtime.start()
            await session.ask("first")
            ended = (await send_prompt(session, "second")).last_end
            assert (ended.ending, ended.text) == (Ending.HALTED, "not without me (hook halt, hookline.yaml:1)")

    run_async(work)


def test_of_two_ais_the_first_one_begins_after_a_prompt_that_was_cut_off(tmp_path: Path) -> None:
    store, app = f"sqlite:///{tmp_path / 'sessions.db'}", two_sided_app(max_session_turns=2)
    hooks = "hooks: [{id: s, on: turn.start, then: {log: x}}]"

    async def work() -> None:
        model = MultiAgentModel(buyer=["one", ScriptStep(say="never", delay=timedelta(seconds=60))], seller=["two"])
        async with open_runtime(tmp_path, hooks, app=app, model=model, store=store) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "trade")
            async for happening in session.say("again"):
                if isinstance(happening, DecisionMade):
                    session.cancel()
        model = MultiAgentModel(buyer=["three"], seller=["four"])
        async with open_runtime(tmp_path, hooks, app=app, model=model, store=store) as (runtime, _):
            session = await runtime.resume(session.id)
            async for _ in session.go_on():
                pass
            spoken = [(each.get("side"), each["content"]) for each in await session.main.history()]
            assert spoken[3:] == [(None, "again"), ("a", "three"), ("b", "four")]

    run_async(work)


def test_calls_of_a_turn_that_was_cancelled_are_counted_in_a_resumed_session(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"
    steps = [tool_call_step(("bash", {"command": "true"}), ("bash", {"command": "sleep 60"}))]

    async def work() -> None:
        async with open_runtime(tmp_path, "", steps, store=store) as (runtime, _):
            session = await runtime.start()
            async for happening in session.say("go"):
                if isinstance(happening, ToolCallStarted) and happening.call.input["command"] != "true":
                    session.cancel()
        async with open_runtime(tmp_path, "", [], store=store) as (runtime, _):
            assert (await runtime.resume(session.id)).tool_calls == 1

    run_async(work)
