from __future__ import annotations

from datetime import timedelta

import pytest

from hookline.runtime.models.model import ErrorCode, ModelError
from runtime.models.provider_stub import (
    KEY,
    Json,
    StubResponse,
    collect_failure,
    encode_sse,
    error_response,
    make_request,
    remote_model,
    run_async,
    serving,
)

pytestmark = pytest.mark.slow


def failed(provider: str, answer: StubResponse) -> ModelError:
    errors: list[ModelError] = []

    async def work() -> None:
        async with serving(answer) as server, remote_model(server.url, provider) as model:
            errors.append((await collect_failure(model, make_request()))[1])
        assert len(server.got) == 1

    run_async(work)
    return errors[0]


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> Json:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(message: str, kind: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def google(message: str, code: int, status: str) -> Json:
    return {"error": {"code": code, "message": message, "status": status}}


def mistral(message: str, code: str | None) -> Json:
    return {"object": "error", "message": message, "type": "invalid_request_error", "param": None, "code": code}


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "groq", "mistral"])
def test_a_rate_limit_says_when_to_try_again(provider: str) -> None:
    kind = "rate_limit_error"
    body = anthropic("Slow down.", kind) if provider == "anthropic" else openai("Slow down.", "rate_limit_exceeded")
    error = failed(provider, error_response(429, body, **{"Retry-After": "7"}))
    assert (error.code, error.retry_after, error.is_transient) == (ErrorCode.RATE_LIMIT, timedelta(seconds=7), True)
    assert "Slow down." in str(error)


def test_google_says_resource_exhausted() -> None:
    error = failed(
        "google", error_response(429, google("Too many.", 429, "RESOURCE_EXHAUSTED"), **{"Retry-After": "3"})
    )
    assert error.code is ErrorCode.RATE_LIMIT


@pytest.mark.parametrize("wait", ["-3", "soon", "nan", "9" * 400])
def test_a_senseless_wait_is_none_or_a_day(wait: str) -> None:
    error = failed("openai", error_response(429, openai("Slow down."), **{"Retry-After": wait}))
    assert error.retry_after in (None, timedelta(days=1), timedelta(0))


OVERFLOWS = {
    "openai": (
        400,
        openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
    ),
    "openai, a server like it": (400, openai("the request exceeds the available context size")),
    "openai-responses": (
        400,
        openai("Your input exceeds the context window of this model.", "context_length_exceeded"),
    ),
    "anthropic": (400, anthropic("prompt is too long: 208310 tokens > 200000 maximum", "invalid_request_error")),
    "anthropic, with the answer": (
        400,
        anthropic(
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", "invalid_request_error"
        ),
    ),
    "anthropic, by its size": (413, anthropic("Request exceeds the maximum size", "request_too_large")),
    "google": (
        400,
        google(
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            400,
            "INVALID_ARGUMENT",
        ),
    ),
    "groq": (400, openai("Please reduce the length of the messages or completion.", "context_length_exceeded")),
    "groq, in a minute": (413, openai("Request too large for model on tokens per minute", "rate_limit_exceeded")),
    "mistral": (
        400,
        mistral("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", "3051"),
    ),
    "ollama": (400, openai("prompt too long; exceeded max context length by 4 tokens", kind="api_error")),
}


@pytest.mark.parametrize("said", OVERFLOWS)
def test_every_wording_of_an_overflow(said: str) -> None:
    status, body = OVERFLOWS[said]
    error = failed(said.partition(",")[0], error_response(status, body))
    assert (error.code, error.is_transient) == (ErrorCode.CONTEXT_OVERFLOW, False), error


def test_an_overflow_that_is_told_in_the_stream() -> None:
    failure = {"code": "context_length_exceeded", "message": "Your input exceeds the context window."}
    response = {"id": "resp_1", "object": "response", "model": "a-model", "output": [], "error": failure}
    sent = encode_sse([{"type": "response.failed", "sequence_number": 0, "response": {**response, "status": "failed"}}])
    assert failed("openai-responses", StubResponse(sent)).code is ErrorCode.CONTEXT_OVERFLOW


def test_anthropic_is_overloaded_in_the_stream() -> None:
    sent = encode_sse([{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}])
    error = failed("anthropic", StubResponse(sent))
    assert (error.code, error.is_transient) == (ErrorCode.INTERNAL, True)


BILLS = {
    "openai": (429, openai("You exceeded your current quota.", "insufficient_quota", "insufficient_quota")),
    "openai-responses": (429, openai("You exceeded your current quota.", "insufficient_quota")),
    "openai, a server like it": (402, openai("Payment required.")),
    "anthropic": (400, anthropic("Your credit balance is too low to access the API.", "invalid_request_error")),
    "groq": (402, openai("Payment required.")),
    "mistral": (402, mistral("Payment required.", None)),
}


@pytest.mark.parametrize("said", BILLS)
def test_an_empty_account_is_no_rate_limit(said: str) -> None:
    status, body = BILLS[said]
    assert failed(said.partition(",")[0], error_response(status, body)).code is ErrorCode.BILLING


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "google", "groq", "mistral", "ollama"])
def test_a_wrong_key_is_an_auth_error_that_does_not_show_it(provider: str, status: int) -> None:
    text = f"Incorrect API key provided: {KEY}."
    body = {"error": {"type": "authentication_error", "message": text, "code": status, "status": "UNAUTHENTICATED"}}
    error = failed(provider, error_response(status, body))
    assert (error.code, error.is_transient) == (ErrorCode.AUTH, False)
    assert KEY not in str(error)
    assert "Incorrect API key provided: ***." in str(error)
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ErrorCode.INTERNAL),
        (404, ErrorCode.INTERNAL),
        (408, ErrorCode.TIMEOUT),
        (500, ErrorCode.INTERNAL),
        (502, ErrorCode.INTERNAL),
        (503, ErrorCode.INTERNAL),
        (504, ErrorCode.TIMEOUT),
        (529, ErrorCode.INTERNAL),
    ],
)
def test_the_rest_goes_by_its_status(status: int, code: ErrorCode) -> None:
    error = failed("openai", error_response(status, openai("Something.")))
    assert error.code is code
    assert error.is_transient is (status not in (400, 404))  # a model's name that is wrong stays wrong


def test_mistral_fails_without_a_word() -> None:
    assert str(failed("mistral", StubResponse(status=500))) == "mistral:a-model: the server failed without a message"


PAGE = b"<html><h1>Bad Gateway</h1></html>"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (StubResponse(status=500), "HTTP 500 Internal Server Error, without a message from the server"),
        (StubResponse((b"  \n",), 503), "HTTP 503 Service Unavailable, without a message from the server"),
        (StubResponse((PAGE,), 502, kind="text/html"), "HTTP 502 Bad Gateway, without a message from the server"),
        (StubResponse((b"upstream is away",), 502, kind="text/plain"), "HTTP 502: upstream is away"),
        (StubResponse(status=599), "HTTP 599, without a message from the server"),
        (error_response(500, {"code": "weird"}), 'HTTP 500: {"code": "weird"}'),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "groq", "ollama"])
def test_a_server_that_fails_without_a_word_is_told_by_its_status(
    provider: str, answer: StubResponse, said: str
) -> None:
    assert str(failed(provider, answer)) == f"{provider}:a-model: {said}"


@pytest.mark.parametrize(
    "answer",
    [
        StubResponse((b"<html>\x1b[31m not\n a model</html>",), 500, kind="text/html"),
        StubResponse((b"data: {not json\n\n",)),
        StubResponse((b'data: {"choices": 7}\n\n',)),
        StubResponse((b"hello",), kind="text/plain"),
        StubResponse(),
        error_response(500, {"error": {"message": "x" * 100_000}}),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_nonsense_is_one_short_printable_line(provider: str, answer: StubResponse) -> None:
    error = failed(provider, answer)
    assert error.code in (ErrorCode.INTERNAL, ErrorCode.NETWORK)
    assert str(error).startswith(f"{provider}:a-model: ")
    assert str(error).isprintable()
    assert len(str(error)) <= 500
