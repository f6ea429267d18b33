"""The hosts that report: processes, their machines, and the state of their chains."""

from __future__ import annotations

import time
from typing import Any

from hookline.hub.access.roles import Role
from hookline.hub.api.role_router import HubOfRequest, RoleRouter
from hookline.hub.intake.host_watch import chain_state, host_json
from hookline.hub.store.origin_table import OriginRow

router = RoleRouter("hosts")


@router.get("/hosts", Role.VIEWER)
async def list_hosts(hub: HubOfRequest) -> dict[str, Any]:
    """Processes that write records, those that reported last first."""
    now = time.time()
    return {"items": [host_json(each, now) for each in await hub.origins.all()], "next": None}


@router.get("/audit", Role.VIEWER)
async def audit(hub: HubOfRequest) -> dict[str, Any]:
    """The state of each process's chain: whether records are missing, or one does not follow from the one before it."""
    rows = await hub.origins.all()
    items = [_chain_json(each) for each in rows]
    return {"items": items, "next": None, "intact": all(each["state"] == "intact" for each in items)}


def _chain_json(row: OriginRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "machine": row.machine,
        "kind": row.host,
        "from": max(row.begin, row.removed + 1),
        "to": row.number,
        "hash": row.hash,
        "missing": row.missing,
        "lost": row.lost,
        "broken": row.broken,
        "state": chain_state(row),
    }
