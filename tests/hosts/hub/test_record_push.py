"""What a machine records arrives at a hub elsewhere, once, also if it was away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.hooks.event import Event
from hookline.hosts.hub.hub_file import JoinedHub, write_hub_file
from hookline.hosts.hub.record_push import HEADS_NAME, PushError, push_records
from hookline.hosts.hub.running_hubs import find_hub
from hookline.hub.context.running_hub import Hub
from hookline.hub.store.decision_table import DecisionFilter
from hookline.project import load_text
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory
from hub.hub_process import serve_hub
from hub.hub_sandbox import async_test, eventually

BOOK = load_text(
    "hooks: [{id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}]", "hookline.yaml"
)


async def record(state: Path, *commands: str) -> None:
    recorder = Recorder(record_directory(state))
    for command in commands:
        await recorder.decide(BOOK, Event("tool.before", {"tool": {"name": "bash", "input": {"command": command}}}))
    recorder.close()


async def join(hub: Hub, state: Path) -> None:
    key, _ = await hub.access.add_key("a machine")
    write_hub_file(state, JoinedHub(hub.config.url, key, reports=True))


async def taken(hub: Hub) -> list[str]:
    found = await hub.decisions.latest(DecisionFilter(), 100)
    return [each["facts"]["tool"]["input"]["command"] for each in reversed(found)]


@async_test
async def test_everything_is_sent_once_with_the_texts_of_the_hooks(tmp_path: Path) -> None:
    state = tmp_path / "other"
    async with serve_hub(tmp_path) as (hub, _):
        await join(hub, state)
        await record(state, "ls", "rm x")
        assert await push_records(state, once=True) == 3  # and the start of the process
        assert await taken(hub) == ["ls", "rm x"]
        denied = (await hub.decisions.latest(DecisionFilter(verdict="deny"), 1))[0]
        assert [hook.id for hook in (await hub.hooks.then(denied)).hooks] == ["no-rm"]
        assert await push_records(state, once=True) == 0
        await record(state, "pwd")
        (state / HEADS_NAME).unlink()  # sent again, which the hub knows
        await push_records(state, once=True)
        assert await taken(hub) == ["ls", "rm x", "pwd"]


@async_test
async def test_what_was_recorded_while_the_hub_was_away_is_sent_later(tmp_path: Path) -> None:
    state = tmp_path / "other"
    async with serve_hub(tmp_path) as (hub, _):
        await join(hub, state)
        port = hub.config.port
    await record(state, "one", "two")
    with pytest.raises(PushError):
        await push_records(state, once=True)
    async with serve_hub(tmp_path, port=port) as (hub, _):
        pushing = asyncio.ensure_future(push_records(state))
        await eventually(lambda: _has_both(hub))
        pushing.cancel()
        await asyncio.wait([pushing])


async def _has_both(hub: Hub) -> bool:
    return await taken(hub) == ["one", "two"]


@async_test
async def test_nothing_is_sent_to_a_hub_on_this_machine_or_without_one(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        await record(tmp_path, "ls")
        known = find_hub(tmp_path)
        assert known is not None
        assert not known.reports
        assert await push_records(tmp_path, once=True) == 0
        assert await push_records(tmp_path / "nobody", once=True) == 0
        assert await taken(hub) == []


@async_test
async def test_a_hash_that_the_hub_names_is_never_a_path(tmp_path: Path) -> None:
    from hookline.hosts.hub.record_push import RecordPusher

    pusher = RecordPusher(tmp_path, JoinedHub("http://127.0.0.1:1", "k"))
    (tmp_path / "secret.json").write_text("secret")
    assert pusher._text_line("../../secret") == b""
    assert pusher._text_line("0" * 64) == b""


@async_test
async def test_the_hub_knows_which_processes_of_the_machine_run(tmp_path: Path) -> None:
    state = tmp_path / "other"
    async with serve_hub(tmp_path) as (hub, _):
        await join(hub, state)
        recorder = Recorder(record_directory(state))
        await recorder.decide(BOOK, Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}}))
        await push_records(state, once=True)
        assert not await _runs(hub)  # nobody would say when it ends
        pushing = asyncio.ensure_future(push_records(state))
        await eventually(lambda: _runs(hub))
        recorder.close()
        await eventually(lambda: _has_ended(hub))
        pushing.cancel()
        await asyncio.wait([pushing])


async def _runs(hub: Hub) -> bool:
    [row] = await hub.origins.all()
    return row.running


async def _has_ended(hub: Hub) -> bool:
    return not await _runs(hub)
