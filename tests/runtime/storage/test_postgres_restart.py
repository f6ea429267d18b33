"""PostgreSQL is restarted under a session: one clear line while it is away, and nothing lost or doubled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.history import calls_of
from hookline.runtime.updates import Ending
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step
from runtime.storage import temporary_postgres
from runtime.storage.conftest import NO_POSTGRES

pytestmark = pytest.mark.slow


class Server:
    """One of this test's own, for others would miss theirs."""

    def __init__(self, programs: Path, directory: Path) -> None:
        self._place = programs, directory
        self.url = f"postgresql://tests@/postgres?host={directory}"

    async def stop(self) -> None:
        await asyncio.to_thread(temporary_postgres.stop, *self._place)

    async def start(self) -> None:
        await asyncio.to_thread(temporary_postgres.start, *self._place)

    async def restart(self) -> None:
        await self.stop()
        await self.start()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    with temporary_postgres.running(programs, tmp_path_factory.mktemp("server")) as directory:
        yield Server(programs, directory)


def test_a_session_goes_on_after_its_server_was_restarted(tmp_path: Path, server: Server) -> None:
    async def work() -> None:
        slow = tool_call_step(("bash", {"command": "echo slow >> ran; until test -e go; do sleep 0.02; done"}))
        async with open_runtime(tmp_path, "", ["one", slow, "two", "three"], store=server.url) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "first")
            await server.stop()
            away = (await send_prompt(session, "lost")).last_end
            assert away.ending is Ending.FAILED
            assert "cannot be reached" in away.text
            assert "\n" not in away.text
            await server.start()
            talk = asyncio.ensure_future(send_prompt(session, "second"))
            await written(tmp_path / "ran", 1)
            await server.restart()
            (tmp_path / "go").touch()
            assert (await talk).last_end.text == "two"
            await refused_elsewhere(tmp_path, session)
            assert (await send_prompt(session, "third")).last_end.text == "three"
            told = [message["content"] for message in await runtime.store.messages(session.id)]
            assert told == ["first", "one", "second", None, "", "two", "third", "three"]

    run_async(work)
    assert (tmp_path / "ran").read_text() == "slow\n"


async def refused_elsewhere(workspace: Path, session: AgentSession) -> None:
    """It was claimed again when something was written."""
    async with open_runtime(workspace, "", store=session.runtime._settings.store or "") as (other, _):
        with pytest.raises(HooklineError, match="another hookline process is using"):
            await other.resume(session.id)


def test_nothing_is_lost_or_doubled_by_a_restart_between_writes(tmp_path: Path, server: Server) -> None:
    async def work() -> None:
        many = [tool_call_step(("bash", {"command": f"echo {number} >> ran"})) for number in range(60)]
        async with open_runtime(tmp_path, "", [*many, "done", "done"], store=server.url) as (runtime, _):
            session = await runtime.start()
            talk = asyncio.ensure_future(send_prompt(session, "go"))
            await written(tmp_path / "ran", 5)
            await server.restart()
            seen = await talk
            while seen.last_end.ending is Ending.FAILED:
                assert "\n" not in seen.last_end.text
                seen = UpdateRecorder()
                async for happening in session.go_on():
                    seen(happening)
            messages = await runtime.store.messages(session.id)
            wanted = [call["id"] for message in messages for call in calls_of(message)]
            assert wanted == [message["tool_call_id"] for message in messages if message["role"] == "tool"]
            assert len(set(wanted)) == len(wanted)

    run_async(work)
    ran = (tmp_path / "ran").read_text().split()
    assert len(set(ran)) == len(ran)


async def written(file: Path, lines: int) -> None:
    while not file.exists() or len(file.read_text().split()) < lines:  # noqa: ASYNC110 (nobody tells us)
        await asyncio.sleep(0.01)
