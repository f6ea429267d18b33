from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hub.hub_sandbox import Client, async_test, open_client, open_hub


@async_test
async def test_errors_have_one_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_client(tmp_path) as client:
        for path, status in (("/api/v1/nothing", 404), ("/api/nothing", 404), ("/api/v1/me/", 404)):
            response = await client.http.get(path)
            assert (response.status_code, sorted(response.json())) == (status, ["error"])
        assert (await client.http.put("/api/v1/me")).json() == {"error": "method not allowed"}

        async def fail(self: object, *given: object) -> None:
            raise HooklineError("the database is away")

        monkeypatch.setattr(type(client.hub.decisions), "page", fail)
        response = await client.get("/decisions")
        assert (response.status_code, response.json()["detail"]) == (503, "the database is away")

        async def break_down(self: object, *given: object) -> None:
            raise ValueError("secret text")

        monkeypatch.setattr(type(client.hub.decisions), "page", break_down)
        response = await client.get("/decisions")
        assert (response.status_code, "secret" in response.text) == (500, False)
        assert response.headers["cache-control"] == "no-store"


@async_test
async def test_nobody_is_told_where_the_database_is_that_is_away(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await client.hub.store.close()
        for answer in (await client.get("/decisions"), await client.post("/enter", {"code": "x" * 32})):
            assert (answer.status_code, answer.json()) == (503, {"error": "the hub cannot do this now"})


@async_test
async def test_long_answers_are_compressed(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        response = await Client(hub).http.get("/api/openapi.json", headers={"accept-encoding": "gzip"})
        assert response.headers["content-encoding"] == "gzip"
        assert response.json()["servers"] == [{"url": "/api"}]
