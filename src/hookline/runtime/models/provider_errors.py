"""Turns errors of providers and their libraries into a ModelError: one line, without keys.

pydantic-ai classifies most errors; the provider's status and message decide the rest.
"""

from __future__ import annotations

import json
import math
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import httpx2
from pydantic_ai import exceptions as library

from hookline.formatting import printable
from hookline.runtime.models.model import ErrorCode, ModelError
from hookline.runtime.models.providers import ModelAddress

MAX_TEXT_LENGTH: Final = 500
MAX_WAIT: Final = timedelta(days=1)

_CODES_BY_CLASS: Final[tuple[tuple[type[BaseException], ErrorCode], ...]] = (
    (library.ModelContextWindowExceededError, ErrorCode.CONTEXT_OVERFLOW),
    (library.ModelQuotaExceededError, ErrorCode.BILLING),
    (library.ModelRateLimitError, ErrorCode.RATE_LIMIT),
    (library.ModelAuthenticationError, ErrorCode.AUTH),
    (library.ModelTimeoutError, ErrorCode.TIMEOUT),
    (library.ModelRequestTimeout, ErrorCode.TIMEOUT),
    (library.ModelConnectionError, ErrorCode.NETWORK),
    (httpx.TimeoutException, ErrorCode.TIMEOUT),
    (httpx2.TimeoutException, ErrorCode.TIMEOUT),
    (TimeoutError, ErrorCode.TIMEOUT),
    (httpx.TransportError, ErrorCode.NETWORK),
    (httpx2.TransportError, ErrorCode.NETWORK),
    (httpx.StreamError, ErrorCode.NETWORK),
    (httpx2.StreamError, ErrorCode.NETWORK),
    (OSError, ErrorCode.NETWORK),
)
_CODES_BY_STATUS: Final = {
    401: ErrorCode.AUTH,
    402: ErrorCode.BILLING,
    403: ErrorCode.AUTH,
    408: ErrorCode.TIMEOUT,
    413: ErrorCode.CONTEXT_OVERFLOW,  # Groq: also for a request above the tokens per minute; a retry cannot help
    429: ErrorCode.RATE_LIMIT,
    504: ErrorCode.TIMEOUT,
}
_OVERFLOW_PHRASES: Final = (
    "context_length_exceeded",  # OpenAI, Groq
    "context length",  # OpenAI, Mistral, Ollama, vLLM
    "context window",  # OpenAI's Responses, LM Studio
    "context size",  # llama.cpp
    "context limit",  # Anthropic
    "prompt is too long",  # Anthropic
    "prompt too long",  # Ollama
    "input token count",  # Google
    "number of tokens allowed",  # Google
    "reduce the length of the messages",  # Groq
    "too large for model",  # Mistral
)
_BILLING_PHRASES: Final = (
    "insufficient_quota",
    "credit balance is too low",
    "billing_hard_limit",
    "exceeded your current quota",
)
_DISCONNECT_PHRASES: Final = ("without a `finish_reason`", "peer closed connection", "incomplete chunked read")


def model_error(error: Exception, address: ModelAddress) -> ModelError:
    if isinstance(error, ModelError):
        return error
    message = _error_text(error)
    code = _error_code(error, f"{message} {error}")
    text = f"{address.name}: {_describe_disconnect(error, address) or message}"
    for secret in address.secrets:
        text = text.replace(secret, "***")
    text = printable(" ".join(text.split()))
    shown = text if len(text) <= MAX_TEXT_LENGTH else text[: MAX_TEXT_LENGTH - 1] + "…"
    return ModelError(code, shown, _retry_after(error), refused=code is ErrorCode.INTERNAL and _is_refusal(error))


def _is_refusal(error: Exception) -> bool:
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and 400 <= status < 500


def incomplete_answer_error(model: str) -> ModelError:
    """The stream ended normally, but the model had not finished."""
    return ModelError(ErrorCode.NETWORK, f"{model}: the answer ended early")


def silence_error(model: str, silence: timedelta) -> ModelError:
    return ModelError(ErrorCode.TIMEOUT, f"{model}: no data for {silence.total_seconds():g} s")


def _error_code(error: Exception, message: str) -> ErrorCode:
    status, lower = getattr(error, "status_code", None), message.casefold()
    if status in (400, 413, 422, 500, None) and any(words in lower for words in _OVERFLOW_PHRASES):
        return ErrorCode.CONTEXT_OVERFLOW
    if status in (400, 403, 429) and any(words in lower for words in _BILLING_PHRASES):
        return ErrorCode.BILLING
    if any(words in lower for words in _DISCONNECT_PHRASES):
        return ErrorCode.NETWORK
    class_code = next((code for kind, code in _CODES_BY_CLASS if isinstance(error, kind)), None)
    return class_code or _CODES_BY_STATUS.get(status or 0, ErrorCode.INTERNAL)


def _error_text(error: Exception) -> str:
    """The provider's message, or its response, or the meaning of the status."""
    if any(words in str(error).casefold() for words in _DISCONNECT_PHRASES):
        return "the answer ended early"
    if isinstance(error, httpx2.ResponseNotRead):  # Mistral's library raises this for an empty response
        return "the server failed without a message"
    status, body = getattr(error, "status_code", None), getattr(error, "body", None)
    sentence = _body_message(body)
    if not isinstance(status, int):
        return sentence or str(error) or type(error).__name__
    if sentence is None and isinstance(body, dict) and not body.keys() & {"error", "message", "detail"}:
        sentence = json.dumps(body, ensure_ascii=False, default=str)
    if sentence is None or sentence.lstrip().startswith("<"):  # an HTML page
        return f"HTTP {status}{_status_phrase(status)}, without a message from the server"
    return f"HTTP {status}: {sentence}"


def _status_phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _describe_disconnect(error: Exception, address: ModelAddress) -> str | None:
    if not isinstance(error, library.ModelConnectionError):
        return None
    cause: BaseException = error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__ or cause
    host = urlsplit(address.url).hostname
    what = f"no connection to {host}" if error.phase == "connect" else f"the connection to {host} was lost"
    return f"{what}: {str(cause) or type(cause).__name__}"


def _body_message(body: Any) -> str | None:
    if isinstance(body, str) and body.lstrip().startswith("{"):  # Mistral's library does not parse it
        body = _parse_body(body)
    for _ in range(4):  # {"error": {"message": …}}, {"detail": …}, or the message itself
        if not isinstance(body, dict):
            break
        body = next((body[key] for key in ("error", "message", "detail") if body.get(key)), None)
    return body if isinstance(body, str) and body.strip() else None


def _parse_body(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _retry_after(error: Exception) -> timedelta | None:
    seconds = getattr(error, "retry_after", None)
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds < 0:
        return None
    return min(MAX_WAIT, timedelta(seconds=min(seconds, MAX_WAIT.total_seconds())))
