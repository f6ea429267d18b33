"""Only has to type-check: each of the twelve hooks, as mypy knows it."""

from hookline.standard_agents import (
    HookMessage,
    HookToolCall,
    HookToolResult,
    LLMMessage,
    Record,
    ThreadState,
    define_agent,
    define_hook,
    define_model,
    define_prompt,
    define_tool,
)


@define_hook(hook="after_thread_created", id="created")
async def created(state: ThreadState) -> None:
    await state.inject_message({"role": "system", "content": state.thread_id})


@define_hook(hook="after_subagent_created", id="child_created")
async def child_created(state: ThreadState, child: ThreadState) -> None:
    assert state.thread_id != child.thread_id


@define_hook(hook="after_system_message", id="plain")
def plain(state: ThreadState, system: str) -> str | None:
    return system if state.execution.current_side == "a" else None


@define_hook(hook="after_system_message", id="awaited")
async def awaited(state: ThreadState, system: str) -> str:
    return system.upper()


@define_hook(hook="filter_messages", id="filtered")
async def filtered(state: ThreadState, messages: list[HookMessage]) -> list[HookMessage]:
    return [message for message in messages if message["content"] and message.get("depth", 0) == 0]


@define_hook(hook="prefilter_llm_history", id="prefiltered")
async def prefiltered(state: ThreadState, messages: list[LLMMessage]) -> list[LLMMessage]:
    return [*messages, {"role": "user", "content": f"step {state.execution.step_count}"}]


@define_hook(hook="before_create_message", id="creating")
async def creating(state: ThreadState, message: Record) -> Record:
    return {**message, "metadata": state.execution.flow_id}


@define_hook(hook="after_create_message", id="was_created")
async def was_created(state: ThreadState, message: Record) -> None: ...


@define_hook(hook="before_update_message", id="updating")
async def updating(state: ThreadState, message_id: str, updates: Record) -> Record | None:
    return None


@define_hook(hook="after_update_message", id="was_updated")
async def was_updated(state: ThreadState, message: HookMessage) -> None: ...


@define_hook(hook="before_store_tool_result", id="storing")
async def storing(state: ThreadState, call: Record, result: Record) -> Record:
    return {**result, "more": call["id"]}


async def succeeded(state: ThreadState, call: HookToolCall, result: HookToolResult) -> HookToolResult | None:
    return {"status": "success", "result": call["function"]["name"]} if result["status"] == "success" else None


define_hook(hook="after_tool_call_success", id="succeeded", execute=succeeded)
define_hook(hook="after_tool_call_failure", id="failed", execute=succeeded)
define_hook(hook="filter_messages", id="by_value", execute=filtered)

define_model(name="small", provider="local", model="small-1")
define_prompt(name="careful", prompt="Be careful.", model="small", tools=["look"], hooks=["filtered"])
define_tool(name="look", description="Looks.", execute=succeeded, args={"type": "object"})
define_agent(
    name="both",
    type="dual_ai",
    side_a={"prompt": "careful", "stop_on_response": True, "max_steps": 10},
    side_b={"prompt": "careful", "stop_tool": "look"},
    hooks=["plain"],
)
