"""Define hooks, prompts, agents, tools and models in Python.

from hookline.standard_agents import define_agent, define_hook

@define_hook(hook="filter_messages", id="limit_to_20_messages")
async def limit(state, messages):
    return messages[-20:]

define_agent(name="support_agent", hooks=["limit_to_20_messages"])
"""

from hookline.standard_agents.define import (
    SideOptions,
    define_agent,
    define_hook,
    define_model,
    define_prompt,
    define_tool,
)
from hookline.standard_agents.definitions import (
    AgentDefinition,
    DefinitionError,
    Definitions,
    HookDefinition,
    ModelDefinition,
    NotDefined,
    PromptDefinition,
    Side,
    ToolDefinition,
    collecting,
    current_definitions,
)
from hookline.standard_agents.messages import (
    AttachmentRef,
    HookMessage,
    HookToolCall,
    HookToolResult,
    LLMMessage,
    Record,
    ToolAttachment,
)
from hookline.standard_agents.signatures import HOOK_NAMES, HookName
from hookline.standard_agents.state import AbortSignal, ExecutionState, ThreadState

__all__ = [
    "HOOK_NAMES",
    "AbortSignal",
    "AgentDefinition",
    "AttachmentRef",
    "DefinitionError",
    "Definitions",
    "ExecutionState",
    "HookDefinition",
    "HookMessage",
    "HookName",
    "HookToolCall",
    "HookToolResult",
    "LLMMessage",
    "ModelDefinition",
    "NotDefined",
    "PromptDefinition",
    "Record",
    "Side",
    "SideOptions",
    "ThreadState",
    "ToolAttachment",
    "ToolDefinition",
    "collecting",
    "current_definitions",
    "define_agent",
    "define_hook",
    "define_model",
    "define_prompt",
    "define_tool",
]
