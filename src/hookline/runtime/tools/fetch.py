"""What is at a URL. Each place that it leads to is looked up once, and the address that was looked at is the one called."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx2

from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.runtime.tools.addresses import addresses
from hookline.runtime.tools.aside import aside
from hookline.runtime.tools.bash import cut
from hookline.runtime.tools.built_in import BuiltIn, failed, takes, text
from hookline.runtime.tools.html_text import html_text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, printable

MOST_KEPT: Final = 1 << 20  # bytes of an answer
_SECONDS: Final = 30.0
_LONGEST_URL: Final = 8_192
_MOST_REDIRECTS: Final = 5
_MOST_ADDRESSES: Final = 3
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)
_ENCODINGS: Final = frozenset({"", "identity", "gzip", "deflate"})  # others make gigabytes of one piece
_SENT: Final = {"User-Agent": "hookline", "Accept-Encoding": "gzip, deflate"}
_FOR_ONE_PLACE: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class _Asked:
    url: httpx2.URL
    method: str
    headers: dict[str, str]
    body: bytes | None

    def redirected(self, status: int, location: str) -> _Asked:
        """As a browser goes on: a form is not sent twice, and what was for one place is not shown to another."""
        url = _url(str(self.url.join(location)))
        moved = self
        if status == 303 or (status in (301, 302) and self.method == "POST"):
            moved = replace(self, method="HEAD" if self.method == "HEAD" else "GET", body=None)
        same = (url.scheme, url.host, url.port) == (self.url.scheme, self.url.host, self.url.port)
        kept = {name: held for name, held in moved.headers.items() if same or name.lower() not in _FOR_ONE_PLACE}
        return replace(moved, url=url, headers=kept)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    reason: str
    type: str
    text: str
    dropped: bool
    location: str | None


def fetch_tool(private: tuple[str, ...] = ()) -> BuiltIn:
    """private: hosts, or host:port, that may be fetched though they are not public."""

    async def fetch(input: dict[str, Any], place: Place) -> ToolResult:
        asked = _asked(input)
        try:
            async with asyncio.timeout(_SECONDS):
                return await _told(await _fetched(asked, private), input.get("format", "raw"))
        except TimeoutError:
            raise Refused(f"{printable(asked.url.host)} did not answer within {_SECONDS:g} s") from None

    return BuiltIn("fetch", _DESCRIPTION, _SCHEMA, Kind.FETCH, fetch)


def _asked(input: dict[str, Any]) -> _Asked:
    given = input.get("headers", {})
    wrong = next((name for name, held in given.items() if not isinstance(held, str)), None)
    if wrong is not None:
        raise Refused(f"headers.{wrong} is not a string")
    headers = {name: held for name, held in given.items() if name.lower() not in _OURS}
    body = input.get("body")
    if body is not None and len(body) > MOST_KEPT:
        raise Refused(f"the body is longer than {MOST_KEPT:,} characters")
    raw = None if body is None else body.encode("utf-8", "replace")
    return _Asked(_url(input["url"]), input.get("method", "GET"), {**_SENT, **headers}, raw)


def _url(text: str) -> httpx2.URL:
    try:
        url = httpx2.URL(text[: _LONGEST_URL + 1])
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        raise Refused("that is no URL") from None
    if len(text) > _LONGEST_URL or url.scheme not in ("http", "https") or not url.host:
        raise Refused("only http and https URLs are fetched")
    return url


async def _fetched(asked: _Asked, private: tuple[str, ...]) -> _Answer:
    for _ in range(_MOST_REDIRECTS + 1):
        answer = await _called(asked, private)
        if answer.location is None:
            return answer
        asked = asked.redirected(answer.status, answer.location)
    raise Refused(f"it leads elsewhere more than {_MOST_REDIRECTS} times")


async def _called(asked: _Asked, private: tuple[str, ...]) -> _Answer:
    port = asked.url.port or (443 if asked.url.scheme == "https" else 80)
    found = await addresses(asked.url.raw_host.decode("ascii"), port, private)
    why = ""
    for address in found[:_MOST_ADDRESSES]:
        try:
            return await _answered(asked, address)
        except httpx2.ConnectError as error:
            why = _why(error)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, ValueError) as error:
            raise Refused(f"{printable(asked.url.host)} cannot be fetched: {_why(error)}") from None
    raise Refused(f"{printable(asked.url.host)} cannot be reached: {why}")


async def _answered(asked: _Asked, address: str) -> _Answer:
    """The host's name stands in the request and in the certificate's check; only the address is called."""
    async with (
        httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False, trust_env=False) as client,
        client.stream(
            asked.method,
            asked.url.copy_with(host=address),
            content=asked.body,
            headers={**asked.headers, "Host": asked.url.netloc.decode("ascii")},
            extensions={"sni_hostname": asked.url.raw_host.decode("ascii")},
        ) as response,
    ):
        if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
            raise Refused("the answer is packed in a way that is not unpacked here")
        kept = await _beginning(response)
        location = response.headers.get("location") if response.status_code in (301, 302, 303, 307, 308) else None
        return _Answer(
            response.status_code,
            response.reason_phrase,
            response.headers.get("content-type", ""),
            kept[:MOST_KEPT].decode(_charset(response), "replace"),
            len(kept) > MOST_KEPT,
            location,
        )


async def _beginning(response: httpx2.Response) -> bytes:
    """One byte more than is kept, if there is more."""
    kept = bytearray()
    async for chunk in response.aiter_bytes():
        kept += chunk[: MOST_KEPT + 1 - len(kept)]
        if len(kept) > MOST_KEPT:
            break
    return bytes(kept)


def _charset(response: httpx2.Response) -> str:
    named = response.charset_encoding or "utf-8"
    try:
        "".encode(named)
        b"".decode(named)
    except (LookupError, ValueError):
        return "utf-8"
    return named


async def _told(answer: _Answer, format: str) -> ToolResult:
    said = answer.text
    if "\0" in said[:8192]:
        said = f"[{answer.type or 'data'} that is not text]"
    elif format == "text" and ("html" in answer.type or said.lstrip()[:1] == "<"):
        said = await aside(lambda until: html_text(said))
    if answer.dropped:
        said += f"\n[only the first {MOST_KEPT:,} bytes were kept]"
    if answer.status >= 400:
        return failed(f"{answer.status} {answer.reason}\n{cut(said, 4_000)}".rstrip(), said)
    return ToolResult(said)


def _why(error: Exception) -> str:
    return printable(str(error))[:200] or type(error).__name__


_DESCRIPTION: Final = "Fetches an http or https URL of the public network and returns what it says."
_SCHEMA: Final = takes(
    "url",
    url=text("The URL."),
    method=text("GET if not given.", enum=list(_METHODS)),
    headers={
        "type": "object",
        "description": "Header lines to send, by name.",
        "additionalProperties": {"type": "string"},
    },
    body=text("What to send, as UTF-8."),
    format=text("raw: as it is (if not given); text: a page's words without its marks.", enum=["raw", "text"]),
)
