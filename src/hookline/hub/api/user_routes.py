"""Users, their links, and keys of machines and programs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from hookline.hub.access.roles import Role, weaker_role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, HubOfRequest, RoleRouter
from hookline.hub.store.user_table import CredentialRow, UserRow

router = RoleRouter("users")

UserRole = Literal["viewer", "approver", "editor", "owner"]
KeyRole = Literal["reporter", "viewer", "approver", "editor", "owner"]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]
Id = Annotated[str, Field(max_length=64)]


class UserBody(RequestBody):
    name: Name
    role: UserRole = "viewer"


class LinkBody(RequestBody):
    role: UserRole | None = None


class KeyBody(RequestBody):
    name: Name
    role: KeyRole = "reporter"


@router.get("/users", Role.OWNER)
async def list_users(hub: HubOfRequest) -> dict[str, Any]:
    """Who may sign in, each with their role."""
    return {"items": [_user_json(each) for each in await hub.access.table.users()], "next": None}


@router.post("/users", Role.OWNER, status_code=201)
async def add_user(body: UserBody, hub: HubOfRequest) -> dict[str, Any]:
    """Adds a user without a link: make one with `POST /users/{id}/link`."""
    if await hub.access.table.user_named(body.name) is not None:
        raise ApiError(409, f"there is a user {body.name} already")
    return _user_json(await hub.access.add_user(body.name, Role(body.role)))


@router.patch("/users/{id}", Role.OWNER)
async def change_user(id: str, body: LinkBody, hub: HubOfRequest) -> dict[str, Any]:
    """Changes the role. It counts at once, also for open connections."""
    user = await hub.access.table.user(id[:64])
    if user is None:
        raise ApiError(404, "there is no such user")
    if body.role is not None and not await hub.access.table.set_role(user.id, body.role, Role.OWNER):
        raise ApiError(409, "this is the only owner")
    await hub.check_access()
    changed = await hub.access.table.user(user.id)
    return _user_json(changed or user)


@router.delete("/users/{id}", Role.OWNER)
async def remove_user(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Removes a user, and signs them out everywhere. The last owner stays."""
    if await hub.access.table.user(id[:64]) is None:
        raise ApiError(404, "there is no such user")
    if not await hub.access.table.remove_user(id[:64], Role.OWNER):
        raise ApiError(409, "this is the only owner")
    await hub.check_access()
    return {"ok": True}


@router.post("/users/{id}/link", Role.OWNER)
async def make_link(id: str, body: LinkBody, hub: HubOfRequest) -> dict[str, Any]:
    """Makes a link that signs the user in once, within five minutes."""
    user = await hub.access.table.user(id[:64])
    if user is None:
        raise ApiError(404, "there is no such user")
    code = await hub.access.create_code(user, Role(body.role) if body.role else None)
    return {"link": f"{hub.config.url}/#enter={code}"}


@router.get("/keys", Role.OWNER)
async def list_keys(hub: HubOfRequest) -> dict[str, Any]:
    """Keys of machines and programs: their names, roles and last use."""
    return {"items": [_credential_json(each) for each in await hub.access.table.credentials("key")], "next": None}


@router.post("/keys", Role.OWNER, status_code=201)
async def add_key(body: KeyBody, hub: HubOfRequest) -> dict[str, Any]:
    """Adds a key. It is in this answer only: the hub keeps its hash."""
    key, row = await hub.access.add_key(body.name, Role(body.role))
    return {"key": key, **_credential_json(row)}


@router.delete("/keys/{id}", Role.OWNER)
async def remove_key(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Removes a key. Open connections that use it end at once."""
    if not await hub.access.table.remove_credential(id[:64], "key"):
        raise ApiError(404, "there is no such key")
    await hub.check_access()
    return {"ok": True}


@router.get("/sign-ins", Role.OWNER)
async def list_sign_ins(hub: HubOfRequest) -> dict[str, Any]:
    """Browsers that are signed in."""
    users = {user.id: user for user in await hub.access.table.users()}
    found = await hub.access.table.credentials("session")
    return {"items": [_sign_in_json(each, users[each.user]) for each in found if each.user in users], "next": None}


@router.delete("/sign-ins/{id}", Role.OWNER)
async def remove_sign_in(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Signs this browser out at once."""
    if not await hub.access.table.remove_credential(id[:64], "session"):
        raise ApiError(404, "there is no such session")
    await hub.check_access()
    return {"ok": True}


def _user_json(user: UserRow) -> dict[str, Any]:
    return {
        "id": user.id,
        "name": user.name,
        "role": user.role,
        "created": user.created,
        "oidc": user.subject is not None,
    }


def _sign_in_json(row: CredentialRow, user: UserRow) -> dict[str, Any]:
    role = weaker_role(Role(user.role), Role(row.role))
    return {**_credential_json(row), "role": role, "name": user.name, "user": user.id}


def _credential_json(row: CredentialRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("id", "name", "role", "created", "expires", "used")}
