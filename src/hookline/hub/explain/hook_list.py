"""All hooks that are in force somewhere: where each is written, its tags and its action."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hookline.config.problem import Problem
from hookline.engine.book import Book, introspect
from hookline.engine.limits import FireCounts
from hookline.hub.explain.hooks_in_force import HooksInForce
from hookline.hub.store.decision_table import DecisionTable
from hookline.hub.store.origin_table import OriginRow, OriginTable
from hookline.record.hooks_then import paths_by_name

_MAX_PLACES: Final = 30  # whose hooks are shown together
_MAX_TEXT: Final = 1000


class HookList:
    """Hooks of this machine's workspaces as they are now, of other machines as they were at their last decision."""

    def __init__(
        self,
        hooks: HooksInForce,
        origins: OriginTable,
        decisions: DecisionTable,
        machine: str,
        workspaces: tuple[Path, ...],
    ) -> None:
        self._hooks = hooks
        self._origins = origins
        self._decisions = decisions
        self._machine = machine
        self._workspaces = workspaces

    async def rows(self, workspace: str = "") -> tuple[list[dict[str, Any]], list[Problem]]:
        """One for each hook of a machine, with the places at which it is in force; and the problems of the files.

        `fires` and `last_fire` are of the recorded decisions that a hook of this id made.
        """
        fires = await self._decisions.hook_fires()
        rows: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        problems: dict[Problem, None] = {}
        for place, book in await self._books(workspace):
            for row in _hook_rows(book):
                key = (place["machine"], row["path"], row["id"], row["event"])
                count, last = fires.get(row["id"], (0, None))
                rows.setdefault(key, {**row, "fires": count, "last_fire": last, "in": []})["in"].append(place)
            problems |= dict.fromkeys(book.problems)
        return list(rows.values()), list(problems)

    async def rows_of(self, book: Book, workspace: str) -> list[dict[str, Any]]:
        """The hooks of a book that is in force in a workspace of this machine."""
        fires = await self._decisions.hook_fires()
        place = {"machine": self._machine, "workspace": workspace, "host": "hookline"}
        found = []
        for row in _hook_rows(book):
            count, last = fires.get(row["id"], (0, None))
            found.append({**row, "fires": count, "last_fire": last, "in": [place]})
        return found

    async def with_tag(self, tag: str) -> tuple[str, ...]:
        """The ids of the hooks that have the tag."""
        rows, _ = await self.rows()
        return tuple(dict.fromkeys(row["id"] for row in rows if tag in row["tags"]))

    async def _books(self, workspace: str) -> list[tuple[dict[str, str], Book]]:
        found: dict[tuple[str, str, str], OriginRow] = {}
        own = [OriginRow("", workspace=str(path), machine=self._machine) for path in self._workspaces]
        for origin in (*own, *await self._origins.all()):
            if origin.workspace and workspace in ("", origin.workspace) and len(found) < _MAX_PLACES:
                found.setdefault((origin.machine, origin.workspace, origin.host), origin)
        keys = ("machine", "workspace", "host")
        return [(dict(zip(keys, key, strict=True)), await self._book_of(origin)) for key, origin in found.items()]

    async def _book_of(self, origin: OriginRow) -> Book:
        if origin.key or origin.machine != self._machine:
            return await self._hooks.then({"hooks": await self._decisions.last_book(origin.id)})
        return await self._hooks.of_directory(origin.host, origin.workspace)


def _hook_rows(book: Book) -> list[dict[str, Any]]:
    paths = paths_by_name(book.files)
    rows = []
    for row, hook in zip(introspect(book, FireCounts(), ""), book.hooks, strict=True):
        action = [{"name": name, "value": value[:_MAX_TEXT]} for name, value in hook.then.describe()]
        more = {"path": paths.get(row["file"], row["file"]), "action": action, "condition": str(hook.when)[:_MAX_TEXT]}
        rows.append({**row, **more})
    return rows
