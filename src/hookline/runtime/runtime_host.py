"""The host that hooks of a running agent use: its tools, model, threads and notifications."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from hookline.engine.decision import Decision
from hookline.engine.nested_calls import call_tool_from_hook
from hookline.errors import UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.events import RESULT_EVENTS
from hookline.hooks.host import Command, Host, Notice, ProgramResult, ToolResult, current_hook, inherited_environment
from hookline.hooks.outcome import Verdict
from hookline.lazy_dataclasses import replace
from hookline.runners.local_host import LocalHost
from hookline.runtime.approvals import ApprovalDenied, request_approval
from hookline.runtime.gate import ToolCall, execute
from hookline.runtime.interception import InterceptionDeniedError
from hookline.runtime.investigation import READING_TOOLS, inspect_result, investigate
from hookline.runtime.models.hook_model import complete
from hookline.runtime.notes import inject_notes
from hookline.runtime.storage.tables import ApprovalRow
from hookline.runtime.thread import StoredThread
from hookline.runtime.tools.tool_definition import Tool
from hookline.runtime.updates import Notification, ToolCallFinished, ToolCallStarted

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession


class ThreadHost(LocalHost):
    """LocalHost plus the thread that the event belongs to."""

    def __init__(self, session: AgentSession, thread: StoredThread) -> None:
        super().__init__(session.counts, session.clock, session.runtime.slots)
        self._session = session
        self._thread = thread

    async def run_program(self, command: Command) -> ProgramResult:
        """In the agent's environment, with a transcript if the program is told of it."""
        await self._session.transcript.write_for(command.stdin)
        token = inherited_environment.set(
            {**self._session.runtime.program_env, **self._session.environment.hook_variables()}
        )
        try:
            return await super().run_program(command)
        finally:
            inherited_environment.reset(token)

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Hooks decide about this call too, under the tool's own name."""
        tool = self._thread.find_hook_tool(name)
        if tool is None:
            raise UnavailableError(self._thread.toolbox.describe_missing(name))
        asked = current_hook.get()
        call = ToolCall(f"call_{uuid.uuid4().hex[:12]}", tool.name, input, asked.hook if asked else "agent")
        return await InternalToolCall(self._thread, call).run(self, tool)

    async def complete(self, prompt: str) -> str:
        return await complete(await self._session.model_of(self._thread), prompt)

    async def investigate(self, prompt: str, event: Event) -> str:
        model = await self._session.model_of(self._thread)
        tools = [tool for tool in READING_TOOLS if self._thread.find_hook_tool(tool.name) is tool]
        return await investigate(model, prompt, tools, self._read_for_model)

    async def _read_for_model(self, tool: Tool, input: dict[str, Any]) -> ToolResult:
        """The hooks on results are asked too, because a model reads it."""
        call = ToolCall(f"call_{uuid.uuid4().hex[:12]}", tool.name, input, "agent hook")
        result = await InternalToolCall(self._thread, call).run(self, tool)
        return await inspect_result(partial(self._session.decide, self._thread), {}, tool, input, result)

    async def publish(self, notice: Notice) -> None:
        await super().publish(notice)
        self._session.emit(Notification(self._thread.id, self._thread.agent.id, notice))

    def tool_names(self) -> tuple[str, ...]:
        return (*self._thread.toolbox.callable_names(), *self._session.runtime.hook_tools)

    def thread(self, id: str) -> StoredThread:
        return self._session.thread(id)


class InternalToolCall:
    """A call by a hook or other code. It emits the same updates as any other call of the thread."""

    def __init__(self, thread: StoredThread, call: ToolCall) -> None:
        self._thread = thread
        self._session = thread.session
        self._call = call
        self._ran = False
        self._decided: Decision | None = None
        self._question: tuple[Decision, ApprovalRow] | None = None  # that a person approved

    async def run(self, host: ThreadHost, tool: Tool) -> ToolResult:
        facts = {"tool": {"kind": str(tool.kind), "id": self._call.id, "caller": self._call.caller}}
        result = await call_tool_from_hook(self, host, facts, (tool.name, self._call.input), self._execute)
        shown = self._hide_result(result) if self._ran else result
        if self._ran and self._decided is not None:
            self._session.runtime.recorder.write_outcome(self._session.book, self._decided.event, shown)
        self._session.emit(ToolCallFinished(self._thread.id, self._thread.agent.id, self._call, shown, self._ran))
        return result

    def _hide_result(self, result: ToolResult) -> ToolResult:
        """Only its caller gets the result of such a call. Hooks that redact results are not asked about it, so if there
        are any, it is not shown either.
        """
        if not any(map(self._session.book.hears, RESULT_EVENTS)):
            return result
        return ToolResult(None, result.ok, "" if result.ok else f"{self._call.name} failed")

    async def decide(self, event: Event, host: Host) -> Decision:
        """Notes and requests of the hooks go to the agent, whose turn continues."""
        decision = self._decided = await self._session.decide(self._thread, event.name, event.facts)
        tool = self._thread.find_hook_tool(self._call.name)
        if tool is not None:
            decision = self._thread.drop_unknown_fields(decision, tool, self._call.input)
        self._session.emit(ToolCallStarted(self._thread.id, self._thread.agent.id, self._call, decision))
        await inject_notes(self._thread, decision)
        self._thread.defer_effects(decision)
        return await self._resolve_ask(decision) if decision.verdict is Verdict.ASK else decision

    async def _resolve_ask(self, decision: Decision) -> Decision:
        """The decision with the person's answer as its verdict."""
        left = decision.event.read(("tool", "input"))
        if not isinstance(left, dict):
            return decision
        try:
            approved = await request_approval(self._thread, replace(self._call, input=left), decision)
        except ApprovalDenied as refused:
            if refused.halted is not None:
                self._thread.progress.halted = refused.halted
            return replace(decision, verdict=Verdict.DENY, reason=str(refused))
        self._question = approved.decision, approved.approval
        return replace(approved.decision, verdict=Verdict.ALLOW)

    async def _execute(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        tool = self._thread.find_hook_tool(name)
        if tool is None:  # an MCP server may have stopped meanwhile
            raise UnavailableError(f"there is no tool {name!r} here any more")
        self._call = replace(self._call, input=input)
        decided, approval = self._question or (decision, None)
        interception = self._session.interception
        try:
            self._call, decided = await interception.before_tool(self._thread, self._call, decided)
            self._ran = True
            context = self._session.tool_context_of(self._thread, self._call.id)
            done = await execute(self._call, decided, tool, context, approval)
            return await interception.after_tool(self._thread, self._call, done.result)
        except InterceptionDeniedError as denied:
            return ToolResult(None, False, str(denied))
