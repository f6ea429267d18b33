"""Posts JSON to a URL: follows no redirects, uses no proxies, and limits the size of the answer."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any, Final

from hookline.errors import UnavailableError
from hookline.hooks.actions.post import URL_PATTERN, url_origin
from hookline.hooks.host import PostRequest, PostResponse, format_duration, inherited_environment
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.lazy_imports import lazy_pattern

_MAX_ANSWER_BYTES: Final = 1 << 20  # bytes
_MAX_DROPPED_BYTES: Final = 16 << 20  # bytes after which the connection is closed
_VARIABLE: Final = lazy_pattern(r"\$(?:\{(\w+)\}|(\w+))")
_NOT_IN_URL: Final = lazy_pattern(r"[\x00-\x20\x7f]")
_CONTROL: Final = lazy_pattern(r"[\x00-\x1f\x7f]")


async def post_json(request: PostRequest) -> PostResponse:
    """Raises ActionError if no answer comes in time."""
    if not URL_PATTERN.fullmatch(request.url):
        raise ActionError(FailureKind.CANNOT_START, "cannot post: the URL is not http or https")
    url = _expand_url(request)
    http = _import_http_client()
    headers = {"Content-Type": "application/json", **_expand_headers(request)}
    timeout = request.timeout.total_seconds()
    try:
        async with (
            http.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", url, content=request.body, headers=headers) as response,
        ):
            return await _read_response(response)
    except http.TimeoutException:
        raise ActionError(
            FailureKind.TIMEOUT,
            f"got no answer from {url_origin(request.url)} within {format_duration(request.timeout)}",
        ) from None
    except (http.HTTPError, http.InvalidURL) as error:
        why = type(error).__name__
        raise ActionError(FailureKind.CANNOT_START, f"cannot post to {url_origin(request.url)}: {why}") from None


def _import_http_client() -> Any:
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        raise UnavailableError("cannot post: the package httpx2 is missing") from None


async def _read_response(response: Any) -> PostResponse:
    kept, dropped = bytearray(), 0
    async for chunk in response.aiter_bytes():
        room = _MAX_ANSWER_BYTES - len(kept)
        kept += chunk[:room]
        dropped += max(0, len(chunk) - room)
        if dropped > _MAX_DROPPED_BYTES:
            break
    return PostResponse(response.status_code, kept.decode("utf-8", "replace"), dropped)


def _expand_url(request: PostRequest) -> str:
    """Only after the host, and only variables that the hook lists: other URLs may have a $ of their own."""
    origin = url_origin(request.url)

    def expand(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in request.variables:
            return found[0]
        value = _NOT_IN_URL.sub("", _variable_value(name, request))
        if not value:
            raise ActionError(FailureKind.CANNOT_START, f"cannot post to {origin}: the variable {name} is not set")
        return value

    return origin + _VARIABLE.sub(expand, request.url[len(origin) :])


def _expand_headers(request: PostRequest) -> dict[str, str]:
    """Removes control characters, so that a variable cannot start another header."""
    return {
        name: _CONTROL.sub("", _VARIABLE.sub(lambda found: _variable_value(found[1] or found[2], request), text))
        for name, text in request.headers
    }


def _variable_value(name: str, request: PostRequest) -> str:
    ours = inherited_environment.get()
    if ours is None:
        ours = os.environb
    held = ours.get(os.fsencode(name), b"") if name in request.variables else b""
    return held.decode("utf-8", "replace")
