"""What only LlamaIndex has: events that ask, contexts as sessions, handoffs, structured output."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from driver_llama_index import TrialModel, follow, make_agent, make_tool, run_handoff, run_subagent
from llama_index.core.agent.workflow import AgentWorkflow, ReActAgent
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context
from pydantic import BaseModel
from trial import CONFIG, Trial, record
from workflows.events import HumanResponseEvent, InputRequiredEvent

from hookline.errors import HooklineError
from hookline.frameworks.llama_index import HooklineHooks, RunStopped


@pytest.fixture
def hooks() -> Any:
    made = HooklineHooks(config=CONFIG)
    yield made
    made.close()


def _go(trial: Trial, target: Any) -> None:
    async def go() -> None:
        await follow(trial, target.run("Go."))

    asyncio.run(go())


def _events() -> list[str]:
    return [each["event"] for each in record()]


def test_each_question_gets_its_own_answer(hooks: Any) -> None:
    trial = Trial([["git push a", "git push b"]])
    agent = hooks.install(make_agent(trial))

    async def go() -> None:
        handler = agent.run("Go.")
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                answer = "yes" if event.tool_kwargs["command"] == "git push b" else "no"
                handler.ctx.send_event(HumanResponseEvent(response=answer, tool_id=event.tool_id))
        await handler

    asyncio.run(go())
    assert trial.ran == ["git push b"]
    assert _events().count("approval.request") == 2


def test_a_tool_that_waits_for_a_person_is_decided_once(hooks: Any) -> None:
    trial = Trial([["echo plain"]], approves=True)

    async def bash(ctx: Any, command: str) -> str:
        """Runs a command."""
        about = {"prefix": "Sure?", "tool_id": "own"}
        await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(**about), waiter_id="own")
        return trial.bash(command)

    bash.__annotations__["ctx"] = Context
    _go(trial, hooks.install(make_agent(trial, tools=[bash])))
    assert trial.ran == ["echo altered"]
    assert _events().count("tool.before") == 1
    assert _events().count("tool.after") == 1


def test_a_context_is_a_session(hooks: Any) -> None:
    trial = Trial([])
    agent = hooks.install(make_agent(trial))

    async def go() -> None:
        first, second = Context(agent), Context(agent)
        for context in (first, first, second, None, None):
            await agent.run("Go.", ctx=context)

    asyncio.run(go())
    sessions = [each["session"] for each in record() if each["event"] == "prompt.submit"]
    assert sessions[0] == sessions[1]
    assert sessions[3] == sessions[4]
    assert len(set(sessions)) == 3


def test_a_refused_handoff_leaves_the_agent_in_charge(own_state: Path) -> None:
    file = own_state / "h.yaml"
    file.write_text("hooks: [{id: no, on: tool.before, when: {tool: handoff}, then: {halt: Stay here.}}]")
    trial = Trial([["echo a"]], options={"config": file})
    run_handoff(trial)
    assert trial.ran == []
    assert "Stay here." in trial.halted


def test_a_handoff_changes_the_agent() -> None:
    run_handoff(Trial([["echo a"]]))
    seen = [(each["event"], each["tool"]) for each in record()]
    starts = [at for at, each in enumerate(seen) if each == ("agent.start", None)]
    assert starts[0] < seen.index(("tool.before", "handoff")) < starts[1] < seen.index(("tool.before", "bash"))


def test_a_sub_agent() -> None:
    run_subagent(Trial([["echo a"]]))
    events = _events()
    assert events.index("subagent.start") < events.index("subagent.end")
    assert events.count("session.start") == 1


def test_the_llm_of_others_is_left_alone(hooks: Any) -> None:
    trial = Trial([["echo a"]])
    model = TrialModel(trial=trial)
    agent = make_agent(trial)
    agent.llm = model
    hooks.install(agent)
    assert type(model) is TrialModel
    assert isinstance(agent.llm, TrialModel)


def test_what_is_added_to_a_workflow_later_has_hooks(hooks: Any) -> None:
    trial = Trial([["rm x"]])
    workflow = hooks.install(AgentWorkflow(agents=[make_agent(trial, tools=[])]))
    workflow.agents["main"].tools.append(make_tool(trial))
    _go(trial, workflow)
    assert trial.ran == []


def test_requests_for_structured_output_are_masked(own_state: Path) -> None:
    from pydantic import BaseModel

    class Answer(BaseModel):
        text: str

    file = own_state / "h.yaml"
    mask = "{replace: {in: messages, pattern: s3cret, with: '***'}}"
    file.write_text(f"hooks: [{{id: mask, on: history.filter, then: {mask}}}]")
    hooks = HooklineHooks(config=file)
    trial = Trial([["echo a"]], answers=['{"text": "x"}'])
    _go(trial, hooks.install(make_agent(trial, output_cls=Answer)))
    hooks.close()
    assert len(trial.requests) > 2
    assert not any("s3cret" in each for each in trial.requests)


def test_what_is_no_agent_is_refused(hooks: Any) -> None:
    with pytest.raises(HooklineError, match="not an agent"):
        hooks.install(object())
    other = HooklineHooks(config=CONFIG)
    tool = other.install(make_tool(Trial([])))
    with pytest.raises(HooklineError, match="other hooks"):
        hooks.install(tool)
    other.close()


def test_a_halted_run_calls_no_model(hooks: Any) -> None:
    trial = Trial([["echo halt-me"], ["echo a"]])
    agent = hooks.install(make_agent(trial))

    async def go() -> None:
        with pytest.raises(RunStopped, match="Enough"):
            await agent.run("Go.")

    asyncio.run(go())
    assert len(trial.requests) == 1


def test_a_sub_agent_that_makes_the_same_call_is_judged(hooks: Any) -> None:
    outer, inner = Trial([["echo a"]]), Trial([["echo a"]])
    sub_agent = hooks.install(make_agent(inner))

    async def bash(command: str) -> str:
        """Runs a command."""
        return str(await sub_agent.run("Go."))

    _go(outer, hooks.install(make_agent(outer, tools=[bash])))
    assert inner.ran == ["echo a"]
    assert "ran echo a ***" in inner.read_last
    assert _events().count("tool.before") == 2


MASK_REQUESTS = """
hooks:
  - {id: mask, on: history.filter, then: {replace: {in: messages, pattern: hunter2, with: '***'}}}
  - {id: correct, on: message.create, then: {replace: {in: message.content, pattern: bad, with: good}}}
"""


def test_the_requests_of_an_agent_that_is_added_later_are_masked(own_state: Path) -> None:
    (own_state / "h.yaml").write_text(MASK_REQUESTS)
    hooks = HooklineHooks(config=own_state / "h.yaml")
    trial = Trial([["echo a"]])
    workflow = hooks.install(AgentWorkflow(agents=[make_agent(Trial([]))]))
    workflow.agents["main"] = make_agent(trial)
    asyncio.run(_output_of(workflow))
    hooks.close()
    assert trial.ran == ["echo a"]
    assert len(trial.requests) == 2
    assert "hunter2" not in str(trial.requests)


class Completing(CustomLLM):
    """Has no chat of its own."""

    trial: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.trial.next_step(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt)


def test_the_requests_of_a_model_that_completes_text_are_masked(own_state: Path) -> None:
    class Answer(BaseModel):
        text: str

    (own_state / "h.yaml").write_text(MASK_REQUESTS)
    hooks = HooklineHooks(config=own_state / "h.yaml")
    trial = Trial([], answers=["Thought: I know.\nAnswer: It is set.", '{"text": "bad"}'])
    agent = ReActAgent(name="main", llm=Completing(trial=trial), tools=[], output_cls=Answer)
    output = asyncio.run(_output_of(hooks.install(agent)))
    hooks.close()
    assert len(trial.requests) == 2
    assert "hunter2" not in str(trial.requests)
    assert output.structured_response == {"text": "good"}


async def _output_of(agent: Any) -> Any:
    return await agent.run("My password is hunter2.")


async def _answer(trial: Trial, handler: Any, approved: str, times: int = 1) -> None:
    """As a person does who approves one command, and whose program may send an answer several times."""
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            trial.asked.append(event.tool_kwargs["command"])
            answer = "yes" if trial.asked[-1] == approved else "no"
            for _ in range(times):
                handler.ctx.send_event(HumanResponseEvent(response=answer, tool_id=event.tool_id))
    await handler


@pytest.mark.parametrize("approved", ["git push a", "git push b"])
def test_an_answer_is_for_one_call_of_several_with_the_same_id(hooks: Any, approved: str) -> None:
    trial = Trial([["git push a", "git push b"]], shares_ids=True)

    async def go() -> None:
        await asyncio.wait_for(_answer(trial, hooks.install(make_agent(trial)).run("Go."), approved), 60)

    asyncio.run(go())
    assert sorted(trial.asked) == ["git push a", "git push b"]
    assert trial.ran == [approved]


def test_a_call_runs_once_if_its_answer_is_sent_again(hooks: Any) -> None:
    trial = Trial([["git push"]])

    async def go() -> None:
        await _answer(trial, hooks.install(make_agent(trial)).run("Go."), "git push", times=3)

    asyncio.run(go())
    assert trial.ran == ["git push"]


@pytest.mark.parametrize("shares_ids", [True, False])
@pytest.mark.parametrize("approved", ["git push a", "git push b"])
def test_each_question_of_a_restored_context_gets_its_own_answer(approved: str, shares_ids: bool) -> None:
    trial = Trial([["git push a", "git push b"]], shares_ids=shares_ids)

    async def pause() -> tuple[str, list[Any]]:
        agent = HooklineHooks(config=CONFIG).install(make_agent(trial))
        handler = agent.run("Go.", ctx=Context(agent))
        asked: list[Any] = []
        async for event in handler.stream_events():
            asked += [event] if isinstance(event, InputRequiredEvent) else []
            if len(asked) == 2:
                break
        saved = json.dumps(handler.ctx.to_dict())
        await handler.cancel_run()
        return saved, asked

    async def go_on(saved: str, asked: list[Any]) -> None:
        agent = HooklineHooks(config=CONFIG).install(make_agent(trial))
        context = Context.from_dict(agent, json.loads(saved))
        await context.store.set("memory", ChatMemoryBuffer.from_defaults(llm=agent.llm))
        handler = agent.run(ctx=context)
        for event in asked:
            answer = "yes" if event.tool_kwargs["command"] == approved else "no"
            handler.ctx.send_event(HumanResponseEvent(response=answer, tool_id=event.tool_id))
        await asyncio.wait_for(_answer(trial, handler, approved), 60)

    asyncio.run(go_on(*asyncio.run(pause())))
    assert trial.ran == [approved]
