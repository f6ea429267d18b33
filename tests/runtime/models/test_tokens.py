from __future__ import annotations

import pytest

from hookline.runtime.models.model import CompletionRequest, OfferedTool
from hookline.runtime.models.tokens import (
    DEFAULT_CONTEXT_LIMIT,
    known_context_limit,
    message_tokens,
    request_tokens,
    text_tokens,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("a" * 7, 2), ("a" * 3_500, 1_000), ("日本語", 3), ("é" * 30, 20), ("\ud800", 1)],
)
def test_tokens_of_a_text(text: str, tokens: int) -> None:
    assert text_tokens(text) == tokens


def test_what_the_estimate_is_worth_for_code() -> None:
    """gpt-4o's tokenizer counts 23 here."""
    assert (
        17
        <= text_tokens('def area(radius: float) -> float:\n    """Of a circle."""\n    return 3.14 * radius**2\n')
        <= 30
    )


def test_calls_count_whether_they_are_text_or_a_list() -> None:
    calls = [{"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}]
    assert message_tokens({"role": "assistant", "content": None, "tool_calls": calls}) > 20
    assert message_tokens({"role": "assistant", "content": None}) == message_tokens({"role": "user", "content": ""})


def test_tools_are_part_of_a_request() -> None:
    tool = OfferedTool("bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
    messages = ({"role": "user", "content": "Hello"},)
    assert request_tokens(CompletionRequest(messages, (tool,))) > request_tokens(CompletionRequest(messages)) + 20


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("gpt-4", 8_192),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("GPT-5", 400_000),
        ("gpt-5.4-mini", 400_000),
        ("gpt-5.4-pro", 1_050_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-6", 1_000_000),
        ("openai/gpt-oss-120b", 131_072),
        ("a-model-of-tomorrow", DEFAULT_CONTEXT_LIMIT),
        ("", DEFAULT_CONTEXT_LIMIT),
    ],
)
def test_limits_go_by_the_longest_known_beginning(model: str, limit: int) -> None:
    assert known_context_limit(model) == limit
