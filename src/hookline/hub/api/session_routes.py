"""Sessions: those of the hub's own agents, and what is known of other hosts'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query, Request
from pydantic import Field

from hookline.errors import Denied, HooklineError
from hookline.hub.access.roles import Caller, Role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, CallerOfRequest, HubOfRequest, RoleRouter
from hookline.hub.bus.event_bus import CommandError, current_token
from hookline.hub.cluster.peers import PASSED_ON
from hookline.hub.context.running_hub import Hub
from hookline.hub.pages.flo_session import export_session
from hookline.hub.rules.rule_sets import BadRules, problems_json
from hookline.hub.session_import.flo_session_format import FloSession
from hookline.hub.workspaces.hub_sessions import NoSuchSession, SessionBusy

router = RoleRouter("sessions")

Text = Annotated[str, Field(min_length=1, max_length=200_000)]


class StartBody(RequestBody):
    agent: Annotated[str, Field(max_length=200)] = ""
    workspace: Annotated[str, Field(max_length=4096)] = ""


class MessageBody(RequestBody):
    text: Text


@router.get("/sessions", Role.VIEWER)
async def list_sessions(
    request: Request, hub: HubOfRequest, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> dict[str, Any]:
    """Sessions, those used last first: the hub's own, and those that other hosts reported."""
    own = {row.id: hub.sessions.describe(row) for row in await hub.store.sessions(limit)}
    if hub.peers is not None and PASSED_ON not in request.headers:
        for id in own.keys() & await hub.peers.working_sessions(request):
            own[id]["state"] = "working"
    others = [each for each in await hub.decisions.sessions(limit) if each["id"] not in own]
    items = sorted((*own.values(), *others), key=lambda each: -each["last_used"])
    return {"items": items[:limit], "next": None}


@router.post("/sessions", Role.EDITOR, status_code=201)
async def start_session(body: StartBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Starts a session of an agent of the console, or of a workspace."""
    workspace, agent = await _find_agent(hub, body)
    try:
        row = await hub.sessions.start(workspace, agent, caller.user)
    except Denied as error:
        raise ApiError(403, str(error)) from None
    except HooklineError as error:
        raise ApiError(409, str(error)) from None
    return hub.sessions.describe(row)


@router.post("/sessions/import", Role.EDITOR, status_code=201)
async def import_from_flo(body: FloSession, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Imports flo's SerializedSession, version 1 or 2: a new agent with its rules, and the session. 422 if its rules have errors."""
    try:
        done = await hub.session_import.run(body, caller.name, caller.user)
    except BadRules as error:
        raise ApiError(422, "the rules of the session have errors", problems_json(error.problems)) from None
    except Denied as error:
        raise ApiError(403, str(error)) from None
    return {
        "session": hub.sessions.describe(done.session),
        "agent": done.agent.id,
        "problems": [*done.problems, *(f"dependencies.hooks: {each.what}" for each in done.rule_problems)],
    }


@router.get("/sessions/{id}", Role.VIEWER, of_session=True)
async def get_session(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Its agent, its turns, and whether it is idle, working or ended."""
    try:
        return hub.sessions.describe(await hub.sessions.find(id[:200]))
    except NoSuchSession:
        others = await hub.decisions.sessions(1, id[:200])
        if not others:
            raise ApiError(404, "there is no such session") from None
        return others[0]


@router.get("/sessions/{id}/messages", Role.VIEWER)
async def list_messages(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Its messages, with the tool calls in them."""
    row = await _find(hub, id)
    return {"items": await hub.store.messages(row), "next": None}


@router.get("/sessions/{id}/export", Role.VIEWER)
async def export_to_flo(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Exports the session as flo's SerializedSession, with the agent's rules and its page."""
    row = await hub.sessions.find(await _find(hub, id))
    await hub.agents.load()
    agent = hub.agents.of_workspace(Path(row.workspace))
    rules = "" if agent is None else hub.rules.text(f"agent:{agent.id}")
    return await export_session(hub.store, hub.pages.states, row, agent, rules)


@router.get("/sessions/{id}/diagnostics", Role.VIEWER, of_session=True)
async def list_diagnostics(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Diagnostics by file, as language servers reported them in this session."""
    return {"items": hub.session_updates.diagnostics(await _find(hub, id)), "next": None}


@router.post("/sessions/{id}/messages", Role.EDITOR, status_code=202, of_session=True)
async def send_message(id: str, body: MessageBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Sends the agent a message. Returns at once: what happens comes on the bus, in the room `session:<id>`."""
    session = await _find(hub, id)
    await _working(hub.sessions.say(session, body.text, caller.user))
    return {"ok": True}


@router.post("/sessions/{id}/cancel", Role.EDITOR, of_session=True)
async def cancel_session(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Stops the agent that works in this session."""
    return {"ok": await hub.sessions.cancel(await _find(hub, id))}


@router.post("/sessions/{id}/end", Role.EDITOR, of_session=True)
async def end_session(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Ends a session: its last events fire. It is kept and can be reopened."""
    await _working(hub.sessions.end(await _find(hub, id)))
    return {"ok": True}


@router.post("/sessions/{id}/resume", Role.EDITOR, of_session=True)
async def resume_session(id: str, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Continues an exchange that was interrupted; `resumed` is false if there is none."""
    return {"ok": True, "resumed": await _working(hub.sessions.go_on(await _find(hub, id), caller.user))}


@router.post("/sessions/{id}/reopen", Role.EDITOR, of_session=True)
async def reopen_session(id: str, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Opens a session again that has ended."""
    return hub.sessions.describe(await _working(hub.sessions.reopen(await _find(hub, id), caller.user)))


@router.delete("/sessions/{id}", Role.EDITOR, of_session=True)
async def delete_session(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Deletes a session: its last events fire, then nothing is left but its decisions in the record. It is no longer listed."""
    await _working(hub.sessions.delete(await _find(hub, id)))
    return {"ok": True}


@router.get("/workspaces", Role.VIEWER)
async def list_workspaces(hub: HubOfRequest) -> dict[str, Any]:
    """The directories in which this hub runs agents."""
    return {"items": [{"path": str(path)} for path in hub.config.workspaces], "next": None}


def add_session_commands(hub: Hub) -> None:
    """What clients of the bus may say."""

    async def send(caller: Caller, data: dict[str, Any]) -> None:
        text = data.get("message")
        if not isinstance(text, str) or not 0 < len(text) <= 200_000:
            raise CommandError("message must be text")
        if await _pass_on(hub, data, "messages", {"text": text}) is not None:
            return
        try:
            await hub.sessions.say(str(data.get("session_id"))[:200], text, caller.user)
        except HooklineError as error:
            raise CommandError(str(error)) from None

    async def cancel(caller: Caller, data: dict[str, Any]) -> dict[str, Any]:
        passed_on = await _pass_on(hub, data, "cancel", {})
        if passed_on is not None:
            return {"cancelled": bool(passed_on.get("ok"))}
        return {"cancelled": await hub.sessions.cancel(str(data.get("session_id"))[:200])}

    hub.bus.add_command("send_message", send, Role.EDITOR)
    hub.bus.add_command("cancel", cancel, Role.EDITOR)


async def _pass_on(hub: Hub, data: dict[str, Any], verb: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of the hub that has the session, with the client's own token; None if it is this one."""
    session = str(data.get("session_id"))[:200]
    owner = None if hub.peers is None else await hub.peers.owner_of(session)
    if hub.peers is None or owner is None:
        return None
    headers = {"authorization": f"Bearer {current_token()}", "content-type": "application/json"}
    path = f"/api/v1/sessions/{quote(session, safe='')}/{verb}"
    answer = await hub.peers.send(owner, "POST", path, headers, json.dumps(body).encode())
    if answer is None:
        return None
    found = json.loads(bytes(answer.body))
    if answer.status_code >= 400:
        raise CommandError(str(found.get("error")))
    return dict(found)


async def _find(hub: Hub, id: str) -> str:
    try:
        return (await hub.sessions.find(id[:200])).id
    except NoSuchSession as error:
        raise ApiError(404, str(error)) from None


async def _working(work: Any) -> Any:
    try:
        return await work
    except NoSuchSession as error:
        raise ApiError(404, str(error)) from None
    except Denied as error:
        raise ApiError(403, str(error)) from None
    except (SessionBusy, HooklineError) as error:
        raise ApiError(409, str(error)) from None


async def _find_agent(hub: Hub, body: StartBody) -> tuple[Path, str | None]:
    known = await hub.agents.find(body.agent) if body.agent else None
    if known is not None and not body.workspace:
        return Path(known.workspace), known.id
    wanted = Path(body.workspace) if body.workspace else next(iter(hub.config.workspaces), None)
    if wanted is None or wanted.resolve() not in {path.resolve() for path in hub.config.workspaces}:
        raise ApiError(404, "there is no such agent, and this is not a workspace of the hub")
    return wanted, body.agent or None
