"""How full the context is: what the next request would hold, at every event."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.models.tokens import request_tokens
from hookline.runtime.updates import DecisionMade, HistoryCompacted
from runtime.scripted_runtime import (
    RecordingModel,
    UpdateRecorder,
    open_runtime,
    run_async,
    send_prompt,
    tool_call_step,
)

WATCHED = "  - {id: look, on: [%s], when: {tokens: {at_least: 0}}, then: {log: '{{context.tokens}}'}}\n"


def tokens_at(seen: UpdateRecorder, event: str) -> list[int]:
    decisions = [each.decision for each in seen.of_type(DecisionMade)]
    return [each.event.facts["context"]["tokens"] for each in decisions if each.event.name == event]


@pytest.mark.parametrize("spend", [None, (40_000, 10)])
def test_a_turn_ends_with_what_the_next_request_holds(tmp_path: Path, spend: tuple[int, int] | None) -> None:
    """What the provider counted, and on top of it what tools and hooks have added since."""
    (tmp_path / "big").write_text("word " * 20_000)
    hooks = "hooks:\n" + WATCHED % "turn.end" + "  - {id: n, on: turn.end, then: {tell: %s}}\n" % ("more " * 1000)

    async def work() -> None:
        first = ScriptStep(calls=(("read_file", {"path": "big"}),), spend=spend)
        async with open_runtime(tmp_path, hooks, [first, "z"]) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert isinstance(model, RecordingModel)
            before, after = map(request_tokens, model.requests)
            expected = after if spend is None else spend[0] + spend[1] + after - before
            note = 1500  # is told at the turn's end, after its event
            assert expected - note < tokens_at(seen, "turn.end")[0] < expected + 100

    run_async(work)


def test_the_first_turn_counts_the_system_prompt_and_the_tools(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "hooks:\n" + WATCHED % "turn.start") as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert isinstance(model, RecordingModel)
            assert abs(tokens_at(seen, "turn.start")[0] - request_tokens(model.requests[0])) < 20

    run_async(work)


def test_a_long_result_is_compacted_before_it_is_sent(tmp_path: Path) -> None:
    (tmp_path / "big").write_text("word " * 8_000)
    hooks = """
runtime:
  hooks:
    - id: auto-compact
      on: turn_end
      condition: {type: context_pressure, threshold: 0.80}
      action: {type: compact_context, strategy: truncate, keep_recent: 0}
"""

    async def work() -> None:
        model = RecordingModel([tool_call_step(("read_file", {"path": "big"})), "z"], context_limit=10_000)
        async with open_runtime(tmp_path, hooks, model=model, file="digitorn.yaml") as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert len(seen.of_type(HistoryCompacted)) == 1
            assert max(map(request_tokens, model.requests)) < 10_000

    run_async(work)
