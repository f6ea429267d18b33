"""What only Haystack has: calls without an id."""

from __future__ import annotations

from typing import Any

from driver_haystack import make_agent
from haystack.dataclasses import ChatMessage
from trial import Trial


class TrialWithoutIds(Trial):
    def call_id(self, index: int) -> Any:
        return None


def test_results_of_calls_without_an_id_are_masked() -> None:
    trial = TrialWithoutIds([["echo plain", "rm x", "echo b"]])
    agent, _ = make_agent(trial)
    agent.run(messages=[ChatMessage.from_user(trial.prompt)])
    assert trial.ran == ["echo altered", "echo b"]
    assert "ran echo altered ***" in trial.read_last
    assert not any("s3cret" in each for each in trial.requests)
