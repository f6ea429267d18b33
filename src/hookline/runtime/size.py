"""How much of its model's context a thread takes: what was counted last, and an estimate of what came since."""

from __future__ import annotations

from typing import Any

from hookline.runtime.models.model import Request
from hookline.runtime.models.tokens import messages_tokens, request_tokens, tokens_of
from hookline.runtime.threads import StoredThread

Message = dict[str, Any]


async def size_of(thread: StoredThread) -> int:
    """Tokens that the next request would probably have."""
    progress = thread.progress
    if not progress.tokens:  # nothing was sent yet by this process
        return await beside(thread) + messages_tokens(await thread.history())
    return max(progress.tokens + await _estimate(thread) - progress.estimate, 0)


async def count(thread: StoredThread, tokens: int, *coming: Message) -> None:
    """So many tokens have the thread as it is and the messages that it is about to get."""
    thread.progress.tokens, thread.progress.estimate = tokens, await _estimate(thread) + messages_tokens(coming)


async def beside(thread: StoredThread) -> int:
    """Tokens of a request that are no message of the history: the system prompt, the tools, hooks' words."""
    session = thread.session
    words = (thread.side.prompt.text, session.runtime.skills.text())
    known = request_tokens(Request((), thread.toolbox.offered(thread.tools))) + sum(map(tokens_of, words))
    return known + await _injected(thread)


async def _estimate(thread: StoredThread) -> int:
    return messages_tokens(await thread.history()) + await _injected(thread)


async def _injected(thread: StoredThread) -> int:
    return sum(tokens_of(injection.text) for injection in await thread.injections())
