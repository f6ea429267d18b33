"""Hooks in Python that act on the thread they are called for, in a real run."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.standard_agents import hooks_of
from hookline.engine.book import Book, Layer
from hookline.errors import HooklineError
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.updates import Ending, ExchangeEnded, ToolCallFinished
from hookline.standard_agents import (
    Definitions,
    ThreadState,
    collecting,
    define_agent,
    define_hook,
    define_prompt,
    define_tool,
)
from runtime.scripted_runtime import UpdateRecorder, make_agent, open_runtime, run_async, send_prompt, tool_call_step


@contextmanager
def define_for_agent(**agent_hooks: Any) -> Iterator[Definitions]:
    """Hooks that are defined inside are those of the agent `helper`."""
    with collecting() as definitions:
        yield definitions
        define_agent(name="helper", hooks=[*definitions.hooks], **agent_hooks)


def run_defined(
    workspace: Path, definitions: Definitions, steps: list[ScriptStep | str], work: Callable[..., Any], **options: Any
) -> None:
    app = replace(options.pop("app", App((make_agent(),))), definitions=definitions)
    book = options.pop("book", None) or Book([Layer("defined", hooks_of(definitions).hooks)])

    async def ran() -> None:
        async with open_runtime(workspace, book, steps, app=app, **options) as (runtime, model):
            await work(runtime, model)

    run_async(ran)


def test_a_hook_reads_and_writes_its_thread_and_calls_tools(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}
    with define_for_agent() as definitions:

        @define_hook(hook="after_tool_call_success", id="busy")
        async def busy(state: ThreadState, call: Any, result: Any) -> None:
            if call["function"]["name"] != "list_directory":  # it hears of the call that it queues as well
                return
            kept["messages"] = [each["role"] for each in await state.get_messages()]
            kept["now"] = await state.invoke_tool("bash", {"command": "echo now"})
            kept["refused"] = await state.invoke_tool("bash", {"command": "exit 3"})
            await state.queue_tool("bash", {"command": "touch queued"})
            injected = await state.inject_message({"role": "user", "content": "by a hook"})
            await state.update_message(injected["id"], {"content": "by a hook, corrected"})
            reference = await state.write_file("notes/a.txt", "kept", "text/plain")
            kept["file"] = (reference["path"], await state.read_file("notes/a.txt"))
            kept["files"] = [each["path"] for each in await state.list_files()]

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        seen = await send_prompt(session, "go")
        kept["called"] = [(each.call.name, each.call.caller) for each in seen.of_type(ToolCallFinished)]
        kept["stored"] = [each["content"] for each in await session.main.get_messages()]
        kept["caller"] = [row.caller for row in await runtime.store.calls(session.id)]

    run_defined(tmp_path, definitions, [tool_call_step(("list_directory", {"path": "."})), "done"], work)
    assert kept["messages"] == ["user", "assistant"]
    assert kept["now"]["status"] == "success"
    assert "now" in kept["now"]["result"]
    assert kept["refused"]["status"] == "error"
    assert (tmp_path / "queued").exists()
    assert kept["called"][:4] == [("bash", "busy"), ("bash", "busy"), ("list_directory", ""), ("bash", "queue")]
    assert "by a hook, corrected" in kept["stored"]
    assert kept["file"] == ("notes/a.txt", b"kept")
    assert kept["files"] == ["notes/a.txt"]
    assert kept["caller"][:4] == ["", "busy", "busy", "queue"]


def test_a_write_that_a_hook_prevents_is_seen_by_its_caller(tmp_path: Path) -> None:
    with define_for_agent() as definitions:

        @define_hook(hook="before_create_message", id="no_secrets")
        async def no_secrets(state: ThreadState, message: Any) -> Any:
            if "secret" in str(message["content"]):
                raise ValueError("secrets are not stored")
            return message

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        with pytest.raises(HooklineError, match="secrets are not stored"):
            await session.main.inject_message({"role": "user", "content": "a secret"})
        ended = (await send_prompt(session, "tell me the secret")).last_end
        assert (ended.ending, "secrets are not stored" in ended.text) == (Ending.FAILED, True)
        assert await session.main.get_messages() == []
        assert await session.ask("hello") == "done"

    run_defined(tmp_path, definitions, ["done"], work)


def test_attachments_are_stored_and_become_references(tmp_path: Path) -> None:
    seen_by_hook: list[Any] = []
    data = base64.b64encode(b"a picture").decode()
    with define_for_agent() as definitions:

        async def draw(state: ThreadState, args: Any) -> Any:
            file = {"name": "a.png", "mimeType": "image/png", "data": data}
            return {"status": "success", "result": "drawn", "attachments": [file]}

        define_tool(name="draw", description="Draws", execute=draw)

        @define_hook(hook="after_tool_call_success", id="look")
        async def look(state: ThreadState, call: Any, result: Any) -> None:
            seen_by_hook.append(result["attachments"])

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        await send_prompt(session, "go")
        stored = (await session.main.get_messages())[2]
        [reference] = stored["attachments"]
        assert (reference["type"], reference["name"].endswith("a.png"), reference["size"]) == ("file", True, 9)
        assert "data" not in reference
        assert await session.main.read_file(reference["path"]) == b"a picture"

    run_defined(tmp_path, definitions, [tool_call_step(("draw", {})), "done"], work)
    assert seen_by_hook == [[{"name": "a.png", "mimeType": "image/png", "data": data}]]


def test_the_active_prompt_is_looked_up_at_each_call(tmp_path: Path) -> None:
    ran: list[tuple[str, str]] = []
    with collecting() as definitions:
        for id in ("of_the_buyer", "of_the_agent"):

            async def execute(state: ThreadState, text: str, id: str = id) -> None:
                ran.append((id, state.execution.current_side))

            define_hook(hook="after_system_message", id=id, execute=execute)
        define_prompt(name="buyer", prompt="You buy.", hooks=["of_the_buyer"])
        define_prompt(name="seller", prompt="You sell.")
        define_agent(
            name="market",
            type="dual_ai",
            side_a={"prompt": "buyer"},
            side_b={"prompt": "seller"},
            hooks=["of_the_agent"],
        )
    sides = (AgentSide(Prompt("buyer", "You buy.")), AgentSide(Prompt("seller", "You sell.")))
    app = App((Agent("market", *sides, max_session_turns=4),))

    async def work(runtime: Any, model: Any) -> None:
        await send_prompt(await runtime.start(), "trade")

    run_defined(tmp_path, definitions, ["one", "two", "three", "four"], work, app=app)
    assert ran == [("of_the_buyer", "a"), ("of_the_agent", "b")] * 2


def test_who_waits_hears_that_the_session_was_cancelled(tmp_path: Path) -> None:
    heard: list[tuple[bool, str | None]] = []
    waiting = asyncio.Event()
    with define_for_agent() as definitions:

        async def wait(state: ThreadState, args: Any) -> str:
            signal = state.execution.abort_signal
            waiting.set()
            try:
                await asyncio.sleep(30)
            finally:
                heard.append((signal.aborted, signal.reason))
            return "never"

        define_tool(name="wait", description="Waits", execute=wait)

        @define_hook(hook="after_thread_created", id="before")
        async def before(state: ThreadState) -> None:
            heard.append((state.execution.abort_signal.aborted, None))

    async def work(runtime: Any, model: Any) -> None:
        session, seen = await runtime.start(), UpdateRecorder()

        async def cancel() -> None:
            await waiting.wait()
            session.cancel("enough")

        task = asyncio.ensure_future(cancel())
        async for happening in session.say("go"):
            seen(happening)
        await task
        assert [each.ending for each in seen.of_type(ExchangeEnded)] == [Ending.CANCELLED]

    run_defined(tmp_path, definitions, [tool_call_step(("wait", {})), "done"], work)
    assert heard == [(False, None), (True, "enough")]
