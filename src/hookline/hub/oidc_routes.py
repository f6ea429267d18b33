"""`/oidc/login` and `/oidc/back`. The cookie is sent to these two alone, and lives for ten minutes at most."""

from __future__ import annotations

import html
import logging
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from hookline.hub.access.access import RateLimit
from hookline.hub.access.oidc import STATE_LIFETIME, SignInRefused
from hookline.hub.context.running_hub import Hub

_COOKIE: Final = "hookline_oidc"
_PATH: Final = "/oidc"
_TRIES: Final = 20  # a minute, for each address
_NO_STORE: Final = {"cache-control": "no-store"}

_log = logging.getLogger("hookline.hub")


def oidc_routes(hub: Hub) -> list[Route]:
    """None without `oidc` in the settings."""
    login = hub.oidc
    if login is None:
        return []
    limit = RateLimit(_TRIES)
    is_secure = hub.config.url.startswith("https://")

    async def begin(request: Request) -> Response:
        if not limit.take(_address(request)):
            return _explain("Too many tries; wait a minute.", 429)
        try:
            step = await login.begin()
        except SignInRefused as error:
            return _explain(str(error), 502)
        response = RedirectResponse(step.url, 303, headers=_NO_STORE)
        response.set_cookie(
            _COOKIE, step.cookie, max_age=STATE_LIFETIME, path=_PATH, secure=is_secure, httponly=True, samesite="lax"
        )
        return response

    async def finish(request: Request) -> Response:
        if not limit.take(_address(request)):
            return _explain("Too many tries; wait a minute.", 429)
        try:
            claims = await login.finish(request.query_params, request.cookies.get(_COOKIE, ""))
            user = await login.user(hub.access, claims)
            await hub.check_access()
        except SignInRefused as error:
            _log.warning("a sign-in with OpenID Connect was refused: %s", error)
            response: Response = _explain(str(error), 403)
        else:
            code = await hub.access.create_code(user)
            response = RedirectResponse(f"{hub.config.url}/#enter={code}", 303, headers=_NO_STORE)
        response.delete_cookie(_COOKIE, path=_PATH, secure=is_secure, httponly=True, samesite="lax")
        return response

    return [Route(f"{_PATH}/login", begin), Route(f"{_PATH}/back", finish)]


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _explain(text: str, status: int) -> HTMLResponse:
    page = f'<!doctype html><html lang="en"><title>hookline</title><p>{html.escape(text)}</p><p><a href="/">Back</a></p></html>'
    return HTMLResponse(page, status, headers=_NO_STORE)
