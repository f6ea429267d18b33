from __future__ import annotations

from pathlib import Path

from hookline.errors import HooklineError
from hookline.hub.access.roles import Role
from hub.hub_sandbox import Client, async_test, open_client, open_hub, token_of


@async_test
async def test_a_link_signs_in_once_and_signing_out_ends_it(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        code = await hub.access.create_code(await hub.access.add_user("ann", Role.EDITOR))
        entered = await Client(hub).post("/enter", {"code": code})
        assert entered.status_code == 200
        assert entered.json()["user"]["name"] == "ann"
        assert "set-cookie" not in entered.headers
        again = await Client(hub).post("/enter", {"code": code})
        assert (again.status_code, "used already" in again.json()["error"]) == (401, True)
        client = Client(hub, entered.json()["token"])
        me = (await client.get("/me")).json()
        assert (me["user"]["name"], me["role"], me["hub"]["url"]) == ("ann", "editor", "http://127.0.0.1:8765")
        assert (await client.delete("/me")).json() == {"ok": True}
        assert (await client.get("/me")).status_code == 401


@async_test
async def test_codes_cannot_be_guessed_quickly(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        tries = [(await Client(hub).post("/enter", {"code": str(number)})).status_code for number in range(7)]
        assert tries == [401] * 5 + [429] * 2


@async_test
async def test_a_wrong_body_is_explained_without_its_values(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        response = await Client(hub).post("/enter", {"code": ["my secret"]})
        assert response.status_code == 422
        assert response.json()["detail"] == [{"where": "body.code", "problem": "Input should be a valid string"}]
        assert "my secret" not in response.text


@async_test
async def test_health_needs_no_credential_and_tells_no_secret(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        found = (await Client(hub).get("/healthz")).json()
        assert sorted(found) == ["ok", "uptime", "version"]
        hub.record_intake.outage.report(HooklineError("the database postgresql://secret@host cannot be reached"))
        found = (await Client(hub).get("/healthz")).json()
        assert found["problem"] == "records are not taken for now"


@async_test
async def test_a_key_cannot_sign_itself_out(tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.OWNER) as owner:
        key = (await owner.post("/keys", {"name": "script", "role": "viewer"})).json()["key"]
        client = Client(owner.hub, key)
        assert (await client.delete("/me")).json() == {"ok": False}
        assert (await client.get("/me")).status_code == 200
        assert (await Client(owner.hub, await token_of(owner.hub, Role.REPORTER)).get("/me")).status_code == 403
