"""Estimates the tokens of a text, and knows the context limits of models, without the network.

The estimate counts 3.5 ASCII characters, or 3 bytes of any other text, as one token: prose has about 4 characters per
token, code and JSON about 3, Chinese and Japanese about one. The provider's own count comes as `TokenUsage`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from hookline.runtime.models.model import CompletionRequest

TOKENS_PER_MESSAGE: Final = 4
TOKENS_PER_TOOL: Final = 8
DEFAULT_CONTEXT_LIMIT: Final = 128_000
_CONTEXT_LIMITS: Final = {
    "claude": 200_000,
    "claude-fable": 1_000_000,
    "claude-haiku-5": 1_000_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "codestral": 256_000,
    "deepseek-chat": 64_000,
    "deepseek-reasoner": 64_000,
    "deepseek-v4": 1_000_000,
    "devstral": 262_144,
    "gemini": 1_000_000,
    "gemini-pro": 32_768,
    "gemma3": 131_072,
    "gemma-4": 262_144,
    "gpt-3.5": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4.1": 1_000_000,
    "gpt-4o": 128_000,
    "gpt-5": 400_000,
    "gpt-5.3-chat": 128_000,
    "gpt-5.4": 1_050_000,
    "gpt-5.4-mini": 400_000,
    "gpt-5.4-nano": 400_000,
    "gpt-5.5": 1_000_000,
    "gpt-5.6": 1_050_000,
    "gpt-6": 1_050_000,
    "gpt-oss": 131_072,
    "kimi-k2": 131_072,
    "llama-3": 131_072,
    "llama3": 8_192,
    "llama3.1": 131_072,
    "llama3.2": 131_072,
    "llama3.3": 131_072,
    "ministral": 131_072,
    "mistral": 131_072,
    "mistral-large-4": 1_048_576,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4": 200_000,
    "qwen2.5": 32_768,
    "qwen3": 131_072,
}


def text_tokens(text: str) -> int:
    if text.isascii():
        return -(-len(text) * 2 // 7)
    plain = len(text.encode("ascii", "ignore"))
    other = len(text.encode("utf-8", "surrogatepass")) - plain
    return -(-(plain * 6 + other * 7) // 21)


def message_tokens(message: dict[str, Any]) -> int:
    """Estimated tokens of one message, with its tool calls."""
    content, calls = message.get("content"), message.get("tool_calls")
    return TOKENS_PER_MESSAGE + _value_tokens(content) + _value_tokens(calls)


def messages_tokens(messages: Iterable[dict[str, Any]]) -> int:
    return sum(map(message_tokens, messages))


def request_tokens(request: CompletionRequest) -> int:
    """Estimated tokens of a whole request: messages and tools with their schemas."""
    tools = (text_tokens(tool.name + tool.description) + _value_tokens(tool.schema) for tool in request.tools)
    return messages_tokens(request.messages) + sum(TOKENS_PER_TOOL + tokens for tokens in tools)


def known_context_limit(model: str) -> int:
    """The context limit of the longest known prefix of the model's name, without its vendor."""
    name = model.rpartition("/")[2].casefold()
    return _CONTEXT_LIMITS.get(
        max((known for known in _CONTEXT_LIMITS if name.startswith(known)), key=len, default=""), DEFAULT_CONTEXT_LIMIT
    )


def _value_tokens(value: Any) -> int:
    if not value:
        return 0
    return text_tokens(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
