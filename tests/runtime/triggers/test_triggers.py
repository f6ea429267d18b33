"""All triggers of an app together: what starts, what goes on after an error, and what ends."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.triggers.trigger import Activation, ActivationResult, Trigger, TriggerKind
from hookline.runtime.triggers.triggers import Triggers


class FakeClock:
    """Time passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        await asyncio.sleep(0)


@pytest.mark.anyio
async def test_a_cron_goes_on_after_an_error_and_a_denial(tmp_path: Path) -> None:
    fired: list[str] = []
    enough = asyncio.Event()

    async def fire(activation: Activation) -> ActivationResult:
        fired.append(activation.trigger.id)
        if len(fired) == 1:
            raise HooklineError("no model")
        if len(fired) >= 3:
            enough.set()
        return ActivationResult(denied="not now")

    minutely = Trigger("minutely", TriggerKind.CRON, "* * * * *", "x", timezone="UTC")
    async with Triggers([minutely], tmp_path, fire, clock=FakeClock()):
        await asyncio.wait_for(enough.wait(), 30)
    count = len(fired)
    await asyncio.sleep(0)
    assert (set(fired), len(fired)) == ({"minutely"}, count)


@pytest.mark.anyio
async def test_only_routes_have_an_address_and_a_token(tmp_path: Path) -> None:
    async def fire(activation: Activation) -> ActivationResult:
        return ActivationResult()

    async with Triggers([], tmp_path, fire) as none:
        assert (none.address, none.token) == (None, None)
    async with Triggers([Trigger("d", TriggerKind.HTTP, "/d", "x")], tmp_path, fire) as routes:
        assert str(routes.address).startswith("http://127.0.0.1:")
        assert routes.token
        await asyncio.sleep(0)  # lets the routes start before they are stopped


@pytest.mark.anyio
async def test_an_address_is_free_again_even_if_its_routes_never_ran(tmp_path: Path) -> None:
    async def fire(activation: Activation) -> ActivationResult:
        return ActivationResult()

    triggers = Triggers([Trigger("d", TriggerKind.HTTP, "/d", "x")], tmp_path, fire)
    async with triggers as routes:
        host, _, port = str(routes.address).removeprefix("http://").partition(":")
    with pytest.raises(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=5):
        pass
