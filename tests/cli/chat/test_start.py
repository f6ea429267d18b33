from __future__ import annotations

from cli.chat.sample_updates import HOOKS, MAIN, decide_call
from hookline.cli.chat.start import DecisionLog
from hookline.project import load_text
from hookline.runtime.updates import (
    DecisionMade,
)


def test_the_record_counts_and_finds_the_last_decision_that_mattered() -> None:
    record = DecisionLog()
    for command in ("ls", "rm x", "ls"):
        record(DecisionMade(*MAIN, decide_call("tool.before", command)))
    book = load_text(HOOKS, "hookline.yaml")
    assert [record.fire_count(hook) for hook in book.hooks] == [3, 0, 1, 0]
    last = record.decision()
    assert last is not None
    assert last.by == "no"
    assert record.decision(2) is None
