"""Every route × every role × every origin."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hookline.hub.access.roles import KEY_ROLES, Role
from hookline.hub.api.role_router import RoleRoute, RoleRouter
from hookline.hub.hub_app import ROUTERS, create_api
from hub.hub_sandbox import ORIGIN, Client, async_test, open_hub, token_of

ROUTES = [route for router in ROUTERS for route in router.routes]
CALLERS = (*KEY_ROLES, Role.ANYONE)
OPEN_ROUTES = {"GET /healthz", "POST /enter"}
"""All routes that need no credential. Adding one is a decision: write it here."""


def name(route: RoleRoute) -> str:
    return f"{min(route.methods)} {route.path}"


def path(route: RoleRoute) -> str:
    return "/api/v1" + re.sub(r"\{[^}]+\}", "nothing", route.path)


@asynccontextmanager
async def clients(directory: Path) -> AsyncIterator[dict[Role, Client]]:
    async with open_hub(directory) as hub:
        yield {role: Client(hub, await token_of(hub, role) if role is not Role.ANYONE else "") for role in CALLERS}


@async_test
async def test_each_role_may_do_what_its_routes_declare_and_nothing_else(tmp_path: Path) -> None:
    wrong = []
    async with clients(tmp_path) as found:
        for route in ROUTES:
            for role, client in found.items():
                hub = client.hub
                token = await token_of(hub, role) if "/me" in route.path and role is not Role.ANYONE else None
                headers = {"authorization": f"Bearer {token}"} if token else {}
                body = b"" if route.path == "/report" else b"not json"
                kind = "application/x-ndjson" if route.path == "/report" else "application/json"
                response = await client.http.request(
                    min(route.methods), path(route), content=body, headers={"content-type": kind, **headers}
                )
                allowed = any(role.includes(each) for each in route.roles)
                expected = "passes" if allowed else 401 if role is Role.ANYONE else 403
                given = response.status_code if response.status_code in (401, 403) else "passes"
                if route.path == "/enter" and response.status_code == 422:
                    given = "passes"
                if given != expected or response.status_code >= 500:
                    wrong.append(f"{name(route)} as {role}: {response.status_code}, expected {expected}")
    assert wrong == []


@async_test
async def test_no_route_answers_another_site_whoever_asks(tmp_path: Path) -> None:
    foreign = {
        421: [{"host": "evil.example"}, {"host": "127.0.0.1:9999"}],
        403: [
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": "http://127.0.0.1:3000"},
            {"sec-fetch-site": "cross-site"},
        ],
    }
    async with clients(tmp_path) as found:
        for route in ROUTES:
            for status, all_headers in foreign.items():
                for headers in all_headers:
                    response = await found[Role.OWNER].http.request(min(route.methods), path(route), headers=headers)
                    assert response.status_code == status, (name(route), headers)
            own = await found[Role.ANYONE].http.request(min(route.methods), path(route), headers={"origin": ORIGIN})
            assert own.status_code not in (421, 403), name(route)


def test_only_these_routes_need_no_credential() -> None:
    assert {name(route) for route in ROUTES if Role.ANYONE in route.roles} == OPEN_ROUTES


@async_test
async def test_every_path_of_the_api_is_a_route_with_a_role(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        client = Client(hub)
        schema = (await client.http.get("/api/openapi.json")).json()
        described = {
            f"{method.upper()} {path.removeprefix('/v1')}"
            for path, methods in schema["paths"].items()
            for method in methods
        }
        assert described == {name(route).replace(":path}", "}") for route in ROUTES}
        assert create_api(hub).docs_url is None


@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_every_route_says_what_it_does(route: RoleRoute) -> None:
    assert inspect.getdoc(route.endpoint)


def test_a_route_without_a_role_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="GET /x declares no role"):
        RoleRouter("x").get("/x")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic abc", "bearer  wrong", "Bearer a b"])
@async_test
async def test_a_wrong_header_is_nobody(header: str, tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        response = await Client(hub).get("/me", headers={"authorization": header})
        assert (response.status_code, response.json()) == (401, {"error": "sign in first"})


@async_test
async def test_an_unknown_parameter_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    async with clients(tmp_path) as found:
        owner = found[Role.OWNER]
        wrong = await owner.get("/decisions", params={"verdcit": "deny", "limit": "5", "nonsense": "secret"})
        assert wrong.status_code == 422
        assert wrong.json() == {
            "error": "the request is not valid",
            "detail": [
                {"where": "query.verdcit", "problem": "there is no such parameter; did you mean verdict?"},
                {
                    "where": "query.nonsense",
                    "problem": "there is no such parameter; this route takes agent, before, call, event, hook, host, limit, "
                    "machine, q, session, since, tag, thread, tool, until, verdict",
                },
            ],
        }
        none = await owner.post("/agents", {"name": "x"}, params={"verbose": "1"})
        assert none.json()["detail"][0]["problem"] == "there is no such parameter; this route takes none"
        assert (await owner.get("/agents")).json()["items"] == []
        for route in ROUTES:
            refused = await found[Role.ANYONE].http.request(min(route.methods), path(route), params={"x": "1"})
            assert refused.status_code == (422 if Role.ANYONE in route.roles else 401), name(route)
