"""The providers' own libraries, opened for one address: no retries of theirs, no telemetry, our timeouts."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final

import httpx2
from pydantic_ai.models import Model, create_async_httpx2_client

from hookline.runtime.models.providers import Address

CONNECT_SECONDS: Final = 10
RESPONSES: Final[ContextVar[list[Any]]] = ContextVar("responses")
"""Where the responses of the call that is being opened are noted: a library that is cancelled then may leave one open."""
NO_KEY: Final = "none"  # the libraries want some text even where a server asks for no key


def opened(address: Address, silence: timedelta) -> tuple[Model, Any]:
    """The model, and the HTTP client that is to be closed."""
    seconds = silence.total_seconds()
    if address.api == "groq":  # its library still takes the older httpx only
        import httpx

        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        older = httpx.AsyncClient(timeout=timeout, event_hooks={"response": [_note]})
        return _groq(address, older), older
    newer = create_async_httpx2_client(timeout=httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)))
    newer.event_hooks = {**newer.event_hooks, "response": [_note]}
    return _OPENERS[address.api](address, newer), newer


async def _note(response: Any) -> None:
    if (responses := RESPONSES.get(None)) is not None:
        responses.append(response)


def _openai_client(address: Address, client: Any) -> Any:
    from openai import AsyncOpenAI

    opened = AsyncOpenAI(api_key=address.key or NO_KEY, base_url=address.url, http_client=client, max_retries=0)
    if address.by_url:
        _forget_environment(opened)
        opened.organization = opened.project = None
    return opened


def _forget_environment(client: Any) -> None:
    """The libraries put headers from OPENAI_CUSTOM_HEADERS and its like into every request; they are for the provider."""
    client._custom_headers = {}


def _openai_provider(address: Address, client: Any) -> Any:
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    opened = _openai_client(address, client)
    if address.own:
        return OpenAIProvider(openai_client=opened)
    return OpenAICompatibleProvider("openai-compatible", openai_client=opened)


def _openai_chat(address: Address, client: Any) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel(address.model, provider=_openai_provider(address, client), profile=_strict_end())


def _openai_responses(address: Address, client: Any) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return OpenAIResponsesModel(address.model, provider=_openai_provider(address, client))


def _ollama(address: Address, client: Any) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(openai_client=_openai_client(address, client))
    return OllamaModel(address.model, provider=provider, profile=_strict_end())


def _strict_end() -> Any:
    """A stream without a last word is one that broke off, not one that ended well."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)


def _anthropic(address: Address, client: Any) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    opened = AsyncAnthropic(
        api_key=address.key or NO_KEY, base_url=address.url, http_client=client, max_retries=0, open_telemetry=False
    )
    if address.by_url:
        _forget_environment(opened)
    return AnthropicModel(address.model, provider=AnthropicProvider(anthropic_client=opened))


def _google(address: Address, client: Any) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return GoogleModel(address.model, provider=provider)


def _groq(address: Address, client: Any) -> Model:
    from groq import AsyncGroq
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    opened = AsyncGroq(api_key=address.key or NO_KEY, base_url=address.url, http_client=client, max_retries=0)
    if address.by_url:
        _forget_environment(opened)
    return GroqModel(address.model, provider=GroqProvider(groq_client=opened))


def _mistral(address: Address, client: Any) -> Model:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    provider = MistralProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return MistralModel(address.model, provider=provider)


_OPENERS: Final[dict[str, Callable[[Address, Any], Model]]] = {
    "anthropic": _anthropic,
    "google": _google,
    "mistral": _mistral,
    "ollama": _ollama,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
