"""Calls the model, with retries; hooks see every error between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from typing import Any, Final

from hookline.errors import Halted
from hookline.hooks.outcome import Compact
from hookline.lazy_dataclasses import dataclass
from hookline.runtime.compaction import compact, messages_to_drop
from hookline.runtime.effects import apply_effects
from hookline.runtime.event_facts import record_tokens
from hookline.runtime.history import build_model_request, format_calls
from hookline.runtime.models.model import CompletionRequest, ErrorCode, ModelError, RequestedCall, TextChunk, TokenUsage
from hookline.runtime.models.tokens import message_tokens, request_tokens
from hookline.runtime.thread import StoredThread
from hookline.runtime.updates import ModelRetry, TextDelta

MAX_ATTEMPTS: Final = 4
_KEEP_RECENT: Final = (4, 1)  # messages to keep when the context is too long; then, if that was not enough
_FIRST_WAIT: Final = 1.0  # seconds before the first retry; doubles with each one
_MAX_WAIT: Final = 60.0


@dataclass(slots=True)
class ModelAnswer:
    text: str
    calls: list[RequestedCall]


async def call_model(thread: StoredThread, left: list[dict[str, Any]] | None) -> ModelAnswer:
    """`left` are the messages that a hook changed; once the history had to be compacted, the compacted one is used.

    Raises ModelError, or Halted if hooks stop the agent at an error.
    """
    kept, compacted = iter(_KEEP_RECENT), False
    for attempt in range(1, MAX_ATTEMPTS + 1):
        messages = await thread.history() if left is None or compacted else left
        request = await build_model_request(thread, messages)
        try:
            return await _stream_answer(thread, request)
        except ModelError as error:
            size = await thread.history_tokens()
            await _fire_model_error(thread, error)
            if attempt == MAX_ATTEMPTS:
                raise
            if error.code is ErrorCode.CONTEXT_OVERFLOW:
                compacted = await thread.history_tokens() < size or await _compact_for_overflow(thread, kept)
                if not compacted:
                    raise
            elif error.is_transient:
                await _wait_before_retry(thread, error, attempt)
            else:
                raise
    raise AssertionError("every try returns or raises")


async def _compact_for_overflow(thread: StoredThread, kept: Iterator[int]) -> bool:
    """Drops as many messages as needed. Hooks may deny it and are asked once."""
    messages = await thread.history()
    for keep in kept:
        how = Compact(keep_recent=keep)
        if messages_to_drop(messages, how, 0):
            return await compact(thread, how, "auto")
    return False


async def _fire_model_error(thread: StoredThread, error: ModelError) -> None:
    facts = {"error": {"code": str(error.code), "message": str(error)}}
    halted = await apply_effects(thread, await thread.session.decide(thread, "model.error", facts))
    if halted is not None:
        raise Halted(halted or str(error)) from None


async def _wait_before_retry(thread: StoredThread, error: ModelError, attempt: int) -> None:
    asked = error.retry_after.total_seconds() if error.retry_after is not None else 0.0
    seconds = min(max(asked, _FIRST_WAIT * 2 ** (attempt - 1)), _MAX_WAIT)
    thread.session.emit(ModelRetry(thread.id, thread.agent.id, str(error.code), str(error), seconds))
    await thread.session.runtime.sleep(seconds)


async def _stream_answer(thread: StoredThread, request: CompletionRequest) -> ModelAnswer:
    model, interception = await thread.session.model_of(thread), thread.session.interception
    request = await interception.before_model(thread, model.name, request)
    answer, spent = ModelAnswer("", []), None
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            match piece:
                case TextChunk(text):
                    answer.text += text
                    if not interception.is_active:
                        thread.session.emit(TextDelta(thread.id, thread.agent.id, text))
                case RequestedCall():
                    answer.calls.append(piece)
                case TokenUsage():
                    spent = piece
    known = spent.input + spent.output if spent is not None else 0
    said = {"content": answer.text, "tool_calls": format_calls(answer.calls) if answer.calls else None}
    await record_tokens(thread, known or request_tokens(request) + message_tokens(said), said)
    if not interception.is_active:
        return answer
    text, calls = await interception.after_model(thread, model.name, answer.text, answer.calls)
    if text or not calls:
        text = await interception.on_output(thread, text)
        thread.session.emit(TextDelta(thread.id, thread.agent.id, text))
    return ModelAnswer(text, calls)
