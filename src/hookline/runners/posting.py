"""Posts JSON to a URL: no redirects, no proxies, and only so much of an answer."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any, Final

from hookline.errors import Unavailable
from hookline.hooks.actions.http import URL, place
from hookline.hooks.host import Post, Posted
from hookline.hooks.outcome import Failed, FailureKind
from hookline.runners.environment import inherited

_KEPT: Final = 1 << 20  # bytes of an answer
_MOST: Final = 16 << 20  # bytes after which nobody listens any more
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


async def post(request: Post) -> Posted:
    """Raises Failed if nobody answers in time."""
    if not URL.fullmatch(request.url):
        raise Failed(FailureKind.CANNOT_START, "is to post to what is no http or https URL")
    http = _library()
    headers = {"Content-Type": "application/json", **_headers(request)}
    timeout = request.timeout.total_seconds()
    try:
        async with (
            http.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", request.url, content=request.body, headers=headers) as response,
        ):
            return await _posted(response)
    except http.TimeoutException:
        raise Failed(FailureKind.TIMEOUT, f"got no answer from {place(request.url)} within {timeout:g} s") from None
    except (http.HTTPError, http.InvalidURL) as error:
        why = type(error).__name__
        raise Failed(FailureKind.CANNOT_START, f"cannot post to {place(request.url)}: {why}") from None


def _library() -> Any:
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        raise Unavailable("nothing can be posted from here: there is no HTTP client") from None


async def _posted(response: Any) -> Posted:
    kept, dropped = bytearray(), 0
    async for chunk in response.aiter_bytes():
        room = _KEPT - len(kept)
        kept += chunk[:room]
        dropped += max(0, len(chunk) - room)
        if dropped > _MOST:
            break
    return Posted(response.status_code, kept.decode("utf-8", "replace"), dropped)


def _headers(request: Post) -> dict[str, str]:
    """Nothing that a variable holds can begin another header."""
    return {
        name: _CONTROL.sub("", _VARIABLE.sub(lambda found: _value(found[1] or found[2], request), text))
        for name, text in request.headers
    }


def _value(name: str, request: Post) -> str:
    ours = inherited.get()
    if ours is None:
        ours = os.environb
    held = ours.get(os.fsencode(name), b"") if name in request.variables else b""
    return held.decode("utf-8", "replace")
