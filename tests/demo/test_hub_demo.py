from __future__ import annotations

import asyncio
import os
from contextlib import suppress

import pytest

from hookline.demo.hub_demo import demo_config, play_hub_demo
from hookline.hub.context.running_hub import Hub
from hub.hub_sandbox import async_test, eventually


@pytest.mark.slow
@async_test
async def test_agents_of_six_hosts_and_a_real_one_work_and_ask() -> None:
    with demo_config("127.0.0.1", 0) as config:
        home, place = config.home, config.state
        async with Hub.open(config) as hub:
            playing = asyncio.ensure_future(play_hub_demo(hub, pace=0.05))

            async def is_all_there() -> bool:
                hosts = await hub.decisions.counts("host", 0)
                return len(hosts) == 7 and len(await hub.approvals.waiting()) >= 2

            await eventually(is_all_there, 50)
            assert hub.rules.head("everyone") == 2
            waiting = (await hub.approvals.waiting())[0]
            assert await hub.approvals.answer(waiting["id"], True, "me")
            assert set(await hub.decisions.counts("verdict", 0)) == {"silent", "allow", "ask", "deny"}
            playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing
    assert home is not None
    assert not os.path.exists(place)
