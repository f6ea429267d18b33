"""A summary is a message like any other: hooks on messages may keep it out, and then nothing is lost."""

from __future__ import annotations

from pathlib import Path

from hookline.hooks.outcome import Compact
from hookline.runtime.compaction import compact
from runtime.scripted_runtime import open_runtime, run_async


def test_a_summary_that_hooks_keep_out_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    hooks = """
    hooks:
      - id: no-summaries
        on: message.create
        when: {fact: {message.content: earlier messages}}
        then: {deny: not in here}
    """

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["one", "two", "three"]) as (runtime, _):
            session = await runtime.start()
            await session.ask("a")
            await session.ask("b")
            before = await session.main.get_messages()
            assert not await compact(session.main, Compact("truncate", keep_recent=1), "manual")
            assert await session.main.get_messages() == before
            assert await session.ask("c") == "three"

    run_async(work)
