"""Agents of the console, and those of the hub's workspaces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

from hookline.errors import HooklineError
from hookline.hub.access.roles import Role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, CallerOfRequest, HubOfRequest, RoleRouter
from hookline.hub.context.running_hub import Hub
from hookline.hub.pages.page_tools import is_origin
from hookline.hub.store.agent_table import AgentRow

router = RoleRouter("agents")

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]
Prompt = Annotated[str, Field(max_length=100_000)]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=200)]


def _check_origins(origins: list[str] | None) -> list[str] | None:
    for each in origins or ():
        if not is_origin(each):
            raise ValueError(f"{each!r} is not an origin such as https://api.example.org")
    return origins


class AgentBody(RequestBody):
    name: Name
    prompt: Prompt = ""
    model: Annotated[str, Field(max_length=200)] = ""
    tools: Names = Field(default_factory=list)
    network: Names = Field(default_factory=list)

    _origins = field_validator("network")(_check_origins)


class AgentChange(RequestBody):
    name: Name | None = None
    prompt: Prompt | None = None
    model: Annotated[str, Field(max_length=200)] | None = None
    tools: Names | None = None
    network: Names | None = None

    _origins = field_validator("network")(_check_origins)


@router.get("/agents", Role.VIEWER)
async def list_agents(hub: HubOfRequest) -> dict[str, Any]:
    """Browser agents: those that were made in the console."""
    await hub.agents.load()
    return {"items": [_agent_json(row) for row in hub.agents.rows], "next": None}


@router.post("/agents", Role.EDITOR, status_code=201)
async def add_agent(body: AgentBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Makes a browser agent. Its workspace is a new directory of its own."""
    return _agent_json(await hub.agents.add(caller.name, **body.model_dump()))


@router.get("/agents/{id}", Role.VIEWER)
async def get_agent(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """One browser agent."""
    return _agent_json(await _find(hub, id))


@router.patch("/agents/{id}", Role.EDITOR)
async def change_agent(id: str, body: AgentChange, hub: HubOfRequest) -> dict[str, Any]:
    """Changes a browser agent, for sessions that begin afterwards."""
    row = await _find(hub, id)
    changed = {name: value for name, value in body.model_dump().items() if value is not None}
    try:
        return _agent_json(await hub.agents.change(row.id, **changed))
    except HooklineError as error:
        raise ApiError(404, str(error)) from None


@router.delete("/agents/{id}", Role.EDITOR)
async def remove_agent(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Removes a browser agent. Its sessions and its directory stay."""
    await hub.agents.remove((await _find(hub, id)).id)
    return {"ok": True}


@router.get("/agents/{id}/hooks", Role.VIEWER)
@router.get("/apps/{id}/hooks", Role.VIEWER)
async def list_agent_hooks(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """The hooks in force for the agent: tags, how often each fired, where it is written."""
    row = await _find(hub, id)
    try:
        book = (await hub.runtimes.get(Path(row.workspace))).book
    except HooklineError as error:
        raise ApiError(409, str(error)) from None
    items = await hub.hook_list.rows_of(book, row.workspace)
    return {"items": items, "problems": [each.as_json() for each in book.problems], "next": None}


async def _find(hub: Hub, id: str) -> AgentRow:
    found = await hub.agents.find(id[:200])
    if found is None:
        raise ApiError(404, "there is no such agent")
    return found


def _agent_json(row: AgentRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in AgentRow.__dataclass_fields__}
