"""What every event of a session tells, as far as hooks want to know it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hookline.runtime.app import MOST_STEPS
from hookline.runtime.size import size_of
from hookline.runtime.threads import StoredThread

if TYPE_CHECKING:
    from hookline.runtime.session import Session


async def shared_facts(thread: StoredThread, event: str) -> dict[str, Any]:
    """The context and the messages are dear, so they are gathered only where a hook on this event reads them."""
    session, agent = thread.session, thread.agent
    now = datetime.fromtimestamp(session.clock.wall(), UTC)
    facts: dict[str, Any] = {
        "host": {"name": "hookline"},
        "session": session_facts(session),
        "agent": {"id": agent.id, "name": agent.name or agent.id, "prompt": thread.side.prompt.name},
        "thread": {"id": thread.id},
        "user": {"name": session.row.user},
        "execution": thread.progress.facts,
        "cwd": session.row.workspace,
        "workspace": session.row.workspace,
        "time": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "turn": _turn_of(thread),
        "metadata": thread.progress.metadata,
    }
    wanted = session.runtime.reads(session.book, event)
    if "context" in wanted:
        facts["context"] = await _context(thread)
    if "messages" in wanted:
        facts["messages"] = await thread.history()
    return facts


def session_facts(session: Session) -> dict[str, Any]:
    return {"id": session.id, "tool_calls": session.tool_calls}


def _turn_of(thread: StoredThread) -> dict[str, int]:
    """Both count the session's turns: at `max` this agent has made all that it may for what it was asked."""
    progress = thread.progress
    number = max(thread.session.turns - 1, 0) if progress.turn is None else progress.turn
    return {"number": number, "max": number + (progress.left or thread.side.max_steps or MOST_STEPS)}


async def _context(thread: StoredThread) -> dict[str, Any]:
    limit = (await thread.session.model_of(thread)).context_limit
    tokens = await size_of(thread)
    return {"tokens": tokens, "limit": limit, "pressure": tokens / limit if limit else 0.0}
