"""Rules over HTTP: what the console does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from hookline.hub.access.roles import Role
from hub.hub_sandbox import Client, Writer, async_test, open_client, open_hub, token_of

DENY = {
    "matcher": "^bash$",
    "inputMatchers": {"command": "rm"},
    "action": "deny",
    "reason": "No deleting",
    "priority": 5,
}


@async_test
async def test_a_rule_is_added_changed_and_removed_with_its_history(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR) as client:
        body = {"event": "PreToolUse", "rule": DENY, "base": 0}
        added = await client.post("/rules/everyone/rules", body)
        assert (added.status_code, added.json()["id"], added.json()["number"]) == (201, "no-deleting", 1)
        shown = (await client.get("/rules/everyone")).json()
        assert (shown["head"], shown["problems"]) == (1, [])
        assert shown["rules"] == [
            {
                "event": "PreToolUse",
                "position": 0,
                "id": "no-deleting",
                "rule": {"id": "no-deleting", **DENY},
                "fires": 0,
                "last_fire": None,
            }
        ]
        changed = {**body, "rule": {**DENY, "reason": "Never"}, "base": 1}
        assert (await client.http.patch("/api/v1/rules/everyone/rules/no-deleting", json=changed)).status_code == 200
        removed = await client.delete("/rules/everyone/rules/no-deleting", params={"base": 2})
        assert removed.json()["note"] == "remove no-deleting"
        versions = (await client.get("/rules/everyone/versions")).json()["items"]
        assert [(each["number"], each["by"]) for each in versions] == [(n, "the editor") for n in (3, 2, 1)]
        back = await client.post("/rules/everyone/rollback", {"to": 1})
        assert (back.json()["number"], back.json()["note"]) == (4, "back to version 1")
        first = (await client.get("/rules/everyone/versions/1")).json()["text"]
        assert (await client.get("/rules/everyone")).json()["text"] == first


@async_test
async def test_what_is_wrong_is_refused_and_told(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR) as client:
        bad = {"event": "PreToolUse", "rule": {"matcher": "(", "action": "deny"}, "base": 0}
        refused = await client.post("/rules/everyone/rules", bad)
        assert refused.status_code == 422
        assert refused.json()["detail"][0]["line"] > 0
        script = {"event": "PreToolUse", "rule": {"action": "script", "script": ""}, "base": 0}
        assert (await client.post("/rules/everyone/rules", script)).status_code == 422
        command = {"event": "PreToolUse", "rule": {"command": "id"}, "base": 0}
        assert "cannot run a command" in (await client.post("/rules/everyone/rules", command)).text
        good = {"event": "PreToolUse", "rule": DENY, "base": 0}
        assert (await client.post("/rules/everyone/rules", good)).status_code == 201
        late = await client.post("/rules/everyone/rules", good)
        assert (late.status_code, late.json()["detail"]) == (409, {"head": 1})
        assert (await client.get("/rules/nobody")).status_code == 404
        assert (await client.delete("/rules/everyone/rules/nothing", params={"base": 1})).status_code == 404


@async_test
async def test_a_rule_is_changed_in_the_text_that_another_hub_saved_just_now(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR) as client, open_hub(tmp_path) as other:
        second = Client(other, await token_of(other, Role.EDITOR))
        for number, each in enumerate((client, second, client)):
            body = {"event": "PreToolUse", "rule": {**DENY, "id": f"rule-{number}"}, "base": number}
            assert (await each.post("/rules/everyone/rules", body)).status_code == 201
        changed = {"event": "PreToolUse", "rule": {**DENY, "reason": "Never"}, "base": 3}
        assert (await second.http.patch("/api/v1/rules/everyone/rules/rule-1", json=changed)).status_code == 200
        assert (await client.delete("/rules/everyone/rules/rule-0", params={"base": 4})).status_code == 200
        rules = (await client.get("/rules/everyone")).json()["rules"]
        assert [(each["id"], each["rule"]["reason"]) for each in rules] == [
            ("rule-1", "Never"),
            ("rule-2", "No deleting"),
        ]


@async_test
async def test_a_set_of_a_workspace_has_a_path_in_its_name(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR) as client:
        text = '{"hooks": {}}'
        saved = await client.http.put("/api/v1/rules/workspace:/work/a", json={"text": text, "base": 0})
        assert saved.status_code == 200
        assert (await client.get("/rules/workspace:/work/a")).json()["workspace"] == "/work/a"
        assert [each["id"] for each in (await client.get("/rules")).json()["items"]] == [
            "everyone",
            "workspace:/work/a",
        ]


@async_test
async def test_a_text_is_checked_and_previewed_without_saving_it(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.EDITOR) as client:
        wrong = '{"hooks": {"PreToolUse": [{"action": "denny"}]}}'
        assert (await client.post("/rules/everyone/check", {"text": wrong})).json()["problems"]
        assert (await client.post("/rules/everyone/preview", {"text": wrong})).status_code == 422
        found = (await client.post("/rules/everyone/preview", {"text": '{"hooks": {}}'})).json()
        assert (found["events"], found["items"]) == (0, [])
        assert (await client.get("/rules/everyone")).json()["head"] == 0


@async_test
async def test_the_hub_answers_others_while_it_checks_a_long_text(tmp_path: Path) -> None:
    rules = [{"id": f"r{number}", **DENY, "inputMatchers": {"command": f"x{number}"}} for number in range(3000)]
    text = json.dumps({"hooks": {"PreToolUse": rules}})
    async with open_client(tmp_path, Role.EDITOR) as client:
        for save in (
            lambda: client.post("/rules/everyone/check", {"text": text}),
            lambda: client.http.put("/api/v1/rules/everyone", json={"text": text, "base": 0}),
            lambda: client.get("/rules/everyone"),
        ):
            answering = asyncio.ensure_future(save())
            for _ in range(3):
                assert (await client.get("/rules")).status_code == 200
            assert not answering.done()
            assert (await answering).status_code == 200


@async_test
async def test_rules_tell_how_often_they_fired(tmp_path: Path) -> None:
    writer = Writer()
    async with open_client(tmp_path, Role.EDITOR) as client:
        await client.post("/rules/everyone/rules", {"event": "PreToolUse", "rule": DENY, "base": 0})
        lines = [writer.start(), *(writer.call("rm x", "deny", hook="no-deleting") for _ in range(3))]
        await client.hub.intake.take(lines)
        ((rule),) = (await client.get("/rules/everyone")).json()["rules"]
        assert (rule["fires"], rule["last_fire"]) == (3, 1794859295.458752)
