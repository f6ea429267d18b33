from __future__ import annotations

import pytest

from hookline.errors import HooklineError
from hookline.runtime.models.providers import PROVIDERS, parse_address

pytestmark = pytest.mark.slow


KEYS = {variable: f"key-of-{variable}" for provider in PROVIDERS.values() for variable in provider.keys}


def test_openai_itself_is_asked_through_responses() -> None:
    found = parse_address("openai:gpt-5", KEYS)
    assert (found.api, found.model, found.url) == ("openai-responses", "gpt-5", "https://api.openai.com/v1")
    assert (found.key, found.is_official, found.context_limit) == ("key-of-OPENAI_API_KEY", True, 400_000)


def test_the_environment_may_send_openai_elsewhere_without_a_key() -> None:
    found = parse_address("openai:qwen3:8b", {"OPENAI_BASE_URL": "http://localhost:8000/v1"})
    assert (found.api, found.model, found.url, found.key) == (
        "openai-chat",
        "qwen3:8b",
        "http://localhost:8000/v1",
        None,
    )
    assert not found.is_official


def test_a_url_in_the_name_never_gets_the_providers_key() -> None:
    name = "openai:gpt-5@https://evil.example/v1"
    assert parse_address(name, KEYS).key is None
    assert parse_address(name, {**KEYS, "HOOKLINE_KEY_EVIL_EXAMPLE": "its-own"}).key == "its-own"
    assert parse_address(name, {**KEYS, "HOOKLINE_KEY_GOOD_EXAMPLE": "of-another"}).key is None


def test_a_url_wins_over_the_environments() -> None:
    found = parse_address("anthropic:claude-x@http://127.0.0.1:4000", {"ANTHROPIC_BASE_URL": "http://elsewhere"})
    assert (found.name, found.model, found.url) == ("anthropic:claude-x", "claude-x", "http://127.0.0.1:4000")


def test_an_at_sign_may_be_part_of_a_name() -> None:
    assert parse_address("google:gemini@002", KEYS).model == "gemini@002"


@pytest.mark.parametrize("provider", [name for name, each in PROVIDERS.items() if each.needs_key])
def test_a_missing_key_is_one_line_with_the_variable(provider: str) -> None:
    with pytest.raises(HooklineError) as error:
        parse_address(f"{provider}:x", {})
    assert "\n" not in str(error.value)
    assert all(variable in str(error.value) for variable in PROVIDERS[provider].keys)


def test_an_empty_key_is_none() -> None:
    with pytest.raises(HooklineError, match="OPENAI_API_KEY"):
        parse_address("openai:gpt-5", {"OPENAI_API_KEY": ""})


def test_google_has_two_variables() -> None:
    assert parse_address("google:gemini-3-pro", {"GEMINI_API_KEY": "g"}).key == "g"
    assert parse_address("google:gemini-3-pro", {"GEMINI_API_KEY": "g", "GOOGLE_API_KEY": "h"}).key == "h"


def test_ollama_needs_no_key_and_knows_its_context() -> None:
    found = parse_address("ollama:llama3.2:3b", {})
    assert (found.model, found.url, found.key) == ("llama3.2:3b", "http://localhost:11434/v1", None)
    assert found.context_limit == 32_768
    assert parse_address("ollama:llama3.2", {"OLLAMA_CONTEXT_LENGTH": "65536"}).context_limit == 65_536
    assert parse_address("ollama:llama3.2", {"OLLAMA_CONTEXT_LENGTH": "9" * 5_000}).context_limit == 32_768


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("opnai:gpt-5", "did you mean openai"),
        ("antropic:x", "did you mean anthropic"),
        ("scrip:x", "did you mean script"),
        ("zzz:x", "known providers: anthropic, google"),
        ("openai:", "openai:NAME"),
        ("openai:@http://host/v1", "openai:NAME"),
        ("openai:x@http://", "not a URL"),
        ("openai:x@http://host:port/v1", "not a URL"),
        ("openai:x@http://[::1/v1", "not a URL"),
        ("openai:x@httpfoo", "not a URL"),
        ("\x1b[31m\n:x", r"\x1b"),
    ],
)
def test_what_is_wrong_with_a_name(name: str, text: str) -> None:
    with pytest.raises(HooklineError) as error:
        parse_address(name, KEYS)
    assert text in str(error.value)
    assert str(error.value).isprintable()


def test_a_url_of_the_environment_is_checked() -> None:
    with pytest.raises(HooklineError, match="OPENAI_BASE_URL is not a URL"):
        parse_address("openai:x", {**KEYS, "OPENAI_BASE_URL": "localhost:8000"})


def test_no_secret_in_what_it_shows() -> None:
    found = parse_address("openai:x@http://me:pass-word@host/v1", {"HOOKLINE_KEY_HOST": "its-key"})
    assert "its-key" not in repr(found)
    assert found.secrets == ("its-key", "pass-word")
