"""A sub-agent whose end hooks deny: it goes on, so often and no more."""

from __future__ import annotations

from pathlib import Path

from hookline.runtime.exchange import MOST_DENIED_STOPS
from hookline.runtime.happenings import Called, Decided
from runtime.agents import Seen, play, running
from runtime.cast import APP, SPAWN, Cast


def test_an_end_is_denied_so_often_and_no_more(tmp_path: Path) -> None:
    model = Cast(boss=[SPAWN, "fine"], reviewer=[f"answer {n}" for n in range(20)])
    hooks = "hooks: [{id: more, on: subagent.end, then: {deny: all of it}}]"
    seen = Seen()

    async def work() -> None:
        async with running(tmp_path, hooks, app=APP, model=model, watch=seen) as (runtime, _):
            assert await (await runtime.start()).ask("go") == "fine"

    play(work)
    assert len(model.sent_to("reviewer")) == MOST_DENIED_STOPS + 1
    ends = [each.decision.event.facts for each in seen.of(Decided) if each.decision.event.name == "subagent.end"]
    assert [each["tool"]["result"]["summary"] for each in ends] == [f"answer {n}" for n in range(MOST_DENIED_STOPS + 1)]
    assert [each["stop"]["active"] for each in ends] == [False] + [True] * MOST_DENIED_STOPS
    [told] = seen.of(Called)
    assert told.result.content["summary"] == f"answer {MOST_DENIED_STOPS}"
