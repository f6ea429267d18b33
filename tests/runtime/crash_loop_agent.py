"""An agent that works until it is killed, round after round, each time going on where the one before was cut off.

Called as a program: `crash_loop_agent.py WORKSPACE URL HOOKS ROUNDS SEED`. It forks for each round, for starting Python takes
longer than a round; what the agent was told to be stored is printed, one JSON list for each round.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from hookline.project import load_text
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import Chunk, CompletionRequest, RequestedCall, TextChunk
from hookline.runtime.runtime import Runtime, Settings
from hookline.runtime.updates import Ending, ExchangeEnded, ToolCallFinished, Update

SESSION = "endless"
CALLS = 3  # of each prompt, before it is answered
HOOKS = {
    "hooks on calls": "hooks: [{id: seen, on: tool.before, then: {log: seen}}]",
    "hooks on results": """
hooks:
  - {id: seen, on: tool.before, then: {log: seen}}
  - {id: mark, on: tool.after, then: {tell: {text: looked at, to: agent}}}
""",
}


class StatelessModel:
    """Answers by what it is sent alone, so that another process goes on as the one before would have."""

    name = "working"
    context_limit = 10_000_000

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Chunk]:
        last = max(at for at, message in enumerate(request.messages) if message["role"] == "user")
        prompt = str(request.messages[last]["content"]).split()[0]
        done = sum(message["role"] == "tool" for message in request.messages[last:])
        await asyncio.sleep(0.002)
        if done < CALLS:
            line = f"{prompt}.{done}"
            yield RequestedCall(f"call_{line}", "bash", json.dumps({"command": f"echo {line} >> ran"}))
        else:
            yield TextChunk(f"done {prompt}")

    async def close(self) -> None:
        """Nothing is open."""


def settings(url: str, home: Path, hooks: str) -> Settings:
    app = App((Agent("worker", AgentSide(Prompt("main", "You work."))),))
    return Settings(
        home=home, env={}, app=app, book=load_text(HOOKS[hooks], "hookline.yaml"), model=StatelessModel(), store=url
    )


async def start_or_resume(runtime: Runtime) -> AgentSession:
    if await runtime.store.session(SESSION) is None:
        return await runtime.start(id=SESSION)
    return await runtime.resume(SESSION)


async def exchange(happenings: AsyncIterator[Update], tell: Callable[[str], None]) -> None:
    async for happening in happenings:
        if isinstance(happening, ToolCallFinished):
            tell(happening.call.id)
        if isinstance(happening, ExchangeEnded):
            assert happening.ending is Ending.ANSWERED, happening
            tell(happening.text)


async def work(workspace: Path, url: str, hooks: str, tell: Callable[[str], None]) -> None:
    async with Runtime.open(workspace, settings(url, workspace, hooks)) as runtime:
        session = await start_or_resume(runtime)
        if await session.is_unfinished():
            await exchange(session.go_on(), tell)
        while True:
            asked = sum(message["role"] == "user" for message in await session.main.history())
            await exchange(session.say(f"p{asked} please"), tell)


def killed_round(workspace: Path, url: str, hooks: str, seconds: float) -> list[str]:
    """What was acknowledged until it was killed."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        try:
            asyncio.run(work(workspace, url, hooks, lambda line: os.write(writes, f"{line}\n".encode()) and None))
        finally:
            os._exit(1)
    os.close(writes)
    with os.fdopen(reads) as told:
        first = [told.readline()]  # it works now
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.exit("the agent ended by itself")
        return [line.strip() for line in (*first, *told) if line.endswith("\n")]


def main() -> None:
    workspace, url, hooks = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    rounds, seed = int(sys.argv[4]), int(sys.argv[5])
    dice = random.Random(seed)
    for _ in range(rounds):
        print(json.dumps(killed_round(workspace, url, hooks, dice.random() * 0.15)), flush=True)


if __name__ == "__main__":
    main()
