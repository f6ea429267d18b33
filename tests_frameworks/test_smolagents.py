"""What only smolagents has: a tool that ends the run."""

from __future__ import annotations

from pathlib import Path

from driver_smolagents import TrialModel
from smolagents import Tool, ToolCallingAgent
from trial import Trial

from hookline.frameworks.smolagents import HooklineHooks

DENY = "hooks: [{id: no, on: tool.before, then: {deny: Nothing runs.}}]"


def test_a_final_answer_of_your_own_is_a_call(own_state: Path) -> None:
    ran: list[str] = []

    class Publish(Tool):
        name = "final_answer"
        description = "Publishes the answer."
        inputs = {"answer": {"type": "string", "description": "the answer"}}  # noqa: RUF012
        output_type = "string"

        def forward(self, answer: str) -> str:
            ran.append(answer)
            return answer

    (own_state / "h.yaml").write_text(DENY)
    agent = ToolCallingAgent(tools=[Publish()], model=TrialModel(Trial([])), verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    assert "Nothing runs." in str(agent.run("Go."))
    assert ran == []
