"""The engine answers HTTP on its own socket, and with a token on loopback."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bridge_sandbox import GUARD, BridgeSandbox, deny_reason, wait_for
from hookline.errors import HooklineError
from hookline.hosts.bridge import client
from hookline.hosts.protocols.local_api import TOKEN_NAME, read_or_make_token


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("hookline", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(str(self._path))


def request_about(desk: BridgeSandbox, command: str) -> str:
    facts = {"tool": {"name": "bash", "input": {"command": command}}}
    return json.dumps({"event": "tool.before", "cwd": str(desk.project), "session": "s", "facts": facts})


def ask(connection: http.client.HTTPConnection, body: str, **headers: str) -> Any:
    connection.request("POST", "/decide", body, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@pytest.mark.slow
def test_the_engine_s_socket_speaks_http_and_the_bridge_s_protocol(
    desk: BridgeSandbox, engine: subprocess.Popen[bytes]
) -> None:
    desk.write_hooks(GUARD)
    connection = UnixConnection(desk.runtime_directory / client.SOCKET_NAME)
    for command, verdict in (("rm x", "deny"), ("ls", "silent"), ("rm y", "deny")):  # over one connection
        status, answer = ask(connection, request_about(desk, command))
        assert (status, answer["verdict"]) == (200, verdict)
    connection.request("GET", "/openapi.json")
    assert json.loads(connection.getresponse().read())["openapi"].startswith("3.")
    replied = desk.run_client(client.hookline_command("bridge"), desk.payload())
    assert deny_reason(replied[0]) == "Never."
    connection.close()


@pytest.mark.slow
def test_what_is_neither_protocol_is_rejected(desk: BridgeSandbox, engine: subprocess.Popen[bytes]) -> None:
    for data in (b"HELLO THERE\r\n\r\n", b"\0\0\0\0\0\0\0\0\0", b"GETX / HTTP/1.1\r\n\r\n" + b"x" * 64):
        with socket.socket(socket.AF_UNIX) as other:
            other.settimeout(20)
            other.connect(str(desk.runtime_directory / client.SOCKET_NAME))
            other.sendall(data)
            other.shutdown(socket.SHUT_WR)
            assert other.recv(100) == b""


@pytest.mark.slow
def test_a_loopback_port_needs_the_token(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = desk.start_client(client.hookline_command("serve"), "--port", str(port))
    try:
        wait_for(desk.engine_pid)
        wait_for(lambda: (desk.runtime_directory / TOKEN_NAME).exists() or None)
        token = (desk.runtime_directory / TOKEN_NAME).read_text()
        body = request_about(desk, "rm x")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        assert ask(connection, body)[0] == 401
        status, answer = ask(connection, body, Authorization=f"Bearer {token}")
        assert (status, answer["verdict"]) == (200, "deny")
        assert ask(connection, body, Authorization=f"Bearer {token}", Origin="http://evil.test")[0] == 403
        connection.close()
    finally:
        process.kill()
        process.communicate()


def test_the_token_is_made_once_and_only_its_user_can_read_it(tmp_path: Path) -> None:
    token = read_or_make_token(tmp_path)
    assert read_or_make_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / TOKEN_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize("written", ["", "\n", "short"])
def test_a_token_that_was_not_written_whole_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / TOKEN_NAME).touch(mode=0o600)
    (tmp_path / TOKEN_NAME).write_text(written)
    with pytest.raises(HooklineError, match="holds no token"):
        read_or_make_token(tmp_path)


def test_the_token_s_file_appears_with_the_token_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, target: Path) -> None:
        assert source.read_text()
        assert not target.exists()
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(OSError, match="full"):
        read_or_make_token(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    read_or_make_token(tmp_path)
    os.chmod(tmp_path / TOKEN_NAME, 0o644)
    with pytest.raises(HooklineError, match="other users can read"):
        read_or_make_token(tmp_path)


def test_a_token_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("known")
    (tmp_path / TOKEN_NAME).symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic link"):
        read_or_make_token(tmp_path)
