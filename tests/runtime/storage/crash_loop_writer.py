"""Writes to a store until it is killed, round after round; prints how much was acknowledged to each of its writers.

Called as a program: `crash_loop_writer.py URL ROUNDS SEED`. It forks for each round, for starting Python takes longer than a round.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time

from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow, ThreadRow

WRITERS = 8
CYCLE = 5  # four messages, then the first three of them are compacted


def thread_of(round: int, writer: int) -> str:
    return f"{round}.{writer}"


def history_after(steps: int) -> list[str]:
    history: list[str] = []
    for step in range(steps):
        if step % CYCLE < CYCLE - 1:
            history.append(f"m{step}")
        else:
            history[-4:] = [f"s{step}", history[-1]]
    return history


async def _write(store: Store, round: int, writer: int, told: int) -> None:
    thread = thread_of(round, writer)
    await store.add_thread(ThreadRow(thread, "s", "agent", None, 0, 1.0))
    step = 0
    while True:
        if step % CYCLE < CYCLE - 1:
            await store.add_message(thread, {"id": f"m{step}", "role": "user", "content": "x" * 300, "step": [step]})
        else:
            stands_in = {"id": f"s{step}", "role": "user", "content": "x" * 300, "step": [step]}
            await store.compact_messages(thread, [f"m{step - back}" for back in (4, 3, 2)], stands_in)
        os.write(told, bytes([writer]))
        step += 1


async def _write_all(url: str, round: int, told: int) -> None:
    store = await Store.open(url)
    if await store.session("s") is None:
        await store.add_session(SessionRow("s", "app", "agent", "/", "user", 1.0, 1.0))
    await asyncio.gather(*(_write(store, round, writer, told) for writer in range(WRITERS)))


def _killed_round(url: str, round: int, dice: random.Random) -> list[int]:
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        asyncio.run(_write_all(url, round, writes))
    os.close(writes)
    acknowledged = [0] * WRITERS
    left = dice.randrange(150)
    while left > 0 and (told := os.read(reads, left)):
        left -= len(told)
        for writer in told:
            acknowledged[writer] += 1
    time.sleep(dice.random() * 0.003)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while told := os.read(reads, 4096):
        for writer in told:
            acknowledged[writer] += 1
    return acknowledged


def main() -> None:
    url, rounds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    dice = random.Random(seed)
    for round in range(rounds):
        print(json.dumps(_killed_round(url, round, dice)), flush=True)


if __name__ == "__main__":
    main()
