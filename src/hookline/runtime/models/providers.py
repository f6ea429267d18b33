"""Providers of models, and their addresses: `provider:model`, or `provider:model@URL` for your own server.

Keys come only from the given environment. A provider's key is sent to that provider, or to the URL that the environment
sets (OPENAI_BASE_URL). A URL in a file gets only the key that the environment has for exactly that host, so that no file
can send a key elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from hookline.errors import HooklineError
from hookline.formatting import closest_match, printable, shorten
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.models.tokens import known_context_limit

HOST_KEY_PREFIX: Final = "HOOKLINE_KEY_"
"""Followed by the host in capitals, with `_` for other characters: HOOKLINE_KEY_LLM_EXAMPLE_ORG."""
_OLLAMA_CONTEXT_LIMIT: Final = 32_768


@dataclass(frozen=True, slots=True)
class Provider:
    api: str
    url: str
    url_variable: str
    keys: tuple[str, ...]  # the first one that is set is used
    needs_key: bool = True


_OPENAI: Final = ("https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",))
PROVIDERS: Final[Mapping[str, Provider]] = {
    "anthropic": Provider("anthropic", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", ("ANTHROPIC_API_KEY",)),
    "google": Provider(
        "google",
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    ),
    "groq": Provider("groq", "https://api.groq.com", "GROQ_BASE_URL", ("GROQ_API_KEY",)),
    "mistral": Provider("mistral", "https://api.mistral.ai", "MISTRAL_BASE_URL", ("MISTRAL_API_KEY",)),
    "ollama": Provider("ollama", "http://localhost:11434/v1", "OLLAMA_BASE_URL", ("OLLAMA_API_KEY",), needs_key=False),
    "openai": Provider("openai", *_OPENAI),
    "openai-chat": Provider("openai-chat", *_OPENAI),
    "openai-responses": Provider("openai-responses", *_OPENAI),
}


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """The address of a model. `key` is None if the server needs none; it never appears in a repr."""

    name: str
    api: str
    model: str
    url: str
    key: str | None = field(repr=False)
    is_official: bool  # at the provider's own address
    has_explicit_url: bool  # the URL is part of the name
    context_limit: int

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not appear in logs or errors."""
        return tuple(secret for secret in (self.key, _url_password(self.url)) if secret)


def parse_address(name: str, env: Mapping[str, str]) -> ModelAddress:
    """Raises HooklineError for an unknown provider, an invalid URL or a missing key."""
    shown = shorten(printable(name))
    word, _, rest = name.partition(":")
    provider = PROVIDERS.get(word)
    if provider is None:
        raise HooklineError(f"model {shown}: {_describe_unknown_provider(word)}")
    model, at, host = rest.rpartition("@http")
    model, url = (model, f"http{host}") if at else (rest, "")
    if not model:
        raise HooklineError(f"model {shown}: the name of the model is missing; write {word}:NAME")
    url, key = _custom_endpoint(shown, url, env) if url else _provider_endpoint(shown, provider, env)
    return ModelAddress(
        name=f"{word}:{model}",
        api=_select_api(provider, url),
        model=model,
        url=url,
        key=key,
        is_official=_is_same_url(url, provider.url),
        has_explicit_url=bool(at),
        context_limit=_context_limit(word, model, env),
    )


def _provider_endpoint(shown: str, provider: Provider, env: Mapping[str, str]) -> tuple[str, str | None]:
    url = env.get(provider.url_variable) or provider.url
    _check_url(shown, url, provider.url_variable)
    key = next((env[variable] for variable in provider.keys if env.get(variable)), None)
    if key is None and provider.needs_key and _is_same_url(url, provider.url):
        raise HooklineError(f"model {shown}: no API key; set {' or '.join(provider.keys)}")
    return url, key


def _custom_endpoint(shown: str, url: str, env: Mapping[str, str]) -> tuple[str, str | None]:
    host = _check_url(shown, url, "the URL")
    letters = "".join(each if each.isascii() and each.isalnum() else "_" for each in host)
    return url, env.get(HOST_KEY_PREFIX + letters.upper()) or None


def _check_url(shown: str, url: str, what: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if not host or not url.startswith(("http://", "https://")) or not url.isprintable():
        raise HooklineError(f"model {shown}: {what} is not a URL; write one such as http://localhost:8000/v1")
    return host


def _select_api(provider: Provider, url: str) -> str:
    """The newest OpenAI models need the Responses API; compatible servers have Chat Completions."""
    if provider.api != "openai":
        return provider.api
    return "openai-responses" if _is_same_url(url, provider.url) else "openai-chat"


def _context_limit(word: str, model: str, env: Mapping[str, str]) -> int:
    if word != "ollama":
        return known_context_limit(model)
    limit = env.get("OLLAMA_CONTEXT_LENGTH", "")
    return (int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 10 else 0) or _OLLAMA_CONTEXT_LIMIT


def _describe_unknown_provider(word: str) -> str:
    guess = closest_match(word, (*PROVIDERS, "script"))
    hint = f"did you mean {guess}?" if guess else f"known providers: {', '.join(sorted((*PROVIDERS, 'script')))}"
    return f"{shorten(printable(word))} is not a provider; {hint}"


def _is_same_url(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")


def _url_password(url: str) -> str | None:
    return urlsplit(url).password
