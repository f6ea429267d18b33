"""Signing in with a provider that the test controls: what is right signs in, what is wrong does not."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
import uvicorn
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hookline.hub.config.hub_config import OidcSettings
from hookline.hub.context.running_hub import Hub
from hookline.hub.hub_app import create_app
from hub.hub_sandbox import ORIGIN, async_test, eventually, open_hub

SECRET = "client-secret-of-the-test"


class Provider:
    """A provider as OpenID Connect describes it. `claims` are what it says of the person, `wrong` what it does wrong."""

    def __init__(self, **claims: Any) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1"}, auto_kid=False)
        self.claims = claims
        self.wrong: dict[str, Any] = {}
        self.url = ""
        self.asked: dict[str, str] = {}
        self.code_uses = 0

    def authorize(self, url: str) -> str:
        """What the person's browser does there: the code and the state that it brings back."""
        self.asked = dict(parse_qsl(urlsplit(url).query))
        return f"/oidc/back?code=the-code&state={self.asked['state']}"

    async def _about(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.wrong.get("issuer", self.url),
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/me",
            }
        )

    async def _keys(self, request: Request) -> Response:
        return JSONResponse(KeySet([self.key]).as_dict())

    async def _me(self, request: Request) -> Response:
        return JSONResponse({"sub": "7", **self.wrong.get("userinfo", {})})

    async def _token(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        verifier = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        basic = base64.b64encode(f"hub:{SECRET}".encode()).decode()
        self.code_uses += 1
        if (
            verifier.decode() != self.asked["code_challenge"]
            or form["redirect_uri"] != self.asked["redirect_uri"]
            or request.headers.get("authorization") != f"Basic {basic}"
            or form["code"] != "the-code"
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = {
            "iss": self.url,
            "aud": "hub",
            "sub": "7",
            "nonce": self.asked["nonce"],
            "iat": int(time.time()),
            "exp": int(time.time()) + 300,
            **self.claims,
            **self.wrong.get("claims", {}),
        }
        key = RSAKey.generate_key(2048) if self.wrong.get("key") else self.key
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "id_token": token})

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Provider]:
        routes = [
            Route("/.well-known/openid-configuration", self._about),
            Route("/keys", self._keys),
            Route("/me", self._me),
            Route("/token", self._token, methods=["POST"]),
        ]
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=0, log_config=None, lifespan="off"))
        task = asyncio.ensure_future(server.serve())
        await eventually(lambda: server.started)
        self.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def signing_in(
    directory: Path, provider: Provider, **settings: Any
) -> AsyncIterator[tuple[Hub, httpx2.AsyncClient]]:
    """A hub, and a browser at it."""
    chosen = {"roles": {"ops": "owner", "dev": "editor"}, "default": "", **settings}
    async with provider.serving():
        oidc = OidcSettings(provider.url, "hub", "HUB_SECRET", **chosen)
        async with open_hub(directory, oidc=oidc, env={"HUB_SECRET": SECRET}) as hub:
            transport = httpx2.ASGITransport(app=create_app(hub))  # type: ignore[arg-type]
            async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as browser:
                yield hub, browser


async def sign_in(provider: Provider, browser: httpx2.AsyncClient) -> httpx2.Response:
    begun = await browser.get("/oidc/login")
    assert begun.status_code == 303, begun.text
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    return await browser.get(provider.authorize(begun.headers["location"]), headers=headers)


@async_test
async def test_a_person_signs_in_with_the_role_of_their_groups(tmp_path: Path) -> None:
    provider = Provider(groups=["dev", "other"], preferred_username="ann")
    async with signing_in(tmp_path, provider) as (_, browser):
        begun = await browser.get("/oidc/login")
        cookie = begun.headers["set-cookie"].lower()
        for part in ("httponly", "path=/oidc", "max-age=600", "samesite=lax"):
            assert part in cookie
        asked = dict(parse_qsl(urlsplit(begun.headers["location"]).query))
        assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
        assert asked["redirect_uri"] == f"{ORIGIN}/oidc/back"
        back = await sign_in(provider, browser)
        place, _, code = back.headers["location"].partition("#enter=")
        assert (back.status_code, place) == (303, f"{ORIGIN}/")
        assert "max-age=0" in back.headers["set-cookie"].lower()
        entered = (await browser.post("/api/v1/enter", json={"code": code})).json()
        assert (entered["user"]["name"], entered["role"]) == ("ann", "editor")
        assert (await browser.post("/api/v1/enter", json={"code": code})).status_code == 401
        provider.claims["groups"] = ["ops"]
        code = (await sign_in(provider, browser)).headers["location"].partition("#enter=")[2]
        again = (await browser.post("/api/v1/enter", json={"code": code})).json()
        assert (again["user"], again["role"]) == (entered["user"], "owner")
        assert (await browser.get("/api/v1/healthz")).json()["oidc"] == "/oidc/login"


@async_test
async def test_groups_may_come_from_userinfo(tmp_path: Path) -> None:
    provider = Provider(name="Ann")
    provider.wrong["userinfo"] = {"groups": ["dev"]}
    async with signing_in(tmp_path, provider) as (_, browser):
        assert (await sign_in(provider, browser)).status_code == 303
        provider.wrong["userinfo"] = {"groups": ["dev"], "sub": "8"}
        assert (await sign_in(provider, browser)).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"claims": {"nonce": "another"}},
        {"claims": {"aud": "another"}},
        {"claims": {"aud": ["hub", "another"], "azp": "another"}},
        {"claims": {"iss": "https://evil.example"}},
        {"claims": {"exp": 1_000_000}},
        {"claims": {"groups": []}},
        {"claims": {"groups": "nobody"}},
        {"key": True},
    ],
    ids=str,
)
@async_test
async def test_what_is_not_right_does_not_sign_in(wrong: dict[str, Any], tmp_path: Path) -> None:
    provider = Provider(groups=["dev"])
    provider.wrong = wrong
    async with signing_in(tmp_path, provider) as (hub, browser):
        refused = await sign_in(provider, browser)
        assert refused.status_code == 403
        assert "location" not in refused.headers
        assert await hub.access.table.users() == []


@async_test
async def test_an_answer_belongs_to_the_browser_that_asked_and_counts_once(tmp_path: Path) -> None:
    provider = Provider(groups=["dev"])
    async with signing_in(tmp_path, provider) as (_, browser):
        begun = await browser.get("/oidc/login")
        back = provider.authorize(begun.headers["location"])
        cookie = browser.cookies["hookline_oidc"]
        browser.cookies.clear()
        assert (await browser.get(back)).status_code == 403
        for forged in ("x", cookie[:-2], cookie.replace(cookie[:4], "abcd")):
            assert (await browser.get(back, headers={"cookie": f"hookline_oidc={forged}"})).status_code == 403
        assert provider.code_uses == 0
        right = {"cookie": f"hookline_oidc={cookie}"}
        assert (await browser.get(f"{back}x", headers=right)).status_code == 403
        assert (await browser.get(back, headers=right)).status_code == 303
        assert (await browser.get(back, headers=right)).status_code == 403


@async_test
async def test_a_default_role_is_for_everybody_else(tmp_path: Path) -> None:
    provider = Provider(groups=["nobody"], email="ann@example.org")
    async with signing_in(tmp_path, provider, default="viewer") as (hub, browser):
        assert (await sign_in(provider, browser)).status_code == 303
        assert [(each.name, each.role) for each in await hub.access.table.users()] == [("ann@example.org", "viewer")]


@async_test
async def test_a_provider_with_another_name_is_not_used(tmp_path: Path) -> None:
    provider = Provider()
    provider.wrong["issuer"] = "https://evil.example"
    async with signing_in(tmp_path, provider) as (_, browser):
        assert (await browser.get("/oidc/login")).status_code == 502


@async_test
async def test_other_sites_cannot_fetch_the_routes(tmp_path: Path) -> None:
    provider = Provider()
    async with signing_in(tmp_path, provider) as (_, browser):
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
        for path in ("/oidc/login", "/oidc/back"):
            assert (await browser.get(path, headers=headers)).status_code == 403
            assert (await browser.post(path)).status_code == 405
