"""The model's answer, after as many tries as are worth it, with hooks between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from hookline.errors import Halted
from hookline.hooks.outcome import Compact
from hookline.runtime.compaction import compact, dropped
from hookline.runtime.happenings import Spoke, TryingAgain
from hookline.runtime.history import request_for, written_calls
from hookline.runtime.models.model import ErrorCode, ModelError, Request, Said, Spent, Wants
from hookline.runtime.models.tokens import message_tokens, messages_tokens, request_tokens
from hookline.runtime.obeying import obey
from hookline.runtime.size import count
from hookline.runtime.threads import StoredThread

MOST_TRIES: Final = 4
_KEPT: Final = (4, 1)  # messages that stay if the context is too long, and if that was not enough
_FIRST_WAIT: Final = 1.0  # seconds before the second try; doubled for each one after it
_LONGEST_WAIT: Final = 60.0


@dataclass(slots=True)
class Answer:
    text: str
    calls: list[Wants]


async def answer_in(thread: StoredThread, left: list[dict[str, Any]] | None) -> Answer:
    """`left` are the messages if a hook changed them; a history that had to be shortened counts before them.

    Raises ModelError, or Halted if hooks stop the agent at an error.
    """
    kept, compacted = iter(_KEPT), False
    for attempt in range(1, MOST_TRIES + 1):
        messages = await thread.history() if left is None or compacted else left
        request = await request_for(thread, messages)
        try:
            return await _streamed(thread, request)
        except ModelError as error:
            size = await _size(thread)
            await _tell_hooks(thread, error)
            if attempt == MOST_TRIES:
                raise
            if error.code is ErrorCode.CONTEXT_OVERFLOW:
                compacted = await _size(thread) < size or await _shortened(thread, kept)
                if not compacted:
                    raise
            elif error.passing:
                await _wait(thread, error, attempt)
            else:
                raise
    raise AssertionError("every try returns or raises")


async def _size(thread: StoredThread) -> int:
    return messages_tokens(await thread.history())


async def _shortened(thread: StoredThread, kept: Iterator[int]) -> bool:
    """By as many of the messages as it takes; hooks, which may prevent it, are asked once."""
    messages = await thread.history()
    for keep in kept:
        how = Compact(keep_recent=keep)
        if dropped(messages, how, 0):
            return await compact(thread, how, "auto")
    return False


async def _tell_hooks(thread: StoredThread, error: ModelError) -> None:
    facts = {"error": {"code": str(error.code), "message": str(error)}}
    halted = await obey(thread, await thread.session.decide(thread, "model.error", facts))
    if halted is not None:
        raise Halted(halted or str(error)) from None


async def _wait(thread: StoredThread, error: ModelError, attempt: int) -> None:
    asked = error.retry_after.total_seconds() if error.retry_after is not None else 0.0
    seconds = min(max(asked, _FIRST_WAIT * 2 ** (attempt - 1)), _LONGEST_WAIT)
    thread.session.tell(TryingAgain(thread.id, thread.agent.id, str(error.code), str(error), seconds))
    await thread.session.runtime.sleep(seconds)


async def _streamed(thread: StoredThread, request: Request) -> Answer:
    model = await thread.session.model_of(thread)
    answer, spent = Answer("", []), None
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            match piece:
                case Said(text):
                    answer.text += text
                    thread.session.tell(Spoke(thread.id, thread.agent.id, text))
                case Wants():
                    answer.calls.append(piece)
                case Spent():
                    spent = piece
    known = spent.input + spent.output if spent is not None else 0
    said = {"content": answer.text, "tool_calls": written_calls(answer.calls) if answer.calls else None}
    await count(thread, known or request_tokens(request) + message_tokens(said), said)
    return answer
