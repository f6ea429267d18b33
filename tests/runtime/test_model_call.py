"""The model's answer: what is tried again, and how a context that is too long becomes shorter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hookline.runtime.models.model import CompletionRequest, ErrorCode, ModelError
from hookline.runtime.models.tokens import request_tokens
from hookline.runtime.updates import Ending, HistoryCompacted
from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step


class Small(RecordingModel):
    """A model that takes only so many tokens."""

    def __init__(self, *lines: Any, most: int = 4_000) -> None:
        super().__init__(lines)
        self.most = most

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Any]:
        if request_tokens(CompletionRequest(request.messages)) > self.most:
            self.requests.append(request)
            raise ModelError(ErrorCode.CONTEXT_OVERFLOW, "too long")
        async for piece in super().stream(request):
            yield piece


def test_a_message_that_is_too_long_by_itself_is_told_once(tmp_path: Path) -> None:
    model = Small("never")

    async def work() -> None:
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            ended = (await send_prompt(await runtime.start(), "x" * 50_000)).last_end
            assert (ended.ending, ended.text) == (Ending.FAILED, "too long")

    run_async(work)
    assert len(model.requests) == 1


def test_after_it_the_session_goes_on_without_it(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, model=Small("summary", "fine")) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "x" * 50_000)
            seen = await send_prompt(session, "and now?")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, "fine")
            assert [each.gone for each in seen.of_type(HistoryCompacted)] == [1]

    run_async(work)


def test_what_is_recent_goes_too_if_the_rest_was_not_enough(tmp_path: Path) -> None:
    async def work() -> None:
        model = Small("a1", "a2", "summary", "another", "fine")
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            session = await runtime.start()
            for prompt in ("x" * 3_000, "y" * 9_000):
                assert (await send_prompt(session, prompt)).last_end.ending is Ending.ANSWERED
            seen = await send_prompt(session, "z" * 6_000)
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, "fine")
            assert [each.gone for each in seen.of_type(HistoryCompacted)] == [1, 4]

    run_async(work)


def test_a_hook_that_keeps_the_history_is_asked_once(tmp_path: Path) -> None:
    hooks = "hooks: [{id: keep, on: history.compact, then: {deny: all of it matters}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, model=Small("never")) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "x" * 50_000)
            seen = await send_prompt(session, "and now?")
            assert seen.last_end.ending is Ending.FAILED
            assert seen.events == ["history.compact"]

    run_async(work)


def test_a_call_stays_with_its_result_however_short_it_has_to_be(tmp_path: Path) -> None:
    look = tool_call_step(("bash", {"command": "head -c 3000 /dev/zero | tr '\\0' b"}))
    model = Small(look, "summary", "fine", most=1_400)

    async def work() -> None:
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "y" * 3_000)
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, "fine")

    run_async(work)
    assert [each["role"] for each in model.requests[-1].messages] == ["system", "user", "assistant", "tool"]
