"""Logs in to an MCP server with OAuth in a browser, and keeps the login for the proxy."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.project.private_file import write_private_file

_LOGIN_TIMEOUT: Final = timedelta(minutes=5)
_REQUEST_TIMEOUT: Final = httpx2.Timeout(30)
_MAX_REQUEST_BYTES: Final = 65_536
_NO_REDIRECT: Final = "http://127.0.0.1/callback"  # the proxy never opens a browser
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hookline", "version": "1"}},
}
_HEADERS: Final = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
_PAGE: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nYou can close this page."

LinkOpener = Callable[[str], Awaitable[None]]


class LoginRefusedError(HooklineError):
    """The server or its authorization server did not accept the login."""


class StoredLogin:
    """The login for one server, in a file that only its owner may read. It is a TokenStorage of the `mcp` package."""

    def __init__(self, url: str, state: Path) -> None:
        self._url = url
        self._path = state / "mcp-logins" / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"

    @property
    def exists(self) -> bool:
        return "tokens" in self._read()

    def keep_metadata(self, metadata: OAuthMetadata | None) -> None:
        """These say where to refresh the token."""
        if metadata is not None:
            self._write(metadata=metadata.model_dump(mode="json", exclude_none=True))

    def provider(self, redirect_uri: str, open_link: LinkOpener, wait: Any) -> OAuthClientProvider:
        """Sends the token with each request, and refreshes it."""
        about = OAuthClientMetadata(
            redirect_uris=[AnyUrl(redirect_uri)], client_name="hookline", token_endpoint_auth_method="none"
        )
        provider = OAuthClientProvider(self._url, about, self, open_link, wait)
        held = self._read()
        provider.context.token_expiry_time = held.get("expires")
        if "metadata" in held:
            provider.context.oauth_metadata = OAuthMetadata.model_validate(held["metadata"])
        return provider

    async def get_tokens(self) -> OAuthToken | None:
        held = self._read()
        return OAuthToken.model_validate(held["tokens"]) if "tokens" in held else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True), expires=expires)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        held = self._read()
        return OAuthClientInformationFull.model_validate(held["client"]) if "client" in held else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def _read(self) -> dict[str, Any]:
        try:
            held = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return held if isinstance(held, dict) and held.get("url") == self._url else {}

    def _write(self, **changed: Any) -> None:
        write_private_file(self._path, json.dumps({"url": self._url, **self._read(), **changed}).encode())


class _NewLogin(StoredLogin):
    """One that is being made. Until it is saved, an earlier one stays."""

    def __init__(self, url: str, state: Path) -> None:
        super().__init__(url, state)
        self._held: dict[str, Any] = {"url": url}

    def save(self) -> None:
        write_private_file(self._path, json.dumps(self._held).encode())

    def _read(self) -> dict[str, Any]:
        return self._held

    def _write(self, **changed: Any) -> None:
        self._held.update(changed)


def stored_auth(url: str, state: Path) -> OAuthClientProvider | None:
    """The login that was made for this server, if any. If it is no longer accepted, a request raises OAuthFlowError."""
    login = StoredLogin(url, state)

    async def refuse(*_: Any) -> Any:
        raise OAuthFlowError("the login has ended: run `hookline mcp --login --url …` with its URL")

    try:
        return login.provider(_NO_REDIRECT, refuse, refuse) if login.exists else None
    except ValidationError:  # written by another version
        return None


async def log_in(url: str, state: Path, open_link: LinkOpener) -> None:
    """Raises LoginRefusedError; an earlier login is kept then."""
    login = _NewLogin(url, state)
    answer: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
    states: list[str] = []

    async def open_with_state(link: str) -> None:
        states.extend(parse_qs(urlsplit(link).query).get("state", ()))
        await open_link(link)

    async def wait() -> AuthorizationCodeResult:
        return await asyncio.wait_for(answer, _LOGIN_TIMEOUT.total_seconds())

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await reader.readline()
            await reader.readuntil(b"\r\n\r\n")
            writer.write(_PAGE)
            await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        finally:
            writer.close()
        _take_answer(line, states, answer)

    async with await asyncio.start_server(receive, "127.0.0.1", 0, limit=_MAX_REQUEST_BYTES) as server:
        port = server.sockets[0].getsockname()[1]
        provider = login.provider(f"http://127.0.0.1:{port}/callback", open_with_state, wait)
        try:
            async with httpx2.AsyncClient(auth=provider, timeout=_REQUEST_TIMEOUT) as client:
                response = await client.post(url, json=_INITIALIZE, headers=_HEADERS)
        except TimeoutError:
            raise LoginRefusedError(
                f"nobody logged in within {_LOGIN_TIMEOUT.seconds // 60} minutes. Run the command again and open the link"
            ) from None
        except (OAuthFlowError, httpx2.HTTPError, ValidationError) as error:
            raise LoginRefusedError(f"the login failed: {error}") from None
    if not login.exists:
        raise LoginRefusedError(
            f"the server asked for no login (HTTP {response.status_code}). Check the URL, or use it without --login"
        )
    if response.status_code in (401, 403):
        raise LoginRefusedError(f"the server does not accept the login (HTTP {response.status_code})")
    login.keep_metadata(provider.context.oauth_metadata)
    login.save()


def _take_answer(line: bytes, states: Sequence[str], answer: asyncio.Future[AuthorizationCodeResult]) -> None:
    """Reads the request line of the redirect. Other requests, such as for an icon or a forged one, change nothing."""
    method, _, rest = line.decode("latin-1").partition(" ")
    path, _, query = rest.partition(" ")[0].partition("?")
    if method != "GET" or path != "/callback" or answer.done():
        return
    given = {key: values[0] for key, values in parse_qs(query).items()}
    if given.get("state") not in states:
        return
    if "code" in given:
        result = AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))
        answer.set_result(result)
    else:
        answer.set_exception(OAuthFlowError(printable(given.get("error", "the redirect had no code")[:200])))
