"""Shortens a history: a summary replaces the oldest messages."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from hookline.errors import Halted
from hookline.hooks.outcome import Compact
from hookline.runtime.event_facts import context_tokens, overhead_tokens, record_tokens
from hookline.runtime.history import calls_of, messages_after_hooks
from hookline.runtime.models.model import CompletionRequest, ModelError, TextChunk
from hookline.runtime.models.tokens import message_tokens, messages_tokens, text_tokens
from hookline.runtime.notes import inject_notes
from hookline.runtime.storage.tables import Injection
from hookline.runtime.thread import StoredThread
from hookline.runtime.updates import HistoryCompacted

Message = dict[str, Any]

_SUMMARY_PROMPT: Final = (
    "Summarise the conversation below for an agent that continues it: what was asked, what was decided and done, "
    "which files and commands matter, what is still open. Facts only."
)
_MAX_MESSAGE_LENGTH: Final = 4_000  # characters of each message in the summary request
_NOTE_TOKENS: Final = 30  # size of the note that messages were removed


async def compact(thread: StoredThread, how: Compact, trigger: str) -> bool:
    """Returns True if the history was shortened. Hooks may deny it; their own requests are ignored meanwhile.

    If they stop the agent, `thread.progress.halted` has the reason.
    """
    session, messages = thread.session, await thread.history()
    limit = (await session.model_of(thread)).context_limit
    more = max(await overhead_tokens(thread), await context_tokens(thread) - messages_tokens(messages))
    dropped = messages_to_drop(messages, how, limit, more)
    if not dropped:
        return False
    decision = await session.decide(thread, "history.compact", {"trigger": trigger})
    if decision.halt:
        thread.progress.halted = decision.full_reason
    shorter = not decision.denied and not decision.halt and await _replace_with_summary(thread, dropped, how)
    if shorter:
        await record_tokens(thread, more + messages_tokens(await thread.history()))
    await inject_notes(thread, decision)
    return shorter


async def _replace_with_summary(thread: StoredThread, dropped: Sequence[Message], how: Compact) -> bool:
    text, first, session = await _summarize(thread, dropped, how), dropped[0], thread.session
    summary = {
        "id": f"message_{uuid.uuid4().hex[:16]}",
        "role": "user",
        "content": text,
        "created_at": first.get("created_at", 0),
    }
    created = await session.decide(thread, "message.create", {"message": summary})
    left = created.event.facts.get("message")
    if created.halt:
        thread.progress.halted = created.full_reason
    if created.denied or not isinstance(left, dict):
        return False
    await thread.compact([message["id"] for message in dropped], left)
    await session.decide(thread, "message.created", {"message": left})
    session.emit(HistoryCompacted(thread.id, thread.agent.id, len(dropped), str(left.get("content") or "")))
    return True


def messages_to_drop(messages: Sequence[Message], how: Compact, limit: int, more: int = 0) -> list[Message]:
    """The oldest messages to drop until the request is below the target. Recent messages stay; calls stay with their results.

    `more` counts the tokens of the request that do not belong to the history.
    """
    safe = _safe_cuts(messages)
    end = max(at for at in range(max(len(messages) - how.keep_recent, 0) + 1) if safe[at])
    if how.target_pressure is None:
        return list(messages[:end])
    left, most = more + messages_tokens(messages), how.target_pressure * limit
    if left < most:
        return []
    left += how.summary_max_tokens if how.strategy == "summarize" else _NOTE_TOKENS
    for at in range(end):
        if left < most and safe[at]:
            return list(messages[:at])
        left -= message_tokens(messages[at])
    return list(messages[:end])


def _safe_cuts(messages: Sequence[Message]) -> list[bool]:
    """For each position between messages: True if a cut there separates no call from its result."""
    asked = {call.get("id"): at for at, message in enumerate(messages) for call in calls_of(message)}
    safe = [True] * (len(messages) + 1)
    for at, message in enumerate(messages):
        if message.get("role") == "tool":
            for place in range(asked.get(message.get("tool_call_id"), at) + 1, at + 1):
                safe[place] = False
    return safe


async def _summarize(thread: StoredThread, dropped: Sequence[Message], how: Compact) -> str:
    note = f"[{len(dropped)} earlier messages were removed from this conversation.]"
    if how.strategy != "summarize":
        return note
    model = await thread.session.model_of(thread)
    most = (model.context_limit - how.summary_max_tokens) // 2  # half: the count is only an estimate
    request = CompletionRequest(
        await _build_summary_request(thread, dropped, how.summary_prompt or _SUMMARY_PROMPT, most),
        max_tokens=how.summary_max_tokens,
    )
    interception = thread.session.interception
    try:
        request = await interception.before_model(thread, model.name, request)
        summary = "".join([piece.text async for piece in model.stream(request) if isinstance(piece, TextChunk)])
        summary, _ = await interception.after_model(thread, model.name, summary, [])
    except (ModelError, Halted) as error:
        thread.session.emit_status(
            thread, f"the history could not be summarised, so it was truncated: {error}", "warning"
        )
        return note
    return f"[Summary of {len(dropped)} earlier messages]\n{summary}" if summary.strip() else note


async def _build_summary_request(
    thread: StoredThread, dropped: Sequence[Message], prompt: str, most: int
) -> tuple[Message, ...]:
    """Hooks that hide messages from the model in a turn hide them here too."""
    session, messages = thread.session, list(dropped)
    filtered = await session.decide(thread, "history.filter", {"messages": messages})
    shown = _with_notes(messages_after_hooks(thread, filtered, messages, "messages"), await thread.injections())
    sent = [{"role": "user", "content": f"{prompt}\n\n{_transcript(shown, most)}"}]
    complete = await session.decide(thread, "history.request", {"request": {"messages": sent}})
    return tuple(messages_after_hooks(thread, complete, sent, "request", "messages"))


def _with_notes(messages: Sequence[Message], injections: Sequence[Injection]) -> list[Message]:
    """Each message with the notes that hooks attached to it."""
    notes: dict[str, list[str]] = {}
    for injection in injections:
        if injection.anchor is not None:
            notes.setdefault(injection.anchor, []).append(injection.text)
    return [
        {**message, "content": " ".join([str(message.get("content") or ""), *notes.get(message.get("id", ""), ())])}
        for message in messages
    ]


def _transcript(messages: Sequence[Message], most: int) -> str:
    """At most `most` tokens: all messages are truncated before one is left out."""
    length = _MAX_MESSAGE_LENGTH
    while text_tokens(text := _format_messages(messages, length)) > most and length:
        length //= 2
    return text


def _format_messages(messages: Sequence[Message], length: int) -> str:
    lines = []
    for message in messages:
        calls = ", ".join(str(call.get("function", {}).get("name")) for call in calls_of(message))
        text = str(message.get("content") or "")[:length]
        lines.append(f"{message.get('role')}: {text}{f' [calls {calls}]' if calls else ''}")
    return "\n".join(lines)
