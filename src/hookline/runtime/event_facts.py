"""Facts that every event of a session has, and how much of the model's context a thread uses.

Context size is the last count of the provider plus an estimate of what was added since.
"""

from __future__ import annotations

from typing import Any

from hookline.hooks.session_facts import SessionInfo, base_facts
from hookline.runtime.apps.app import MAX_STEPS
from hookline.runtime.models.model import CompletionRequest
from hookline.runtime.models.tokens import messages_tokens, request_tokens, text_tokens
from hookline.runtime.thread import StoredThread

Message = dict[str, Any]


async def context_tokens(thread: StoredThread) -> int:
    """Estimated tokens of the next request."""
    progress = thread.progress
    if not progress.tokens:  # this process has sent nothing yet
        return await overhead_tokens(thread) + await thread.history_tokens()
    return max(progress.tokens + await _thread_tokens(thread) - progress.estimate, 0)


async def record_tokens(thread: StoredThread, tokens: int, *coming: Message) -> None:
    """Stores the token count of the thread including the `coming` messages."""
    thread.progress.tokens, thread.progress.estimate = tokens, await _thread_tokens(thread) + messages_tokens(coming)


async def overhead_tokens(thread: StoredThread) -> int:
    """Tokens of a request besides the history: system prompt, tools, notes of hooks."""
    session = thread.session
    words = (thread.side.prompt.text, session.runtime.skills.prompt_text())
    known = request_tokens(CompletionRequest((), thread.toolbox.offered_tools(thread.tools))) + sum(
        map(text_tokens, words)
    )
    return known + await _injected_tokens(thread)


async def _thread_tokens(thread: StoredThread) -> int:
    return await thread.history_tokens() + await _injected_tokens(thread)


async def _injected_tokens(thread: StoredThread) -> int:
    return sum(text_tokens(injection.text) for injection in await thread.injections())


async def shared_facts(thread: StoredThread, event: str) -> dict[str, Any]:
    """Context and messages are expensive: they are included only if a hook on this event reads them."""
    session, agent = thread.session, thread.agent
    row = session.row
    known = SessionInfo(session.id, row.user, row.workspace, session.clock.wall(), tool_calls=session.tool_calls)
    base = base_facts(known)
    facts: dict[str, Any] = {
        **base,
        "session": describe_session(thread),
        "agent": {"id": agent.id, "name": agent.name or agent.id, "prompt": thread.side.prompt.name},
        "thread": {"id": thread.id},
        "execution": thread.progress.facts,
        "turn": _turn_facts(thread),
        "metadata": thread.progress.metadata,
    }
    wanted = session.runtime.fact_roots(session.book, event)
    if "context" in wanted:
        facts["context"] = await _context_facts(thread)
    if "messages" in wanted:
        facts["messages"] = await thread.history()
    return facts


def describe_session(thread: StoredThread) -> dict[str, Any]:
    session = thread.session
    model = session.runtime.model_name(thread.model)
    return {
        "id": session.id,
        "tool_calls": session.tool_calls,
        "turns": session.turns,
        "transcript": str(session.transcript.path),
        **({} if model is None else {"model": model}),
    }


def _turn_facts(thread: StoredThread) -> dict[str, int]:
    """Both count the thread's own turns. At `max` the agent has used all steps for the current prompt."""
    number, left = thread.progress.turn, thread.progress.turns_left or thread.side.max_steps or MAX_STEPS
    return {"number": number, "max": number + left}


async def _context_facts(thread: StoredThread) -> dict[str, Any]:
    limit = (await thread.session.model_of(thread)).context_limit
    tokens = await context_tokens(thread)
    return {"tokens": tokens, "limit": limit, "pressure": tokens / limit if limit else 0.0}
