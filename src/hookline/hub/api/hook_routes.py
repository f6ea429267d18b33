"""The hooks in force: where each is written, its tags and how often it acted."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from hookline.hub.access.roles import Role
from hookline.hub.api.decision_routes import problems_json
from hookline.hub.api.role_router import HubOfRequest, RoleRouter

router = RoleRouter("hooks")

Text = Annotated[str, Query(max_length=400)]


@router.get("/hooks", Role.VIEWER)
async def list_hooks(
    hub: HubOfRequest, workspace: Text = "", agent: Text = "", event: Text = "", tag: Text = "", file: Text = ""
) -> dict[str, Any]:
    """Hooks of this machine's workspaces as they are now, and of other machines as they were at the last decision.

    Of the hub's own agents, the rules of the sets that are in force for them are listed too. `agent` keeps those that are in
    force for that agent. `fires` counts the recorded decisions in which a hook of this id took part.
    """
    rows, problems = await hub.hook_list.rows(workspace)
    items = [row for row in rows if _matches(row, agent, event, tag, file)]
    return {"items": items, "next": None, "problems": problems_json(problems)}


def _matches(row: dict[str, Any], agent: str, event: str, tag: str, file: str) -> bool:
    return (
        (not agent or _is_for(row, agent))
        and (not event or event in (row["event"], row["event_as_written"]))
        and (not tag or tag in row["tags"])
        and (not file or file in (row["file"], row["path"]))
    )


def _is_for(row: dict[str, Any], agent: str) -> bool:
    return row["agent"] in (None, "", agent) and any(place.get("agent", agent) == agent for place in row["in"])
