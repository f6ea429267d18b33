from __future__ import annotations

import asyncio
import os
import signal

import pytest

from hookline.cli.async_runner import TerminatedError, run_async
from hookline.runners.warm.pool import warm_enabled


async def _is_warm() -> bool:
    return warm_enabled.get()


def test_the_result_of_the_work_is_returned():
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert run_async(work()) == 7


def test_sigterm_cancels_the_work_and_exits_with_143():
    cleaned_up = []

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(60)
        finally:
            cleaned_up.append(True)

    with pytest.raises(TerminatedError) as error:
        run_async(work())
    assert (cleaned_up, error.value.exit_code) == ([True], 143)


def test_a_cancellation_without_sigterm_is_not_a_termination():
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_async(work())


def test_a_variable_turns_warm_processes_off(monkeypatch):
    token = warm_enabled.set(True)
    try:
        monkeypatch.setenv("HOOKLINE_WARM", "1")
        assert run_async(_is_warm())
        monkeypatch.setenv("HOOKLINE_WARM", "0")
        assert not run_async(_is_warm())
    finally:
        warm_enabled.reset(token)
