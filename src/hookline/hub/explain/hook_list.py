"""All hooks that are in force somewhere: where each is written, its tags and its action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from hookline.config.problem import Problem
from hookline.engine.book import Book, introspect
from hookline.engine.limits import FireCounts
from hookline.hub.explain.hook_fires import HookFires
from hookline.hub.explain.hooks_in_force import HooksInForce
from hookline.hub.store.decision_table import DecisionTable
from hookline.hub.store.origin_table import OriginRow, OriginTable
from hookline.record.hooks_then import paths_by_name
from hookline.runtime.settings import ExtraHooks

_MAX_PLACES: Final = 30  # whose hooks are shown together
_MAX_TEXT: Final = 1000
_HOST: Final = "hookline"


class HubPlace(NamedTuple):
    """A directory in which the hub runs agents, the agent of the console whose directory it is, and the hub's rules there."""

    workspace: Path
    agent: str
    rules: tuple[ExtraHooks, ...]


class HookList:
    """Hooks of this machine's workspaces as they are now, of other machines as they were at their last decision."""

    def __init__(
        self,
        hooks: HooksInForce,
        origins: OriginTable,
        decisions: DecisionTable,
        fires: HookFires,
        machine: str,
        hub_places: Callable[[], Sequence[HubPlace]],
    ) -> None:
        self._hooks = hooks
        self._origins = origins
        self._decisions = decisions
        self._fires = fires
        self._machine = machine
        self._hub_places = hub_places

    async def rows(self, workspace: str = "") -> tuple[list[dict[str, Any]], list[Problem]]:
        """One for each hook of a machine, with the places at which it is in force; and the problems of the files.

        `fires` and `last_fire` are of the recorded decisions in which a hook of this id took part.
        """
        fires = await self._fires.count()
        rows: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        problems: dict[Problem, None] = {}
        for place, book in await self._books(workspace):
            for row in _hook_rows(book):
                key = (place["machine"], row["path"], row["id"], row["event"])
                rows.setdefault(key, {**row, **fires.of(row["id"]).as_json(), "in": []})["in"].append(place)
            problems |= dict.fromkeys(book.problems)
        return list(rows.values()), list(problems)

    async def rows_of(self, book: Book, workspace: str) -> list[dict[str, Any]]:
        """The hooks of a book that is in force in a workspace of this machine."""
        fires = await self._fires.count()
        place = {"machine": self._machine, "workspace": workspace, "host": _HOST}
        return [{**row, **fires.of(row["id"]).as_json(), "in": [place]} for row in _hook_rows(book)]

    async def with_tag(self, tag: str) -> tuple[str, ...]:
        """The ids of the hooks that have the tag."""
        rows, _ = await self.rows()
        return tuple(dict.fromkeys(row["id"] for row in rows if tag in row["tags"]))

    async def _books(self, workspace: str) -> list[tuple[dict[str, str], Book]]:
        found: dict[tuple[str, str, str], OriginRow] = {}
        for origin in await self._origins.all():
            if origin.workspace and workspace in ("", origin.workspace) and len(found) < _MAX_PLACES:
                found.setdefault((origin.machine, origin.workspace, origin.host), origin)
        keys = ("machine", "workspace", "host")
        others = [(dict(zip(keys, key, strict=True)), await self._book_of(origin)) for key, origin in found.items()]
        return [*await self._hub_books(workspace), *others]

    async def _hub_books(self, workspace: str) -> list[tuple[dict[str, str], Book]]:
        """With the rules of the hub's sets, which are in no file."""
        places = [each for each in self._hub_places() if workspace in ("", str(each.workspace))]
        books = []
        for place in places[:_MAX_PLACES]:
            book = await self._hooks.of_directory(_HOST, str(place.workspace))
            for rules in place.rules:
                book = book.with_layer(rules.layer, rules.files)
            about = {"machine": self._machine, "workspace": str(place.workspace), "host": _HOST}
            books.append(({**about, **({"agent": place.agent} if place.agent else {})}, book))
        return books

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
