"""A hook that runs has fired, whether it decides something or not."""

from __future__ import annotations

from pathlib import Path

from hookline.hub.explain.hook_fires import NEVER, Fires
from hub.hub_sandbox import Writer, async_test, open_hub

FIRST, LATER = "2026-11-16T20:01:35.458752Z", "2026-11-16T20:01:36.458752Z"


def entry(hook: str, verdict: str = "silent") -> dict[str, object]:
    return {"hook": hook, "file": "hookline.yaml", "line": 2, "outcome": {"verdict": verdict}, "ms": 0.5}


@async_test
async def test_a_hook_that_only_logs_has_fired(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        writer = Writer()
        assert (await hub.hook_fires.count()).of("log-all") == NEVER
        await hub.intake.take([writer.call("ls", trace=[entry("log-all"), entry("log-all")], at=FIRST)])
        assert (await hub.hook_fires.count()).of("log-all") == Fires(1, 1794859295.458752)
        denied = writer.call("rm x", "deny", hook="no-rm", trace=[entry("log-all"), entry("no-rm", "deny")], at=LATER)
        await hub.intake.take([denied, writer.call("pwd")])
        for _ in range(2):  # each record is counted once
            fires = await hub.hook_fires.count()
            assert (fires.of("log-all"), fires.of("no-rm")) == (
                Fires(2, 1794859296.458752),
                Fires(1, 1794859296.458752),
            )
