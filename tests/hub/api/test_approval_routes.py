"""Questions and answers over HTTP."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from hookline.hosts.hub.hub_file import JoinedHub
from hookline.hosts.hub.hub_questions import HubAnswer, HubQuestion, ask_hub
from hookline.hosts.hub.running_hubs import find_hub
from hookline.hub.access.roles import Role
from hookline.hub.approvals.approval_desk import MAX_WAITING_OF_KEY
from hookline.hub.context.running_hub import Hub
from hookline.runtime.gate import fingerprint
from hookline.runtime.storage.tables import ApprovalRow, SessionRow, ThreadRow
from hub.hub_process import open_socket, serve_hub
from hub.hub_sandbox import Client, async_test, eventually, open_hub, token_of

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
async def test_a_host_waits_for_the_answer_of_a_person(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        shown = await waiting(hub)
        assert (shown["host"], shown["tool"], shown["input"]) == ("codex", "Bash", {"command": "git push"})
        headers = {"authorization": f"Bearer {await token_of(hub, Role.APPROVER)}"}
        async with httpx2.AsyncClient(base_url=joined(tmp_path).api, headers=headers) as client:
            answered = await client.post(f"/approvals/{shown['id']}/answer", json={"yes": True})
            assert answered.json()["state"] == "approved"
            assert await asking == HubAnswer(True, "the approver")
            late = await client.post(f"/approvals/{shown['id']}/answer", json={"yes": False})
            assert (late.status_code, late.json()["detail"]["state"]) == (409, "approved")


@async_test
async def test_an_answer_on_the_socket_takes_what_the_api_takes(tmp_path: Path) -> None:
    async with (
        serve_hub(tmp_path) as (hub, _),
        open_socket(hub, await token_of(hub, Role.APPROVER)) as socket,
    ):
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        id = (await waiting(hub))["id"]
        for wrong, problem in (
            ({"id": id, "yes": True, "inptu": {"command": "ls"}}, "there is no field 'inptu'; did you mean input?"),
            ({"id": id, "yes": "no"}, "yes: Input should be a valid boolean"),
            ({"id": id}, "yes: Field required"),
        ):
            assert await socket.call("answer", wrong) == {"ok": False, "error": problem}
        assert (await socket.call("answer", {"id": id, "yes": False, "reason": "Not on Friday."}))["ok"]
        assert await asking == HubAnswer(False, "the approver", why="Not on Friday.")


@async_test
async def test_only_the_host_that_asked_tells_that_an_approved_edit_was_denied(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        host, other = [Client(hub, (await hub.access.add_key(name))[0]) for name in ("host", "other")]
        approver = Client(hub, await token_of(hub, Role.APPROVER))
        asked = {"host": "codex", "tool": "Bash", "input": {"command": "git push"}, "can_edit": True}
        edited, plain = [(await host.post("/approvals", asked)).json()["id"] for _ in range(2)]
        assert (await host.post(f"/approvals/{edited}/denial")).status_code == 404  # nobody has answered
        for id, answer in ((edited, {"yes": True, "input": {"command": "rm x"}}), (plain, {"yes": True})):
            assert (await approver.post(f"/approvals/{id}/answer", answer)).status_code == 200
        assert (await other.post(f"/approvals/{edited}/denial")).status_code == 404
        assert (await approver.post(f"/approvals/{edited}/denial")).status_code == 403
        assert (await host.post(f"/approvals/{plain}/denial")).status_code == 404
        assert (await host.post(f"/approvals/{edited}/denial")).status_code == 200
        states = {id: (await approver.get(f"/approvals/{id}")).json()["state"] for id in (edited, plain)}
        assert states == {edited: "denied", plain: "approved"}


@async_test
async def test_one_key_cannot_keep_others_from_asking(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        flooding, other = [Client(hub, (await hub.access.add_key(name))[0]) for name in ("flooding", "other")]
        asked = {"host": "codex", "tool": "Bash", "input": {"command": "git push"}}
        first = (await flooding.post("/approvals", asked)).json()["id"]
        for _ in range(MAX_WAITING_OF_KEY - 1):
            assert (await flooding.post("/approvals", asked)).status_code == 201
        assert (await flooding.post("/approvals", asked)).status_code == 429
        assert (await flooding.post("/approvals", {**asked, "id": first})).json()["id"] == first  # sent again
        assert (await other.post("/approvals", asked)).status_code == 201
        assert (await flooding.delete(f"/approvals/{first}")).status_code == 200
        assert (await flooding.post("/approvals", asked)).status_code == 201


@async_test
async def test_an_edit_that_only_changes_the_type_of_a_value_counts(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        host = Client(hub, (await hub.access.add_key("host"))[0])
        approver = Client(hub, await token_of(hub, Role.APPROVER))
        asked = {"host": "codex", "tool": "Deploy", "input": {"force": 1}, "can_edit": True}
        id = (await host.post("/approvals", asked)).json()["id"]
        answered = await approver.post(f"/approvals/{id}/answer", {"yes": True, "input": {"force": True}})
        assert answered.json()["edited"] == {"force": True}


@async_test
async def test_approvals_of_sessions_in_the_database_wait_here_too(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        now = time.time()
        session = SessionRow("session_1", "app", "helper", "/work", "me", now, now)
        await hub.store.add_thread(ThreadRow("session_1", "session_1", "helper", None, 0, now, "f"), session)
        input = {"command": "ls"}
        row = ApprovalRow(
            "approval_1",
            "session_1",
            "session_1",
            "c",
            "bash",
            input,
            fingerprint("bash", input),
            "Really?",
            "h",
            now,
            now + 60,
        )
        await hub.store.add_approval(row)
        assert [each["id"] for each in await hub.approvals.waiting()] == ["approval_1"]
        client = Client(hub, await token_of(hub, Role.APPROVER))
        for unclear in ("true", 1, "on", None):
            assert (await client.post("/approvals/approval_1/answer", {"yes": unclear})).status_code == 422
        answered = await client.post("/approvals/approval_1/answer", {"yes": True, "input": {"command": "ls -a"}})
        assert answered.json()["edited"] == {"command": "ls -a"}
        stored = await hub.store.approval("approval_1")
        assert stored is not None
        assert (stored.answered, stored.by, stored.edited) == (True, "the approver", {"command": "ls -a"})
        listed = await client.get("/approvals", params={"state": "answered"})
        assert [each["id"] for each in listed.json()["items"]] == ["approval_1"]


@async_test
async def test_a_viewer_sees_no_secret_of_a_question(tmp_path: Path) -> None:
    command = "git push https://ann:hunter2zz@h/x; mysql -phunter2zz"
    async with open_hub(tmp_path) as hub:
        reporter = Client(hub, await token_of(hub, Role.REPORTER))
        body = {"host": "codex", "tool": "Bash", "input": {"command": command}, "reason": f"May it run {command}?"}
        asked = (await reporter.post("/approvals", body)).json()
        assert asked["input"] == {"command": command}
        for role, sees in ((Role.VIEWER, False), (Role.APPROVER, True), (Role.REPORTER, True)):
            client = reporter if role is Role.REPORTER else Client(hub, await token_of(hub, role))
            paths = [f"/approvals/{asked['id']}", *(() if client is reporter else ("/approvals",))]
            for path in paths:
                answer = await client.get(path)
                assert answer.status_code == 200
                assert ("hunter2zz" in answer.text, "git push" in answer.text) == (sees, True), (role, path)
        approver = Client(hub, await token_of(hub, Role.APPROVER))
        edited = await approver.post(f"/approvals/{asked['id']}/answer", {"yes": False, "reason": "mysql -phunter2zz"})
        assert edited.status_code == 200
        viewer = Client(hub, await token_of(hub, Role.VIEWER))
        assert "hunter2zz" not in (await viewer.get("/approvals?state=answered")).text


@async_test
async def test_a_question_that_is_sent_again_is_stored_once_and_belongs_to_who_sent_it_first(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        first, second = [Client(hub, (await hub.access.add_key(name))[0]) for name in ("one", "two")]
        body = {"id": "question_0123456789abcdef", "host": "codex", "tool": "Bash", "input": {"command": "git push"}}
        for _ in range(2):
            asked = await first.post("/approvals", body)
            assert (asked.status_code, asked.json()["id"]) == (201, body["id"])
        assert len(await hub.approvals.waiting()) == 1
        await hub.approvals.answer("question_0123456789abcdef", True, "maria")
        assert (await first.post("/approvals", body)).json()["state"] == "approved"
        other = await second.post("/approvals", body)
        assert other.json()["id"] != body["id"]
        assert other.json()["state"] == "waiting"
        assert (await second.get("/approvals/question_0123456789abcdef")).status_code == 404
        assert (await first.post("/approvals", {**body, "id": "approval_1"})).status_code == 422
