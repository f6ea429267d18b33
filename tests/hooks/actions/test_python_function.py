"""Somebody's function: whatever it does, only its own hook fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from hookline.cli.dry_run import RecordingHost
from hookline.hooks.actions.python_function import ReturnValueError, RunPython
from hookline.hooks.attempt import attempt
from hookline.hooks.event import Changes, Event, FactPath
from hookline.hooks.host import NO_HOST, CurrentHook, Host
from hookline.hooks.outcome import SILENT, Failure, FailureKind, Outcome

EVENT = Event("history.system", {"system": "x"})


@dataclass(frozen=True, slots=True)
class Plainly:
    changes: tuple[FactPath, ...] = (("system",),)
    reads: tuple[FactPath, ...] = (("system",),)

    def arguments(self, event: Event, host: Host) -> tuple[Any, ...]:
        return (event.facts["system"],)

    def changes_from(self, returned: Any, event: Event) -> Changes:
        if not isinstance(returned, str):
            raise ReturnValueError("returned no text")
        return () if returned == event.facts["system"] else ((("system",), returned),)


def answer(function: Callable[..., Any], host: Host = NO_HOST, seconds: float = 10) -> Outcome | Failure:
    action = RunPython("there.py:function", Plainly(), function)
    who = CurrentHook("a_hook")
    return asyncio.run(attempt(action, EVENT, host, timedelta(seconds=seconds), who))


def failure(function: Callable[..., Any], seconds: float = 10) -> Failure:
    failed = answer(function, seconds=seconds)
    assert isinstance(failed, Failure)
    return failed


def test_it_is_described_by_its_name() -> None:
    assert list(RunPython("there.py:function", Plainly(), print).describe()) == [("python", "there.py:function")]


def test_what_it_returns_is_a_change() -> None:
    async def awaited(text: str) -> str:
        await asyncio.sleep(0)
        return text + "!"

    assert answer(awaited) == Outcome(changes=((("system",), "x!"),))
    assert answer(lambda text: text + "!") == Outcome(changes=((("system",), "x!"),))


def test_none_and_the_same_change_nothing() -> None:
    assert answer(lambda text: None) is SILENT
    assert answer(lambda text: text) is SILENT


def test_an_answer_of_another_kind_is_a_failure() -> None:
    assert failure(lambda text: 3).kind is FailureKind.UNREADABLE_ANSWER


def raising(error: BaseException) -> Callable[[str], Any]:
    async def raises(text: str) -> None:
        raise error

    return raises


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "hook a_hook raised ValueError: no"),
        (ValueError(), "hook a_hook raised ValueError"),
        (SystemExit(2), "hook a_hook raised SystemExit: 2"),
        (RuntimeError("api_key=sk-aaaaaaaaaaaaaaaa"), "hook a_hook raised RuntimeError: api_key=***"),
        (Unspeakable(), "hook a_hook raised Unspeakable: its text cannot be read"),
        (asyncio.CancelledError(), "hook a_hook raised CancelledError"),
    ],
)
def test_whatever_it_raises_is_its_own_failure(error: BaseException, text: str) -> None:
    short = f"hook a_hook raised {type(error).__name__}"
    assert failure(raising(error)) == Failure(FailureKind.RAISED, short, detail=text)


def test_the_log_has_the_text_of_an_exception_only_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "hookline"):
        failure(raising(ValueError("what the user wrote")))
    assert "what the user wrote" not in caplog.text
    with caplog.at_level("DEBUG", "hookline"):
        failure(raising(ValueError("what the user wrote")))
    assert "what the user wrote" in caplog.text


def test_a_long_exception_is_cut() -> None:
    assert len(failure(raising(ValueError("x" * 100_000))).detail) < 1000


def test_it_runs_out_of_time() -> None:
    async def forever(text: str) -> None:
        await asyncio.Event().wait()

    assert failure(forever, seconds=0.05).kind is FailureKind.TIMEOUT


def test_a_round_that_is_cancelled_stays_cancelled() -> None:
    async def cancelled() -> bool:
        started = asyncio.Event()

        async def waits(text: str) -> None:
            started.set()
            await asyncio.Event().wait()

        action = RunPython("there.py:waits", Plainly(), waits)
        task = asyncio.create_task(attempt(action, EVENT, NO_HOST, timedelta(seconds=10)))
        await started.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(cancelled())


def test_a_dry_run_calls_no_function() -> None:
    called: list[str] = []
    host = RecordingHost()
    assert answer(called.append, host) is SILENT
    assert not called
    assert host.requests == [{"hook": "a_hook", "would": "call", "text": "there.py:function"}]


def test_a_hook_with_other_code_is_another_hook() -> None:
    def one(text: str) -> None: ...

    def two(text: str) -> None: ...

    assert RunPython("f", Plainly(), one) != RunPython("f", Plainly(), two)
    assert RunPython("f", Plainly(), one) == RunPython("f", Plainly(), one)
