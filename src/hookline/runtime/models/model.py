"""The interface of a model: a request goes in, chunks of an answer come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as the model sees it."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """Messages have the keys role, content, tool_calls ([{id, type, function: {name, arguments}}]), tool_call_id, name."""

    messages: tuple[dict[str, Any], ...]  # the system message first, if there is one
    tools: tuple[OfferedTool, ...] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of text."""

    text: str


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A whole tool call; the arguments are JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of the request and of the answer, as the provider counted them."""

    input: int
    output: int


Chunk = TextChunk | RequestedCall | TokenUsage


class ErrorCode(StrEnum):
    RATE_LIMIT = "rate_limit"
    CONTEXT_OVERFLOW = "context_overflow"
    BILLING = "billing"
    TIMEOUT = "timeout"
    AUTH = "auth"
    NETWORK = "network"
    INTERNAL = "internal"


class ModelError(HooklineError):
    """A failed model call, for every provider."""

    def __init__(
        self, code: ErrorCode, text: str, retry_after: timedelta | None = None, *, refused: bool = False
    ) -> None:
        """`refused`: the provider rejects the request itself, for example an unknown model name."""
        super().__init__(text)
        self.code = code
        self.retry_after = retry_after
        self.refused = refused

    @property
    def is_transient(self) -> bool:
        """True if the same request may succeed later."""
        return not self.refused and self.code in (
            ErrorCode.RATE_LIMIT,
            ErrorCode.TIMEOUT,
            ErrorCode.NETWORK,
            ErrorCode.INTERNAL,
        )


class Model(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def context_limit(self) -> int:
        """The maximum number of tokens of a request."""

    def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        """Raises ModelError, even in the middle of an answer. Closing the generator ends the call."""

    async def close(self) -> None: ...
