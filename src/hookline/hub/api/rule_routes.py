"""Rules of the console: sets, versions, a preview, and single rules."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, NoReturn

from pydantic import Field

from hookline.errors import HooklineError
from hookline.hub.access.roles import Role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, CallerOfRequest, HubOfRequest, RoleRouter
from hookline.hub.context.running_hub import Hub
from hookline.hub.rules.rule_form import NoSuchRule, add_rule, change_rule, list_rules, remove_rule
from hookline.hub.rules.rule_sets import (
    DIALECT,
    EVERYONE,
    BadRules,
    RuleConflict,
    check_rules,
    parse_set_id,
    problems_json,
)
from hookline.hub.store.decision_table import DecisionFilter
from hookline.hub.store.rule_table import RuleSetRow, RuleVersionRow

router = RoleRouter("rules")

Text = Annotated[str, Field(max_length=1_000_000)]
Note = Annotated[str, Field(max_length=500)]
Number = Annotated[int, Field(ge=0, le=1_000_000)]


class TextBody(RequestBody):
    text: Text


class SaveBody(TextBody):
    base: Number
    note: Note = ""


class PreviewBody(TextBody):
    last: Annotated[int, Field(ge=1, le=10_000)] = 10_000
    host: str = ""
    session: str = ""
    tool: str = ""


class RuleBody(RequestBody):
    event: Annotated[str, Field(max_length=40)]
    rule: dict[str, Any]
    base: Number
    note: Note = ""


class RollbackBody(RequestBody):
    to: Annotated[int, Field(ge=1, le=1_000_000)]


@router.get("/rules", Role.VIEWER)
async def list_sets(hub: HubOfRequest) -> dict[str, Any]:
    """All sets, `everyone` first."""
    rows = {EVERYONE: parse_set_id(EVERYONE)} | {row.id: row for row in await hub.rules.table.sets()}
    return {"items": [_set_json(hub, row) for row in rows.values()], "next": None}


@router.get("/host-rules", Role.REPORTER)
async def get_host_rules(hub: HubOfRequest) -> dict[str, Any]:
    """The rules of `everyone`, for machines that joined with `--take-rules`."""
    return {"version": hub.rules.head(EVERYONE), "dialect": DIALECT, "text": hub.rules.text(EVERYONE)}


@router.get("/rules/{set:path}/versions/{number}", Role.VIEWER)
async def get_version(set: str, number: int, hub: HubOfRequest) -> dict[str, Any]:
    """One version with its text."""
    found = await hub.rules.table.version(_check_set(set).id, min(number, 1_000_000))
    if found is None:
        raise ApiError(404, "there is no such version")
    return {**_version_json(found), "text": found.text}


@router.get("/rules/{set:path}/versions", Role.VIEWER)
async def list_versions(set: str, hub: HubOfRequest) -> dict[str, Any]:
    """Versions, newest first."""
    found = await hub.rules.table.versions(_check_set(set).id)
    return {"items": [_version_json(each) for each in found], "next": None}


@router.post("/rules/{set:path}/check", Role.EDITOR)
async def check(set: str, body: TextBody, hub: HubOfRequest) -> dict[str, Any]:
    """The problems of a text, without saving it."""
    checked = await asyncio.to_thread(check_rules, body.text, _check_set(set).id)
    return {"problems": problems_json(checked.problems)}


@router.post("/rules/{set:path}/preview", Role.EDITOR)
async def preview(set: str, body: PreviewBody, hub: HubOfRequest) -> dict[str, Any]:
    """How many recorded events these rules would have heard, and which decisions would differ."""
    checked = await asyncio.to_thread(check_rules, body.text, _check_set(set).id)
    if checked.has_errors:
        raise ApiError(422, "the rules have errors", problems_json(checked.problems))
    chosen = DecisionFilter(host=body.host[:256], session=body.session[:256], tool=body.tool[:256])
    found = await hub.rule_preview.run(set, checked.hooks, body.last, chosen)
    return {**found, "problems": problems_json(checked.problems)}


@router.post("/rules/{set:path}/rollback", Role.EDITOR)
async def rollback(set: str, body: RollbackBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Saves the text of an earlier version as a new one."""
    id = _check_set(set).id
    found = await hub.rules.table.version(id, body.to)
    if found is None:
        raise ApiError(404, "there is no such version")
    return await _save(hub, id, found.text, hub.rules.head(id), caller.name, f"back to version {body.to}")


@router.post("/rules/{set:path}/rules", Role.EDITOR, status_code=201)
async def add(set: str, body: RuleBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Adds one rule. `base` as with `PUT`."""
    id = _check_set(set).id
    text = await _text_at(hub, id, body.base)
    try:
        text, rule = await asyncio.to_thread(add_rule, text, body.event, body.rule)
    except HooklineError as error:
        raise ApiError(422, str(error)) from None
    return {**await _save(hub, id, text, body.base, caller.name, body.note or f"add {rule}"), "id": rule}


@router.patch("/rules/{set:path}/rules/{rule}", Role.EDITOR)
async def change(set: str, rule: str, body: RuleBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Changes one rule, written as the form writes it. `base` as with `PUT`."""
    id = _check_set(set).id
    text = await _text_at(hub, id, body.base)
    try:
        text = await asyncio.to_thread(change_rule, text, rule, body.event, body.rule)
    except HooklineError as error:
        _raise_rule_error(error)
    return await _save(hub, id, text, body.base, caller.name, body.note or f"change {rule}")


@router.delete("/rules/{set:path}/rules/{rule}", Role.EDITOR)
async def remove(set: str, rule: str, hub: HubOfRequest, caller: CallerOfRequest, base: int) -> dict[str, Any]:
    """Removes one rule. `base` as with `PUT`."""
    id = _check_set(set).id
    text = await _text_at(hub, id, base)
    try:
        text = await asyncio.to_thread(remove_rule, text, rule)
    except HooklineError as error:
        _raise_rule_error(error)
    return await _save(hub, id, text, base, caller.name, f"remove {rule}")


@router.get("/rules/{set:path}", Role.VIEWER)
async def get_set(set: str, hub: HubOfRequest) -> dict[str, Any]:
    """The text, its problems, and each rule as the form shows it, with how often it fired and when it did last."""
    row = _check_set(set)
    text, about = hub.rules.text(row.id), _set_json(hub, row)  # of one version: somebody may save another meanwhile
    fires = await hub.hook_fires.count()
    try:
        rules = [{**each, **fires.of(each["id"]).as_json()} for each in await asyncio.to_thread(list_rules, text)]
    except HooklineError:
        rules = []
    checked = await asyncio.to_thread(check_rules, text, row.id)
    return {**about, "text": text, "rules": rules, "problems": problems_json(checked.problems)}


@router.put("/rules/{set:path}", Role.EDITOR)
async def save(set: str, body: SaveBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Saves a new version. `base` is the version that was edited: 409 if it is not the last one any more."""
    return await _save(hub, _check_set(set).id, body.text, body.base, caller.name, body.note)


def _check_set(set: str) -> RuleSetRow:
    try:
        return parse_set_id(set)
    except HooklineError as error:
        raise ApiError(404, str(error)) from None


def _raise_rule_error(error: HooklineError) -> NoReturn:
    raise ApiError(404 if isinstance(error, NoSuchRule) else 422, str(error)) from None


async def _text_at(hub: Hub, set: str, base: int) -> str:
    """Raises ApiError 409 if `base` is not the last version: a rule must not be changed in another text than the editor's."""
    try:
        return await hub.rules.text_at(set, base)
    except RuleConflict as error:
        raise _conflict(hub, set, error) from None


def _conflict(hub: Hub, set: str, error: RuleConflict) -> ApiError:
    return ApiError(409, str(error), {"head": hub.rules.head(set)})


async def _save(hub: Hub, set: str, text: str, base: int, by: str, note: str) -> dict[str, Any]:
    try:
        version = await hub.rules.save(set, text, min(base, 1_000_000), by, note)
    except RuleConflict as error:
        raise _conflict(hub, set, error) from None
    except BadRules as error:
        raise ApiError(422, str(error), problems_json(error.problems)) from None
    await hub.bus.publish("rules_changed", {"set": set, "version": version.number, "by": by}, rooms=("live",))
    return _version_json(version)


def _set_json(hub: Hub, row: RuleSetRow) -> dict[str, Any]:
    names = ("id", "title", "agent", "workspace", "dialect")
    return {**{name: getattr(row, name) for name in names}, "head": hub.rules.head(row.id)}


def _version_json(version: RuleVersionRow) -> dict[str, Any]:
    return {name: getattr(version, name) for name in ("set", "number", "by", "at", "note")}
