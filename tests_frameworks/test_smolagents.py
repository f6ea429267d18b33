"""What only smolagents has: a tool that ends the run, and a model that is wrapped in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driver_smolagents import TrialModel, make_tool
from smolagents import AgentError, CodeAgent, LocalPythonExecutor, Model, Tool, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
)
from trial import CONFIG, Trial, record

from hookline.errors import HooklineError
from hookline.frameworks.smolagents import HooklineHooks, RunStopped

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


@pytest.mark.parametrize(
    "code",
    [
        "wrapped.client('rm x')",
        "wrapped.forward('rm x')",
        "type(inner.tools['bash']).forward(inner.tools['bash'], 'rm x')",
        "inner.tools['bash'].forward('rm x')",
    ],
)
def test_code_reaches_no_tool_but_by_a_call_that_is_decided(own_state: Path, code: str) -> None:
    trial = Trial([[]])

    class Wrapped(Tool):
        name = "wrapped"
        description = "A tool around the client of a service."
        inputs = {"command": {"type": "string", "description": "the command"}}  # noqa: RUF012
        output_type = "string"

        def __init__(self) -> None:
            super().__init__()
            self.client = trial.bash

        def forward(self, command: str) -> str:
            return self.client(command)

    class Coder(Model):
        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            answer = "final_answer('done')" if trial.requests else code
            trial.requests.append(str(messages))
            return ChatMessage(role="assistant", content=f"<code>\n{answer}\n</code>")

    (own_state / "h.yaml").write_text(
        "hooks: [{id: no, on: tool.before, when: {not: {tool: python_interpreter}}, then: {deny: No.}}]"
    )
    inner = CodeAgent(tools=[make_tool(trial)], model=Coder(), name="inner", description="Another.", verbosity_level=0)
    agent = CodeAgent(tools=[Wrapped()], managed_agents=[inner], model=Coder(), verbosity_level=0, max_steps=2)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    assert agent.run("Go.") == "done"
    assert trial.ran == []


REQUESTS = """
hooks:
  - {id: mask, on: history.filter, then: {replace: {in: messages, pattern: hunter2, with: '***'}}}
  - {id: system, on: history.system, then: {append: {system: ' Be brief.'}}}
  - {id: note, on: turn.start, max_fires: 1, then: {tell: Remember the milk.}}
"""


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_hooks_change_what_is_sent_and_not_what_is_kept(own_state: Path, kind: Any) -> None:
    (own_state / "h.yaml").write_text(REQUESTS)
    trial = Trial([["echo a"]])
    agent = kind(tools=[make_tool(trial)], model=TrialModel(trial, writes_code=kind is CodeAgent), verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    assert agent.run("My password is hunter2.") == "done"
    assert trial.ran == ["echo a"]
    assert len(trial.requests) == 2
    for sent in trial.requests:
        assert "hunter2" not in sent
        assert sent.count("Be brief.") == 1
        assert sent.count("Remember the milk.") == 1
    assert "hunter2" in str(agent.memory.steps[0].task)


def test_a_halt_before_a_request_ends_the_run(own_state: Path) -> None:
    (own_state / "h.yaml").write_text("hooks: [{id: no, on: turn.start, then: {halt: Enough.}}]")
    trial = Trial([["echo a"]])
    agent = ToolCallingAgent(tools=[make_tool(trial)], model=TrialModel(trial), verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    with pytest.raises(RunStopped, match=r"Enough\."):
        agent.run("Go.")
    assert trial.requests == []


def test_the_error_of_a_model_is_an_event(own_state: Path) -> None:
    class Broken(Model):
        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            raise ConnectionError("no route")

    (own_state / "h.yaml").write_text(
        f"hooks: [{{id: log, on: model.error, then: {{run: echo x >> {own_state}/seen}}}}]"
    )
    agent = ToolCallingAgent(tools=[], model=Broken(), verbosity_level=0)
    hooks = HooklineHooks(config=own_state / "h.yaml")
    hooks.install(agent)
    with pytest.raises(AgentError):
        agent.run("Go.")
    hooks.close()
    assert (own_state / "seen").read_text() == "x\n"


def test_answers_in_a_stream_are_stored_messages(own_state: Path) -> None:
    class Streaming(TrialModel):
        def generate_stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            made = self.generate(messages)
            calls = []
            for at, call in enumerate(made.tool_calls):
                function = ChatMessageToolCallFunction(
                    name=call.function.name, arguments=json.dumps(call.function.arguments)
                )
                calls.append(ChatMessageToolCallStreamDelta(index=at, id=call.id, type="function", function=function))
            yield ChatMessageStreamDelta(content="Working.", tool_calls=calls)

    log = f"{{run: 'echo {{{{message.role}}}} >> {own_state}/seen'}}"
    (own_state / "h.yaml").write_text(f"hooks: [{{id: log, on: message.created, then: {log}}}]")
    trial = Trial([])
    agent = ToolCallingAgent(tools=[], model=Streaming(trial), verbosity_level=0, stream_outputs=True)
    hooks = HooklineHooks(config=own_state / "h.yaml")
    hooks.install(agent)
    assert agent.run("Go.") == "done"
    hooks.close()
    assert len(trial.requests) == 1
    assert (own_state / "seen").read_text().split() == ["user", "assistant"]


def test_a_model_that_the_program_calls_is_left_alone(own_state: Path) -> None:
    (own_state / "h.yaml").write_text("hooks: [{id: no, on: turn.start, then: {halt: Enough.}}]")
    trial = Trial([])
    agent = ToolCallingAgent(tools=[], model=TrialModel(trial), verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    assert agent.model.generate([ChatMessage(role="user", content="Hello.")]).tool_calls


@pytest.mark.parametrize(
    "code",
    [
        "given('rm x')",
        "given(command='rm x')",
        "given.forward('rm x')",
        "other('rm x')",
        "more[0]('rm x')",
        "more[0].forward('rm x')",
        "more[1]['given']('rm x')",
        "load()('rm x')",
    ],
)
def test_a_tool_that_comes_with_the_task_is_decided_about(code: str) -> None:
    trial, inner = Trial([]), Trial([["rm x"]])
    other = ToolCallingAgent(
        tools=[make_tool(inner)], model=TrialModel(inner), name="other", description="Works.", verbosity_level=0
    )

    class Code(Model):
        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            trial.requests.append(str(messages))
            said = f"print({code})" if len(trial.requests) == 1 else "final_answer('done')"
            return ChatMessage(role="assistant", content=f"<code>\n{said}\n</code>")

    class Loading(Tool):
        name = "load"
        description = "Loads a tool."
        inputs = {}  # noqa: RUF012
        output_type = "any"

        def forward(self) -> Any:
            return make_tool(trial)

    agent = CodeAgent(tools=[Loading()], model=Code(), verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    more = [make_tool(trial), {"given": make_tool(trial)}]
    assert agent.run("Go.", additional_args={"given": make_tool(trial), "other": other, "more": more}) == "done"
    assert trial.ran + inner.ran == []


class Coder(Model):
    """Writes these pieces of code, and then its answer."""

    def __init__(self, *code: str) -> None:
        super().__init__()
        self.code, self.read = [*code, "final_answer('done')"], ""

    def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
        self.read += str([each.content for each in messages[1:]])
        return ChatMessage(role="assistant", content=f"<code>\n{self.code.pop(0)}\n</code>")


def test_a_halt_of_a_call_in_code_ends_the_run() -> None:
    trial = Trial([])
    model = Coder("print(bash('echo halt-me'))\nprint(bash('echo a'))", "print(bash('echo b'))")
    agent = CodeAgent(tools=[make_tool(trial)], model=model, verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    with pytest.raises(RunStopped, match=r"Enough\."):
        agent.run("Go.")
    assert trial.ran == []
    assert len(model.code) == 2


def test_an_agent_that_code_calls_is_a_sub_agent() -> None:
    trial = Trial([["echo halt-me"]])
    inner = ToolCallingAgent(
        tools=[make_tool(trial)], model=TrialModel(trial), name="inner", description="Works.", verbosity_level=0
    )
    agent = CodeAgent(tools=[], managed_agents=[inner], model=Coder("inner('Go.')", "print(1)"), verbosity_level=0)
    hooks = HooklineHooks(config=CONFIG)
    hooks.install(agent)
    with pytest.raises(RunStopped, match=r"Enough\."):
        agent.run("Go.")
    hooks.close()
    events = [each["event"] for each in record()]
    assert events.count("prompt.submit") == events.count("subagent.start") == 1


@pytest.mark.parametrize("at", ["before the run", "while it runs"])
def test_an_executor_that_is_put_in_place_later_has_hooks(own_state: Path, at: str) -> None:
    (own_state / "h.yaml").write_text(
        "hooks: [{id: no, on: tool.before, when: {input: {code: secret}}, then: {deny: No.}}]"
    )

    def swap(step: Any, agent: Any) -> None:
        agent.python_executor = LocalPythonExecutor([])
        agent.python_executor.send_tools(agent.tools)

    model = Coder("print(1)", "print('sec' + 'ret', 'secret')")
    agent = CodeAgent(tools=[], model=model, step_callbacks=[swap], verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    if at == "before the run":
        swap(None, agent)
    assert agent.run("Go.") == "done"
    assert "No. (hook no, " in model.read
    assert "Execution logs:\\nsecret secret" not in model.read


def test_a_model_that_is_put_in_place_while_the_agent_runs_is_masked(own_state: Path) -> None:
    (own_state / "h.yaml").write_text(REQUESTS)
    late = Coder()

    def swap(step: Any, agent: Any) -> None:
        agent.model = late

    agent = CodeAgent(tools=[], model=Coder("print(1)"), step_callbacks=[swap], verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    assert agent.run("My password is hunter2.") == "done"
    assert late.code == []
    assert "hunter2" not in late.read


class Table:
    """Has rows that one sees only in its text, as the tables of pandas."""

    def __iter__(self) -> Any:
        return iter(["name"])

    def __repr__(self) -> str:
        return "name: s3cret"


class Returning(Tool):
    name = "get"
    description = "Gets it."
    inputs = {"kind": {"type": "string", "description": "which"}}  # noqa: RUF012
    output_type = "any"

    def forward(self, kind: str) -> Any:
        return {"table": Table(), "in list": [Table()], "iterator": iter(["a s3cret"]), "dict": {"a": ["s3cret"]}}[kind]


@pytest.mark.parametrize("kind", ["table", "in list", "iterator", "dict"])
def test_results_that_are_no_text_are_masked(kind: str) -> None:
    class Calling(TrialModel):
        def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
            made = super().generate(messages)
            for call in made.tool_calls if made.tool_calls[0].function.name == "bash" else ():
                call.function.name, call.function.arguments = "get", {"kind": kind}
            return made

    trial = Trial([["x"]])
    agent = ToolCallingAgent(tools=[Returning()], model=Calling(trial), verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    assert agent.run("Go.") == "done"
    assert "***" in trial.read_last
    assert "s3cret" not in trial.read_last


@pytest.mark.parametrize(
    "code",
    [
        "print('s3' + 'cret')",
        "'s3' + 'cret'",
        "print('a')\n['s3' + 'cret']",
        "print('s3' + 'cret')\nraise ValueError('no')",
        "raise ValueError('s3' + 'cret')",
        "for each in get('iterator'):\n    print(each)",
        "print(get('table'))",
        "print(get('dict')['a'][0])",
    ],
)
def test_what_code_prints_and_returns_is_masked(code: str) -> None:
    model = Coder(code)
    agent = CodeAgent(tools=[Returning()], model=model, verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    assert agent.run("Go.") == "done"
    assert "***" in model.read.split("Observation", 1)[-1] + model.read.split("Error", 1)[-1]
    assert "s3cret" not in model.read


def test_an_answer_of_code_keeps_its_form() -> None:
    agent = CodeAgent(tools=[], model=Coder("final_answer({'a': 's3' + 'cret'})"), verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    assert agent.run("Go.") == {"a": "***"}


def test_a_tool_that_runs_without_forward_is_refused() -> None:
    class Calling(Returning):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return "s3cret"

    with pytest.raises(HooklineError, match="use forward"):
        HooklineHooks(config=CONFIG).install(ToolCallingAgent(tools=[Calling()], model=Coder(), verbosity_level=0))


CLASSES = """
class Text(str):
    def __str__(self):
        return 'rm x'
    def __format__(self, form):
        return 'rm x'

class Number(int):
    def __format__(self, form):
        return 'rm x'

class Changing:
    __module__ = 'builtins'
    said = 0
    def __str__(self):
        self.said += 1
        return 'echo a' if self.said == 1 else 'rm x'

class Items(list):
    def __iter__(self):
        return iter(['rm', 'x'])
"""


@pytest.mark.parametrize("given", ["Text('echo a')", "Number(1)", "Changing()"])
def test_a_class_of_the_code_says_the_same_to_hooks_and_tools(given: str) -> None:
    trial = Trial([])

    class Formatting(Tool):
        name = "bash"
        description = "Runs a command."
        inputs = {"command": {"type": "string", "description": "the command"}}  # noqa: RUF012
        output_type = "string"

        def forward(self, command: str) -> str:
            return trial.bash(f"{command}")

    agent = CodeAgent(tools=[Formatting()], model=Coder(f"{CLASSES}\nprint(bash({given}))"), verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    assert agent.run("Go.") == "done"
    assert trial.ran in (["echo a"], ["1"])


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("Items(['a'])", ["a"]),
        ("[Text('a'), {'b': Text('c')}]", ["a", {"b": "c"}]),
        ("(each for each in [Text('a')])", ["a"]),
        ("(1, None, True, 1.5)", (1, None, True, 1.5)),
    ],
)
def test_values_of_the_code_are_plain_for_tools(given: str, left: Any) -> None:
    seen: list[Any] = []

    class Looking(Returning):
        def forward(self, kind: Any) -> Any:
            seen.extend(kind)
            return [type(each).__name__ for each in seen]

    agent = CodeAgent(tools=[Looking()], model=Coder(f"{CLASSES}\nprint(get({given}))"), verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    assert agent.run("Go.") == "done"
    assert seen == list(left)
    assert {type(each) for each in seen} == {type(each) for each in left}


def test_an_object_of_the_program_goes_through_code_unchanged() -> None:
    table, seen = Table(), []

    class Looking(Returning):
        def forward(self, kind: Any) -> Any:
            seen.append(kind)

    agent = CodeAgent(tools=[Looking()], model=Coder("get(table)"), verbosity_level=0)
    HooklineHooks(config=CONFIG).install(agent)
    assert agent.run("Go.", additional_args={"table": table}) == "done"
    assert seen == [table]


def test_an_answer_that_must_not_be_stored_is_withheld(own_state: Path) -> None:
    (own_state / "h.yaml").write_text(
        "hooks: [{id: no, on: message.create, when: {fact: {message.content: s3cret}}, then: {deny: Withheld.}}]"
    )
    trial = Trial([], answers=["s3cret", "done"])
    agent = ToolCallingAgent(tools=[], model=TrialModel(trial), verbosity_level=0)
    HooklineHooks(config=own_state / "h.yaml").install(agent)
    assert "Withheld." in str(agent.run("Go."))
    assert agent.run("Go on.", reset=False) == "done"
    assert "s3cret" not in str(trial.requests)
