"""An agent that is killed again and again loses nothing, does nothing twice, and goes on."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from hookline.runtime.history import calls_of
from hookline.runtime.recovery import UNKNOWN_EFFECT
from hookline.runtime.runtime import Runtime
from hookline.runtime.storage.store import file_url
from hookline.runtime.storage.tables import CallRow
from runtime.crash_loop_agent import CALLS, HOOKS, exchange, settings, start_or_resume
from runtime.scripted_runtime import run_async

pytestmark = pytest.mark.slow


PROGRAM = Path(__file__).with_name("crash_loop_agent.py")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return file_url(tmp_path / "store.db")
    database: str = request.getfixturevalue("new_database")
    return database


def killed(workspace: Path, url: str, hooks: str, rounds: int) -> list[str]:
    """What the agent was told to be stored: ids of answered calls, and answers."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    command = [sys.executable, str(PROGRAM), str(workspace), url, hooks, str(rounds), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [told for line in done.stdout.splitlines() for told in json.loads(line)]


@pytest.mark.parametrize("hooks", HOOKS)
def test_kill_9_loses_nothing_and_doubles_nothing(tmp_path: Path, url: str, hooks: str) -> None:
    """With hooks on results, the end of a call and its message are stored one after the other; without, together."""
    told = killed(tmp_path, url, hooks, rounds=15)
    assert len(told) > 15
    said: list[str] = []

    async def work() -> None:
        async with Runtime.open(tmp_path, settings(url, tmp_path, hooks)) as runtime:
            session = await start_or_resume(runtime)
            if await session.is_unfinished():
                await exchange(session.go_on(), said.append)
            await exchange(session.say("last please"), said.append)
            assert said[-1] == "done last"
            messages = await session.main.history()
            check_messages(messages, [*told, *said])
            check_calls(messages, await runtime.store.calls(session.id), (tmp_path / "ran").read_text().split())

    run_async(work)


def check_messages(messages: list[dict[str, object]], told: list[str]) -> None:
    """Every prompt once and in order; every call once, with one result; all that was acknowledged."""
    prompts = [str(message["content"]) for message in messages if message["role"] == "user"]
    assert prompts == [*(f"p{n} please" for n in range(len(prompts) - 1)), "last please"]
    wanted = [str(call["id"]) for message in messages for call in calls_of(message)]
    results = [str(message["tool_call_id"]) for message in messages if message["role"] == "tool"]
    assert wanted == results == [f"call_{prompt.split()[0]}.{n}" for prompt in prompts for n in range(CALLS)]
    answers = [str(m["content"]) for m in messages if m["role"] == "assistant" and not calls_of(m)]
    assert answers == [f"done {prompt.split()[0]}" for prompt in prompts]
    assert set(told) <= {*results, *answers}


def check_calls(messages: list[dict[str, object]], rows: list[CallRow], ran: list[str]) -> None:
    """Nothing ran twice, and nothing without its record; what has no outcome is marked as interrupted."""
    assert Counter(ran).most_common(1)[0][1] == 1
    assert len({row.call for row in rows}) == len(rows)
    assert {f"call_{line}" for line in ran} <= {row.call for row in rows}
    results = {message["tool_call_id"]: str(message["content"]) for message in messages if message["role"] == "tool"}
    for row in rows:
        assert row.attempt == 1
        assert row.decision["verdict"] == "silent"
        assert (row.ended is None) == (results[row.call] == f"Error: {UNKNOWN_EFFECT}")
        assert row.ended is None or (row.ok and row.call.removeprefix("call_") in ran)
    assert {call for call, text in results.items() if not text.startswith("Error: ")} <= {row.call for row in rows}
