"""The model's answer: how long is waited between tries, what is sent again, and what it cost."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from hookline.runtime.happenings import TryingAgain
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.script import Step
from runtime.agents import Listening, Seen, play, running, said

BUSY = Step(error=ErrorCode.RATE_LIMIT)


@pytest.mark.parametrize(
    ("steps", "seconds"),
    [
        ([BUSY, BUSY, BUSY, "well"], [1.0, 2.0, 4.0]),
        ([Step(error=ErrorCode.RATE_LIMIT, after=timedelta(seconds=30)), "well"], [30.0]),
        ([Step(error=ErrorCode.RATE_LIMIT, after=timedelta(hours=1)), "well"], [60.0]),
    ],
    ids=["each twice the one before", "as the provider says", "never longer than a minute"],
)
def test_the_pauses_between_tries(tmp_path: Path, steps: list[Step | str], seconds: list[float]) -> None:
    async def work() -> None:
        async with running(tmp_path, "", steps) as (runtime, _):
            seen = await said(await runtime.start(), "go")
            assert [each.seconds for each in seen.of(TryingAgain)] == seconds
            assert seen.ended.text == "well"

    play(work)


def test_what_was_too_long_is_not_sent_again_because_a_hook_had_put_it_there(tmp_path: Path) -> None:
    hooks = """
    hooks:
      - id: long
        on: turn.start
        when: {prompt: last}
        then: {set: {messages: [{role: user, content: far too long}]}}
    """
    too_long = Step(error=ErrorCode.CONTEXT_OVERFLOW)
    model = Listening(["one", "two", "three", too_long, "a summary", "well"])

    async def work() -> None:
        async with running(tmp_path, hooks, model=model) as (runtime, _):
            session = await runtime.start()
            for prompt in ("a", "b", "c"):
                await session.ask(prompt)
            assert await session.ask("last") == "well"

    play(work)
    sent = [[each["content"] for each in request.messages[1:]] for request in model.requests]
    assert sent[3] == ["far too long"]
    assert "far too long" not in sent[-1]
    assert sent[-1][-1] == "last"


@pytest.mark.parametrize(("spend", "tokens"), [((1200, 80), 1280), (None, None)])
def test_tokens_are_what_the_provider_counted(
    tmp_path: Path, spend: tuple[int, int] | None, tokens: int | None
) -> None:
    hooks = "hooks: [{id: see, on: stop, then: {log: 'at {{context.tokens}}'}}]"
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, hooks, [Step(say="well", spend=spend)], watch=seen) as (runtime, _):
            await (await runtime.start()).ask("go")

    play(work)
    counted = seen.facts("stop")["context"]["tokens"]
    assert counted == tokens if tokens is not None else counted > 1000  # the tools alone are more than that
