"""Must not type-check: mypy finds an error on every line that says so, and on no other."""

from hookline.standard_agents import HookMessage, LLMMessage, Record, ThreadState, define_agent, define_hook


async def of_messages(state: ThreadState, messages: list[HookMessage]) -> list[HookMessage]:
    return messages


async def of_requests(state: ThreadState, messages: list[LLMMessage]) -> list[LLMMessage]:
    return messages


def not_async(state: ThreadState, messages: list[HookMessage]) -> list[HookMessage]:
    return messages


async def alone(state: ThreadState) -> None: ...


async def returns_text(state: ThreadState, message: Record) -> str:
    return ""


define_hook(hook="filter_message", id="a", execute=of_messages)  # error
define_hook(hook="filter_messages", id="b", execute=of_requests)  # error
define_hook(hook="filter_messages", id="c", execute=not_async)  # error
define_hook(hook="filter_messages", id="d", execute=alone)  # error
define_hook(hook="before_create_message", id="e", execute=returns_text)  # error
define_hook(hook="after_thread_created", id="f", execute=of_messages)  # error
define_hook(hook="filter_messages", execute=of_messages)  # error
define_hook(hook="filter_messages", id=7, execute=of_messages)  # error
define_hook(hook="prefilter_llm_history", id="g")(of_messages)  # error
define_hook(hook="before_update_message", id="h")(returns_text)  # error
define_agent(name="x", type="human")  # error
define_agent(name="x", side_a={"prompt": "p", "stop": True})  # error


@define_hook(hook="filter_messages", id="i")
async def made(state: ThreadState, messages: list[HookMessage]) -> list[HookMessage]:
    state.execution.step_count = 3  # error
    return [{"id": "m", "role": "root", "content": "", "created_at": 1}]  # error
