"""The defaults of Haystack's tools."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from default_tools import PLAIN, SCHEMA, check_defaults, make_function
from driver_haystack import TrialGenerator
from haystack import component
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage
from haystack.tools import ComponentTool, Tool, create_tool_from_function
from trial import Trial, record

from hookline.frameworks.haystack import _defaults_of, hookline_hooks


@pytest.mark.parametrize("given", PLAIN)
def test_hooks_see_the_defaults_of_a_function(given: dict[str, Any]) -> None:
    ran: list[Any] = []
    made = create_tool_from_function(make_function(ran))
    made.invoke(**given)
    check_defaults(_defaults_of(made), given, ran)


def test_hooks_see_the_defaults_in_a_schema() -> None:
    made = Tool("write", "Writes.", SCHEMA, lambda **arguments: "done")
    assert _defaults_of(made).fill({"extra": {}}) == {"extra": {"force": True}, "path": "told", "mode": "w"}


@component
class Writer:
    @component.output_types(text=str)
    def run(self, content: str, path: str = ".env") -> dict[str, str]:
        return {"text": f"{content} {path}"}


def test_hooks_see_the_defaults_of_a_component() -> None:
    made = ComponentTool(Writer(), name="write")
    assert _defaults_of(made).fill({"content": "x"}) == {"content": "x", "path": ".env"}
    assert made.invoke(content="x") == {"text": "x .env"}


def test_what_haystack_injects_is_no_default() -> None:
    def bash(command: str, state: State | None = None, streaming_callback: Any = None, path: str = ".env") -> str:
        """Runs a command."""
        return "done"

    assert _defaults_of(create_tool_from_function(bash)).fill({"command": "x"}) == {"command": "x", "path": ".env"}


DENY = r"hooks: [{id: no-env, on: tool.before, when: {input: {extra: '\.env$'}}, then: {deny: Not this file.}}]"


@pytest.mark.parametrize("extra", ["a", "b/.env", None])
def test_a_default_in_the_place_of_a_value_from_the_state_is_decided_about(extra: str | None, own_state: Any) -> None:
    file = own_state / "hookline.yaml"
    file.write_text(DENY)
    trial = Trial([["echo a"]])

    def bash(command: str, extra: Annotated[str, "a file"] = ".env") -> str:
        """Runs a command."""
        return trial.bash(f"{command} {extra}")

    made = create_tool_from_function(bash, inputs_from_state={"extra": "extra"})
    hooks = hookline_hooks(config=file)
    agent = Agent(
        chat_generator=TrialGenerator(trial), tools=[made], hooks=hooks, state_schema={"extra": {"type": str}}
    )
    agent.run(messages=[ChatMessage.from_user("Go.")], **({} if extra is None else {"extra": extra}))
    hooks["after_run"][0].close()
    assert trial.ran == (["echo a a"] if extra == "a" else [])
    asked = [each["input"] for each in record() if each["event"] == "tool.before"]
    assert asked == [{"command": "echo a"}, {"command": "echo a", "extra": extra or ".env"}]
