"""Models through pydantic-ai's model layer.

Each provider's library is opened for one address, with our timeouts, without its own retries and telemetry, and without
keys or addresses that it would read from the environment.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final, cast

import httpx2
from pydantic_ai import messages as library_messages
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse, create_async_httpx2_client
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.models.model import Chunk, CompletionRequest, OfferedTool, RequestedCall, TextChunk, TokenUsage
from hookline.runtime.models.provider_errors import incomplete_answer_error, model_error, silence_error
from hookline.runtime.models.provider_messages import (
    CallPart,
    Conversation,
    RequestMessage,
    ResponseMessage,
    ResultPart,
    SystemPart,
    ToolNameMap,
    build_conversation,
)
from hookline.runtime.models.providers import ModelAddress

CONNECT_SECONDS: Final = 10
RESPONSES: Final[ContextVar[list[Any]]] = ContextVar("responses")
"""Collects the responses while a call is being opened: a library that is cancelled then may leave one open."""
NO_KEY: Final = "none"  # the libraries require a key even if the server does not


def open_client(address: ModelAddress, silence: timedelta) -> tuple[Model, Any]:
    """The model, and the HTTP client to close."""
    seconds = silence.total_seconds()
    if address.api == "groq":  # its library needs the older httpx
        import httpx

        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        older = httpx.AsyncClient(timeout=timeout, event_hooks={"response": [_record_response]})
        return _groq_model(address, older), older
    newer = create_async_httpx2_client(timeout=httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)))
    newer.event_hooks = {**newer.event_hooks, "response": [_record_response]}
    return _MODEL_FACTORIES[address.api](address, newer), newer


async def _record_response(response: Any) -> None:
    if (responses := RESPONSES.get(None)) is not None:
        responses.append(response)


def _openai_client(address: ModelAddress, client: Any) -> Any:
    from openai import AsyncOpenAI

    opened = AsyncOpenAI(api_key=address.key or NO_KEY, base_url=address.url, http_client=client, max_retries=0)
    if address.has_explicit_url:
        _forget_environment(opened)
        opened.organization = opened.project = None
    return opened


def _forget_environment(client: Any) -> None:
    """Removes headers that the libraries read from OPENAI_CUSTOM_HEADERS and similar: they are for the provider."""
    client._custom_headers = {}


def _openai_provider(address: ModelAddress, client: Any) -> Any:
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    opened = _openai_client(address, client)
    if address.is_official:
        return OpenAIProvider(openai_client=opened)
    return OpenAICompatibleProvider("openai-compatible", openai_client=opened)


def _openai_chat_model(address: ModelAddress, client: Any) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel(address.model, provider=_openai_provider(address, client), profile=_strict_profile())


def _openai_responses_model(address: ModelAddress, client: Any) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return OpenAIResponsesModel(address.model, provider=_openai_provider(address, client))


def _ollama_model(address: ModelAddress, client: Any) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(openai_client=_openai_client(address, client))
    return OllamaModel(address.model, provider=provider, profile=_strict_profile())


def _strict_profile() -> Any:
    """A stream without a finish reason was interrupted."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)


def _anthropic_model(address: ModelAddress, client: Any) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    opened = AsyncAnthropic(
        api_key=address.key or NO_KEY, base_url=address.url, http_client=client, max_retries=0, open_telemetry=False
    )
    if address.has_explicit_url:
        _forget_environment(opened)
    return AnthropicModel(address.model, provider=AnthropicProvider(anthropic_client=opened))


def _google_model(address: ModelAddress, client: Any) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return GoogleModel(address.model, provider=provider)


def _groq_model(address: ModelAddress, client: Any) -> Model:
    from groq import AsyncGroq
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    opened = AsyncGroq(api_key=address.key or NO_KEY, base_url=address.url, http_client=client, max_retries=0)
    if address.has_explicit_url:
        _forget_environment(opened)
    return GroqModel(address.model, provider=GroqProvider(groq_client=opened))


def _mistral_model(address: ModelAddress, client: Any) -> Model:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    provider = MistralProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return MistralModel(address.model, provider=provider)


_MODEL_FACTORIES: Final[dict[str, Callable[[ModelAddress, Any], Model]]] = {
    "anthropic": _anthropic_model,
    "google": _google_model,
    "mistral": _mistral_model,
    "ollama": _ollama_model,
    "openai-chat": _openai_chat_model,
    "openai-responses": _openai_responses_model,
}


@dataclass(frozen=True, slots=True)
class ProviderConnection:
    address: ModelAddress
    model: Model
    client: Any  # httpx2's AsyncClient or, for Groq, httpx's
    silence: timedelta

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        """Yields text as it arrives. Yields tool calls only when the answer is complete, so a call is never partial."""
        history = build_conversation(request.messages)
        tool_names = ToolNameMap(_tool_names(request, history))
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.silence.total_seconds()):
                    stream = await _enter_stream(stack, self._open_stream(request, history, tool_names))
                async for event in self._events(stream):
                    if text := _event_text(event):
                        yield TextChunk(text)
                if not _is_finished(stream):
                    raise incomplete_answer_error(self.address.name)
                for piece in _final_chunks(stream, tool_names):
                    yield piece
        except TimeoutError:
            raise silence_error(self.address.name, self.silence) from None
        except Exception as error:  # every exception of a library is a failed model call
            raise model_error(error, self.address) from None

    async def close(self) -> None:
        await self.client.aclose()

    def _open_stream(
        self, request: CompletionRequest, history: Conversation, tool_names: ToolNameMap
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        length = self.model.profile.get("tool_call_id_length")
        messages = [_to_provider_message(turn, tool_names, length) for turn in history]
        parameters = ModelRequestParameters(
            function_tools=[_tool_definition(tool, tool_names) for tool in request.tools]
        )
        return self.model.request_stream(messages, _model_settings(self.address, request), parameters)

    async def _events(self, stream: StreamedResponse) -> AsyncIterator[Any]:
        events = aiter(stream)
        while True:
            async with asyncio.timeout(self.silence.total_seconds()):
                event = await anext(events, None)
            if event is None:
                return
            yield event


def connect_provider(address: ModelAddress, silence: timedelta) -> ProviderConnection:
    model, client = open_client(address, silence)
    return ProviderConnection(address, model, client, silence)


async def _enter_stream(
    stack: AsyncExitStack, opening: AbstractAsyncContextManager[StreamedResponse]
) -> StreamedResponse:
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


def _model_settings(address: ModelAddress, request: CompletionRequest) -> ModelSettings:
    settings: dict[str, Any] = {}
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if address.api == "openai-responses":
        settings["openai_store"] = False  # by default OpenAI keeps answers for 30 days
    return cast(ModelSettings, settings)


def _tool_definition(tool: OfferedTool, tool_names: ToolNameMap) -> ToolDefinition:
    schema = tool.schema if tool.schema.get("type") == "object" else {"type": "object", "properties": {}, **tool.schema}
    return ToolDefinition(
        name=tool_names.to_model(tool.name), description=tool.description, parameters_json_schema=schema
    )


def _tool_names(request: CompletionRequest, history: Conversation) -> list[str]:
    calls = (call for turn in history if isinstance(turn, ResponseMessage) for call in turn.calls)
    return [*(tool.name for tool in request.tools), *(call.name for call in calls)]


def _to_provider_message(
    turn: RequestMessage | ResponseMessage, tool_names: ToolNameMap, length: int | None
) -> library_messages.ModelMessage:
    if isinstance(turn, RequestMessage):
        return library_messages.ModelRequest(parts=[_to_request_part(part, tool_names, length) for part in turn.parts])
    parts: list[library_messages.ModelResponsePart] = [library_messages.TextPart(turn.text)] if turn.text else []
    calls = (
        library_messages.ToolCallPart(tool_names.to_model(call.name), call.arguments, _call_id(call, length))
        for call in turn.calls
    )
    return library_messages.ModelResponse(parts=[*parts, *calls])


def _to_request_part(part: Any, tool_names: ToolNameMap, length: int | None) -> library_messages.ModelRequestPart:
    if isinstance(part, ResultPart):
        return library_messages.ToolReturnPart(
            tool_names.to_model(part.call.name), part.text, _call_id(part.call, length)
        )
    return (
        library_messages.SystemPromptPart(part.text)
        if isinstance(part, SystemPart)
        else library_messages.UserPromptPart(part.text)
    )


def _call_id(call: CallPart, length: int | None) -> str:
    """Mistral accepts only ids of nine letters and digits."""
    if length is None or (len(call.id) == length and call.id.isascii() and call.id.isalnum()):
        return call.id
    return hashlib.sha256(call.id.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _event_text(event: Any) -> str:
    match event:
        case library_messages.PartStartEvent(part=library_messages.TextPart(content=text)):
            return text
        case library_messages.PartDeltaEvent(delta=library_messages.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _is_finished(stream: StreamedResponse) -> bool:
    details = stream.provider_details or {}
    return bool(stream.finish_reason or details.get("finish_reason")) and stream.get().state == "complete"


def _final_chunks(stream: StreamedResponse, tool_names: ToolNameMap) -> list[Chunk]:
    """What is known only at the end: a refusal, the calls, the token usage."""
    answer = stream.get()
    refusal = (answer.provider_details or {}).get("refusal")
    pieces: list[Chunk] = [TextChunk(refusal)] if isinstance(refusal, str) and refusal else []
    for part in answer.parts:
        if isinstance(part, library_messages.ToolCallPart):
            pieces.append(
                RequestedCall(part.tool_call_id, tool_names.from_model(part.tool_name), _arguments_text(part.args))
            )
    usage = answer.usage
    if usage.input_tokens or usage.output_tokens:
        pieces.append(TokenUsage(usage.input_tokens, usage.output_tokens))
    return pieces


def _arguments_text(arguments: Any) -> str:
    """The arguments as the model wrote them, valid or not. Some libraries have already parsed them."""
    if arguments is None or isinstance(arguments, str):
        return arguments or "{}"
    return json.dumps(arguments, ensure_ascii=False)
