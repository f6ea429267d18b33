"""A shorter history: below its target, each call with its result, and as often as it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.outcome import Compact
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.compaction import compact, messages_to_drop
from hookline.runtime.history import calls_of
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.models.tokens import request_tokens
from hookline.runtime.updates import HistoryCompacted, StatusMessage
from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step

LIMIT = 10_000
LONG = "word " * 500  # about 720 tokens


def message(id: str, role: str, content: str | None, **more: Any) -> dict[str, Any]:
    return {"id": id, "role": role, "content": content, "created_at": 0, **more}


def asks(id: str, *ids: str) -> dict[str, Any]:
    listed = [{"id": each, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for each in ids]
    return message(id, "assistant", None, tool_calls=json.dumps(listed))


def result(id: str, call: str) -> dict[str, Any]:
    return message(id, "tool", LONG, tool_call_id=call)


async def told(session: AgentSession, often: int) -> None:
    for number in range(often):
        await session.main.inject_message({"role": "user", "content": f"{number} {LONG}"})


@pytest.mark.parametrize("strategy", ["truncate", "summarize"])
@pytest.mark.parametrize("asked_before", [True, False])
def test_what_the_model_is_sent_is_below_the_target(tmp_path: Path, strategy: str, asked_before: bool) -> None:
    """With the system prompt, the tools and what stands in the place of what is gone."""
    how = Compact(strategy, keep_recent=1, target_pressure=0.6, summary_max_tokens=700)

    async def work() -> None:
        model = RecordingModel(
            [*(["first"] if asked_before else []), *([LONG] if strategy == "summarize" else []), "last"]
        )
        model.context_limit = LIMIT
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            session = await runtime.start()
            await told(session, 10)
            if asked_before:
                await session.ask("one")
            await told(session, 2)
            assert await compact(session.main, how, "manual")
            assert 0 < session.main.progress.tokens < 0.6 * LIMIT
            await session.ask("two")
            assert 0.4 * LIMIT < request_tokens(model.requests[-1]) < 0.6 * LIMIT + 20

    run_async(work)


def test_below_the_target_nothing_goes() -> None:
    messages = [message(str(number), "user", LONG) for number in range(4)]
    assert messages_to_drop(messages, Compact(keep_recent=0, target_pressure=0.5), LIMIT) == []
    assert messages_to_drop(messages, Compact(keep_recent=0, target_pressure=0.5), LIMIT, more=3000) != []


@pytest.mark.parametrize("keep", range(8))
@pytest.mark.parametrize("target", [None, 0.1, 0.2, 0.3])
def test_no_call_is_parted_from_its_results(keep: int, target: float | None) -> None:
    """Words that a hook put between two results do not part them either."""
    messages = [
        message("1", "user", LONG), asks("2", "a", "b"), result("3", "a"), message("4", "user", "a note"),
        result("5", "b"), message("6", "assistant", LONG), asks("7", "c"), result("8", "c"),
    ]  # fmt: skip
    gone = messages_to_drop(messages, Compact(keep_recent=keep, target_pressure=target), LIMIT)
    assert gone == messages[: len(gone)]
    assert len(gone) <= len(messages) - keep
    for part in (gone, messages[len(gone) :]):
        wanted = {call["id"] for each in part for call in calls_of(each)}
        assert wanted == {each["tool_call_id"] for each in part if each["role"] == "tool"}


def test_a_history_can_be_shortened_as_often_as_it_takes(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path) as (runtime, _):
            session = await runtime.start()
            for _ in range(150):
                await session.main.inject_message({"content": "more"})
                assert await compact(session.main, Compact("truncate", keep_recent=0), "manual")
            assert len(await session.main.history()) == 1

    run_async(work)


def test_what_is_to_be_summarised_fits_the_model(tmp_path: Path) -> None:
    async def work() -> None:
        model = RecordingModel(["THE SUMMARY"])
        model.context_limit = LIMIT
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            session = await runtime.start()
            await told(session, 40)
            assert await compact(session.main, Compact(keep_recent=1), "auto")
            assert request_tokens(model.requests[0]) < LIMIT - 1024
            asked = model.requests[0].messages[0]["content"]
            assert all(f"user: {number} word" in asked for number in range(39))
            assert "THE SUMMARY" in (await session.main.history())[0]["content"]

    run_async(work)


def test_a_model_that_fails_at_it_is_told_in_one_line_and_the_history_is_cut(tmp_path: Path) -> None:
    hooks = "hooks: [{id: c, on: turn.end, then: {compact: {keep_recent: 2}}, max_fires: 1}]"

    async def work() -> None:
        steps = [
            tool_call_step(("bash", {"command": "echo kept"})),
            ScriptStep(error=ErrorCode.CONTEXT_OVERFLOW),
            "fine",
            "more",
        ]
        async with open_runtime(tmp_path, hooks, steps) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert [each.gone for each in seen.of_type(HistoryCompacted)] == [1]
            lines = [each.text for each in seen.of_type(StatusMessage)]
            assert len(lines) == 1
            assert lines[0].startswith("the history could not be summarised, so it was truncated: ")
            assert seen.last_end.text == "fine"
            assert isinstance(model, RecordingModel)
            assert [each["role"] for each in model.requests[-1].messages] == ["system", "user", "assistant", "tool"]

    run_async(work)


def test_what_hooks_told_the_model_is_summarised_too(tmp_path: Path) -> None:
    hooks = "hooks: [{id: n, on: prompt.submit, then: {tell: {text: ANSWER IN FRENCH, to: agent}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["oui", "SUMMARY"]) as (runtime, model):
            session = await runtime.start()
            await session.ask("hello")
            assert await compact(session.main, Compact(keep_recent=0), "manual")
            assert isinstance(model, RecordingModel)
            assert "user: hello ANSWER IN FRENCH\nassistant: oui" in model.requests[-1].messages[0]["content"]

    run_async(work)


def test_what_hooks_keep_from_the_model_is_kept_from_its_summary(tmp_path: Path) -> None:
    hooks = """
hooks:
  - {id: hide, on: history.filter, when: {fact: {messages.0.content: SECRET}}, then: {set: {messages.0.content: gone}}}
  - {id: mask, on: history.request, when: {fact: {request.messages.0.content: card}}, then: {set: {request.messages.0.content: masked}}}
"""

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["SUMMARY"] * 2) as (runtime, model):
            session = await runtime.start()
            assert isinstance(model, RecordingModel)
            await session.main.inject_message({"role": "user", "content": "the SECRET"})
            assert await compact(session.main, Compact(keep_recent=0), "manual")
            assert "SECRET" not in str(model.requests[-1].messages)
            assert "user: gone" in str(model.requests[-1].messages)
            await session.main.inject_message({"role": "user", "content": "the card"})
            assert await compact(session.main, Compact(keep_recent=0), "manual")
            assert [each["content"] for each in model.requests[-1].messages] == ["masked"]

    run_async(work)
