"""Counts: what was decided, by which hook, and how long it took."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query

from hookline.hub.access.roles import Role
from hookline.hub.api.decision_routes import parse_seconds
from hookline.hub.api.role_router import HubOfRequest, RoleRouter

router = RoleRouter("stats")

_DAY = 86_400.0
By = Literal["verdict", "hook", "tool", "host", "event", "session", "agent", "time"]


@router.get("/stats", Role.VIEWER)
async def stats(
    hub: HubOfRequest,
    by: By = "verdict",
    since: Annotated[datetime | None, Query(description="A day ago, unless you say otherwise.")] = None,
) -> dict[str, Any]:
    """`by=hook`: how often each hook ran, spoke, denied and failed, and its times. `by=time`: verdicts in 60 steps."""
    now = time.time()
    start = parse_seconds(since)
    begun = now - _DAY if start is None else min(start, now)
    if by == "hook":
        return {"by": by, "since": begun, "items": await hub.hook_counter.count(begun)}
    if by == "time":
        return {"by": by, "since": begun, **await hub.decisions.timeline(begun, now)}
    counts = await hub.decisions.counts(by, begun)
    items = [{"value": value, "count": count} for value, count in sorted(counts.items(), key=lambda each: -each[1])]
    return {"by": by, "since": begun, "items": items[:500]}
