from __future__ import annotations

from pathlib import Path

from hookline.hub.access.roles import Role
from hub.hub_sandbox import Client, async_test, open_client, token_of


@async_test
async def test_an_owner_adds_a_user_and_gives_a_link(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.OWNER) as owner:
        user = (await owner.post("/users", {"name": "ann", "role": "approver"})).json()
        assert (await owner.post("/users", {"name": "ann"})).status_code == 409
        link = (await owner.post(f"/users/{user['id']}/link", {"role": "viewer"})).json()["link"]
        start, _, code = link.partition("#enter=")
        assert start == "http://127.0.0.1:8765/"
        entered = (await Client(owner.hub).post("/enter", {"code": code})).json()
        assert (entered["user"]["name"], entered["role"]) == ("ann", "viewer")
        assert [each["name"] for each in (await owner.get("/users")).json()["items"]] == ["the owner", "ann"]
        changed = await owner.http.patch(f"/api/v1/users/{user['id']}", json={"role": "editor"})
        assert changed.json()["role"] == "editor"
        assert (await owner.delete(f"/users/{user['id']}")).json() == {"ok": True}
        assert (await Client(owner.hub, entered["token"]).get("/me")).status_code == 401
        assert (await owner.post(f"/users/{user['id']}/link", {})).status_code == 404


@async_test
async def test_the_last_owner_stays(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.OWNER) as owner:
        id = (await owner.get("/me")).json()["user"]["id"]
        assert (await owner.delete(f"/users/{id}")).status_code == 409
        assert (await owner.http.patch(f"/api/v1/users/{id}", json={"role": "viewer"})).status_code == 409
        assert (await owner.delete("/users/nobody")).status_code == 404
        assert (await owner.http.patch("/api/v1/users/nobody", json={})).status_code == 404


@async_test
async def test_a_key_is_shown_once_and_can_be_removed(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.OWNER) as owner:
        made = (await owner.post("/keys", {"name": "ci"})).json()
        listed = await owner.get("/keys")
        assert [(each["name"], each["role"]) for each in listed.json()["items"]] == [("ci", "reporter")]
        assert made["key"] not in listed.text
        machine = Client(owner.hub, made["key"])
        headers = {"content-type": "application/x-ndjson"}
        assert (await machine.post("/report", headers=headers)).status_code == 200
        assert (await owner.delete(f"/keys/{made['id']}")).json() == {"ok": True}
        assert (await machine.post("/report", headers=headers)).status_code == 401
        assert (await owner.delete(f"/keys/{made['id']}")).status_code == 404


@async_test
async def test_browsers_that_are_signed_in_are_listed_and_ended(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.OWNER) as owner:
        mine = (await owner.get("/sign-ins")).json()["items"]
        assert [each["name"] for each in mine] == ["the owner"]
        viewer = Client(owner.hub, await token_of(owner.hub, Role.VIEWER))
        assert (await viewer.get("/me")).json()["role"] == "viewer"
        roles = {each["name"]: each["role"] for each in (await owner.get("/sign-ins")).json()["items"]}
        assert roles == {"the owner": "owner", "the viewer": "viewer"}
        assert (await owner.delete(f"/sign-ins/{mine[0]['id']}")).json() == {"ok": True}
        assert (await owner.get("/me")).status_code == 401
