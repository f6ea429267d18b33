from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from hookline.hub.bus.live_rows import MOST_PER_SECOND, LiveRows
from hub.hub_sandbox import async_test, eventually


async def run_until(live: LiveRows, sent: list[dict[str, Any]], rows: int) -> None:
    task = asyncio.ensure_future(live.run())
    await eventually(lambda: sum(len(batch["items"]) for batch in sent) >= rows)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@async_test
async def test_rows_of_a_moment_are_one_message() -> None:
    sent: list[dict[str, Any]] = []

    async def send(batch: dict[str, Any]) -> None:
        sent.append(batch)

    live = LiveRows(send, is_watched=lambda: True)
    for number in range(5):
        live.add([partial(dict, n=number)], [{"call": number}])
    await run_until(live, sent, 5)
    assert [[row["n"] for row in batch["items"]] for batch in sent] == [[0, 1, 2, 3, 4]]
    assert len(sent[0]["outcomes"]) == 5


@async_test
async def test_a_flood_is_cut_and_counted() -> None:
    sent: list[dict[str, Any]] = []

    async def send(batch: dict[str, Any]) -> None:
        sent.append(batch)

    live = LiveRows(send, is_watched=lambda: True)
    live.add([partial(dict, n=number) for number in range(MOST_PER_SECOND + 7)], [])
    await run_until(live, sent, MOST_PER_SECOND)
    assert sum(batch["dropped"] for batch in sent) == 7
    assert max(len(batch["items"]) for batch in sent) == MOST_PER_SECOND * 0.2


@async_test
async def test_nothing_is_kept_while_nobody_watches() -> None:
    live = LiveRows(lambda batch: asyncio.sleep(0), is_watched=lambda: False)
    live.add([dict], [{}])
    assert (live._rows, live._outcomes) == ([], [])
