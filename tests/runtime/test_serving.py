"""A trigger that fires starts a session of its own, if hooks let it."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path

from hookline.runtime.app import App, Trigger, TriggerKind
from hookline.runtime.happenings import Ended, Ending
from hookline.runtime.serving import Serving
from hookline.runtime.triggers.fired import Answer, Fired
from runtime.agents import Listening, Seen, agent, play, running

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
    seen = Seen()

    async def work() -> None:
        app = App((agent(),), triggers=(DEPLOY,))
        done: asyncio.Queue[object] = asyncio.Queue()
        async with (
            running(tmp_path, LOG, ["Deployed."], app=app, watch=seen, unattended=True) as (runtime, model),
            Serving(runtime, done=lambda fired, how: done.put_nowait(how)) as serving,
        ):
            triggers = serving.triggers
            assert triggers.address
            assert triggers.token
            status, body = await asyncio.to_thread(_post, triggers.address, triggers.token, {"version": "1.2"})
            ended = await done.get()
            assert status == 202
            assert isinstance(ended, Ended)
            assert ended.ending is Ending.ANSWERED
            assert ended.thread == body["session"]
            assert isinstance(model, Listening)
            assert model.requests[0].messages[-1]["content"] == "Deploy 1.2."
            row = await runtime.store.session(body["session"])
            assert row is not None
            assert row.ended == "exit"

    play(work)
    assert [event for event in seen.events if event in EVENTS] == list(EVENTS)


def test_a_denied_activation_is_told_to_whoever_asked_and_starts_no_turn(tmp_path: Path) -> None:
    fired: list[Answer] = []

    async def work() -> None:
        app = App((agent(),), triggers=(DEPLOY,))
        async with (
            running(tmp_path, DENY, ["Deployed."], app=app, unattended=True) as (runtime, model),
            Serving(runtime, fired=lambda _, answer: fired.append(answer)) as serving,
        ):
            triggers = serving.triggers
            assert triggers.address
            assert triggers.token
            status, body = await asyncio.to_thread(_post, triggers.address, triggers.token, {"version": "draft-3"})
            assert (status, body["error"]) == (403, "drafts are not deployed")
            assert isinstance(model, Listening)
            assert not model.requests

    play(work)
    assert [answer.denied for answer in fired] == ["drafts are not deployed"]


def test_a_cron_waits_for_the_end_of_its_turn(tmp_path: Path) -> None:
    async def work() -> None:
        trigger = Trigger("nightly", TriggerKind.CRON, "0 3 * * *", "Clean up.")
        ended: list[object] = []
        async with running(tmp_path, "", ["Clean."], app=App((agent(),), triggers=(trigger,))) as (runtime, _):
            serving = Serving(runtime, done=lambda fired, how: ended.append(how))
            answer = await serving.fire(Fired(trigger, {"id": "nightly"}))
            assert answer.denied is None
            assert len(ended) == 1

    play(work)
