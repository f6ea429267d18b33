"""A trigger that fires starts a session of its own, if hooks let it."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.runtime import trigger_sessions
from hookline.runtime.apps.app import App
from hookline.runtime.models.model import CompletionRequest
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hookline.runtime.storage import sqlite
from hookline.runtime.storage.store import file_url
from hookline.runtime.trigger_sessions import TriggerServer
from hookline.runtime.triggers.trigger import Activation, ActivationResult, Trigger, TriggerKind
from hookline.runtime.updates import Ending, ExchangeEnded
from runtime.scripted_runtime import RecordingModel, UpdateRecorder, make_agent, open_runtime, run_async, tool_call_step
from runtime.test_agent_session_store_faults import write_lock

EVENTS = ("session.start", "agent.start", "thread.created", "activation", "prompt.submit", "session.end")
LOG = "hooks:\n" + "".join(f"  - {{id: see-{name}, on: {name}, then: {{log: seen}}}}\n" for name in EVENTS)
DENY = """
hooks:
  - {id: no-drafts, on: activation, when: {fact: {trigger.body.version: '^draft'}}, then: {deny: drafts are not deployed}}
"""
DEPLOY = Trigger("deploy", TriggerKind.HTTP, "/deploy", "Deploy {{trigger.body.version}}.")


def _post(address: str, token: str, body: object) -> tuple[int, dict[str, str]]:
    request = urllib.request.Request(
        f"{address}/deploy",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_request_starts_a_session_and_activation_comes_before_its_prompt(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        app = App((make_agent(),), triggers=(DEPLOY,))
        done: asyncio.Queue[object] = asyncio.Queue()
        async with (
            open_runtime(tmp_path, LOG, ["Deployed."], app=app, watch=seen, unattended=True) as (runtime, model),
            TriggerServer(runtime, on_done=lambda fired, how: done.put_nowait(how)) as serving,
        ):
            triggers = serving.triggers
            assert triggers.address
            assert triggers.token
            status, body = await asyncio.to_thread(_post, triggers.address, triggers.token, {"version": "1.2"})
            ended = await done.get()
            assert status == 202
            assert isinstance(ended, ExchangeEnded)
            assert ended.ending is Ending.ANSWERED
            assert ended.thread == body["session"]
            assert isinstance(model, RecordingModel)
            assert model.requests[0].messages[-1]["content"] == "Deploy 1.2."
            row = await runtime.store.session(body["session"])
            assert row is not None
            assert row.ended == "exit"

    run_async(work)
    assert [event for event in seen.events if event in EVENTS] == list(EVENTS)


def test_a_denied_activation_is_told_to_whoever_asked_and_starts_no_turn(tmp_path: Path) -> None:
    fired: list[ActivationResult] = []

    async def work() -> None:
        app = App((make_agent(),), triggers=(DEPLOY,))
        async with (
            open_runtime(tmp_path, DENY, ["Deployed."], app=app, unattended=True) as (runtime, model),
            TriggerServer(runtime, on_fired=lambda _, answer: fired.append(answer)) as serving,
        ):
            triggers = serving.triggers
            assert triggers.address
            assert triggers.token
            status, body = await asyncio.to_thread(_post, triggers.address, triggers.token, {"version": "draft-3"})
            assert (status, body["error"]) == (403, "drafts are not deployed (hook no-drafts, hookline.yaml:3)")
            assert isinstance(model, RecordingModel)
            assert not model.requests

    run_async(work)
    assert [answer.denied for answer in fired] == ["drafts are not deployed (hook no-drafts, hookline.yaml:3)"]


def test_hooks_see_the_prompt_among_the_messages_of_an_activation(tmp_path: Path) -> None:
    gate = {"type": "gate", "reason": "No drafts."}
    hook = {
        "id": "x",
        "on": "activation",
        "condition": {"type": "content_contains", "keyword": "DRAFT"},
        "action": gate,
    }
    hooks = json.dumps({"runtime": {"hooks": [hook]}})

    async def work() -> None:
        app = App((make_agent(),), triggers=(DEPLOY,))
        async with open_runtime(tmp_path, hooks, ["Deployed."], app=app, file="digitorn.yaml") as (runtime, _):
            serving = TriggerServer(runtime)
            answer = await serving.fire(Activation(DEPLOY, {"id": "deploy", "body": {"version": "draft-3"}}))
            assert answer.denied is not None
            assert answer.denied.startswith("No drafts.")

    run_async(work)


def test_what_hooks_inject_at_an_activation_stands_where_its_strategy_says(tmp_path: Path) -> None:
    strategies = ("auto", "system", "new_message")
    hooks = [
        {
            "id": each,
            "on": "activation",
            "action": {"type": "inject_message", "strategy": each, "content": each.upper()},
        }
        for each in strategies
    ]

    async def work() -> None:
        app, text = App((make_agent(),), triggers=(DEPLOY,)), json.dumps({"runtime": {"hooks": hooks}})
        async with open_runtime(tmp_path, text, ["Deployed."], app=app, file="digitorn.yaml") as (runtime, model):
            done: asyncio.Queue[object] = asyncio.Queue()
            serving = TriggerServer(runtime, on_done=lambda fired, how: done.put_nowait(how))
            await serving.fire(Activation(DEPLOY, {"id": "deploy", "body": {"version": "1.2"}}))
            await done.get()
            assert isinstance(model, RecordingModel)
            system, *others = [str(message["content"]) for message in model.requests[0].messages]
            assert system.endswith("SYSTEM")
            assert others == ["NEW_MESSAGE", "Deploy 1.2.\n\nAUTO"]

    run_async(work)


def test_a_cron_waits_for_the_end_of_its_turn(tmp_path: Path) -> None:
    async def work() -> None:
        trigger = Trigger("nightly", TriggerKind.CRON, "0 3 * * *", "Clean up.")
        ended: list[object] = []
        async with open_runtime(tmp_path, "", ["Clean."], app=App((make_agent(),), triggers=(trigger,))) as (
            runtime,
            _,
        ):
            serving = TriggerServer(runtime, on_done=lambda fired, how: ended.append(how))
            answer = await serving.fire(Activation(trigger, {"id": "nightly"}))
            assert answer.denied is None
            assert len(ended) == 1

    run_async(work)


def test_requests_at_once_have_sessions_of_their_own(tmp_path: Path) -> None:
    async def work() -> None:
        done: list[Activation] = []
        async with (
            open_runtime(tmp_path, "", ["Deployed."] * 30, app=App((make_agent(),), triggers=(DEPLOY,))) as (
                runtime,
                model,
            ),
            TriggerServer(runtime, on_done=lambda fired, how: done.append(fired)) as serving,
        ):
            address, token = serving.triggers.address or "", serving.triggers.token or ""
            asked = (asyncio.to_thread(_post, address, token, {"version": number}) for number in range(30))
            answers = await asyncio.gather(*asked)
            assert [status for status, _ in answers] == [202] * 30
            assert len({body["session"] for _, body in answers}) == 30
            while len(done) < 30:  # noqa: ASYNC110 (nobody says when)
                await asyncio.sleep(0.02)
            assert isinstance(model, RecordingModel)
            prompts = {str(request.messages[-1]["content"]) for request in model.requests}
            assert prompts == {f"Deploy {number}." for number in range(30)}
            assert not runtime.sessions

    run_async(work)


def test_only_so_many_turns_of_requests_go_on_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger_sessions, "MAX_TURNS", 2)

    async def work() -> None:
        ended: list[object] = []
        app = App((make_agent(),), triggers=(DEPLOY,))
        model = ByPrompt(tool_call_step(("bash", {"command": "until test -e go; do sleep 0.02; done"})), "Deployed.")
        async with (
            open_runtime(tmp_path, "", app=app, model=model) as (runtime, _),
            TriggerServer(runtime, on_done=lambda fired, how: ended.append(how)) as serving,
        ):
            address, token = serving.triggers.address or "", serving.triggers.token or ""
            for _ in range(2):
                assert (await asyncio.to_thread(_post, address, token, {"version": "1"}))[0] == 202
            refused, _ = await asyncio.to_thread(_post, address, token, {"version": "1"})
            assert refused == 503
            (tmp_path / "go").touch()
            while len(ended) < 2:  # noqa: ASYNC110 (nobody says when)
                await asyncio.sleep(0.02)
            assert (await asyncio.to_thread(_post, address, token, {"version": "1"}))[0] == 202
            assert len(await runtime.store.sessions()) == 3

    run_async(work)


def test_a_turn_whose_session_cannot_be_ended_is_told_of_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_LOCK_SECONDS", 0.3)

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "until test -e go; do sleep 0.02; done"})), "Deployed."]
        ended: asyncio.Queue[ExchangeEnded | HooklineError] = asyncio.Queue()
        app, store = App((make_agent(),), triggers=(DEPLOY,)), tmp_path / "store.db"
        async with (
            open_runtime(tmp_path, "", steps, app=app, store=file_url(store)) as (runtime, _),
            TriggerServer(runtime, on_done=lambda fired, how: ended.put_nowait(how)) as serving,
        ):
            address, token = serving.triggers.address or "", serving.triggers.token or ""
            await asyncio.to_thread(_post, address, token, {"version": "1"})
            while not await runtime.store.calls(next(iter(runtime.sessions))):  # noqa: ASYNC110 (nobody says when)
                await asyncio.sleep(0.02)
            with write_lock(store):
                (tmp_path / "go").touch()
                how = await ended.get()
            assert "is locked by another program" in (how.text if isinstance(how, ExchangeEnded) else str(how))
            assert not runtime.sessions

    run_async(work)


class ByPrompt(RecordingModel):
    """The first step as long as a request has no result of a tool, then the other."""

    def __init__(self, first: ScriptStep, then: str) -> None:
        super().__init__([])
        self._steps_of = {False: first, True: ScriptStep(say=then)}

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Any]:
        answered = any(message["role"] == "tool" for message in request.messages)
        async for piece in ScriptedModel([self._steps_of[answered]]).stream(request):
            yield piece
