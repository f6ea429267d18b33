from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hookline.runtime.models import fallback
from hookline.runtime.models.fallback import NextIsAsked, WithFallbacks
from hookline.runtime.models.model import ErrorCode, ModelError, Request, Said
from hookline.runtime.models.script import Script, ScriptedModel, Step

HELLO = Request(({"role": "user", "content": "Hello"},))


def fails(code: ErrorCode, limit: int = 1_000, name: str = "first", times: int = 9) -> ScriptedModel:
    return ScriptedModel([*[Step(error=code)] * times, "First."], name=name, context_limit=limit)


def says(limit: int = 1_000) -> ScriptedModel:
    return ScriptedModel(Script(end="Second."), name="second", context_limit=limit)


async def answer(model: WithFallbacks) -> str | ModelError:
    try:
        return "".join([piece.text async for piece in model.stream(HELLO) if isinstance(piece, Said)])
    except ModelError as error:
        return error


def answers(model: WithFallbacks, count: int) -> list[str | ModelError]:
    async def work() -> list[str | ModelError]:
        return [await answer(model) for _ in range(count)]

    return asyncio.run(work())


def test_an_error_that_does_not_pass_makes_the_next_call_go_elsewhere() -> None:
    model = WithFallbacks([fails(ErrorCode.AUTH), says()])
    assert model.name == "first"
    error, text = answers(model, 2)
    assert isinstance(error, NextIsAsked)
    assert (error.code, error.passing, error.retry_after) == (ErrorCode.AUTH, True, timedelta(0))
    assert "first: " in str(error)
    assert "second is asked next" in str(error)
    assert (text, model.name) == ("Second.", "second")


def test_a_passing_error_is_tried_twice() -> None:
    model = WithFallbacks([fails(ErrorCode.RATE_LIMIT), says()])
    first, second, text = answers(model, 3)
    assert type(first) is ModelError
    assert isinstance(second, NextIsAsked)
    assert text == "Second."


def test_success_in_between_begins_the_count_anew() -> None:
    steps = [Step(error=ErrorCode.NETWORK), "First.", Step(error=ErrorCode.NETWORK), "First."]
    model = WithFallbacks([ScriptedModel(steps, name="first"), says()])
    assert [text for text in answers(model, 4) if isinstance(text, str)] == ["First.", "First."]


def test_an_overflow_goes_on_only_to_a_larger_context() -> None:
    (error,) = answers(WithFallbacks([fails(ErrorCode.CONTEXT_OVERFLOW), says(1_000)]), 1)
    assert type(error) is ModelError
    larger = WithFallbacks([fails(ErrorCode.CONTEXT_OVERFLOW), says(2_000)])
    assert answers(larger, 2)[1] == "Second."
    assert larger.context_limit == 2_000


def test_the_last_one_has_nobody_behind_it() -> None:
    model = WithFallbacks([fails(ErrorCode.AUTH), fails(ErrorCode.BILLING, name="second")])
    _, error, again = answers(model, 3)
    assert [type(each) for each in (error, again)] == [ModelError, ModelError]


def test_the_first_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(fallback, "_now", lambda: now[0])
    model = WithFallbacks([fails(ErrorCode.AUTH, times=1), says()])
    assert answers(model, 2)[1] == "Second."
    now[0] += 301
    assert answers(model, 1) == ["First."]


def test_conversations_that_fail_together_move_on_once() -> None:
    async def work() -> list[str | ModelError]:
        slow = Step(error=ErrorCode.AUTH, delay=timedelta(milliseconds=5))
        model = WithFallbacks([ScriptedModel([slow, slow], name="first"), says()])
        failed = await asyncio.gather(answer(model), answer(model))
        assert all(isinstance(error, NextIsAsked) for error in failed)
        return [await answer(model)]

    assert asyncio.run(work()) == ["Second."]
