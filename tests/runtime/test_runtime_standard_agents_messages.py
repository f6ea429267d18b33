"""What hooks in Python may store: their messages are checked and pass the hooks, like every other."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.standard_agents import hooks_of
from hookline.engine.book import Book, Layer
from hookline.errors import HooklineError
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.updates import Ending
from hookline.standard_agents import ThreadState, collecting, define_agent, define_hook, define_tool
from runtime.scripted_runtime import send_prompt, tool_call_step
from runtime.test_runtime_standard_agents_hooks import define_for_agent, run_defined

WRONG = [
    {"role": "robot"},
    {"role": None},
    {"content": 42},
    {"content": ["a"]},
    {"content": {"text": "a"}},
    {"name": 3},
    {"tool_calls": [{"id": "x"}]},
    {"tool_call_id": 7},
    {"created_at": "now"},
    {"created_at": float("nan")},
    {"created_at": float("inf")},
    {"depth": True},
    {"id": 5},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_malformed_message_of_a_hook_is_neither_stored_nor_sent(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with define_for_agent() as definitions:

        @define_hook(hook="before_create_message", id="spoil")
        async def spoil(state: ThreadState, message: Any) -> Any:
            return {**message, **wrong}

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        ended = (await send_prompt(session, "go")).last_end
        assert (ended.ending, "spoil" in ended.text) == (Ending.FAILED, True)
        assert await session.main.get_messages() == []
        assert model.requests == []

    run_defined(tmp_path, definitions, ["done"], work)


@pytest.mark.parametrize("wrong", WRONG)
def test_malformed_messages_are_not_injected_or_updated(tmp_path: Path, wrong: dict[str, Any]) -> None:
    refused: list[str] = []
    with define_for_agent() as definitions:

        @define_hook(hook="after_create_message", id="inject")
        async def inject(state: ThreadState, message: Any) -> None:
            with pytest.raises(HooklineError):
                await state.inject_message({"content": "x", **wrong})
            with pytest.raises(HooklineError):
                await state.update_message(message["id"], wrong)
            refused.append(message["role"])

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        await send_prompt(session, "go")
        assert [each["content"] for each in await session.main.get_messages()] == ["go", "done"]

    run_defined(tmp_path, definitions, ["done"], work)
    assert refused == ["user", "assistant"]


def test_a_malformed_update_of_a_hook_is_not_stored(tmp_path: Path) -> None:
    with define_for_agent() as definitions:

        @define_hook(hook="before_update_message", id="spoil")
        async def spoil(state: ThreadState, id: str, updates: Any) -> Any:
            return {**updates, "role": "robot"}

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        stored = await session.main.inject_message({"content": "old"})
        with pytest.raises(HooklineError, match="spoil"):
            await session.main.update_message(stored["id"], {"content": "new"})
        assert [each["content"] for each in await session.main.get_messages()] == ["old"]

    run_defined(tmp_path, definitions, ["done"], work)


@pytest.mark.parametrize("gone", [("id",), ("created_at",), ("id", "created_at")])
def test_a_message_without_id_or_time_keeps_those_it_had(tmp_path: Path, gone: tuple[str, ...]) -> None:
    seen: list[tuple[str, int]] = []
    began = int(time.time() * 1000)  # milliseconds
    with define_for_agent() as definitions:

        @define_hook(hook="before_create_message", id="rebuild")
        async def rebuild(state: ThreadState, message: Any) -> Any:
            seen.append((message["id"], message["created_at"]))
            return {key: value for key, value in message.items() if key not in gone} | {"metadata": "x"}

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        assert await session.ask("go") == "done"
        messages = await session.main.get_messages()
        assert [each["metadata"] for each in messages] == ["x", "x"]
        assert [(each["id"], each["created_at"]) for each in messages] == seen
        assert all(began <= created_at <= time.time() * 1000 for _, created_at in seen)

    run_defined(tmp_path, definitions, ["done"], work)


def test_a_hook_is_asked_about_the_message_that_it_injects(tmp_path: Path) -> None:
    """A redactor that keeps a copy redacts the copy too, and does not copy the copy."""
    with define_for_agent() as definitions:

        @define_hook(hook="before_create_message", id="redact")
        async def redact(state: ThreadState, message: Any) -> Any:
            await state.inject_message({"role": "system", "content": f"copy of {message['content']}"})
            return {**message, "content": message["content"].replace("SECRET", "***")}

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        assert await session.ask("my SECRET") == "done"
        stored = [each["content"] for each in await session.main.get_messages()]
        assert stored == ["copy of my ***", "my ***", "copy of done", "done"]

    run_defined(tmp_path, definitions, ["done"], work)


def test_create_hooks_see_every_message_of_two_ais_and_the_notices_of_the_runtime(tmp_path: Path) -> None:
    seen: list[tuple[str, str, str]] = []
    with collecting() as definitions:

        @define_hook(hook="before_create_message", id="see")
        async def see(state: ThreadState, message: Any) -> Any:
            seen.append((state.execution.current_side, message["role"], message["content"] or ""))
            return message

        async def answer() -> str:
            return "done"

        define_tool(name="offer", description="Offers", execute=answer)
        define_tool(name="settle", description="Settles", execute=answer)
        define_agent(name="market", type="dual_ai", side_a={"prompt": "a"}, side_b={"prompt": "b"}, hooks=["see"])
    buyer = AgentSide(Prompt("a", "You buy."), stop_on_response=False, stop_tool="offer")
    seller = AgentSide(Prompt("b", "You sell."), session_stop="settle")

    async def work(runtime: Any, model: Any) -> None:
        await send_prompt(await runtime.start(), "trade")

    steps = ["Ten?", tool_call_step(("offer", {})), tool_call_step(("settle", {}))]
    run_defined(tmp_path, definitions, steps, work, app=App((Agent("market", buyer, seller),)))
    assert seen == [
        ("a", "user", "trade"),
        *(("a", "assistant", "Ten?"), ("a", "user", "Please continue.")),
        *(("a", "assistant", ""), ("a", "tool", "done")),
        *(("b", "assistant", ""), ("b", "tool", "done")),
    ]


def test_two_hooks_that_inject_for_each_other_come_to_an_end(tmp_path: Path) -> None:
    with define_for_agent() as definitions:
        for id in ("first", "second"):

            async def inject(state: ThreadState, message: Any, id: str = id) -> None:
                await state.inject_message({"role": "system", "content": f"{id} saw {message['content']}"})

            define_hook(hook="after_create_message", id=id, execute=inject)

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        await session.main.inject_message({"content": "a"})
        stored = [each["content"] for each in await session.main.get_messages()]
        assert {"a", "first saw a", "second saw a", "second saw first saw a", "first saw second saw a"} <= set(stored)
        assert len(stored) < 20

    run_defined(tmp_path, definitions, ["done"], work)


def test_update_hooks_run_once_and_in_order(tmp_path: Path) -> None:
    ran: list[str] = []
    with define_for_agent() as definitions:
        for id in ("u1", "u2"):

            async def update(state: ThreadState, message: str, updates: Any, id: str = id) -> Any:
                ran.append(id)
                return {**updates, "content": f"{updates['content']} {id}"}

            define_hook(hook="before_update_message", id=id, execute=update)

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        stored = await session.main.inject_message({"content": "old"})
        assert (await session.main.update_message(stored["id"], {"content": "new"}))["content"] == "new u1 u2"

    run_defined(tmp_path, definitions, ["done"], work)
    assert ran == ["u1", "u2"]


def test_a_hook_that_injects_stores_its_message_once(tmp_path: Path) -> None:
    """A later hook changes the message, and the first is not asked again: it is no guard."""
    with define_for_agent() as definitions:

        @define_hook(hook="before_create_message", id="note")
        async def note(state: ThreadState, message: Any) -> Any:
            if message["role"] == "user":
                await state.inject_message({"role": "system", "content": "noted"})
            return {**message, "seen": True}

        @define_hook(hook="before_create_message", id="shout")
        async def shout(state: ThreadState, message: Any) -> Any:
            return {**message, "content": message["content"].upper()}

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        await session.main.inject_message({"content": "a"})
        assert [each["content"] for each in await session.main.get_messages()] == ["NOTED", "A"]

    run_defined(tmp_path, definitions, ["done"], work)


def test_the_deadline_holds_against_a_hook_that_catches_its_cancellation(tmp_path: Path) -> None:
    with define_for_agent() as definitions:

        @define_hook(hook="before_create_message", id="stubborn")
        async def stubborn(state: ThreadState, message: Any) -> Any:
            until = time.monotonic() + 5
            while time.monotonic() < until:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.5)
            return message

    hooks = [replace(hook, timeout=timedelta(seconds=0.2)) for hook in hooks_of(definitions).hooks]

    async def work(runtime: Any, model: Any) -> None:
        session, began = await runtime.start(), time.monotonic()
        with pytest.raises(HooklineError, match="stubborn did not answer"):
            await session.main.inject_message({"content": "a"})
        assert time.monotonic() - began < 4

    run_defined(tmp_path, definitions, ["done"], work, book=Book([Layer("defined", hooks)]))
