"""Counts from the records how often each hook ran and what it said."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hub.store.book_table import BookTable
from hookline.hub.store.decision_table import DecisionTable
from hookline.record.hook_stats import HookStats, count_hooks
from hookline.record.hooks_then import paths_by_name
from hookline.record.record_reader import Record

_MAX_RECORDS: Final = 100_000


class HookCounter:
    def __init__(self, decisions: DecisionTable, books: BookTable) -> None:
        self._decisions = decisions
        self._books = books

    async def count(self, since: float) -> list[dict[str, Any]]:
        """Of the last 100,000 decisions in which a hook took part. Those that ran most come first."""
        paths: dict[str, dict[str, str]] = {}
        found: dict[tuple[str, str], HookStats] = {}
        left = _MAX_RECORDS
        async for stored in self._decisions.with_hooks(since):
            records = [each.record for each in stored]
            for hash in {str(record.get("hooks", "")) for record in records} - paths.keys():
                paths[hash] = await self._paths(hash)

            def find_path(record: Record, file: str) -> str:
                return paths[str(record.get("hooks", ""))].get(file, file)

            _merge(found, await asyncio.to_thread(count_hooks, records, find_path))
            left -= len(records)
            if left <= 0:
                break
        ordered = sorted(found.values(), key=lambda each: (-each.ran, each.hook))
        return [{**each.as_json(), "always_overridden": each.is_always_overridden} for each in ordered]

    async def _paths(self, hash: str) -> dict[str, str]:
        try:
            return paths_by_name(await self._books.files(hash))
        except HooklineError:
            return {}


def _merge(found: dict[tuple[str, str], HookStats], more: dict[tuple[str, str], HookStats]) -> None:
    for key, new in more.items():
        known = found.setdefault(key, new)
        if known is not new:
            for name in ("ran", "spoke", "denied", "asked", "allowed", "failed", "overridden"):
                setattr(known, name, getattr(known, name) + getattr(new, name))
            known.times += new.times
