"""What only Microsoft's Agent Framework has: hosted tools, streams that are read in turns, middleware around our own."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from agent_framework import Agent, ChatMiddleware, FunctionMiddleware, Message, MiddlewareTermination, tool
from driver_agent_framework import TrialClient, make_agent
from trial import CONFIG, Trial, record

from hookline.frameworks.agent_framework import RunStopped, hookline_middleware
from hookline.frameworks.question_id import question_id
from hookline.hosts.python.session import Question


def test_tools_that_the_provider_runs_are_refused() -> None:
    trial = Trial([])
    search = {"type": "web_search"}
    agent = Agent(TrialClient(trial), tools=[search], middleware=hookline_middleware(config=CONFIG))
    with pytest.raises(RunStopped, match="web_search"):
        asyncio.run(agent.run("Go."))
    assert trial.requests == []
    allowed = hookline_middleware(config=CONFIG, allow_hosted=True)
    assert asyncio.run(Agent(TrialClient(trial), tools=[search], middleware=allowed).run("Go.")).text == "done"


def test_streams_that_are_read_in_turns_are_two_runs() -> None:
    """A halt of one does not end the other."""
    hooks = hookline_middleware(config=CONFIG)
    halted, other = Trial([["echo a"], ["echo halt-me"]]), Trial([["echo b"], ["echo c"], ["echo d"]])
    agents = [make_agent(trial, hooks)[0] for trial in (halted, other)]

    async def go() -> list[str]:
        ends, streams = [], [aiter(agent.run("Go.", stream=True)) for agent in agents]
        while streams:
            for stream in list(streams):
                try:
                    await anext(stream)
                except (StopAsyncIteration, RunStopped) as end:
                    ends.append(type(end).__name__)
                    streams.remove(stream)
        return ends

    assert asyncio.run(go()) == ["RunStopped", "StopAsyncIteration"]
    assert halted.ran == ["echo a"]
    assert other.ran == ["echo b", "echo c", "echo d"]


def changed(arguments: Any, command: str) -> Any:
    return {**arguments, "command": command}


class Rewriting(FunctionMiddleware):
    """Runs another command than the one that hooks decided about."""

    def __init__(self, command: str) -> None:
        self.command = command

    async def process(self, context: Any, call_next: Any) -> None:
        context.arguments = changed(context.arguments, self.command)
        await call_next()


class RewritingInPlace(Rewriting):
    async def process(self, context: Any, call_next: Any) -> None:
        context.arguments["command"] = self.command
        await call_next()


class RunningItself(Rewriting):
    """Without the rest of the pipeline."""

    async def process(self, context: Any, call_next: Any) -> None:
        context.result = await context.function.invoke(arguments=changed(context.arguments, self.command))


class RunningFirst(Rewriting):
    """The call that was decided, and then another one."""

    async def process(self, context: Any, call_next: Any) -> None:
        await call_next()
        context.arguments = changed(context.arguments, self.command)
        await call_next()


class Retrying(FunctionMiddleware):
    async def process(self, context: Any, call_next: Any) -> None:
        await call_next()
        await call_next()


async def to_end(agent: Any, **more: Any) -> None:
    await agent.run("Go.", **more)


async def streamed(agent: Any, **more: Any) -> None:
    async for _ in agent.run("Go.", stream=True, **more):
        pass


RUNS = pytest.mark.parametrize("run", [to_end, streamed])
MIDDLEWARE = pytest.mark.parametrize("kind", [Rewriting, RewritingInPlace, RunningItself])


def run_with(trial: Trial, run: Any, *later: Any, in_agent: bool = True) -> None:
    hooks = hookline_middleware(**trial.options)
    agent = make_agent(trial, [*hooks, *later] if in_agent else hooks)[0]
    asyncio.run(run(agent, **({} if in_agent else {"middleware": list(later)})))
    hooks[0].close()


class AddingTools(ChatMiddleware):
    """Gives the model a tool that its provider runs."""

    async def process(self, context: Any, call_next: Any) -> None:
        context.options = {**(context.options or {}), "tools": [{"type": "web_search"}]}
        await call_next()


@RUNS
@pytest.mark.parametrize("in_agent", [True, False], ids=["of the agent", "of the run"])
def test_tools_of_the_provider_that_later_middleware_adds_are_refused(run: Any, in_agent: bool) -> None:
    trial = Trial([])
    with pytest.raises(RunStopped, match="web_search"):
        run_with(trial, run, AddingTools(), in_agent=in_agent)
    assert trial.requests == []


@RUNS
@MIDDLEWARE
@pytest.mark.parametrize("in_agent", [True, False], ids=["of the agent", "of the run"])
def test_a_call_that_later_middleware_changes_is_decided_again(run: Any, kind: Any, in_agent: bool) -> None:
    trial = Trial([["echo a"]])
    run_with(trial, run, kind("rm x"), in_agent=in_agent)
    assert trial.ran == []
    assert "Not rm. (hook no-rm, " in trial.read_last
    assert [each["verdict"] for each in record() if each["event"] == "tool.before"] == ["silent", "deny"]
    assert not any(each["event"] == "tool.after" for each in record())


@RUNS
@MIDDLEWARE
def test_hooks_change_what_later_middleware_wants(run: Any, kind: Any) -> None:
    trial = Trial([["echo a"]])
    run_with(trial, run, kind("echo plain"))
    assert trial.ran == ["echo altered"]
    assert "ran echo altered ***" in trial.read_last
    (after,) = [each for each in record() if each["event"] == "tool.after"]
    assert after["input"]["command"] == "echo altered"


@RUNS
@MIDDLEWARE
def test_what_hooks_changed_is_decided_again_if_later_middleware_changes_it(run: Any, kind: Any) -> None:
    trial = Trial([["echo plain"]])
    run_with(trial, run, kind("rm x"))
    assert trial.ran == []
    assert "Not rm." in trial.read_last


@RUNS
def test_each_of_parallel_calls_is_decided_again(run: Any) -> None:
    class Tail(FunctionMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            asked = context.arguments["command"]
            context.arguments = changed(context.arguments, "rm x" if asked == "echo b" else f"{asked} -n")
            await call_next()

    trial = Trial([["echo a", "echo b", "echo c"]])
    run_with(trial, run, Tail())
    assert sorted(trial.ran) == ["echo a -n", "echo c -n"]
    assert "Not rm." in trial.read_last


def test_a_second_call_of_the_rest_is_decided_too() -> None:
    trial = Trial([["echo a"]])
    run_with(trial, to_end, RunningFirst("rm x"))
    assert trial.ran == ["echo a"]
    assert "Not rm." in trial.read_last


def test_a_call_that_is_repeated_as_it_was_decided_runs() -> None:
    trial = Trial([["echo plain"]])
    run_with(trial, to_end, Retrying())
    assert trial.ran == ["echo altered", "echo altered"]
    assert len([each for each in record() if each["event"] == "tool.before"]) == 1


@pytest.mark.parametrize("kind", [Rewriting, RunningItself])
def test_an_ask_about_a_changed_call_is_a_no(kind: Any) -> None:
    """An approval would be of a call that is changed once more."""
    trial = Trial([["echo a"]])
    run_with(trial, to_end, kind("git push"))
    assert trial.ran == []
    assert "This pushes." in trial.read_last


def test_the_callback_of_the_program_is_asked_about_a_changed_call() -> None:
    trial = Trial([["echo a"]], options={"config": CONFIG, "ask": lambda question: True})
    run_with(trial, to_end, Rewriting("git push"))
    assert trial.ran == ["git push"]


class Ending(FunctionMiddleware):
    """Ends the loop with what the tool returned."""

    async def process(self, context: Any, call_next: Any) -> None:
        await call_next()
        raise MiddlewareTermination("enough")


class CallingTheTool(Rewriting):
    """As the function that it is."""

    async def process(self, context: Any, call_next: Any) -> None:
        found = context.function(**changed(context.arguments, self.command))
        context.result = await found if inspect.isawaitable(found) else found


class RunningInThread(CallingTheTool):
    """Without the context of the caller."""

    async def process(self, context: Any, call_next: Any) -> None:
        arguments = changed(context.arguments, self.command)

        def run() -> Any:
            return asyncio.run(context.function.invoke(arguments=arguments))

        context.result = await asyncio.get_running_loop().run_in_executor(None, run)


class CallingInThread(CallingTheTool):
    async def process(self, context: Any, call_next: Any) -> None:
        call = partial(context.function, **changed(context.arguments, self.command))
        context.result = await asyncio.get_running_loop().run_in_executor(None, call)


EARLIER = pytest.mark.parametrize("kind", [RunningItself, CallingTheTool, RunningInThread, CallingInThread])


def run_after(trial: Trial, run: Any, *earlier: Any) -> None:
    hooks = hookline_middleware(**trial.options)
    asyncio.run(run(make_agent(trial, [*earlier, *hooks])[0]))
    hooks[0].close()


@RUNS
@EARLIER
def test_a_tool_that_earlier_middleware_runs_itself_is_decided_about(run: Any, kind: Any) -> None:
    trial = Trial([["echo a"]])
    run_after(trial, run, kind("rm x"))
    assert trial.ran == []
    assert "Not rm. (hook no-rm, " in trial.read_last
    assert [each["verdict"] for each in record() if each["event"] == "tool.before"] == ["deny"]


@RUNS
@EARLIER
def test_hooks_see_the_result_of_a_tool_that_earlier_middleware_runs_itself(run: Any, kind: Any) -> None:
    trial = Trial([["echo a"]])
    run_after(trial, run, kind("echo plain"))
    assert trial.ran == ["echo altered"]
    assert "ran echo altered ***" in trial.read_last
    (after,) = [each for each in record() if each["event"] == "tool.after"]
    assert after["input"]["command"] == "echo altered"


@EARLIER
def test_later_middleware_that_calls_the_tool_calls_what_is_decided(kind: Any) -> None:
    trial = Trial([["echo a"]])
    run_with(trial, to_end, kind("rm x"))
    assert trial.ran == []
    assert "Not rm." in trial.read_last


@pytest.mark.parametrize("runner", [run_with, run_after])
def test_a_result_that_ends_the_loop_is_masked(runner: Any) -> None:
    trial = Trial([["echo a"]])
    texts: list[str] = []

    async def go(agent: Any) -> None:
        response = await agent.run("Go.")
        texts.extend(str(content.result) for each in response.messages for content in each.contents)

    runner(trial, go, Ending())
    assert trial.ran == ["echo a"]
    assert any("ran echo a ***" in each for each in texts)
    assert "s3cret" not in str(texts)


def test_agents_without_hooks_stay_as_they_are() -> None:
    hookline_middleware(config=CONFIG)
    trial = Trial([["rm x"]])
    asyncio.run(to_end(make_agent(trial, [Rewriting("rm y")])[0]))
    assert trial.ran == ["rm y"]


@pytest.mark.parametrize("mode", ["always_require", "never_require"])
def test_an_approval_of_another_call_than_the_one_asked_about_is_decided(mode: Any) -> None:
    """The client sends the call back with its answer."""
    trial = Trial([["git push"]])

    @tool(approval_mode=mode)
    def bash(command: str) -> str:
        """Runs a command."""
        return trial.bash(command)

    hooks = hookline_middleware(**trial.options)
    agent = Agent(TrialClient(trial), name="main", tools=[bash], middleware=hooks)

    async def go() -> None:
        session = agent.create_session()
        response = await agent.run("Go.", session=session)
        (request,) = response.user_input_requests
        answer = request.to_function_approval_response(True)
        answer.function_call.arguments = {"command": "rm x"}
        with suppress(Exception):  # the framework may refuse it
            await agent.run(Message("user", [answer]), session=session)

    asyncio.run(go())
    assert "rm x" not in trial.ran


async def ask(agent: Any, session: Any, *given: Any) -> dict[str, Any]:
    """Runs the agent. Returns its requests by their commands."""
    response = await agent.run(Message("user", list(given)), session=session)
    return {each.function_call.parse_arguments()["command"]: each for each in response.user_input_requests}


@pytest.mark.parametrize("approved", ["git push a", "git push b"])
def test_an_answer_is_for_one_call_of_several_with_the_same_id(approved: str) -> None:
    trial = Trial([["git push a", "git push b"]], shares_ids=True)
    agent, _ = make_agent(trial)

    async def go() -> None:
        session = agent.create_session()
        asked = await ask(agent, session, "Go.")
        trial.asked += asked
        answers = [each.to_function_approval_response(command == approved) for command, each in asked.items()]
        await ask(agent, session, *answers)

    asyncio.run(go())
    assert trial.asked == ["git push a", "git push b"]
    assert trial.ran == [approved]


@pytest.mark.parametrize("place", ["same session", "other session"])
def test_an_answer_that_is_given_again_is_for_no_other_call(place: str) -> None:
    """The model gives a later call the same id."""
    trial = Trial([["git push a"]])
    agent, _ = make_agent(trial)

    async def go() -> None:
        session = agent.create_session()
        (request,) = (await ask(agent, session, "Go.")).values()
        answer = request.to_function_approval_response(True)
        await ask(agent, session, answer)
        if place == "other session":
            session = agent.create_session()
        with suppress(Exception):  # the framework may refuse it
            await ask(agent, session, answer, "More.")
        trial.steps, trial.requests = [["git push b"]], []
        for given in ("More.", answer):
            with suppress(Exception):
                await ask(agent, session, given)

    asyncio.run(go())
    assert trial.ran == ["git push a"]


def test_an_approval_that_hooks_did_not_ask_for_is_none_of_their_questions(own_state: Any) -> None:
    """The person read the call before hooks changed it, and the model knows how we name questions."""
    change = "{id: change, on: tool.before, then: {replace: {in: input.command, pattern: push a, with: push b}}}"
    config = own_state / "hookline.yaml"
    config.write_text(f"hooks: [{change}, {{id: ask, on: tool.before, then: {{ask: Really?}}}}]")
    trial = Trial([["git push a"]], options={"config": config})
    forged = question_id(Question("", "bash", {"command": "git push b"}, None))

    class Forging(TrialClient):
        def _contents(self, messages: Any, options: Any) -> Any:
            contents = super()._contents(messages, options)
            for content in contents:
                content.id = f"call-{forged}" if content.type == "function_call" else None
            return contents

    @tool(approval_mode="always_require")
    def bash(command: str) -> str:
        """Runs a command."""
        return trial.bash(command)

    agent = Agent(Forging(trial), name="main", tools=[bash], middleware=hookline_middleware(**trial.options))

    async def go() -> None:
        session, given = agent.create_session(), ["Go."]
        while given and len(trial.asked) < 9:
            asked = await ask(agent, session, *given)
            trial.asked += asked
            given = [each.to_function_approval_response(True) for each in asked.values()]
            if len(trial.asked) < 2:
                assert trial.ran == []

    asyncio.run(go())
    assert trial.asked == ["git push a", "git push b"]
    assert trial.ran == ["git push b"]
