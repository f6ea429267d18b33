"""A session's life: its first and last events each time that it begins, what it takes, in its own place."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.errors import Denied, HooklineError
from hookline.hooks.host import SystemClock
from hookline.project import load_text
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.storage.store import file_url
from hookline.runtime.updates import DecisionMade, Ending, ExchangeEnded, StatusMessage, ToolCallStarted
from runtime.multi_agent_apps import SPAWN, MultiAgentModel, make_named_agent
from runtime.scripted_runtime import UpdateRecorder, make_agent, open_runtime, run_async, send_prompt, tool_call_step

SEE = "hooks: [{id: s, on: session.start, then: {log: x}}, {id: e, on: session.end, then: {log: x}}]"


def test_a_session_that_begins_again_has_its_first_events_again(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, SEE, ["one", "two"], watch=seen) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "a")
            await session.end()
            again = await runtime.reopen(session.id)
            await send_prompt(again, "b")
            await again.end()

    run_async(work)
    assert seen.events == ["session.start", "session.end"] * 2


@pytest.mark.parametrize("on", ["session.start", "agent.start"])
def test_a_session_that_begins_again_may_have_to_begin_with_less(tmp_path: Path, on: str) -> None:
    hooks = f"hooks: [{{id: less, on: {on}, then: {{compact: {{keep_recent: 1, strategy: truncate}}}}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one", "two", "three"]) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "a")
            await send_prompt(session, "b")
            await session.end()
            again = await runtime.reopen(session.id)
            assert [each["content"] for each in await again.main.history()] == [
                "[3 earlier messages were removed from this conversation.]",
                "two",
            ]
            assert await again.ask("c") == "three"

    run_async(work)


def test_hooks_that_stop_the_agent_as_it_begins_again_keep_it_from_that(tmp_path: Path) -> None:
    hooks = """
    hooks:
      - {id: less, on: agent.start, then: {compact: {keep_recent: 1, strategy: truncate}}}
      - {id: no, on: history.compact, then: {halt: closed}}
    """

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one"]) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "a")
            await session.end()
            with pytest.raises(Denied, match="closed"):
                await runtime.reopen(session.id)

    run_async(work)


def test_an_agent_that_may_not_start_may_not_go_on_either(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"
    no = "hooks: [{id: no, on: agent.start, then: {deny: closed}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            session = await runtime.start()
            await session.end()
        async with open_runtime(tmp_path, no, store=store) as (runtime, _):
            with pytest.raises(Denied, match="closed"):
                await runtime.reopen(session.id)
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.ended == "exit"

    run_async(work)


def test_a_session_is_resumed_where_it_belongs(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()

    async def work() -> None:
        async with open_runtime(here, store=store) as (runtime, _):
            session = await runtime.start()
        async with open_runtime(there, store=store) as (runtime, _):
            with pytest.raises(HooklineError, match="belongs to"):
                await runtime.resume(session.id)

    run_async(work)


def test_a_hook_is_not_taken_away_unseen(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, SEE, ["one", "two"], watch=seen) as (runtime, _):
            session = await runtime.start()
            runtime._book = load_text("hooks: []", "hookline.yaml")
            await send_prompt(session, "a")

    run_async(work)
    assert "no longer active: s, e" in [each.text for each in seen.of_type(StatusMessage)]


def test_a_question_that_expired_is_stored_as_a_no(tmp_path: Path) -> None:

    ask = "hooks: [{id: q, on: tool.before, then: {ask: 'Really?'}}]"

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "true"})), "ok"]
        async with open_runtime(tmp_path, ask, steps, patience=timedelta(milliseconds=30)) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            assert await runtime.store.waiting_approvals(session.id) == []

    run_async(work)


def test_a_session_takes_only_so_many_prompts(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"
    app = App((make_agent(max_session_turns=2),))
    hooks = "hooks: [{id: no, on: prompt.submit, when: {prompt: bad}, then: {deny: not that}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one"], app=app, store=store) as (runtime, _):
            session = await runtime.start()
            assert (await send_prompt(session, "bad")).last_end.ending is Ending.REFUSED  # it counts for nothing
            assert await session.ask("go") == "one"
        async with open_runtime(tmp_path, hooks, ["two", "three"], app=app, store=store) as (runtime, model):
            session = await runtime.resume(session.id)
            assert await session.ask("more") == "two"
            ended = (await send_prompt(session, "and more")).last_end
            assert (ended.ending, ended.text) == (Ending.STEPS, "prompt limit reached: this session allows 2 prompts")
            with pytest.raises(HooklineError, match="2 prompts"):
                await session.ask("please")
            assert len(model.requests) == 1
            assert [each["content"] for each in await session.main.history()] == ["go", "one", "more", "two"]
            assert await (await runtime.start()).ask("anew") == "three"

    run_async(work)


def test_what_an_agent_without_steps_says_is_no_answer(tmp_path: Path) -> None:
    steps = [tool_call_step(("list_directory", {"path": "."}))] * 3
    limited = Agent("helper", AgentSide(Prompt("main", "You are a helper."), max_steps=2))

    async def work() -> None:
        async with open_runtime(tmp_path, "", steps, app=App((limited,))) as (runtime, _):
            with pytest.raises(HooklineError, match="step limit reached: 2 steps"):
                await (await runtime.start()).ask("go")

    run_async(work)


ENDS = """
hooks:
  - {id: end, on: session.end, then: {log: over}}
  - {id: late, on: session.end, then: {run: sleep 0.3; echo drained >> drained}, background: true}
"""


@pytest.mark.parametrize(
    ("key", "ending"), [("session_stop", Ending.SESSION_STOP), ("session_fail", Ending.SESSION_FAIL)]
)
def test_a_tool_that_ends_the_session_ends_it(tmp_path: Path, key: str, ending: Ending) -> None:
    app = App((Agent("helper", AgentSide(Prompt("main"), **{key: "bash"})),))
    hooks = "hooks: [{id: s, on: [turn.end, stop, agent.end, session.end], then: {log: x}}]"
    steps = [
        tool_call_step(("bash", {"command": "false"})),
        tool_call_step(("bash", {"command": "echo over"})),
        "never",
    ]
    all_of_it = UpdateRecorder()

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps, app=app, watch=all_of_it) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert isinstance(seen.happenings[-1], ExchangeEnded)
            assert (seen.last_end.ending, seen.last_end.text) == (ending, "over")
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.ended == key
            assert session.id not in runtime.sessions
            with pytest.raises(HooklineError, match=f"has ended \\({key}\\)"):
                await session.ask("and now?")

    run_async(work)
    assert all_of_it.events == ["turn.end", "turn.end", "agent.end", "session.end"]
    assert all_of_it.of_type(DecisionMade)[-1].decision.event.facts["session"]["reason"] == key


def test_a_sub_agents_tool_does_not_end_the_session_of_others(tmp_path: Path) -> None:
    app = App((make_named_agent("boss"), make_named_agent("reviewer", session_stop="bash")))
    model = MultiAgentModel(boss=[SPAWN, "fine", "more"], reviewer=[tool_call_step(("bash", {"command": "echo over"}))])

    async def work() -> None:
        async with open_runtime(tmp_path, app=app, model=model) as (runtime, _):
            session = await runtime.start()
            assert await session.ask("go") == "fine"
            assert await session.ask("on") == "more"

    run_async(work)


def test_a_session_that_nobody_uses_ends_by_itself_once(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        idle = timedelta(milliseconds=300)
        async with open_runtime(tmp_path, ENDS, ["one"], watch=seen, idle=idle) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            while runtime.sessions:  # noqa: ASYNC110 (nobody says when)
                await asyncio.sleep(0.05)
            await asyncio.gather(runtime.expire(), session.end())
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.ended == "idle"

    run_async(work)
    assert seen.events.count("session.end") == 1
    assert (tmp_path / "drained").read_text() == "drained\n"


class Later(SystemClock):
    ahead = 0.0

    def wall(self) -> float:
        return super().wall() + self.ahead


def test_a_session_that_was_resumed_has_just_been_used(tmp_path: Path) -> None:
    store, clock = file_url(tmp_path / "sessions.db"), Later()

    async def work() -> None:
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            session = await runtime.start()
        clock.ahead = 24 * 3600
        async with open_runtime(tmp_path, store=store, clock=clock) as (runtime, _):
            again = await runtime.resume(session.id)
            await runtime.expire()
            assert list(runtime.sessions.values()) == [again]
            clock.ahead += 3600
            await runtime.expire()
            assert not runtime.sessions

    run_async(work)


def test_a_session_has_just_been_used_when_a_long_exchange_ends(tmp_path: Path) -> None:
    clock = Later()

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "sleep 30"})), "ok"]
        async with open_runtime(tmp_path, "", steps, clock=clock) as (runtime, _):
            session = await runtime.start()
            async for happening in session.say("go"):
                if isinstance(happening, ToolCallStarted):
                    clock.ahead = 24 * 3600
                    session.cancel()
            await runtime.expire()
            assert list(runtime.sessions.values()) == [session]

    run_async(work)


class Booted(SystemClock):
    """A machine that was started a while ago."""

    def __init__(self, seconds: float, ahead: float = 0) -> None:
        self.began, self.ahead = super().now() - seconds, ahead

    def now(self) -> float:
        return super().now() - self.began + self.ahead

    def wall(self) -> float:
        return super().wall() + self.ahead


@pytest.mark.parametrize(("up_before", "up_after"), [(1_000_000.0, 10.0), (10.0, 1_000_000.0)])
def test_a_pause_of_a_hook_outlasts_a_restart_of_the_machine(tmp_path: Path, up_before: float, up_after: float) -> None:
    store = file_url(tmp_path / "sessions.db")
    hooks = "hooks: [{id: paused, on: prompt.submit, then: {log: fired}, cooldown: 60s}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, store=store, clock=Booted(up_before)) as (runtime, _):
            session = await runtime.start()
            assert (await send_prompt(session, "one")).events == ["prompt.submit"]
        clock = Booted(up_after)
        async with open_runtime(tmp_path, hooks, ["two", "three"], store=store, clock=clock) as (runtime, _):
            again = await runtime.resume(session.id)
            assert (await send_prompt(again, "two")).events == []
            clock.ahead = 90
            assert (await send_prompt(again, "three")).events == ["prompt.submit"]

    run_async(work)


def test_a_session_that_is_deleted_while_it_is_used_leaves_nothing(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "touch begun; exec sleep 30.8"})), "never"]
        async with open_runtime(tmp_path, SEE, steps, watch=seen) as (runtime, _):
            session = await runtime.start()
            talk = asyncio.ensure_future(send_prompt(session, "go"))
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 (nobody says when)
                await asyncio.sleep(0.02)
            await runtime.delete(session.id)
            ended = (await talk).last_end
            assert (ended.ending, ended.text) == (Ending.CANCELLED, "deleted")
            assert await runtime.store.session(session.id) is None
            assert await runtime.store.threads(session.id) == []
            assert not runtime.sessions
            with pytest.raises(HooklineError, match=r"has ended \(deleted\)"):
                await send_prompt(session, "more")

    run_async(work)
    assert seen.events == ["session.start", "session.end"]
