from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.storage.crash_loop_writer import WRITERS, history_after, thread_of
from runtime.storage.row_factories import async_test, open_store

pytestmark = pytest.mark.slow


PROGRAM = Path(__file__).with_name("crash_loop_writer.py")


def killed(url: str, rounds: int) -> list[list[int]]:
    """How many steps each writer of each round was told to be stored."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    done = subprocess.run(
        [sys.executable, PROGRAM, url, str(rounds), str(seed)], capture_output=True, text=True, timeout=120, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@async_test
async def test_what_was_acknowledged_survives_kill_9(url: str) -> None:
    """Of each writer, the steps that it was told of are there, once, in order, and at most the one in flight besides."""
    told = killed(url, rounds=30 if url.startswith("sqlite") else 6)
    assert sum(map(sum, told)) > 100
    async with open_store(url) as store:
        for round, steps in enumerate(told):
            for writer in range(WRITERS):
                stored = await store.messages(thread_of(round, writer))
                found = [each["id"] for each in stored]
                assert found in (history_after(steps[writer]), history_after(steps[writer] + 1)), (round, writer)
                assert all(each["content"] == "x" * 300 and each["step"] == [int(each["id"][1:])] for each in stored)


@pytest.mark.parametrize(
    ("steps", "history"), [(0, []), (4, ["m0", "m1", "m2", "m3"]), (5, ["s4", "m3"]), (6, ["s4", "m3", "m5"])]
)
def test_the_history_that_is_expected(steps: int, history: list[str]) -> None:
    assert history_after(steps) == history
