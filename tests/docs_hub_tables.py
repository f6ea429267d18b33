"""The table of the hub's routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hookline.hub.hub_app import ROUTERS


def routes_table(table: Callable[[tuple[str, ...], Iterable[tuple[str, ...]]], str]) -> str:
    rows = []
    for router in ROUTERS:
        for route in router.routes:
            text = (route.description or "").split("\n\n")[0].replace("\n", " ").rstrip(".")
            rows.append((f"`{min(route.methods)} {route.path}`", ", ".join(route.roles), text))
    return table(("route", "role", "what it does"), rows)
