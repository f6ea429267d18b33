"""Claude Agent SDK: `ClaudeAgentOptions(hooks=HooklineHooks())`.

The SDK runs Claude Code, so that payloads and replies are Claude Code's. Claude Code calls all hooks at the same time, and
a hook of the program may give a tool another input, and so may `can_use_tool`, so hookline decides about that input before
Claude Code reads it.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Unpack

from hookline.engine.decision import Decision
from hookline.errors import extra_required
from hookline.frameworks.agent_run import AgentRun, removed_default_reason
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.support import SUBAGENT_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import Event, deep_equal
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.claude_code import AGENT
from hookline.hosts.python.session import Question
from hookline.lazy_dataclasses import replace

with extra_required("hookline.frameworks.claude_agent_sdk needs the Claude Agent SDK", "claude-agent-sdk"):
    from claude_agent_sdk import HookMatcher, PermissionResultAllow, PermissionResultDeny
    from claude_agent_sdk._internal.query import Query

SUPPORT: Final = FrameworkSupport(
    name="claude_agent_sdk",
    title="Claude Agent SDK",
    package="claude-agent-sdk",
    extra="claude-agent-sdk",
    version="0.2.182",
    installs_as="ClaudeAgentOptions(hooks=HooklineHooks())",
    events=(
        "session.start",
        "agent.start",
        "prompt.submit",
        "history.compact",
        "tool.before",
        "approval.request",
        "notification",
        "tool.after",
        *SUBAGENT_EVENTS[1:],
        "stop",
        "agent.end",
        "session.end",
    ),
    answers={
        "ask": "yes, through `can_use_tool`",
        "result": "yes, but not the error of a tool that failed",
        "prompt": "text that is added becomes context; any other change is a deny",
        "request": "no: Claude Code does not show its requests",
    },
    pauses=True,
    covers_subagents="yes",
)

_EVENTS: Final = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "PermissionRequest",
)
_TIMEOUT: Final = 600.0  # seconds; each hook has its own, shorter one
_MAX_OPEN_CALLS: Final = 1000
_STRENGTH: Final = {"allow": 1, "ask": 2, "deny": 3}
_log = logging.getLogger("hookline")
_NO_TOOL_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")  # Claude Code replaces it
HookCallback = Callable[[Any, "str | None", Any], Awaitable[Any]]
KnownTools = Mapping[str, ToolDefaults]  # those of the servers that the program runs itself, by name
_NO_TOOLS: Final[KnownTools] = MappingProxyType({})


class HooklineHooks(dict[str, list[Any]]):
    """A value for `ClaudeAgentOptions.hooks`. To add hooks of your own, put them into its lists."""

    def __init__(self, **options: Unpack[HookOptions]) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._denied_stops: dict[str, int] = {}
        self._open_calls: OrderedDict[str, Any] = OrderedDict()  # by tool use: what Claude Code told about the call
        _guard_queries()
        super().__init__(
            {name: [HookMatcher(hooks=[self.answer], timeout=_TIMEOUT, on_failure="block")] for name in _EVENTS}
        )

    def close(self) -> None:
        """Ends the sessions. Without it, they end with the program."""
        self.hooks.close()

    async def answer(
        self, payload: Any, tool_use_id: str | None, context: Any, tools: KnownTools = _NO_TOOLS
    ) -> dict[str, Any]:
        """One event of Claude Code. Whatever fails is answered with what permits nothing."""
        name = str(payload.get("hook_event_name", ""))
        if name == "PreToolUse" and tool_use_id is not None:
            self._open_calls[tool_use_id] = payload
            while len(self._open_calls) > _MAX_OPEN_CALLS:
                self._open_calls.popitem(last=False)
        try:
            about = {**payload, "tool_use_id": tool_use_id or payload.get("tool_use_id")}
            defaults = tools.get(str(payload.get("tool_name")), NO_DEFAULTS)
            given = payload.get("tool_input")
            if not isinstance(given, dict) or defaults is NO_DEFAULTS:
                return await self._decide(name, about)
            return await self._decide_with_defaults(name, about, given, defaults)
        except Exception as error:
            _log.error("hooks failed, so %s is not permitted", name, exc_info=True)
            reason = f"Hooks could not decide ({type(error).__name__})."
            return {"continue_": False, "stopReason": reason, "decision": "block", "reason": reason}

    async def decide_permitted(self, tool: str, input: Any, id: Any, tools: KnownTools) -> Any:
        """The permission for a call whose input the program has changed when it permitted the call."""
        about = self._open_calls.get(str(id)) or {"hook_event_name": "PreToolUse", "session_id": ""}
        answer = await self.answer({**about, "tool_name": tool, "tool_input": input}, id, {}, tools)
        specific = answer.get("hookSpecificOutput", {})
        reason = specific.get("permissionDecisionReason") or answer.get("stopReason") or "Not approved."
        if answer.get("continue_") is False:
            return PermissionResultDeny(message=reason, interrupt=True)
        if specific.get("permissionDecision") in ("deny", "ask"):
            return PermissionResultDeny(message=reason)
        return PermissionResultAllow(updated_input=specific.get("updatedInput", input))

    async def _decide_with_defaults(
        self, name: str, payload: dict[str, Any], given: dict[str, Any], defaults: ToolDefaults, is_again: bool = False
    ) -> dict[str, Any]:
        """Hooks see the defaults, and Claude Code does not. Those in the place of what hooks removed are decided about."""
        output = await self._decide(name, {**payload, "tool_input": defaults.fill(given)})
        specific = output.get("hookSpecificOutput", {})
        left = specific.get("updatedInput")
        if not isinstance(left, dict):
            return output
        after = specific["updatedInput"] = defaults.leave_out(left, given)
        shown = defaults.fill(after)
        if deep_equal(shown, left):
            return output
        if is_again:
            return {**output, **_permission("deny", removed_default_reason(payload["tool_name"], left, shown))}
        again = await self._decide_with_defaults(name, payload, after, defaults, is_again=True)
        return _merge_outputs(output, again)

    async def _decide(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        session = str(payload.get("session_id", ""))
        run = self.hooks.find_run(session)
        if run is None or name == "UserPromptSubmit":
            run = self.hooks.new_run(thread=session or None, key=session)
            started = await run.start(None)
            if started.refusal is not None:
                return {"continue_": False, "stopReason": started.refusal}
        parsed = AGENT.read(name, payload)
        if run.halted is not None and name == "PreToolUse":
            for event in parsed.events:
                self.hooks.session.record_after_halt(_facts(run, event), run.halted)
            return {"continue_": False, "stopReason": run.halted, **_permission("deny", run.halted)}
        decisions = [await self._fire(run, event) for event in parsed.events]
        reply = AGENT.reply(parsed, decisions)
        output: dict[str, Any] = json.loads(reply.stdout) if reply.stdout.strip() else {}
        if "continue" in output:
            output["continue_"] = output.pop("continue")
        return self._with_notes(run, name, self._limit_stops(session, name, output))

    async def _fire(self, run: AgentRun, event: Event) -> Decision:
        facts = _facts(run, event)
        decision = await self.hooks.session.fire(event.name, facts)
        if decision.halt:
            run.halt(decision.full_reason or "Stopped by a hook")
        around = self.hooks.session
        if decision.verdict is not Verdict.ASK or event.name != "tool.before":
            return decision
        tool = decision.event.facts["tool"]
        if not around.can_ask:
            return decision  # Claude Code asks, and shows the question as an event of its own
        asked = await around.fire("approval.request", {**facts, "tool": tool, "approval": {"reason": decision.reason}})
        approved = asked.verdict is Verdict.ALLOW
        if asked.verdict < Verdict.ALLOW:
            question = Question(decision.full_reason, tool["name"], tool["input"], decision.by)
            approved = await around.ask_person(question, decision)
        return replace(decision, verdict=Verdict.ALLOW if approved else Verdict.DENY)

    def _limit_stops(self, session: str, name: str, output: dict[str, Any]) -> dict[str, Any]:
        """A stop is not denied for ever."""
        if name not in ("Stop", "SubagentStop") or output.get("decision") != "block":
            return output
        count = self._denied_stops[session] = self._denied_stops.get(session, 0) + 1
        return output if count <= MAX_DENIED_STOPS else {}

    def _with_notes(self, run: AgentRun, name: str, output: dict[str, Any]) -> dict[str, Any]:
        """What hooks said at the session's start goes with the first prompt."""
        notes = run.take_notes() if name == "UserPromptSubmit" else ""
        if not notes or "decision" in output:
            return output
        specific = output.get("hookSpecificOutput", {"hookEventName": name})
        text = "\n\n".join(part for part in (notes, specific.get("additionalContext")) if part)
        return {**output, "hookSpecificOutput": {**specific, "additionalContext": text}}


def _facts(run: AgentRun, event: Event) -> dict[str, Any]:
    return {**run.facts(event.name), **event.facts, "host": {"name": SUPPORT.name}}


def _guard_queries() -> None:
    """Once for the process. Agents without hooks stay as they are."""
    init: Any = Query.__init__
    if hasattr(init, "__wrapped__"):
        return

    @functools.wraps(init)
    def guarded(query: Any, *args: Any, **kwargs: Any) -> None:
        init(query, *args, **kwargs)
        matchers = query.hooks.get("PreToolUse", ())
        owners = [getattr(hook, "__self__", None) for matcher in matchers for hook in matcher.get("hooks", ())]
        ours = next((owner for owner in owners if isinstance(owner, HooklineHooks)), None)
        if ours is None:
            return
        tools: dict[str, ToolDefaults] = {}
        query._handle_sdk_mcp_request = _reading_tools(query._handle_sdk_mcp_request, tools)
        guards: dict[str, Any] = {"PreToolUse": _guard_hook, "PermissionRequest": _guard_permission_hook}
        for name, matchers in query.hooks.items():
            guard = guards.get(name, lambda hook, *_: hook)
            for matcher in matchers:
                matcher["hooks"] = [
                    functools.partial(hook, tools=tools) if hook == ours.answer else guard(hook, ours, tools)
                    for hook in matcher["hooks"]
                ]
        if query.can_use_tool is not None:
            query.can_use_tool = _guard_permission(query.can_use_tool, ours, tools)

    Query.__init__ = guarded


def _reading_tools(handle: Callable[..., Awaitable[Any]], tools: dict[str, ToolDefaults]) -> Callable[..., Any]:
    """Claude Code asks the servers of the program for their tools."""

    async def reading(server: str, message: dict[str, Any]) -> Any:
        response = await handle(server, message)
        listed = (response.get("result") or {}).get("tools") if isinstance(response, dict) else None
        for tool in listed or ():
            name = "__".join(("mcp", *(_NO_TOOL_NAME.sub("_", str(part)) for part in (server, tool.get("name")))))
            tools[name] = defaults_of(tool, DefaultSources(schema=tool.get("inputSchema")))
        return response

    return reading


def _guard_permission(
    can_use_tool: Callable[..., Awaitable[Any]], hooks: HooklineHooks, tools: KnownTools
) -> Callable[..., Any]:
    async def guarded(tool: str, input: Any, context: Any) -> Any:
        given = copy.deepcopy(input)
        result = await can_use_tool(tool, input, context)
        if not isinstance(result, PermissionResultAllow):
            return result
        left = input if result.updated_input is None else result.updated_input
        if deep_equal(left, given):
            return result
        permission = await hooks.decide_permitted(tool, left, context.tool_use_id, tools)
        if isinstance(permission, PermissionResultAllow):
            return dataclasses.replace(result, updated_input=permission.updated_input)
        return permission

    return guarded


def _guard_hook(hook: HookCallback, hooks: HooklineHooks, tools: KnownTools) -> HookCallback:
    """A hook of the program. The tool would run with an input that it gives, so hookline decides about that one."""

    async def guarded(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        output = await hook(payload, tool_use_id, context)
        specific = output.get("hookSpecificOutput") if isinstance(output, dict) else None
        given = specific.get("updatedInput") if isinstance(specific, dict) else None
        if given is None:
            return output
        answer = await hooks.answer({**payload, "tool_input": given}, tool_use_id, context, tools)
        return _merge_outputs(output, answer)

    return guarded


def _guard_permission_hook(hook: HookCallback, hooks: HooklineHooks, tools: KnownTools) -> HookCallback:
    """A hook of the program on permissions, which may give the tool another input, too."""

    async def guarded(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        asked = copy.deepcopy(payload)
        output = await hook(payload, tool_use_id, context)
        specific: Any = output.get("hookSpecificOutput") if isinstance(output, dict) else None
        decision: Any = specific.get("decision") if isinstance(specific, dict) else None
        left = decision.get("updatedInput") if isinstance(decision, dict) else None
        if left is None or deep_equal(left, asked["tool_input"]):
            return output
        permission = await hooks.decide_permitted(asked["tool_name"], left, tool_use_id, tools)
        if isinstance(permission, PermissionResultAllow):
            decision = {**decision, "updatedInput": permission.updated_input}
        else:
            decision = {"behavior": "deny", "message": permission.message, "interrupt": permission.interrupt}
        return {**output, "hookSpecificOutput": {**specific, "decision": decision}}

    return guarded


def _merge_outputs(output: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The other hook's output, with hookline's decision about the input in it. The stricter verdict wins."""
    specific, decided = output["hookSpecificOutput"], answer.get("hookSpecificOutput", {})
    verdicts = [each.get("permissionDecision") for each in (specific, decided)]
    strongest = max(verdicts, key=lambda verdict: _STRENGTH.get(str(verdict), 0))
    merged = {**specific, **decided} if strongest == verdicts[1] else {**decided, **specific}
    if "updatedInput" in decided:
        merged["updatedInput"] = decided["updatedInput"]
    return {**output, **answer, "hookSpecificOutput": merged}


def _permission(decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }
