"""The twelve hooks and their signatures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeAlias, get_args

from hookline.standard_agents.messages import HookMessage, HookToolCall, HookToolResult, LLMMessage, Record
from hookline.standard_agents.state import ThreadState

HookName: TypeAlias = Literal[
    "after_thread_created",
    "after_subagent_created",
    "after_system_message",
    "filter_messages",
    "prefilter_llm_history",
    "before_create_message",
    "after_create_message",
    "before_update_message",
    "after_update_message",
    "before_store_tool_result",
    "after_tool_call_success",
    "after_tool_call_failure",
]
HOOK_NAMES: Final[tuple[HookName, ...]] = get_args(HookName)
HOOK_ARGUMENTS: Final[dict[HookName, tuple[str, ...]]] = {
    "after_thread_created": ("state",),
    "after_subagent_created": ("state", "child_state"),
    "after_system_message": ("state", "system_message"),
    "filter_messages": ("state", "messages"),
    "prefilter_llm_history": ("state", "messages"),
    "before_create_message": ("state", "message"),
    "after_create_message": ("state", "message"),
    "before_update_message": ("state", "message_id", "updates"),
    "after_update_message": ("state", "message"),
    "before_store_tool_result": ("state", "tool_call", "tool_result"),
    "after_tool_call_success": ("state", "tool_call", "tool_result"),
    "after_tool_call_failure": ("state", "tool_call", "tool_result"),
}

AfterThreadCreated: TypeAlias = Callable[[ThreadState], Awaitable[None]]
AfterSubagentCreated: TypeAlias = Callable[[ThreadState, ThreadState], Awaitable[None]]
AfterSystemMessage: TypeAlias = Callable[[ThreadState, str], Awaitable[str | None] | str | None]
FilterMessages: TypeAlias = Callable[[ThreadState, list[HookMessage]], Awaitable[list[HookMessage] | None]]
PrefilterLLMHistory: TypeAlias = Callable[[ThreadState, list[LLMMessage]], Awaitable[list[LLMMessage] | None]]
BeforeCreateMessage: TypeAlias = Callable[[ThreadState, Record], Awaitable[Record | None]]
AfterCreateMessage: TypeAlias = Callable[[ThreadState, Record], Awaitable[None]]
BeforeUpdateMessage: TypeAlias = Callable[[ThreadState, str, Record], Awaitable[Record | None]]
AfterUpdateMessage: TypeAlias = Callable[[ThreadState, HookMessage], Awaitable[None]]
BeforeStoreToolResult: TypeAlias = Callable[[ThreadState, Record, Record], Awaitable[Record | None]]
AfterToolCall: TypeAlias = Callable[[ThreadState, HookToolCall, HookToolResult], Awaitable[HookToolResult | None]]
