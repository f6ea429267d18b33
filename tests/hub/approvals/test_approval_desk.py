"""Questions of hosts: one answer counts, and they survive a restart."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from hookline.hosts.hub.hub_file import JoinedHub
from hookline.hosts.hub.hub_questions import HubAnswer, HubQuestion, ask_hub
from hookline.hosts.hub.running_hubs import find_hub
from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.lazy_dataclasses import replace
from hookline.runtime.storage.tables import ApprovalRow, SessionRow, ThreadRow
from hub.hub_process import open_socket, serve_hub
from hub.hub_sandbox import Writer, async_test, eventually, token_of

QUESTION = HubQuestion("codex", "s1", "Bash", {"command": "git push"}, "Really?", "ask-push", can_edit=True)
MINUTE = timedelta(minutes=1)


def joined(directory: Path) -> JoinedHub:
    found = find_hub(directory)
    assert found is not None
    return found


async def waiting(hub: Hub) -> dict[str, Any]:
    await eventually(lambda: hub.approvals.waiting())
    (found,) = await hub.approvals.waiting()
    return found


@async_test
async def test_a_no_comes_with_its_reason(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        assert await hub.approvals.answer((await waiting(hub))["id"], False, "maria", why="not today")
        assert await asking == HubAnswer(False, "maria", why="not today")


@async_test
async def test_only_one_of_two_answers_counts(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        id = (await waiting(hub))["id"]
        done = await asyncio.gather(*(hub.approvals.answer(id, yes, str(yes)) for yes in (True, False, True, False)))
        assert done.count(True) == 1
        answer = await asking
        assert answer is not None
        assert answer.approved is (done.index(True) in (0, 2))


@async_test
async def test_a_question_survives_a_restart_of_the_hub(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        port = hub.config.port
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        id = (await waiting(hub))["id"]
    assert not asking.done()
    async with serve_hub(tmp_path, port=port) as (hub, _):
        assert (await waiting(hub))["id"] == id
        assert await hub.approvals.answer(id, True, "maria")
        assert await asking == HubAnswer(True, "maria")


@async_test
async def test_a_yes_for_the_session_counts_for_the_same_call_only(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        place = joined(tmp_path)
        asking = asyncio.ensure_future(ask_hub(place, QUESTION, MINUTE))
        await hub.approvals.answer((await waiting(hub))["id"], True, "maria", remember="session")
        assert await asking is not None
        assert await ask_hub(place, QUESTION, MINUTE) == HubAnswer(True, "maria", why="for this session")
        other = HubQuestion("codex", "s1", "Bash", {"command": "git push -f"}, "Really?", "ask-push")
        assert await ask_hub(place, other, timedelta(seconds=0.3)) is None


ASK = """
import asyncio, sys, time
from datetime import timedelta
from pathlib import Path

now = time.time
time.time = lambda: now() + float(sys.argv[2])

from hookline.hosts.hub.running_hubs import find_hub
from hookline.hosts.hub.hub_questions import HubQuestion, ask_hub

question = HubQuestion("codex", "s1", "Bash", {"command": sys.argv[3]}, "Really?", "ask-push")
answer = asyncio.run(ask_hub(find_hub(Path(sys.argv[1])), question, timedelta(minutes=1)))
print(None if answer is None else answer.approved)
"""


async def ask_with_clock(directory: Path, seconds_off: int) -> asyncio.subprocess.Process:
    """Another machine, whose clock is wrong."""
    program = (sys.executable, "-c", ASK, str(directory), str(seconds_off), f"push {seconds_off}")
    return await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)


@async_test
async def test_questions_have_the_time_of_the_hub(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        before = time.time()
        ahead = await ask_with_clock(tmp_path, 3600)
        await eventually(lambda: hub.approvals.waiting())
        behind = await ask_with_clock(tmp_path, -3600)

        async def both() -> bool:
            return len(await hub.approvals.waiting()) == 2

        await eventually(both)
        questions = await hub.approvals.waiting()
        assert [each["input"]["command"] for each in questions] == ["push 3600", "push -3600"]
        for each in questions:
            assert before <= each["created"] <= time.time()
            assert each["expires"] - each["created"] <= 60
            assert await hub.approvals.answer(each["id"], True, "maria")
        for process in (ahead, behind):
            assert (await process.communicate())[0].strip() == b"True"


@async_test
async def test_the_bus_tells_of_questions_and_answers(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.VIEWER)) as socket:
        assert (await socket.call("join", {"room": "approvals"}))["ok"]
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        name, event = await socket.event()
        assert (name, event["type"], event["payload"]["tool"]) == ("event", "approval_request", "Bash")
        await hub.approvals.answer(event["payload"]["id"], False, "maria")
        _, event = await socket.event()
        assert (event["type"], event["payload"]["state"], event["payload"]["by"]) == (
            "approval_answered",
            "denied",
            "maria",
        )
        await asking


@async_test
async def test_the_bus_tells_of_a_question_that_is_answered_at_once(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.VIEWER)) as socket:
        assert (await socket.call("join", {"room": "approvals"}))["ok"]
        now = time.time()
        session = SessionRow("s1", "app", "helper", "/work", "me", now, now)
        await hub.store.add_thread(ThreadRow("s1", "s1", "helper", None, 0, now, "f"), session)
        asked = ApprovalRow("a1", "s1", "s1", "c", "bash", {"command": "ls"}, "hash", "Really?", "", now, now + 60)
        await hub.store.add_approval(asked)
        assert await hub.approvals.answer("a1", True, "maria")
        told = [(await socket.event())[1] for _ in range(2)]
        assert [each["type"] for each in told] == ["approval_request", "approval_answered"]


@async_test
async def test_the_bus_shows_secrets_of_a_question_to_approvers_only(tmp_path: Path) -> None:
    secret = HubQuestion("codex", "s1", "Bash", {"command": "mysql -phunter2zz"}, "Really?", "ask-mysql")
    async with (
        serve_hub(tmp_path) as (hub, _),
        open_socket(hub, await token_of(hub, Role.VIEWER)) as viewer,
        open_socket(hub, await token_of(hub, Role.APPROVER)) as approver,
        open_socket(hub, await token_of(hub, Role.VIEWER)) as late,
    ):
        for socket in (viewer, approver):
            assert (await socket.call("join", {"room": "approvals"}))["ok"]
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), secret, MINUTE))
        _, seen = await approver.event()
        assert seen["payload"]["input"] == {"command": "mysql -phunter2zz"}
        _, masked = await viewer.event()
        assert (masked["seq"], masked["payload"]["input"]) == (seen["seq"], {"command": "mysql -p***"})
        assert (await late.call("join", {"room": "approvals", "since": seen["seq"] - 1}))["ok"]
        assert (await late.event())[1]["payload"] == masked["payload"]
        await hub.approvals.answer(seen["payload"]["id"], False, "maria")
        for socket in (viewer, approver):
            assert (await socket.event())[1]["type"] == "approval_answered"
        await asking


@async_test
async def test_an_edited_input_that_hooks_denied_is_not_shown_as_approved(tmp_path: Path) -> None:
    question = replace(QUESTION, call="call_1")
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.VIEWER)) as socket:
        assert (await socket.call("join", {"room": "approvals"}))["ok"]
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), question, MINUTE))
        id = (await waiting(hub))["id"]
        await hub.approvals.answer(id, True, "maria", edited={"command": "rm -rf /"})
        await asking
        (answered,) = await hub.approvals.history(10, None)
        assert (answered["state"], answered["denied_by"]) == ("approved", None)
        denied = {"session": "s1", "call": "call_1", "hook": "no-rm", "reason": "No."}
        await hub.intake.take([Writer().call("rm -rf /", "deny", **denied)])
        (answered,) = await hub.approvals.history(10, None)
        assert answered["denied_by"] == {"decision": f"{'a' * 16}-1", "hook": "no-rm", "reason": "No."}
        told = [(await socket.event())[1] for _ in range(3)]
        assert [each["payload"].get("denied_by") for each in told] == [None, None, answered["denied_by"]]


@async_test
async def test_an_edit_that_hooks_deny_after_a_restart_is_told(tmp_path: Path) -> None:
    question = replace(QUESTION, call="call_1")
    async with serve_hub(tmp_path) as (hub, _):
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), question, MINUTE))
        await hub.approvals.answer((await waiting(hub))["id"], True, "maria", edited={"command": "rm -rf /"})
        await asking
    async with serve_hub(tmp_path) as (hub, _), open_socket(hub, await token_of(hub, Role.VIEWER)) as socket:
        assert (await socket.call("join", {"room": "approvals"}))["ok"]
        denied = {"session": "s1", "call": "call_1", "hook": "no-rm", "reason": "No."}
        await hub.intake.take([Writer().call("rm -rf /", "deny", **denied)])
        _, told = await socket.event()
        assert (told["type"], told["payload"]["denied_by"]["hook"]) == ("approval_answered", "no-rm")
    async with serve_hub(tmp_path) as (hub, _):
        assert not hub.approvals.has_edits
