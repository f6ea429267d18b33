"""A login with OAuth: a browser's redirect, the stored token, and its refresh."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from hookline.hosts.mcp.json_rpc import Message
from hookline.hosts.mcp.oauth_login import LoginRefusedError, StoredLogin, log_in, stored_auth
from hookline.hosts.mcp.upstream_http import HttpUpstream

pytestmark = pytest.mark.slow


@dataclass
class FakeServer:
    """An MCP server and its authorization server in one."""

    url: str = ""
    tokens: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)  # the path of each request
    refreshable: bool = True
    needs_login: bool = True
    accepts_new: bool = True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines[1:] if line)}
        body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
        target = urlsplit(lines[0].split(" ")[1])
        self.asked.append(target.path)
        status, more, answer = self.answer(target.path, parse_qs(target.query), headers, body)
        data = json.dumps(answer).encode()
        fields = {"Content-Type": "application/json", "Content-Length": len(data), "Connection": "close", **more}
        writer.write(f"HTTP/1.1 {status} X\r\n".encode())
        writer.write("".join(f"{key}: {value}\r\n" for key, value in fields.items()).encode() + b"\r\n" + data)
        await writer.drain()
        writer.close()

    def answer(self, path: str, query: Any, headers: dict[str, str], body: str) -> tuple[int, dict[str, str], Any]:
        if path == "/mcp":
            if self.needs_login and headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
                where = f"{self.url}/.well-known/oauth-protected-resource/mcp"
                return 401, {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'}, {}
            result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
            return 200, {}, {"jsonrpc": "2.0", "id": json.loads(body).get("id"), "result": result}
        if path.startswith("/.well-known/oauth-protected-resource"):
            return 200, {}, {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]}
        if path.startswith("/.well-known/oauth-authorization-server"):
            known = {"issuer": self.url, "authorization_endpoint": f"{self.url}/authorize"}
            known |= {"token_endpoint": f"{self.url}/oauth/token", "registration_endpoint": f"{self.url}/register"}
            methods = {"code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"]}
            return 200, {}, known | methods
        if path == "/register":
            return 201, {}, {**json.loads(body), "client_id": "c1"}
        if path == "/authorize":
            back = urlencode({"code": "k", "state": query["state"][0]})
            return 302, {"Location": f"{query['redirect_uri'][0]}?{back}"}, {}
        if path == "/oauth/token" and (self.refreshable or "refresh_token" not in body):
            token = f"token{len(self.tokens) + 1}"
            self.tokens = {*self.tokens, token} if self.accepts_new else self.tokens
            return 200, {}, {"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"}
        return 400, {}, {"error": "invalid_grant"}


@asynccontextmanager
async def serving() -> AsyncIterator[FakeServer]:
    fake = FakeServer()
    async with await asyncio.start_server(fake.serve, "127.0.0.1", 0) as server:
        fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield fake


async def follow(link: str) -> None:
    """What a browser does with the link, when its user agrees."""
    import httpx2

    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        await browser.get(link)


async def initialize(fake: FakeServer, state: Path) -> dict[str, Any]:
    upstream = HttpUpstream(f"{fake.url}/mcp", {}, stored_auth(f"{fake.url}/mcp", state))
    received: asyncio.Queue[Message] = asyncio.Queue()
    relay = asyncio.ensure_future(upstream.dispatch(received.put))
    try:
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        await upstream.send(Message({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        answer = asyncio.ensure_future(received.get())
        await asyncio.wait({answer, relay}, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        if relay.done():
            return {"error": {"message": str(relay.exception())}}
        return dict(answer.result().value)
    finally:
        relay.cancel()
        answer.cancel()
        await upstream.close()


def run(work: Callable[[FakeServer], Any]) -> None:
    async def within() -> None:
        async with serving() as fake:
            await work(fake)

    asyncio.run(within())


def test_the_proxy_uses_the_login_and_refreshes_it(tmp_path: Path) -> None:
    async def work(fake: FakeServer) -> None:
        assert "--login" in (await initialize(fake, tmp_path))["error"]["message"]
        await log_in(f"{fake.url}/mcp", tmp_path, follow)
        assert "result" in await initialize(fake, tmp_path)
        (file,) = (tmp_path / "mcp-logins").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        held = json.loads(file.read_text())
        file.write_text(json.dumps({**held, "expires": 1}))  # in 1970
        fake.asked.clear()
        assert "result" in await initialize(fake, tmp_path)
        assert fake.asked[0] == "/oauth/token"
        assert json.loads(file.read_text())["tokens"]["access_token"] == "token2"

    run(work)


def test_a_login_that_has_ended_says_how_to_log_in_again(tmp_path: Path) -> None:
    async def work(fake: FakeServer) -> None:
        await log_in(f"{fake.url}/mcp", tmp_path, follow)
        fake.tokens, fake.refreshable = set(), False
        assert "--login" in (await initialize(fake, tmp_path))["error"]["message"]

    run(work)


def test_a_login_is_for_one_server_only(tmp_path: Path) -> None:
    async def work(fake: FakeServer) -> None:
        await log_in(f"{fake.url}/mcp", tmp_path, follow)
        assert stored_auth(f"{fake.url}/other", tmp_path) is None
        assert StoredLogin(f"{fake.url}/mcp", tmp_path).exists

    run(work)


async def deny(link: str) -> None:
    """What a browser does with the link, when its user does not agree."""
    query = parse_qs(urlsplit(link).query)
    await follow(f"{query['redirect_uri'][0]}?error=access_denied&state={query['state'][0]}")


def test_a_failed_login_keeps_the_one_before(tmp_path: Path) -> None:
    async def work(fake: FakeServer) -> None:
        await log_in(f"{fake.url}/mcp", tmp_path, follow)
        (file,) = (tmp_path / "mcp-logins").iterdir()
        held = file.read_bytes()
        with pytest.raises(LoginRefusedError, match="access_denied"):
            await log_in(f"{fake.url}/mcp", tmp_path, deny)
        fake.accepts_new = False
        with pytest.raises(LoginRefusedError, match="does not accept"):
            await log_in(f"{fake.url}/mcp", tmp_path, follow)
        assert file.read_bytes() == held
        assert "result" in await initialize(fake, tmp_path)
        fake.accepts_new = True
        await log_in(f"{fake.url}/mcp", tmp_path, follow)
        assert file.read_bytes() != held

    run(work)


def test_a_server_without_a_login_and_one_that_refuses_are_told(tmp_path: Path) -> None:
    async def work(fake: FakeServer) -> None:
        with pytest.raises(LoginRefusedError, match="access_denied"):
            await log_in(f"{fake.url}/mcp", tmp_path, deny)
        fake.needs_login = False
        with pytest.raises(LoginRefusedError, match="asked for no login"):
            await log_in(f"{fake.url}/mcp", tmp_path, follow)

    run(work)


def test_a_redirect_with_another_state_changes_nothing(tmp_path: Path) -> None:
    async def forge_first(link: str) -> None:
        back = parse_qs(urlsplit(link).query)["redirect_uri"][0]
        for forged in ("code=k&state=forged", "code=k&state=%C3%A9", "code=k", "error=no"):
            await follow(f"{back}?{forged}")
        await follow(link)

    async def work(fake: FakeServer) -> None:
        await log_in(f"{fake.url}/mcp", tmp_path, forge_first)
        assert StoredLogin(f"{fake.url}/mcp", tmp_path).exists

    run(work)
