"""What only Haystack has: calls without an id, and tools whose errors end the run."""

from __future__ import annotations

from typing import Any

import pytest
from driver_haystack import make_agent
from haystack.dataclasses import ChatMessage
from trial import Trial, record

from hookline.errors import HooklineError


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


def test_a_run_after_one_that_a_tool_ended_is_not_part_of_it() -> None:
    broken = Trial([["echo fail"]])
    agent, _ = make_agent(broken)
    agent.raise_on_tool_invocation_failure = True
    with pytest.raises(Exception, match="fail"):
        agent.run(messages=[ChatMessage.from_user("Go.")])
    trial = Trial([["echo a"]])
    make_agent(trial)[0].run(messages=[ChatMessage.from_user("My password is hunter2.")])
    assert trial.requests == []
    assert "subagent.start" not in [each["event"] for each in record()]


def test_a_hook_after_ours_is_refused() -> None:
    """It could change a call that is decided already."""

    class Later:
        allowed_hook_points = ("before_tool",)

        def run(self, state: Any) -> None: ...

    trial = Trial([["echo a"]])
    agent, hooks = make_agent(trial)
    hooks["before_tool"].append(Later())
    with pytest.raises(HooklineError, match="before those of hookline"):
        agent.run(messages=[ChatMessage.from_user("Go.")])
    hooks["before_tool"].reverse()
    agent.run(messages=[ChatMessage.from_user("Go.")])
    assert trial.ran == ["echo a"]
