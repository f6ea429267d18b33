"""Signing in and out."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import Request
from pydantic import Field

from hookline.hub.access.roles import Role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, CallerOfRequest, HubOfRequest, RoleRouter

router = RoleRouter("me")


class EnterBody(RequestBody):
    code: Annotated[str, Field(max_length=200)]


@router.get("/healthz", Role.ANYONE)
async def health(hub: HubOfRequest) -> dict[str, Any]:
    """Whether the hub runs, and whether it takes records."""
    problem = {} if hub.takes_records else {"problem": "records are not taken for now"}
    oidc = {"oidc": "/oidc/login"} if hub.oidc is not None else {}
    uptime = round(time.time() - hub.started, 1)
    return {"ok": True, "version": version("hookline"), "uptime": uptime, **oidc, **problem}


@router.get("/problems", Role.VIEWER)
async def list_problems(hub: HubOfRequest) -> dict[str, Any]:
    """What does not work at this hub now, oldest first."""
    return {"items": hub.problems.list(), "next": None}


@router.post("/enter", Role.ANYONE)
async def enter(body: EnterBody, request: Request, hub: HubOfRequest) -> dict[str, Any]:
    """Exchanges a one-time code for a token. Five tries a minute for each address."""
    if not hub.enter_limit.take(request.client.host if request.client else ""):
        raise ApiError(429, "too many tries; wait a minute")
    signed_in = await hub.access.enter(body.code)
    if signed_in is None:
        raise ApiError(401, "this link was used already, or is too old. Get a new one with `hookline hub open`.")
    user = {"id": signed_in.user.id, "name": signed_in.user.name}
    return {"token": signed_in.token, "user": user, "role": signed_in.role}


@router.get("/me", Role.VIEWER)
async def me(hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Who you are, and which hub this is."""
    user = {"id": caller.user, "name": caller.name}
    config = hub.config
    record = {"keep": config.record_keep.total_seconds(), "most": config.record_most}
    about = {"name": config.name, "url": config.url, "record": record}
    return {"user": user, "role": caller.role, "hub": {**about, "patience": config.approvals_patience.total_seconds()}}


@router.delete("/me", Role.VIEWER)
async def sign_out(hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Signs you out. Only an owner can remove a key."""
    done = await hub.access.sign_out(caller)
    await hub.check_access()
    return {"ok": done}
