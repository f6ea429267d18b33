"""What only the OpenAI Agents SDK has: tools that are not functions, MCP servers, handoffs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agents import Agent, ApplyPatchTool, CustomTool, LocalShellTool, Runner, ShellTool, WebSearchTool, function_tool
from agents.editor import ApplyPatchOperation
from agents.testing import ScriptedModel, assistant_message, function_call
from mcp.types import CallToolResult, TextContent, Tool
from openai.types.responses.response_output_item import LocalShellCallAction
from trial import record

from hookline.errors import HooklineError
from hookline.frameworks.openai_agents import HooklineHooks, RunStopped

DENY = "hooks: [{id: no, on: tool.before, then: {deny: Nothing runs.}}]"
MASK = "hooks: [{id: mask, on: tool.after, then: {replace: {in: result, pattern: s3cret, with: '***'}}}]"


@pytest.fixture
def hooks(own_state: Path) -> Any:
    def make(text: str, **options: Any) -> HooklineHooks:
        (own_state / "h.yaml").write_text(text)
        return HooklineHooks(config=own_state / "h.yaml", **options)

    return make


def test_a_shell(hooks: Any) -> None:
    ran: list[Any] = []
    tool = ShellTool(executor=lambda request: ran.append(request) or "s3cret")
    action = SimpleNamespace(commands=["ls", "rm x"])
    request = SimpleNamespace(data=SimpleNamespace(call_id="c", action=action))
    hooks(DENY).guard_tool(tool)
    assert "Nothing runs." in asyncio.run(tool.executor(request))
    assert ran == []
    other = ShellTool(executor=lambda request: ran.append(request) or "s3cret")
    hooks(MASK).guard_tool(other)
    assert asyncio.run(other.executor(request)) == "***"


def test_the_local_shell(hooks: Any) -> None:
    ran: list[Any] = []
    tool = LocalShellTool(executor=lambda request: ran.append(request) or "x")
    request = SimpleNamespace(data=SimpleNamespace(call_id="c", action=SimpleNamespace(command=["rm", "-rf", "x"])))
    hooks("hooks: [{id: no, on: tool.before, when: {input: {command: {command: rm}}}, then: {deny: No.}}]").guard_tool(
        tool
    )
    assert "No." in asyncio.run(tool.executor(request))
    assert ran == []


@pytest.mark.parametrize(
    ("given", "shown"),
    [({"env": {"LD_PRELOAD": "x"}}, "env.LD_PRELOAD"), ({"working_directory": "/x"}, "cwd"), ({"user": "x"}, "user")],
)
def test_hooks_see_where_the_local_shell_runs_a_command(hooks: Any, given: dict[str, Any], shown: str) -> None:
    ran: list[Any] = []
    tool = LocalShellTool(executor=lambda request: ran.append(request) or "x")
    action = LocalShellCallAction(**{"command": ["make"], "env": {}, "type": "exec", **given})
    request = SimpleNamespace(data=SimpleNamespace(call_id="c", action=action))
    hooks(f"hooks: [{{id: no, on: tool.before, when: {{input: {{{shown}: x}}}}, then: {{deny: No.}}}}]").guard_tool(
        tool
    )
    assert "No." in asyncio.run(tool.executor(request))
    assert ran == []


@pytest.mark.parametrize("kind", ["create_file", "update_file", "delete_file"])
def test_patches(hooks: Any, kind: str) -> None:
    done: list[str] = []
    editor = SimpleNamespace(
        create_file=lambda operation: done.append("c"),
        update_file=lambda operation: done.append("u"),
        delete_file=lambda operation: done.append("d"),
    )
    tool = ApplyPatchTool(editor=editor)
    guard = "hooks: [{id: no, on: tool.before, when: {input: {path: '\\.env'}}, then: {deny: Not this.}}]"
    hooks(guard).guard_tool(tool)
    refused = asyncio.run(getattr(tool.editor, kind)(ApplyPatchOperation(kind, ".env", "+x")))  # type: ignore[arg-type]
    assert refused.status == "failed"
    assert "Not this." in refused.output
    assert done == []
    asyncio.run(getattr(tool.editor, kind)(ApplyPatchOperation(kind, "other", "+x")))  # type: ignore[arg-type]
    assert len(done) == 1
    moved = ApplyPatchOperation(kind, "other", "+x", move_to=".env")  # type: ignore[arg-type]
    assert asyncio.run(getattr(tool.editor, kind)(moved)).status == "failed"


def test_a_custom_tool(hooks: Any) -> None:
    ran: list[str] = []

    async def invoke(context: Any, text: str) -> str:
        ran.append(text)
        return "s3cret"

    tool = CustomTool(name="raw", description="", on_invoke_tool=invoke)
    hooks(DENY).guard_tool(tool)
    assert "Nothing runs." in asyncio.run(tool.on_invoke_tool(SimpleNamespace(tool_call_id="c"), "text"))
    assert ran == []


def test_hosted_tools_must_be_accepted(hooks: Any) -> None:
    with pytest.raises(HooklineError, match="allow_hosted=True"):
        hooks(DENY).install(Agent("a", tools=[WebSearchTool()]))
    hooks(DENY, allow_hosted=True).install(Agent("a", tools=[WebSearchTool()]))


class Server:
    """What the SDK needs of an MCP server."""

    name = "files"
    tool_input_guardrails = tool_output_guardrails = None
    use_structured_content = False
    cached_tools = None
    tool_meta_resolver = None

    def __init__(self) -> None:
        self.called: list[Any] = []

    async def list_tools(self, *_: Any) -> list[Tool]:
        return [Tool(name="write_file", inputSchema={"type": "object", "properties": {"path": {"type": "string"}}})]

    async def call_tool(self, name: str, arguments: Any, *_: Any, **__: Any) -> CallToolResult:
        self.called.append(arguments)
        return CallToolResult(content=[TextContent(type="text", text="s3cret")])

    def __getattr__(self, name: str) -> Any:
        if name == "_get_needs_approval_for_tool":
            return lambda *_: False
        if name == "_get_failure_error_function":
            return lambda function: function
        raise AttributeError(name)


def test_mcp_tools_are_named_with_their_server(hooks: Any) -> None:
    guard = "hooks: [{id: no, on: tool.before, when: {tool: mcp.files.write_file}, then: {deny: Not there.}}]"
    script = ScriptedModel([[function_call("write_file", {"path": "x"}, call_id="c1")], [assistant_message("done")]])
    server = Server()
    agent = hooks(guard).install(Agent("a", model=script, mcp_servers=[server]))  # type: ignore[list-item]
    result = Runner.run_sync(agent, "Go.")
    assert server.called == []
    assert any("Not there." in str(item.to_input_item()) for item in result.new_items)


def test_a_refused_handoff_stays_with_the_agent(hooks: Any) -> None:
    guard = "hooks: [{id: no, on: tool.before, when: {tool: transfer_to_other}, then: {deny: Stay.}}]"
    seen: list[Any] = []
    script = ScriptedModel(
        [
            [function_call("transfer_to_other", {}, call_id="c1")],
            {"responder": lambda call: seen.append(str(call.input)) or [assistant_message("I stay.")]},
        ]
    )
    other = Agent("other", model=ScriptedModel([[assistant_message("I am the other.")]]))
    agent = hooks(guard).install(Agent("a", model=script, handoffs=[other]))
    assert Runner.run_sync(agent, "Go.").final_output == "I stay."
    assert "Stay. (hook no" in seen[0]


def test_clones_have_the_hooks(hooks: Any) -> None:
    ran: list[str] = []

    @function_tool
    def bash(command: str) -> str:
        ran.append(command)
        return "x"

    script = ScriptedModel([[function_call("bash", {"command": "x"}, call_id="c1")], [assistant_message("done")]])
    agent = hooks(DENY).install(Agent("a", model=script, tools=[bash])).clone(name="b")
    Runner.run_sync(agent, "Go.")
    assert ran == []


def test_a_thread_is_a_session(hooks: Any) -> None:
    made = hooks(
        "hooks: [{id: halt, on: prompt.submit, when: {fact: {thread.id: t9}}, then: {deny: Not here.}}]",
        thread_of=lambda context: context,
    )
    script = ScriptedModel([[assistant_message("done")]])
    agent = made.install(Agent("a", model=script))
    with pytest.raises(RunStopped, match="Not here"):
        Runner.run_sync(agent, "Go.", context="t9")
    assert Runner.run_sync(agent, "Go.", context="t8").final_output == "done"


def test_a_question_is_about_one_call_of_several_runs_with_the_same_id(hooks: Any) -> None:
    made = hooks("hooks: [{id: push, on: tool.before, then: {ask: Really?}}]", thread_of=lambda user: user["thread"])
    ran: list[str] = []

    @function_tool
    def bash(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return "ran"

    async def ask(thread: str, command: str) -> tuple[Any, Any]:
        model = ScriptedModel([[function_call("bash", {"command": command}, call_id="c")], [assistant_message("done")]])
        agent = made.install(Agent("main", model=model, tools=[bash]))
        return agent, await Runner.run(agent, "Go.", context={"thread": thread})

    async def go() -> None:
        paused = [await ask("t1", "git push a"), await ask("t2", "git push b")]
        for (agent, result), command in zip(paused, ("git push a", "git push b"), strict=True):
            (item,) = result.interruptions
            question = made.question(item)
            assert question is not None
            assert question.input == {"command": command}
            state = result.to_state()
            state.approve(item)
            await Runner.run(agent, state)

    asyncio.run(go())
    made.close()
    assert ran == ["git push a", "git push b"]
    decided = [(each["session"], each["input"]) for each in record() if each["event"] == "tool.after"]
    assert decided == [("t1", {"command": "git push a"}), ("t2", {"command": "git push b"})]


def test_an_approval_for_ever_is_for_the_call_that_was_asked_about(hooks: Any) -> None:
    made, ran = hooks("hooks: [{id: ask, on: tool.before, then: {ask: Really?}}]"), list[str]()

    @function_tool
    def bash(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return "ran"

    calls = [[function_call("bash", {"command": each}, call_id=each)] for each in ("a", "b")]
    model = ScriptedModel([*calls, [assistant_message("done")]])
    agent = made.install(Agent("main", model=model, tools=[bash]))

    async def go() -> Any:
        result = await Runner.run(agent, "Go.")
        (item,) = result.interruptions
        state = result.to_state()
        state.approve(item, always_approve=True)
        return await Runner.run(agent, state)

    result = asyncio.run(go())
    made.close()
    assert ran == ["a"]
    assert "Really?" in str(result.to_input_list())
