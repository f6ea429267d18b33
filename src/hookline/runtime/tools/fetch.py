"""The `fetch` tool. It reaches public addresses, and private hosts that the app allows.

Every host is resolved once, and the request goes to the address that was checked. This applies to redirects too.
"""

from __future__ import annotations

import asyncio
import html
import ipaddress
import socket
from collections.abc import Iterable
from typing import Any, Final

import httpx2

from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.tools.bash import shorten_output
from hookline.runtime.tools.blocking import run_blocking
from hookline.runtime.tools.tool_definition import BuiltInTool, ToolContext, failed_result, object_schema, string_schema
from hookline.runtime.tools.workspace import ToolError, printable_name

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64_NETWORK: Final = ipaddress.ip_network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address
_IPV4_COMPATIBLE_NETWORK: Final = ipaddress.ip_network("::/96")


async def resolve_host(host: str, port: int, private: Iterable[str]) -> tuple[str, ...]:
    """The addresses that may be used. Raises ToolError unless one is public, or `private` contains host or host:port."""
    allowed = {each.lower() for each in private}
    is_allowed = host.lower() in allowed or f"{host.lower()}:{port}" in allowed
    addresses = await _look_up_host(host, port)
    usable = tuple(str(address) for address in addresses if is_allowed or is_public(address))
    if not usable:
        raise ToolError(f"{printable_name(host)} is not a public address; add it to private_hosts to allow it")
    return usable


async def _look_up_host(host: str, port: int) -> list[IPAddress]:
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolError(f"the host {printable_name(host)[:200]} was not found") from None
    texts = dict.fromkeys(str(answer[4][0]).partition("%")[0] for answer in answers)
    return [ipaddress.ip_address(text) for text in texts]


def is_public(address: IPAddress) -> bool:
    """False for every address that leads, or may be made to lead, into a private network."""
    inner = _embedded_ipv4(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded_ipv4(address: IPAddress) -> ipaddress.IPv4Address | None:
    """The IPv4 address that is embedded in an IPv6 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64_NETWORK or address in _IPV4_COMPATIBLE_NETWORK:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None if address.teredo is None else address.teredo[1]


_HIDDEN_TAGS: Final = ("script", "style", "noscript", "template", "svg")
_BLOCK_TAGS: Final = frozenset(
    ("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "ul", "ol", "table", "pre")
)


def html_to_text(page: str) -> str:
    """Takes linear time, however malformed the page is."""
    parts: list[str] = []
    lower = page.lower() if len(page.lower()) == len(page) else page
    at = 0
    while (start := page.find("<", at)) >= 0:
        parts.append(page[at:start])
        at, shown = _skip_tag(lower, start)
        parts.append(shown)
    parts.append(page[at:])
    lines = (" ".join(line.split()) for line in html.unescape("".join(parts)).split("\n"))
    return "\n".join(line for line in lines if line)


def _skip_tag(page: str, start: int) -> tuple[int, str]:
    """Where the tag that begins at `start` ends, and the text that replaces it."""
    if page.startswith("<!--", start):
        return _index_after(page, "-->", start + 4), ""
    name = _tag_name(page, start + 1)
    for hidden in _HIDDEN_TAGS:
        if name == hidden:
            return _index_after(page, ">", _index_after(page, f"</{hidden}", start) - 1), " "
    if not name and page[start + 1 : start + 2] not in ("!", "?"):
        return start + 1, "<"
    return _index_after(page, ">", start), "\n" if name in _BLOCK_TAGS else ""


def _tag_name(page: str, at: int) -> str:
    at += page.startswith("/", at)
    end = at
    while end < len(page) and end < at + 12 and page[end].isascii() and page[end].isalnum():
        end += 1
    return page[at:end] if page[at : at + 1].isalpha() else ""


def _index_after(page: str, what: str, start: int) -> int:
    found = page.find(what, start)
    return len(page) if found < 0 else found + len(what)


MAX_FETCHED_BYTES: Final = 1 << 20  # bytes of a response
_FETCH_SECONDS: Final = 30.0
_MAX_URL_LENGTH: Final = 8_192
_MAX_REDIRECTS: Final = 5
_MAX_ADDRESSES: Final = 3
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_RESERVED_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)
_ENCODINGS: Final = frozenset({"", "identity", "gzip", "deflate"})  # others could expand one chunk to gigabytes
_DEFAULT_HEADERS: Final = {"User-Agent": "hookline", "Accept-Encoding": "gzip, deflate"}
_CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class _Request:
    url: httpx2.URL
    method: str
    headers: dict[str, str]
    body: bytes | None

    def redirect(self, status: int, location: str) -> _Request:
        """As browsers do: a form is not sent twice, and credentials are not sent to another origin."""
        url = _parse_url(str(self.url.join(location)))
        redirected = self
        if status == 303 or (status in (301, 302) and self.method == "POST"):
            redirected = replace(self, method="HEAD" if self.method == "HEAD" else "GET", body=None)
        is_same_origin = (url.scheme, url.host, url.port) == (self.url.scheme, self.url.host, self.url.port)
        headers = {
            name: value
            for name, value in redirected.headers.items()
            if is_same_origin or name.lower() not in _CREDENTIAL_HEADERS
        }
        return replace(redirected, url=url, headers=headers)


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    reason: str
    type: str
    text: str
    is_truncated: bool
    location: str | None


def fetch_tool(private: tuple[str, ...] = ()) -> BuiltInTool:
    """private: hosts, or host:port, that may be fetched although they are not public."""

    async def fetch(input: dict[str, Any], context: ToolContext) -> ToolResult:
        request = _build_request(input)
        try:
            async with asyncio.timeout(_FETCH_SECONDS):
                return await _format_response(await _follow_redirects(request, private), input.get("format", "raw"))
        except TimeoutError:
            raise ToolError(f"{printable_name(request.url.host)} did not answer within {_FETCH_SECONDS:g} s") from None

    return BuiltInTool("fetch", _DESCRIPTION, _SCHEMA, ToolKind.FETCH, fetch)


def _build_request(input: dict[str, Any]) -> _Request:
    given = input.get("headers", {})
    wrong = next((name for name, value in given.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise ToolError(f"headers.{wrong} is not a string")
    headers = {name: value for name, value in given.items() if name.lower() not in _RESERVED_HEADERS}
    body = input.get("body")
    if body is not None and len(body) > MAX_FETCHED_BYTES:
        raise ToolError(f"the body is longer than {MAX_FETCHED_BYTES:,} characters")
    raw = None if body is None else body.encode("utf-8", "replace")
    return _Request(_parse_url(input["url"]), input.get("method", "GET"), {**_DEFAULT_HEADERS, **headers}, raw)


def _parse_url(text: str) -> httpx2.URL:
    try:
        url = httpx2.URL(text[: _MAX_URL_LENGTH + 1])
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        raise ToolError("invalid URL") from None
    if len(text) > _MAX_URL_LENGTH or url.scheme not in ("http", "https") or not url.host:
        raise ToolError("only http and https URLs are supported")
    return url


async def _follow_redirects(request: _Request, private: tuple[str, ...]) -> _Response:
    for _ in range(_MAX_REDIRECTS + 1):
        answer = await _send_to_host(request, private)
        if answer.location is None:
            return answer
        request = request.redirect(answer.status, answer.location)
    raise ToolError(f"more than {_MAX_REDIRECTS} redirects")


async def _send_to_host(request: _Request, private: tuple[str, ...]) -> _Response:
    port = request.url.port or (443 if request.url.scheme == "https" else 80)
    addresses = await resolve_host(request.url.raw_host.decode("ascii"), port, private)
    reason = ""
    for address in addresses[:_MAX_ADDRESSES]:
        try:
            return await _send_to_address(request, address)
        except httpx2.ConnectError as error:
            reason = _describe_error(error)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, ValueError) as error:
            raise ToolError(f"{printable_name(request.url.host)} cannot be fetched: {_describe_error(error)}") from None
    raise ToolError(f"{printable_name(request.url.host)} cannot be reached: {reason}")


async def _send_to_address(request: _Request, address: str) -> _Response:
    """Connects to the checked address. The Host header and the certificate check use the host's name."""
    async with (
        httpx2.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False, trust_env=False) as client,
        client.stream(
            request.method,
            request.url.copy_with(host=address),
            content=request.body,
            headers={**request.headers, "Host": request.url.netloc.decode("ascii")},
            extensions={"sni_hostname": request.url.raw_host.decode("ascii")},
        ) as response,
    ):
        if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
            raise ToolError("the response has an unsupported content encoding")
        data = await _read_beginning(response)
        location = response.headers.get("location") if response.status_code in (301, 302, 303, 307, 308) else None
        return _Response(
            response.status_code,
            response.reason_phrase,
            response.headers.get("content-type", ""),
            data[:MAX_FETCHED_BYTES].decode(_charset(response), "replace"),
            len(data) > MAX_FETCHED_BYTES,
            location,
        )


async def _read_beginning(response: httpx2.Response) -> bytes:
    """Reads one byte more than is returned, to detect a longer response."""
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk[: MAX_FETCHED_BYTES + 1 - len(data)]
        if len(data) > MAX_FETCHED_BYTES:
            break
    return bytes(data)


def _charset(response: httpx2.Response) -> str:
    charset = response.charset_encoding or "utf-8"
    try:
        "".encode(charset)
        b"".decode(charset)
    except (LookupError, ValueError):
        return "utf-8"
    return charset


async def _format_response(answer: _Response, format: str) -> ToolResult:
    text = answer.text
    if "\0" in text[:8192]:
        text = f"[{answer.type or 'data'} that is not text]"
    elif format == "text" and ("html" in answer.type or text.lstrip()[:1] == "<"):
        text = await run_blocking(lambda _: html_to_text(text))
    if answer.is_truncated:
        text += f"\n[only the first {MAX_FETCHED_BYTES:,} bytes were kept]"
    if answer.status >= 400:
        return failed_result(f"{answer.status} {answer.reason}\n{shorten_output(text, 4_000)}".rstrip(), text)
    return ToolResult(text)


def _describe_error(error: Exception) -> str:
    return printable_name(str(error))[:200] or type(error).__name__


_DESCRIPTION: Final = "Fetches a public http or https URL and returns the response body."
_SCHEMA: Final = object_schema(
    "url",
    url=string_schema("The URL."),
    method=string_schema("The HTTP method; default: GET.", enum=list(_METHODS)),
    headers={
        "type": "object",
        "description": "Request headers, by name.",
        "additionalProperties": {"type": "string"},
    },
    body=string_schema("The request body, sent as UTF-8."),
    format=string_schema(
        "raw (default): the body unchanged. text: an HTML page as plain text, without tags.", enum=["raw", "text"]
    ),
)
