from __future__ import annotations

from pathlib import Path
from typing import Any

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Compact, Note
from hookline.project import load_text
from hookline.runtime.effects import apply_effects
from runtime.scripted_runtime import open_runtime, run_async


def make_decision(**parts: Any) -> Decision:
    decision = load_text("hooks: []", "hookline.yaml").decide_now(Event("turn.end", {}))
    for name, value in parts.items():
        setattr(decision, name, value)
    return decision


def apply(tmp_path: Path, decision: Decision, deferred: Decision | None = None) -> tuple[str | None, int, int]:
    """Why the agent stops, how many notes are stored, and how many messages are left of ten."""

    async def work() -> tuple[str | None, int, int]:
        async with open_runtime(tmp_path) as (runtime, _):
            thread = (await runtime.start()).main
            for number in range(10):
                await thread.inject_message({"role": "user", "content": f"{number} " + "word " * 50})
            if deferred is not None:
                thread.defer_effects(deferred)
            why = await apply_effects(thread, decision)
            assert thread.take_halt(make_decision()) is None
            return why, len(await thread.injections()), len(await thread.history())

    found: tuple[str | None, int, int] = run_async(work)
    return found


def test_a_decision_without_effects_changes_nothing(tmp_path: Path) -> None:
    assert apply(tmp_path, make_decision()) == (None, 0, 10)


def test_notes_are_stored(tmp_path: Path) -> None:
    assert apply(tmp_path, make_decision(notes=(Note("careful"),))) == (None, 1, 10)


def test_a_request_shortens_the_history(tmp_path: Path) -> None:
    why, _, left = apply(tmp_path, make_decision(requests=(Compact("truncate", keep_recent=2),)))
    assert why is None
    assert left < 10


def test_a_halt_is_returned_with_its_reason(tmp_path: Path) -> None:
    assert apply(tmp_path, make_decision(halt=True, reason="enough"))[0] == "enough"


def test_a_deferred_halt_is_returned_once(tmp_path: Path) -> None:
    assert apply(tmp_path, make_decision(), make_decision(halt=True, reason="earlier"))[0] == "earlier"
