"""What the hub serves: which app is mounted where."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, Final

import socketio
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Mount

from hookline.errors import HooklineError
from hookline.hub.access.request_guard import AsgiApp, RequestGuard
from hookline.hub.api import (
    agent_routes,
    approval_routes,
    decision_routes,
    hook_routes,
    host_routes,
    me_routes,
    report_routes,
    rule_routes,
    session_routes,
    stats_routes,
    user_routes,
)
from hookline.hub.api.role_router import ApiError, RoleRouter, is_signed_in
from hookline.hub.bus.socket_limit import SocketLimit
from hookline.hub.console_routes import console_routes
from hookline.hub.context.running_hub import Hub
from hookline.hub.oidc_routes import oidc_routes
from hookline.hub.pages.frame_documents import frame_routes

ROUTERS: Final[tuple[RoleRouter, ...]] = (
    me_routes.router,
    user_routes.router,
    host_routes.router,
    report_routes.router,
    decision_routes.router,
    hook_routes.router,
    stats_routes.router,
    approval_routes.router,
    rule_routes.router,
    agent_routes.router,
    session_routes.router,
)
"""Every router of the API, below /api/v1. Add yours here."""

_log = logging.getLogger("hookline.hub")


def create_app(hub: Hub) -> AsgiApp:
    """The ASGI app, behind the request guard."""
    api = create_api(hub)
    routes = [
        Mount("/api", GZipMiddleware(api, minimum_size=2048)),
        Mount("/socket.io", SocketLimit(socketio.ASGIApp(hub.socket, socketio_path=""))),
        *frame_routes(hub.addresses),
        *oidc_routes(hub),
        *console_routes(),
    ]
    return RequestGuard(Starlette(routes=routes), hub.addresses, tls=hub.config.url.startswith("https://"))


def create_api(hub: Hub) -> FastAPI:
    api = FastAPI(
        title="hookline hub",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            HTTPException: _explain_http_error,
            RequestValidationError: _explain_invalid_request,
            HooklineError: _explain_unavailable,
            Exception: _explain_bug,
        },
    )
    api.state.hub = hub
    session_routes.add_session_commands(hub)
    approval_routes.add_approval_commands(hub)
    for each in ROUTERS:
        api.include_router(each.router, prefix="/v1")
    schema: dict[str, Any] = {}

    async def openapi(request: Request) -> JSONResponse:
        if not schema:
            schema.update(_describe_api(api))
        return JSONResponse(schema)

    api.add_route("/openapi.json", openapi, include_in_schema=False)
    return api


def _describe_api(api: FastAPI) -> dict[str, Any]:
    from importlib.metadata import version

    schema = get_openapi(title="hookline hub", version=version("hookline"), routes=api.routes)
    schema["servers"] = [{"url": "/api"}]
    schema.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return schema


async def _explain_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, ApiError):
        content = {"error": error.error} | ({} if error.more is None else {"detail": error.more})
    else:
        content = {"error": HTTPStatus(error.status_code).phrase.lower()}
    return JSONResponse(content, error.status_code, error.headers)


async def _explain_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """Without the values, which may be secrets."""
    assert isinstance(error, RequestValidationError)
    detail = [{"where": ".".join(map(str, each["loc"])), "problem": each["msg"]} for each in error.errors()[:20]]
    return JSONResponse({"error": "the request is not valid", "detail": detail}, 422)


async def _explain_unavailable(request: Request, error: Exception) -> JSONResponse:
    """Usually the database: what is asked for is right, but cannot be done now."""
    _log.warning("%s %s: %s", request.method, request.url.path, error)
    answer = {"error": "the hub cannot do this now"}
    if is_signed_in(request):  # the reason names the database
        answer["detail"] = str(error)
    return JSONResponse(answer, 503)


async def _explain_bug(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "this is a bug in hookline; the hub's log says more"}, 500)
