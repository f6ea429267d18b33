"""The engine's door for HTTP hooks: who is let in, and that the answers are the bridge's."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path

import pytest

from bridge_desk import GUARD, Desk, reason_of, wait_for
from hookline.hosts.agent import Reply
from hookline.hosts.bridge import client
from hookline.hosts.bridge.address import FILE, Address, address_in, choose_address, forget_address
from hookline.hosts.bridge.http import Refused, body, head
from hookline.hosts.install.by_http import posted

ADDRESS = Address(20_001, "t" * 43)
GOOD = {
    "Host": "127.0.0.1:20001",
    "Authorization": f"Bearer {'t' * 43}",
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": "12",
}
FIRST = "POST /hookline/claude-code/PreToolUse HTTP/1.1"


def request(first: str = FIRST, **changed: str | None) -> bytes:
    headers = {**GOOD, **{name.replace("_", "-"): value for name, value in changed.items()}}
    lines = [first, *(f"{name}: {value}" for name, value in headers.items() if value is not None)]
    return "\r\n".join(lines).encode("latin-1")


def test_an_agent_that_knows_the_token_is_let_in() -> None:
    found = head(request(), ADDRESS)
    assert (found.agent, found.event, found.length) == ("claude-code", "PreToolUse", 12)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (request(Host="evil.example:20001"), HTTPStatus.MISDIRECTED_REQUEST),
        (request(Host="localhost:20001"), HTTPStatus.MISDIRECTED_REQUEST),
        (request(Host=None), HTTPStatus.MISDIRECTED_REQUEST),
        (request(Origin="http://127.0.0.1:20001"), HTTPStatus.FORBIDDEN),
        (request(Origin="null"), HTTPStatus.FORBIDDEN),
        (request(Authorization=None), HTTPStatus.UNAUTHORIZED),
        (request(Authorization="Bearer"), HTTPStatus.UNAUTHORIZED),
        (request(Authorization="Bearer " + "é" * 43), HTTPStatus.UNAUTHORIZED),
        (request("OPTIONS /hookline/claude-code/PreToolUse HTTP/1.1"), HTTPStatus.METHOD_NOT_ALLOWED),
        (request("GET /hookline/claude-code/PreToolUse HTTP/1.1"), HTTPStatus.METHOD_NOT_ALLOWED),
        (request("POST /hookline/nobody/PreToolUse HTTP/1.1"), HTTPStatus.NOT_FOUND),
        (request("POST /hookline/claude-code/../x HTTP/1.1"), HTTPStatus.NOT_FOUND),
        (request("POST / HTTP/1.1"), HTTPStatus.NOT_FOUND),
        (request("nonsense"), HTTPStatus.METHOD_NOT_ALLOWED),
        (request(Content_Type="text/plain"), HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        (request(Content_Length=None), HTTPStatus.LENGTH_REQUIRED),
        (request(Content_Length="-1"), HTTPStatus.LENGTH_REQUIRED),
        (request(Content_Length="9" * 30), HTTPStatus.LENGTH_REQUIRED),
        (request(Transfer_Encoding="chunked"), HTTPStatus.LENGTH_REQUIRED),
        (request() + b"\r\nHost: 127.0.0.1:20001", HTTPStatus.BAD_REQUEST),
        (request() + b"\r\nno header", HTTPStatus.BAD_REQUEST),
        (request() + b"\r\n Content-Length: 5", HTTPStatus.BAD_REQUEST),
    ],
)
def test_whoever_is_no_agent_of_ours_is_refused(asked: bytes, status: HTTPStatus) -> None:
    with pytest.raises(Refused) as refused:
        head(asked, ADDRESS)
    assert refused.value.status is status


def test_an_answer_is_what_the_command_would_have_said() -> None:
    assert body(Reply('{"a":1}')) == (200, b'{"a":1}')
    assert body(Reply()) == (200, b"{}")
    status, said = body(Reply(stderr="hookline has a bug", exit_code=2))
    assert (status, json.loads(said)) == (200, {"decision": "block", "reason": "hookline has a bug"})
    assert body(Reply(stderr="no such agent", exit_code=1))[0] == 500


def kept(desk: Desk) -> Path:
    return desk.home / ".local/state/hookline"


def ask(desk: Desk, payload: bytes, event: str = "PreToolUse") -> tuple[int, bytes]:
    address = address_in(kept(desk))
    assert address is not None
    return posted(address, "claude-code", event, payload)


def answered(desk: Desk) -> bool:
    """Whether a guarded command is denied by now."""
    try:
        return reason_of(ask(desk, desk.payload())[1].decode()) == "Never."
    except (OSError, HTTPException):
        return False


@pytest.fixture
def keeper(desk: Desk) -> Iterator[subprocess.Popen[bytes]]:
    """An engine for HTTP hooks, with the process that keeps it; it would end at once when idle, if it could."""
    choose_address(kept(desk))
    process = desk.start(client.command("serve", "--idle", "0.2"))
    wait_for(desk.engine)
    yield process
    process.terminate()
    process.communicate(timeout=20)


def test_hooks_are_asked_by_http(desk: Desk, keeper: subprocess.Popen[bytes]) -> None:
    desk.hooks(GUARD)
    status, said = ask(desk, desk.payload())
    assert status == 200
    assert reason_of(said.decode()) == "Never."
    assert ask(desk, desk.payload("ls")) == (200, b"{}")
    time.sleep(0.5)
    assert ask(desk, desk.payload("ls")) == (200, b"{}"), "it must not end when idle"


def test_a_browser_and_who_has_no_token_learn_nothing(desk: Desk, keeper: subprocess.Popen[bytes]) -> None:
    address = address_in(kept(desk))
    assert address is not None
    for wrong in (Address(address.port, "x" * 43), Address(address.port, "")):
        assert posted(wrong, "claude-code", "PreToolUse", desk.payload()) == (401, b"")
    with socket.create_connection(("127.0.0.1", address.port), timeout=20) as browser:
        browser.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n")
        assert browser.recv(1000).startswith(b"HTTP/1.1 421 ")
    with socket.create_connection(("127.0.0.1", address.port), timeout=20) as endless:
        endless.sendall(b"POST / HTTP/1.1\r\nX: " + b"x" * 20_000)
        assert endless.recv(1000).startswith(b"HTTP/1.1 431 ")


def test_what_is_too_large_or_no_json_is_not_let_through(desk: Desk, keeper: subprocess.Popen[bytes]) -> None:
    desk.hooks(GUARD)
    _, said = ask(desk, desk.payload("ls", extra="x" * (client.LARGEST + 1_000_000)))
    assert "too large" in reason_of(said.decode())
    for payload in (b"", b"[]", b"\xff", b"[" * 50_000):
        assert "Blocked by hookline" in reason_of(ask(desk, payload)[1].decode())
        assert reason_of(ask(desk, payload, "Stop")[1].decode()) == ""


def test_a_session_keeps_its_project_when_the_agent_goes_elsewhere(
    desk: Desk, keeper: subprocess.Popen[bytes], c_client: list[str]
) -> None:
    """HTTP hooks do not tell where the project is; a guard must not end with `cd`."""
    desk.hooks(GUARD)
    ask(desk, desk.payload("ls", session_id="unknown"))
    assert reason_of(ask(desk, desk.payload(session_id="unknown", cwd="/"))[1].decode()) == "Never."
    desk.variables["CLAUDE_PROJECT_DIR"] = str(desk.project)
    start = json.dumps({"session_id": "known", "cwd": "/", "source": "startup"}).encode()
    desk.ask(c_client, start, event="SessionStart")
    assert reason_of(ask(desk, desk.payload(session_id="known", cwd="/"))[1].decode()) == "Never."
    engine = desk.engine()
    assert engine is not None
    os.kill(engine, signal.SIGKILL)
    assert reason_of(ask(desk, desk.payload(session_id="known", cwd="/"))[1].decode()) == "Never."


def test_programs_get_the_environment_that_the_session_began_with(
    desk: Desk, keeper: subprocess.Popen[bytes], c_client: list[str]
) -> None:
    hook = "{id: env, on: tool.before, then: {run: 'echo \"$MINE\" >&2; exit 3', reads: nonzero}, on_error: closed}"
    desk.hooks(f"hooks:\n  - {hook}\n", users=True)
    desk.variables["MINE"] = "from the agent"
    desk.ask(c_client, json.dumps({"session_id": "s", "cwd": str(desk.project)}).encode(), event="SessionStart")
    assert "from the agent" in reason_of(ask(desk, desk.payload())[1].decode())


def test_an_event_by_http_and_by_a_projects_command_is_decided_once(
    desk: Desk, keeper: subprocess.Popen[bytes], c_client: list[str]
) -> None:
    desk.hooks("hooks:\n  - {id: once, on: tool.before, then: {deny: Once.}, max_fires: 1}\n", users=True)
    desk.variables["HOOKLINE_ENTRY"] = "project"
    desk.ask(c_client, json.dumps({"session_id": "s", "cwd": str(desk.project)}).encode(), event="SessionStart")
    assert reason_of(ask(desk, desk.payload())[1].decode()) == "Once."
    assert reason_of(desk.ask(c_client, desk.payload() + b"\n")[0]) == "Once."
    assert ask(desk, desk.payload()) == (200, b"{}")


def test_whoever_only_connects_does_not_hinder_the_commands(
    desk: Desk, keeper: subprocess.Popen[bytes], c_client: list[str]
) -> None:
    desk.hooks(GUARD)
    address = address_in(kept(desk))
    assert address is not None
    silent = [socket.create_connection(("127.0.0.1", address.port)) for _ in range(400)]
    assert reason_of(desk.ask(c_client, desk.payload())[0]) == "Never."
    for each in silent:
        each.close()
    wait_for(lambda: answered(desk))


def test_a_killed_engine_is_followed_by_another_and_nobody_is_refused(
    desk: Desk, keeper: subprocess.Popen[bytes]
) -> None:
    desk.hooks(GUARD)
    first = desk.engine()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert reason_of(ask(desk, desk.payload())[1].decode()) == "Never."
    assert keeper.poll() is None
    wait_for(desk.engine)
    assert desk.engine() != first


def test_it_ends_once_no_agent_has_the_address(desk: Desk, keeper: subprocess.Popen[bytes]) -> None:
    forget_address(kept(desk))
    assert keeper.wait(timeout=20) == 0
    assert desk.engine() is None


def test_another_address_is_in_force_at_once(desk: Desk, keeper: subprocess.Popen[bytes]) -> None:
    old = address_in(kept(desk))
    forget_address(kept(desk))
    new = choose_address(kept(desk))
    assert old != new
    desk.hooks(GUARD)
    wait_for(lambda: answered(desk))
    assert keeper.poll() is None


def test_a_port_that_somebody_has_taken_leaves_the_commands(desk: Desk, c_client: list[str]) -> None:
    desk.hooks(GUARD)
    address = choose_address(kept(desk))
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", address.port))
        somebody.listen()
        process = desk.start(client.command("serve"))
        wait_for(desk.engine)
        assert reason_of(desk.ask(c_client, desk.payload())[0]) == "Never."
        process.terminate()
        assert f"127.0.0.1:{address.port}".encode() in process.communicate(timeout=20)[1]


def test_an_engine_without_the_address_makes_room_for_one_with_it(
    desk: Desk, engine: subprocess.Popen[bytes], c_client: list[str]
) -> None:
    desk.hooks(GUARD)
    choose_address(kept(desk))
    assert reason_of(desk.ask(c_client, desk.payload())[0]) == "Never."
    assert engine.wait(timeout=20) == 0
    wait_for(desk.engine)
    assert reason_of(ask(desk, desk.payload())[1].decode()) == "Never."
    forget_address(kept(desk))
    wait_for(lambda: desk.engine() is None)


@pytest.mark.parametrize("trouble", ["readable", "a link", "short", "no JSON", "privileged"])
def test_an_address_that_others_could_know_is_none(tmp_path: Path, trouble: str) -> None:
    choose_address(tmp_path)
    file = tmp_path / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    if trouble == "readable":
        file.chmod(0o640)
    elif trouble == "a link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        texts = {"short": '{"version": 1, "port": 20001, "token": "x"}', "no JSON": "{"}
        file.write_text(texts.get(trouble, json.dumps({"version": 1, "port": 80, "token": "x" * 40})))
    assert address_in(tmp_path) is None
    assert address_in(tmp_path) != choose_address(tmp_path)
    assert address_in(tmp_path) is not None


def test_the_token_is_in_no_text_about_an_address() -> None:
    assert ADDRESS.token not in repr(ADDRESS)
    assert ADDRESS.token not in ADDRESS.url("claude-code", "Stop")
