from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hookline.runtime.models import fallback
from hookline.runtime.models.fallback import FallbackError, FallbackModel
from hookline.runtime.models.model import CompletionRequest, ErrorCode, ModelError, TextChunk
from hookline.runtime.models.scripted import ModelScript, ScriptedModel, ScriptStep

pytestmark = pytest.mark.slow


HELLO = CompletionRequest(({"role": "user", "content": "Hello"},))


def fails(code: ErrorCode, limit: int = 1_000, name: str = "first", times: int = 9) -> ScriptedModel:
    return ScriptedModel([*[ScriptStep(error=code)] * times, "First."], name=name, context_limit=limit)


def says(limit: int = 1_000) -> ScriptedModel:
    return ScriptedModel(ModelScript(end="Second."), name="second", context_limit=limit)


async def answer(model: FallbackModel) -> str | ModelError:
    try:
        return "".join([piece.text async for piece in model.stream(HELLO) if isinstance(piece, TextChunk)])
    except ModelError as error:
        return error


def answers(model: FallbackModel, count: int) -> list[str | ModelError]:
    async def work() -> list[str | ModelError]:
        return [await answer(model) for _ in range(count)]

    return asyncio.run(work())


def test_an_error_that_does_not_pass_makes_the_next_call_go_elsewhere() -> None:
    model = FallbackModel([fails(ErrorCode.AUTH), says()])
    assert model.name == "first"
    error, text = answers(model, 2)
    assert isinstance(error, FallbackError)
    assert (error.code, error.is_transient, error.retry_after) == (ErrorCode.AUTH, True, timedelta(0))
    assert "first: " in str(error)
    assert "second is tried next" in str(error)
    assert (text, model.name) == ("Second.", "second")


def test_a_passing_error_is_tried_twice() -> None:
    model = FallbackModel([fails(ErrorCode.RATE_LIMIT), says()])
    first, second, text = answers(model, 3)
    assert type(first) is ModelError
    assert isinstance(second, FallbackError)
    assert text == "Second."


def test_success_in_between_begins_the_count_anew() -> None:
    steps = [ScriptStep(error=ErrorCode.NETWORK), "First.", ScriptStep(error=ErrorCode.NETWORK), "First."]
    model = FallbackModel([ScriptedModel(steps, name="first"), says()])
    assert [text for text in answers(model, 4) if isinstance(text, str)] == ["First.", "First."]


def test_an_overflow_goes_on_only_to_a_larger_context() -> None:
    (error,) = answers(FallbackModel([fails(ErrorCode.CONTEXT_OVERFLOW), says(1_000)]), 1)
    assert type(error) is ModelError
    larger = FallbackModel([fails(ErrorCode.CONTEXT_OVERFLOW), says(2_000)])
    assert answers(larger, 2)[1] == "Second."
    assert larger.context_limit == 2_000


def test_the_last_one_has_nobody_behind_it() -> None:
    model = FallbackModel([fails(ErrorCode.AUTH), fails(ErrorCode.BILLING, name="second")])
    _, error, again = answers(model, 3)
    assert [type(each) for each in (error, again)] == [ModelError, ModelError]


def test_the_first_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(fallback, "_now", lambda: now[0])
    model = FallbackModel([fails(ErrorCode.AUTH, times=1), says()])
    assert answers(model, 2)[1] == "Second."
    now[0] += 301
    assert answers(model, 1) == ["First."]


def test_conversations_that_fail_together_move_on_once() -> None:
    async def work() -> list[str | ModelError]:
        slow = ScriptStep(error=ErrorCode.AUTH, delay=timedelta(milliseconds=5))
        model = FallbackModel([ScriptedModel([slow, slow], name="first"), says()])
        failed = await asyncio.gather(answer(model), answer(model))
        assert all(isinstance(error, FallbackError) for error in failed)
        return [await answer(model)]

    assert asyncio.run(work()) == ["Second."]
