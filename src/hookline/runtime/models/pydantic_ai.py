"""pydantic-ai's models layer, and nothing else of it: a Request goes to a provider, pieces come back.

The providers' own libraries retry by themselves unless told not to, and read keys and addresses from the environment
unless they are given; here they do neither.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from pydantic_ai import messages as told
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from hookline.runtime.models.clients import RESPONSES, opened
from hookline.runtime.models.errors import broken_off, model_error, silent
from hookline.runtime.models.model import Offered, Piece, Request, Said, Spent, Wants
from hookline.runtime.models.providers import Address
from hookline.runtime.models.spelling import Spelling
from hookline.runtime.models.turns import Answered, Call, Result, System, Told, Turns, turns


@dataclass(frozen=True, slots=True)
class Connection:
    address: Address
    model: Model
    client: Any  # httpx2's AsyncClient or, for Groq, httpx's
    silence: timedelta

    async def pieces(self, request: Request) -> AsyncGenerator[Piece]:
        """Text as it comes; tool calls only when the whole answer is there, so that none is ever half a call."""
        history = turns(request.messages)
        spelling = Spelling(_names(request, history))
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.silence.total_seconds()):
                    stream = await _entered(stack, self._asked(request, history, spelling))
                async for event in self._events(stream):
                    if text := _text(event):
                        yield Said(text)
                if not _finished(stream):
                    raise broken_off(self.address.name)
                for piece in _whole(stream, spelling):
                    yield piece
        except TimeoutError:
            raise silent(self.address.name, self.silence) from None
        except Exception as error:  # whatever a provider's library raises is the model's failure
            raise model_error(error, self.address) from None

    async def close(self) -> None:
        await self.client.aclose()

    def _asked(
        self, request: Request, history: Turns, spelling: Spelling
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        length = self.model.profile.get("tool_call_id_length")
        messages = [_message(turn, spelling, length) for turn in history]
        parameters = ModelRequestParameters(function_tools=[_tool(tool, spelling) for tool in request.tools])
        return self.model.request_stream(messages, _settings(self.address, request), parameters)

    async def _events(self, stream: StreamedResponse) -> AsyncIterator[Any]:
        events = aiter(stream)
        while True:
            async with asyncio.timeout(self.silence.total_seconds()):
                event = await anext(events, None)
            if event is None:
                return
            yield event


def connect(address: Address, silence: timedelta) -> Connection:
    model, client = opened(address, silence)
    return Connection(address, model, client, silence)


async def _entered(stack: AsyncExitStack, opening: AbstractAsyncContextManager[StreamedResponse]) -> StreamedResponse:
    responses: list[Any] = []
    token = RESPONSES.set(responses)
    try:
        return await stack.enter_async_context(opening)
    except BaseException:
        for response in responses:
            await response.aclose()
        raise
    finally:
        RESPONSES.reset(token)


def _settings(address: Address, request: Request) -> ModelSettings:
    settings: dict[str, Any] = {}
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if address.api == "openai-responses":
        settings["openai_store"] = False  # OpenAI keeps answers for 30 days unless told not to
    return cast(ModelSettings, settings)


def _tool(tool: Offered, spelling: Spelling) -> ToolDefinition:
    schema = tool.schema if tool.schema.get("type") == "object" else {"type": "object", "properties": {}, **tool.schema}
    return ToolDefinition(name=spelling.told(tool.name), description=tool.description, parameters_json_schema=schema)


def _names(request: Request, history: Turns) -> list[str]:
    calls = (call for turn in history if isinstance(turn, Answered) for call in turn.calls)
    return [*(tool.name for tool in request.tools), *(call.name for call in calls)]


def _message(turn: Told | Answered, spelling: Spelling, length: int | None) -> told.ModelMessage:
    if isinstance(turn, Told):
        return told.ModelRequest(parts=[_part(part, spelling, length) for part in turn.parts])
    parts: list[told.ModelResponsePart] = [told.TextPart(turn.text)] if turn.text else []
    calls = (told.ToolCallPart(spelling.told(call.name), call.arguments, _id(call, length)) for call in turn.calls)
    return told.ModelResponse(parts=[*parts, *calls])


def _part(part: Any, spelling: Spelling, length: int | None) -> told.ModelRequestPart:
    if isinstance(part, Result):
        return told.ToolReturnPart(spelling.told(part.call.name), part.text, _id(part.call, length))
    return told.SystemPromptPart(part.text) if isinstance(part, System) else told.UserPromptPart(part.text)


def _id(call: Call, length: int | None) -> str:
    """Mistral takes ids of nine letters and digits only."""
    if length is None or (len(call.id) == length and call.id.isascii() and call.id.isalnum()):
        return call.id
    return hashlib.sha256(call.id.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _text(event: Any) -> str:
    match event:
        case told.PartStartEvent(part=told.TextPart(content=text)):
            return text
        case told.PartDeltaEvent(delta=told.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _finished(stream: StreamedResponse) -> bool:
    details = stream.provider_details or {}
    return bool(stream.finish_reason or details.get("finish_reason")) and stream.get().state == "complete"


def _whole(stream: StreamedResponse, spelling: Spelling) -> list[Piece]:
    """What is known at the end: a refusal in words, the calls, and what was spent."""
    answer = stream.get()
    refusal = (answer.provider_details or {}).get("refusal")
    pieces: list[Piece] = [Said(refusal)] if isinstance(refusal, str) and refusal else []
    for part in answer.parts:
        if isinstance(part, told.ToolCallPart):
            pieces.append(Wants(part.tool_call_id, spelling.meant(part.tool_name), _arguments(part.args)))
    usage = answer.usage
    if usage.input_tokens or usage.output_tokens:
        pieces.append(Spent(usage.input_tokens, usage.output_tokens))
    return pieces


def _arguments(arguments: Any) -> str:
    """As the model wrote them, well-formed or not; some libraries hand over what they have parsed already."""
    if arguments is None or isinstance(arguments, str):
        return arguments or "{}"
    return json.dumps(arguments, ensure_ascii=False)
