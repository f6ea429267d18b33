"""Who serves models, and where: `provider:model`, or `provider:model@URL` for a server of one's own.

Keys come from the environment that is handed in, and a provider's key goes to that provider, or where the environment
itself sends it (OPENAI_BASE_URL). A URL in a file gets only the key that the environment has for its very host, so no
file can have a key sent elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from hookline.config.problem import nearest, printable, short
from hookline.errors import HooklineError
from hookline.runtime.models.tokens import known_limit

HOST_KEY: Final = "HOOKLINE_KEY_"
"""Before the host's name in capitals, whatever is no letter or digit as `_`: HOOKLINE_KEY_LLM_EXAMPLE_ORG."""
_LIMIT_OF_OLLAMA: Final = 32_768


@dataclass(frozen=True, slots=True)
class Provider:
    api: str
    url: str
    url_variable: str
    keys: tuple[str, ...]  # the first one that is set counts
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
class Address:
    """Where a model is. `key` is None where none is needed, and is in no text that is made of this."""

    name: str
    api: str
    model: str
    url: str
    key: str | None = field(repr=False)
    own: bool  # at the provider's own address
    by_url: bool  # the URL stood in the name, not in the environment
    context_limit: int

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in a log or an error."""
        return tuple(secret for secret in (self.key, _password(self.url)) if secret)


def address(name: str, env: Mapping[str, str]) -> Address:
    """Raises HooklineError in one line: an unknown provider, a URL that is none, a key that is missing."""
    shown = short(printable(name))
    word, _, rest = name.partition(":")
    provider = PROVIDERS.get(word)
    if provider is None:
        raise HooklineError(f"model {shown}: {_unknown(word)}")
    model, at, host = rest.rpartition("@http")
    model, url = (model, f"http{host}") if at else (rest, "")
    if not model:
        raise HooklineError(f"model {shown}: the name of the model is missing; write {word}:NAME")
    url, key = _server(shown, url, env) if url else _provided(shown, provider, env)
    return Address(
        name=f"{word}:{model}",
        api=_api(provider, url),
        model=model,
        url=url,
        key=key,
        own=_same(url, provider.url),
        by_url=bool(at),
        context_limit=_limit(word, model, env),
    )


def _provided(shown: str, provider: Provider, env: Mapping[str, str]) -> tuple[str, str | None]:
    url = env.get(provider.url_variable) or provider.url
    _checked(shown, url, provider.url_variable)
    key = next((env[variable] for variable in provider.keys if env.get(variable)), None)
    if key is None and provider.needs_key and _same(url, provider.url):
        raise HooklineError(f"model {shown}: there is no key; set {' or '.join(provider.keys)}")
    return url, key


def _server(shown: str, url: str, env: Mapping[str, str]) -> tuple[str, str | None]:
    host = _checked(shown, url, "the URL")
    letters = "".join(each if each.isascii() and each.isalnum() else "_" for each in host)
    return url, env.get(HOST_KEY + letters.upper()) or None


def _checked(shown: str, url: str, what: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if not host or not url.startswith(("http://", "https://")) or not url.isprintable():
        raise HooklineError(f"model {shown}: {what} is not a URL; write one such as http://localhost:8000/v1")
    return host


def _api(provider: Provider, url: str) -> str:
    """OpenAI wants its newest models asked through Responses; servers that speak like it know Chat Completions."""
    if provider.api != "openai":
        return provider.api
    return "openai-responses" if _same(url, provider.url) else "openai-chat"


def _limit(word: str, model: str, env: Mapping[str, str]) -> int:
    if word != "ollama":
        return known_limit(model)
    said = env.get("OLLAMA_CONTEXT_LENGTH", "")
    return (int(said) if said.isascii() and said.isdigit() and len(said) < 10 else 0) or _LIMIT_OF_OLLAMA


def _unknown(word: str) -> str:
    guess = nearest(word, (*PROVIDERS, "script"))
    meant = f"did you mean {guess}?" if guess else f"known are {', '.join(sorted((*PROVIDERS, 'script')))}"
    return f"{short(printable(word))} is no provider; {meant}"


def _same(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")


def _password(url: str) -> str | None:
    return urlsplit(url).password
