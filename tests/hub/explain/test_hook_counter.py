from __future__ import annotations

from pathlib import Path

from hookline.hub.store import decision_table
from hub.hub_sandbox import Writer, async_test, open_hub


@async_test
async def test_hooks_are_counted_over_all_pieces(tmp_path: Path, monkeypatch: object) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        trace = [{"hook": "no-rm", "file": "hookline.yaml", "line": 2, "outcome": {"verdict": "deny"}, "ms": 0.5}]
        lines = [writer.call("rm x", "deny", hook="no-rm", trace=trace) for _ in range(5)]
        await hub.intake.take([*lines, writer.call("ls")])
        before, decision_table._TRACE_ROWS = decision_table._TRACE_ROWS, 2  # type: ignore[misc]
        try:
            found = await hub.hook_counter.count(0)
        finally:
            decision_table._TRACE_ROWS = before  # type: ignore[misc]
        assert [(each["hook"], each["ran"], each["denied"], each["p50_ms"]) for each in found] == [("no-rm", 5, 5, 0.5)]
        assert await hub.hook_counter.count(2**40) == []
