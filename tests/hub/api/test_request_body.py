"""What a request's body may have."""

from __future__ import annotations

from pathlib import Path

from hookline.hub.access.roles import Role
from hookline.hub.hub_app import ROUTERS
from hub.hub_sandbox import Client, async_test, open_hub, token_of

LENIENT = {
    "QuestionBody": "a host may be newer than the hub",
    "FloSession": "flo's own format, whose unused parts are named in the answer",
}


@async_test
async def test_an_unknown_field_of_a_body_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        owner = Client(hub, await token_of(hub, Role.OWNER))
        wrong = await owner.post("/keys", {"name": "laptop", "rolle": "viewer"})
        assert (wrong.status_code, wrong.json()) == (
            422,
            {
                "error": "the request is not valid",
                "detail": [{"where": "body", "problem": "there is no field 'rolle'; did you mean role?"}],
            },
        )
        nothing = await owner.post("/keys", {"name": "laptop", "expires": "tomorrow"})
        assert nothing.json()["detail"][0]["problem"] == "there is no field 'expires'; this route takes name, role"
        assert "laptop" not in (await owner.get("/keys")).text


@async_test
async def test_every_body_refuses_unknown_fields(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        schemas = (await Client(hub).http.get("/api/openapi.json")).json()["components"]["schemas"]
        bodies = {
            route.body_field.field_info.annotation.__name__
            for router in ROUTERS
            for route in router.routes
            if route.body_field
        }
        assert LENIENT.keys() < bodies
        lenient = {each for each in bodies if schemas[each].get("additionalProperties") is not False}
        assert lenient == LENIENT.keys()
