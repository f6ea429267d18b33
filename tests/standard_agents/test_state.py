from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.host import Abort
from hookline.standard_agents.definitions import AgentDefinition, Definitions, NotDefined
from hookline.standard_agents.state import AbortSignal, ExecutionState, ThreadState, result_text
from hookline.testing import ScriptedHost


def make_state(host: ScriptedHost, definitions: Definitions | None = None) -> ThreadState:
    execution = ExecutionState("f", "a", 0, False, AbortSignal(lambda: host.thread("t").abort))
    return ThreadState("t", "support", None, execution, lambda: host.thread("t"), definitions or Definitions())


@pytest.mark.parametrize(
    ("content", "text"), [("as it is", "as it is"), (None, ""), ({"é": [1, 2]}, '{"é":[1,2]}'), (3, "3")]
)
def test_a_result_is_text_or_compact_json(content: Any, text: str) -> None:
    assert result_text(content) == text


def test_an_injected_message_is_a_copy() -> None:
    state = make_state(ScriptedHost())
    message = {"role": "user", "content": "a", "parts": [1]}

    async def work() -> list[Any]:
        await state.inject_message(message)
        message["parts"].append(2)  # type: ignore[attr-defined]
        return list(await state.get_messages())

    assert [each["parts"] for each in asyncio.run(work())] == [[1]]


def test_the_last_messages_before_an_offset_are_returned() -> None:
    state = make_state(ScriptedHost())

    async def work() -> list[Any]:
        for text in "abcd":
            await state.inject_message({"role": "user", "content": text})
        return [each["content"] for each in await state.get_messages(2, 1)]

    assert asyncio.run(work()) == ["b", "c"]


def test_text_is_stored_as_bytes() -> None:
    state = make_state(ScriptedHost())

    async def work() -> tuple[bytes | None, list[str]]:
        await state.write_file("notes/a.txt", "é", "text/plain")
        return await state.read_file("notes/a.txt"), [each["path"] for each in await state.list_files("notes")]

    assert asyncio.run(work()) == ("é".encode(), ["notes/a.txt"])


def test_definitions_are_loaded_by_name() -> None:
    definitions = Definitions()
    definitions.add(AgentDefinition("support"))
    state = make_state(ScriptedHost(), definitions)
    assert asyncio.run(state.load_agent("support")).name == "support"
    with pytest.raises(NotDefined):
        asyncio.run(state.load_prompt("support"))


def test_the_signal_follows_the_host() -> None:
    abort = Abort()
    signal = AbortSignal(lambda: abort)
    assert (signal.aborted, signal.reason) == (False, None)
    abort.abort("over")
    assert (signal.aborted, signal.reason) == (True, "over")


def test_a_host_without_threads_never_aborts() -> None:
    def unavailable() -> Abort:
        raise UnavailableError("no threads")

    signal = AbortSignal(unavailable)
    assert (signal.aborted, signal.reason) == (False, None)
