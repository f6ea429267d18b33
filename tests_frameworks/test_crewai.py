"""What only CrewAI has: hooks of the process, flows, caches, agents of other frameworks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from crewai.agent.planning_config import PlanningConfig
from crewai.flow import Flow
from crewai.hooks import InterceptionPoint
from crewai.hooks.dispatch import clear_all, register, unregister
from crewai.tools import BaseTool
from driver_crewai import ListedBash, TrialModel, make_agent, make_crew, make_tool, run, run_delegation
from trial import CONFIG, Trial, record

from hookline.errors import HooklineError
from hookline.frameworks.crewai import HooklineHooks, RunStopped


@pytest.fixture
def hooks() -> Any:
    made = HooklineHooks(config=CONFIG).install()
    yield made
    made.close()


def test_an_input_that_another_hook_changed_is_decided_about(hooks: Any) -> None:
    def swap(context: Any) -> None:
        context.tool_input["command"] = "rm x"

    trial = Trial([["echo safe"]])
    register(InterceptionPoint.PRE_TOOL_CALL, swap)
    try:
        make_crew(trial).kickoff()
    finally:
        unregister(InterceptionPoint.PRE_TOOL_CALL, swap)
    assert trial.ran == []
    assert "Not rm." in trial.read_last


@pytest.mark.parametrize("writes_text", [False, True], ids=["native", "text"])
@pytest.mark.parametrize("left", ["rm x", "echo plain"])
def test_what_another_hook_makes_of_a_call_is_recorded_as_it_runs(hooks: Any, left: str, writes_text: bool) -> None:
    def swap(context: Any) -> None:
        context.tool_input["command"] = left

    trial = Trial([["echo safe"]])
    register(InterceptionPoint.PRE_TOOL_CALL, swap)
    try:
        make_crew(trial, make_agent(trial, llm=TrialModel(trial, writes_text=writes_text))).kickoff()
    finally:
        unregister(InterceptionPoint.PRE_TOOL_CALL, swap)
    assert trial.ran == ([] if left == "rm x" else ["echo altered"])
    after = [each["input"]["command"] for each in record() if each["event"] == "tool.after"]
    assert after == trial.ran
    assert "s3cret" not in str(trial.requests)


@pytest.mark.parametrize("writes_text", [False, True], ids=["native", "text"])
def test_an_argument_that_another_hook_takes_away_is_a_change(writes_text: bool, own_state: Path) -> None:
    file = own_state / "hookline.yaml"
    file.write_text(
        "hooks: [{id: dry, on: tool.before, when: {not: {fact: {tool.input.dry_run: true}}}, then: {deny: Only dry.}}]"
    )
    trial = Trial([["echo a"]])

    class Bash(BaseTool):
        name: str = "bash"
        description: str = "Runs a command."

        def _run(self, command: str, dry_run: bool = False) -> str:
            return trial.bash(f"{command} {dry_run}")

    def add(context: Any) -> None:
        context.tool_input["dry_run"] = True

    def take(context: Any) -> None:
        del context.tool_input["dry_run"]

    register(InterceptionPoint.PRE_TOOL_CALL, add)
    made = HooklineHooks(config=file).install()
    register(InterceptionPoint.PRE_TOOL_CALL, take)
    try:
        make_crew(trial, make_agent(trial, llm=TrialModel(trial, writes_text=writes_text), tools=[Bash()])).kickoff()
    finally:
        unregister(InterceptionPoint.PRE_TOOL_CALL, add)
        unregister(InterceptionPoint.PRE_TOOL_CALL, take)
        made.close()
    assert trial.ran == []
    assert "Only dry." in trial.read_last


def test_tools_have_a_decision_even_if_the_program_removes_all_hooks(hooks: Any) -> None:
    trial = Trial([["rm x"], ["echo plain"]])
    clear_all()
    make_crew(trial).kickoff()
    assert trial.ran == ["echo altered"]
    assert "Not rm." in trial.read_last
    assert "ran echo altered ***" in trial.read_last


def test_a_flow_that_runs_a_tool(hooks: Any) -> None:
    """As a flow's file does, without an agent and without CrewAI's hooks."""

    def flow(command: str) -> Any:
        action = {"call": "tool", "ref": "driver_crewai:ListedBash", "with": {"command": command}}
        return Flow.from_declaration(contents={"name": "work", "methods": {"work": {"start": True, "do": action}}})

    ListedBash.ran.clear()
    assert "Not rm." in str(flow("rm x").kickoff())
    assert ListedBash.ran == []
    assert str(flow("echo a").kickoff()) == "***"
    assert ListedBash.ran == ["echo a"]


def test_a_cached_result_has_a_decision(hooks: Any) -> None:
    """CrewAI keeps results, and gives them to the model without running the tool."""
    trial = Trial([["echo a"], ["echo a"]])
    make_crew(trial, cache=True).kickoff()
    assert trial.ran == ["echo a"]
    assert trial.read_last.count("ran echo a ***") == 2
    assert [each["event"] for each in record()].count("tool.before") == 2


def test_a_retried_tool_runs_within_its_decision(hooks: Any) -> None:
    """An agent that writes its calls as text runs a failing tool several times."""
    trial = Trial([["echo fail"]])
    make_crew(trial, make_agent(trial, llm=TrialModel(trial, writes_text=True))).kickoff()
    assert len(trial.ran) > 1
    assert not any("s3cret" in each for each in trial.requests)
    assert [each["event"] for each in record()].count("tool.before") == 1


def test_agents_of_other_frameworks_are_refused(hooks: Any) -> None:
    from crewai.agents.agent_adapters.base_agent_adapter import BaseAgentAdapter
    from crewai.hooks.contexts import StepContext
    from crewai.hooks.dispatch import dispatch

    class Adapter(BaseAgentAdapter):
        def configure_tools(self, tools: Any = None) -> None: ...
        def configure_structured_output(self, task: Any) -> None: ...

    Adapter.__abstractmethods__ = frozenset()
    adapter = Adapter.model_construct()
    with pytest.raises(RunStopped, match="another framework"):
        dispatch(InterceptionPoint.PRE_STEP, StepContext(agent=adapter, task=object()))


def test_delegated_work_is_a_subagents() -> None:
    run_delegation(Trial([["echo a"]]))
    events = [(each["event"], each.get("tool")) for each in record()]
    assert ("subagent.start", None) in events
    assert events.index(("subagent.start", None)) < events.index(("tool.before", "bash"))
    assert ("subagent.end", None) in events


def test_each_task_is_a_prompt(hooks: Any) -> None:
    trial = Trial([], answers=["one", "two"])
    crew = make_crew(trial)
    crew.kickoff()
    crew.kickoff()
    assert [each["event"] for each in record()].count("prompt.submit") == 2


def test_a_run_after_a_halt_starts_anew(hooks: Any) -> None:
    trial = Trial([["echo halt-me"]])
    crew = make_crew(trial)
    with pytest.raises(RunStopped, match="Enough"):
        crew.kickoff()
    assert crew.kickoff().raw == "done"


def test_there_is_one_installation(hooks: Any) -> None:
    with pytest.raises(HooklineError, match="already"):
        HooklineHooks(config=CONFIG).install()


def test_closed_hooks_decide_nothing(own_state: Path) -> None:
    trial = Trial([["echo a"]])
    run(trial)
    assert make_tool(trial).run(command="rm x") == "ran rm x s3cret"


@pytest.mark.parametrize("writes_text", [False, True], ids=["native", "text"])
def test_a_result_that_is_the_answer_is_masked(hooks: Any, writes_text: bool) -> None:
    class Bash(BaseTool):
        name: str = "bash"
        description: str = "Runs a command."
        result_as_answer: bool = True

        def _run(self, command: str) -> str:
            return trial.bash(command)

    trial = Trial([["echo a"]])
    agent = make_agent(trial, llm=TrialModel(trial, writes_text=writes_text), tools=[Bash()])
    assert make_crew(trial, agent).kickoff().raw == "ran echo a ***"


class Planning(TrialModel):
    """Asks hooks about each request, as CrewAI's own models do."""

    def call(self, messages: Any, tools: Any = None, response_model: Any = None, **kwargs: Any) -> Any:
        self._invoke_before_llm_call_hooks(messages, kwargs.get("from_agent"))
        if kwargs.get("available_functions"):
            self.trial.requests.append("\n".join(each["content"] for each in messages))
            self.trial.steps.insert(0, [])
            steps = [{"step_number": 1, "description": "Run it.", "tool_to_use": "bash"}]
            return json.dumps({"plan": "Run it.", "steps": steps, "ready": True})
        if response_model is not None:
            return response_model.model_construct(
                step_completed_successfully=True, remaining_plan_still_valid=True, needs_full_replan=False
            )
        return super().call(messages, tools=tools, **kwargs)


@pytest.fixture(params=["task", "agent alone"])
def plan(request: pytest.FixtureRequest) -> Any:
    def work(trial: Trial) -> Any:
        agent = make_agent(trial, llm=Planning(trial), planning_config=PlanningConfig())
        return make_crew(trial, agent).kickoff() if request.param == "task" else agent.kickoff(trial.prompt)

    return work


def test_a_denied_prompt_never_reaches_an_agent_that_plans(hooks: Any, plan: Any) -> None:
    trial = Trial([["echo a"]], prompt="My password is hunter2.")
    with pytest.raises(RunStopped, match="There is a password in it"):
        plan(trial)
    assert trial.requests == []
    assert trial.ran == []


def test_an_agent_that_plans_has_one_run(hooks: Any, plan: Any) -> None:
    trial = Trial([["rm x"], ["echo plain"]])
    plan(trial)
    assert trial.ran == ["echo altered"]
    assert "Be brief." in trial.requests[0]
    assert "Not rm." in "\n".join(trial.requests)
    assert "s3cret" not in "\n".join(trial.requests)
    assert [each["event"] for each in record()].count("prompt.submit") == 1


def test_a_changed_prompt_stops_an_agent_that_plans(plan: Any, own_state: Path) -> None:
    file = own_state / "hookline.yaml"
    file.write_text(
        "hooks: [{id: mask, on: prompt.submit, then: {replace: {in: prompt, pattern: hunter2, with: '***'}}}]"
    )
    trial = Trial([["echo a"]], prompt="My password is hunter2.")
    made = HooklineHooks(config=file).install()
    try:
        with pytest.raises(RunStopped, match="cannot change the prompt"):
            plan(trial)
    finally:
        made.close()
    assert trial.requests == []


class OwnRun(ListedBash):
    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(**kwargs)


def test_a_tool_with_a_run_of_its_own_is_decided_about(hooks: Any) -> None:
    ListedBash.ran.clear()
    assert "Not rm." in str(OwnRun().run(command="rm x"))
    assert OwnRun().run(command="echo plain") == "***"
    assert ListedBash.ran == ["echo altered"]
