"""A call that is decided in this very process, because no engine could be reached."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from hookline.errors import HooklineError
from hookline.hosts.agent import Reply
from hookline.hosts.bridge.call import Call
from hookline.hosts.bridge.deadline import hooks_until
from hookline.hosts.bridge.decide import decide, unjudged
from hookline.hosts.bridge.engine import Cold
from hookline.hosts.table import agent


async def decide_directly(call: Call) -> Reply:
    """The answer, after the hooks that nobody waits for are done too, as far as the agent's patience goes."""
    loop = asyncio.get_running_loop()
    until = loop.time() + hooks_until(call.agent, call.event, call.spent).total_seconds()
    engine = Cold()
    reply = await decide(call, engine)
    await engine.here.drain(timedelta(seconds=max(0.0, until - loop.time())))
    return reply


def overdue(name: str, event: str) -> Reply:
    """The answer where there is no time left to decide."""
    try:
        return unjudged(agent(name), event, "its engine did not answer in time")
    except HooklineError as error:
        return Reply(stderr=f"hookline: {error}", exit_code=1)
