"""What only Haystack has: calls without an id, and tools whose errors end the run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from driver_haystack import TrialGenerator, make_agent
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, ImageContent
from haystack.tools import create_tool_from_function
from trial import Trial, record

from hookline.errors import HooklineError
from hookline.frameworks.haystack import hookline_hooks


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


def run_with_state(trial: Trial, tool: Any, is_async: bool, **state: Any) -> Any:
    hooks = hookline_hooks(**trial.options)
    schema = {name: {"type": str} for name in ("extra", "command")}
    agent = Agent(chat_generator=TrialGenerator(trial), tools=[tool], hooks=hooks, state_schema=schema)
    messages = [ChatMessage.from_user("Go.")]
    if is_async:
        return asyncio.run(agent.run_async(messages=messages, **state))
    return agent.run(messages=messages, **state)


ASYNC = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@ASYNC
@pytest.mark.parametrize("extra", ["rm x", "echo plain", "git push", "echo b"])
def test_values_from_the_state_are_decided_about(is_async: bool, extra: str, own_state: Any) -> None:
    file = own_state / "hookline.yaml"
    file.write_text(
        "hooks:\n"
        "  - {id: no-rm, on: tool.before, when: {input: {extra: rm}}, then: {deny: Not rm.}}\n"
        "  - {id: push, on: tool.before, when: {input: {extra: push}}, then: {ask: This pushes.}}\n"
        "  - {id: alter, on: tool.before, when: {input: {extra: plain}}, then: {replace: {in: input.extra, pattern: plain, with: altered}}}\n"
        "  - {id: mask, on: tool.after, then: {replace: {in: result, pattern: s3cret, with: '***'}}}\n"
    )
    trial = Trial([["echo a", "echo c"]], options={"config": file})

    def bash(command: str, extra: str, state: State) -> str:
        """Runs a command."""
        return trial.bash(f"{command} {extra}")

    tool = create_tool_from_function(bash, inputs_from_state={"extra": "extra"})
    run_with_state(trial, tool, is_async, extra=extra)
    ran = {"echo plain": "echo altered", "echo b": "echo b"}.get(extra)
    assert sorted(trial.ran) == ([] if ran is None else [f"echo a {ran}", f"echo c {ran}"])
    reasons = {"rm x": "Not rm.", "git push": "This pushes."}
    assert trial.read_last.count(reasons.get(extra, "***")) == 2
    entries = record()
    assert [each["event"] for each in entries].count("tool.after") == len(trial.ran)
    assert all("extra" in each["input"] for each in entries if each["event"] == "tool.after")


@ASYNC
def test_a_call_without_values_from_the_state_is_decided_once(is_async: bool) -> None:
    trial = Trial([["echo a", "echo a", "rm x"]])

    def bash(command: str, state: State) -> str:
        """Runs a command."""
        return trial.bash(command)

    run_with_state(trial, create_tool_from_function(bash), is_async)
    assert trial.ran == ["echo a", "echo a"]
    assert [each["event"] for each in record()].count("tool.before") == 3


@pytest.mark.parametrize("place", [0, 1])
def test_results_are_masked_whatever_another_hook_puts_after_them(place: int) -> None:
    class Adding:
        allowed_hook_points = ("after_tool",)

        def run(self, state: Any) -> None:
            state.set("messages", [ChatMessage.from_user("Go on.")])

    trial = Trial([["echo a", "echo b"]])
    agent, hooks = make_agent(trial)
    hooks["after_tool"].insert(place, Adding())
    agent.run(messages=[ChatMessage.from_user("Go.")])
    assert "Go on." in trial.read_last
    assert trial.read_last.count("***") == 2
    assert "s3cret" not in str(trial.requests)


PICTURE = ImageContent(base64_image="AAAA", mime_type="image/png", validation=False)


def test_every_text_of_a_prompt_is_decided_about() -> None:
    trial = Trial([])
    agent, _ = make_agent(trial)
    agent.run(messages=[ChatMessage.from_user(content_parts=["Look.", PICTURE, "My password is hunter2."])])
    assert trial.requests == []


def test_every_text_of_a_message_is_masked_and_pictures_stay(own_state: Any) -> None:
    file = own_state / "hookline.yaml"
    mask = "{replace: {in: messages, pattern: hunter2, with: '***'}}"
    file.write_text(f"hooks: [{{id: mask, on: history.filter, then: {mask}}}]")
    agent, _ = make_agent(Trial([], options={"config": file}))
    asked = ChatMessage.from_user(content_parts=["Look.", PICTURE, "My password is hunter2."], name="me")
    message = agent.run(messages=[asked])["messages"][0]
    assert message.texts == ["Look.\nMy password is ***."]
    assert message.images == [PICTURE]
    assert message.name == "me"


def test_hooks_change_the_system_prompt(own_state: Any) -> None:
    file = own_state / "hookline.yaml"
    file.write_text(
        "hooks: [{id: mask, on: history.system, then: {replace: {in: system, pattern: hunter2, with: '***'}}}]"
    )
    trial = Trial([["echo a"]])
    hooks = hookline_hooks(config=file)
    agent = Agent(chat_generator=TrialGenerator(trial), system_prompt="The password is hunter2.", hooks=hooks)
    agent.run(messages=[ChatMessage.from_user("Go.")])
    assert trial.requests[0].startswith("The password is ***.")
    assert "hunter2" not in str(trial.requests)
