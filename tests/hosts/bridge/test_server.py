"""Real clients, started as an agent starts them, and a real engine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_payloads import event_name, payloads
from bridge_sandbox import GUARD, BridgeSandbox, deny_reason, wait_for
from hookline.hosts.agents import AGENT_NAMES
from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge import client
from hookline.hosts.bridge.hook_cache import LoadOnce
from hookline.hosts.bridge.responder import respond, respond_directly
from hookline.hosts.install.launcher import python_client

pytestmark = pytest.mark.slow


Engine = subprocess.Popen[bytes]


def connect(desk: BridgeSandbox) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(str(desk.runtime_directory / client.SOCKET_NAME))
    return connection


def test_a_client_starts_the_engine_and_is_answered_by_it(desk: BridgeSandbox, argv: list[str]) -> None:
    desk.write_hooks(GUARD)
    assert desk.engine_pid() is None
    assert deny_reason(desk.run_client(argv, desk.payload())[0]) == "Never."
    engine = desk.engine_pid()
    assert engine is not None
    assert desk.run_client(argv, desk.payload("ls")) == ("", "", 0)
    assert desk.engine_pid() == engine
    assert (desk.runtime_directory / client.SOCKET_NAME).stat().st_mode & 0o777 == 0o600
    assert desk.runtime_directory.stat().st_mode & 0o777 == 0o700


def test_an_agent_that_is_answered_by_exit_code_gets_it(desk: BridgeSandbox, argv: list[str], engine: Engine) -> None:
    desk.write_hooks(GUARD)
    info = {"command_line": "rm x", "cwd": str(desk.project)}
    payload = json.dumps({"agent_action_name": "pre_run_command", "tool_info": info}).encode()
    assert desk.run_client(argv, payload, "windsurf", "pre_run_command") == (
        "",
        "Never. (hook no-rm, hookline.yaml:2)",
        2,
    )


@pytest.mark.parametrize(("kind", "number"), [("c", 200), ("python", 40)])
def test_many_at_once_are_all_answered_right(
    desk: BridgeSandbox, engine: Engine, kind: str, number: int, request: pytest.FixtureRequest
) -> None:
    argv = python_client() if kind == "python" else request.getfixturevalue("c_client")
    desk.write_hooks(
        "hooks:\n  - {id: odd, on: tool.before, when: {input: {command: '[13579]$'}}, then: {deny: '{{tool.input.command}}'}}\n",
        users=True,
    )

    def ask(n: int) -> tuple[str, str, int]:
        return desk.run_client(argv, desk.payload(f"echo {n}", session_id=f"s{n}"))

    with ThreadPoolExecutor(number) as pool:
        answers = list(pool.map(ask, range(number)))
    assert [deny_reason(out) for out, _, _ in answers] == [f"echo {n}" if n % 2 else "" for n in range(number)]
    assert {(err, code) for _, err, code in answers} == {("", 0)}


def test_many_without_an_engine_start_one(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: desk.run_client(python_client(), desk.payload()), range(12)))
    assert {deny_reason(out) for out, _, _ in answers} == {"Never."}
    log = (desk.home / ".local/state/hookline/bridge.log").read_text()
    assert log.count(" started, ") == 1


def test_the_engine_killed_in_the_middle_loses_no_decision(
    desk: BridgeSandbox, argv: list[str], engine: Engine
) -> None:
    begun = desk.root / "begun"
    desk.write_hooks(
        f"hooks:\n  - {{id: slow, on: tool.before, then: {{run: 'echo x >> {begun}; sleep 0.7; exit 3', reads: nonzero}}, on_error: closed}}\n",
        users=True,
    )
    calls = [desk.start_client(argv, "claude-code", "PreToolUse") for _ in range(6)]
    for call in calls:
        assert call.stdin is not None
        call.stdin.write(desk.payload())
        call.stdin.close()
        call.stdin = None
    wait_for(lambda: begun.exists() and len(begun.read_text().split()) >= 3)
    engine.kill()
    for call in calls:
        out, err = call.communicate(timeout=60)
        assert deny_reason(out.decode())
        assert (err, call.returncode) == (b"", 0)


def test_a_dead_engine_s_socket_is_no_hindrance(desk: BridgeSandbox, argv: list[str]) -> None:
    desk.write_hooks(GUARD)
    desk.runtime_directory.mkdir(mode=0o700)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(desk.runtime_directory / client.SOCKET_NAME))
    dead.close()
    assert deny_reason(desk.run_client(argv, desk.payload())[0]) == "Never."
    assert desk.engine_pid() is not None


@pytest.mark.parametrize("trouble", ["open to others", "another's", "a link"])
def test_nothing_is_said_in_a_directory_that_is_not_private(desk: BridgeSandbox, argv: list[str], trouble: str) -> None:
    desk.write_hooks(GUARD)
    if trouble == "a link":
        (desk.root / "elsewhere").mkdir(mode=0o700)
        desk.runtime_directory.symlink_to(desk.root / "elsewhere")
    else:
        desk.runtime_directory.mkdir(mode=0o700)
        if trouble == "open to others":
            desk.runtime_directory.chmod(0o755)
        elif os.geteuid() == 0:
            os.chown(desk.runtime_directory, 65534, 65534)
        else:
            pytest.skip("only root can give a directory away")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(desk.runtime_directory / client.SOCKET_NAME))
        listening.listen()
        listening.setblocking(False)
        assert deny_reason(desk.run_client(argv, desk.payload())[0]) == "Never."
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_is_not_served(desk: BridgeSandbox, engine: Engine) -> None:
    for path in (desk.root, desk.root / "run", desk.runtime_directory, desk.runtime_directory / client.SOCKET_NAME):
        path.chmod(0o777)
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "try: s.sendall(b'HOOKLINE'); print(len(s.recv(10)))\n"
        "except OSError: print(0)"
    )
    python = Path(os.path.realpath(sys.executable))
    if not os.access("/root", os.X_OK) or str(python).startswith("/root"):
        python = Path("/usr/bin/python3")
    if not python.exists():
        pytest.skip("there is no Python that others can run")
    done = subprocess.run(
        [str(python), "-c", code, str(desk.runtime_directory / client.SOCKET_NAME)],
        user=65534,
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert done.stdout == "0\n", done.stderr


def test_it_ends_when_nobody_calls(desk: BridgeSandbox) -> None:
    process = desk.start_client(client.hookline_command("serve", "--idle", "0.3"))
    wait_for(desk.engine_pid)
    assert process.wait(timeout=20) == 0
    assert not (desk.runtime_directory / client.SOCKET_NAME).exists()
    process.communicate()


def test_it_removes_its_socket_when_the_link_to_its_directory_is_gone(desk: BridgeSandbox) -> None:
    link = desk.root / "link"
    link.symlink_to(desk.root / "run")
    desk.variables["XDG_RUNTIME_DIR"] = str(link)
    process = desk.start_client(client.hookline_command("serve"))
    wait_for(desk.engine_pid)
    link.unlink()
    process.terminate()
    process.communicate(timeout=20)
    assert not (desk.runtime_directory / client.SOCKET_NAME).exists()


def test_a_second_engine_leaves_at_once(desk: BridgeSandbox, engine: Engine) -> None:
    second = desk.start_client(client.hookline_command("serve"))
    assert b"already" in second.communicate(timeout=30)[1]
    assert second.returncode == 0
    assert desk.engine_pid() == engine.pid


def test_told_to_end_it_answers_first(desk: BridgeSandbox, c_client: list[str], engine: Engine) -> None:
    begun = desk.root / "begun"
    desk.write_hooks(
        f"hooks:\n  - {{id: slow, on: tool.before, then: {{run: 'touch {begun}; sleep 0.5; exit 3', reads: nonzero}}, on_error: closed}}\n",
        users=True,
    )
    call = desk.start_client(c_client, "claude-code", "PreToolUse")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(call.communicate, desk.payload(), 30)
        wait_for(begun.exists)
        engine.terminate()
        assert deny_reason(answer.result()[0].decode())
    assert engine.wait(timeout=20) == 0


@pytest.mark.parametrize("reads", [True, False])
def test_an_answer_larger_than_the_sockets_buffer_arrives_whole(
    desk: BridgeSandbox, engine: Engine, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _call_from(desk, monkeypatch)
    desk.write_hooks("hooks:\n  - {id: all, on: tool.before, then: {deny: '{{tool.input.command}}'}}\n", users=True)
    payload, answer = desk.payload("x" * 2_000_000), b""
    for _ in range(2):  # the second time the hooks are known, and it is answered at once
        with connect(desk) as connection:
            connection.sendall(client.encode_request("claude-code", "PreToolUse", payload, 0))
            time.sleep(0.3)  # the buffer fills
            while reads and (part := connection.recv(1 << 20)):
                answer += part
    if reads:
        assert answer.count(b"x" * 2_000_000) == 2
    assert client.send_request(connect(desk), client.encode_request("claude-code", "Stop", b"{}", 0)) is not None
    assert engine.poll() is None


def test_a_client_waits_for_a_long_decision_and_it_is_made_once(
    desk: BridgeSandbox, c_client: list[str], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _call_from(desk, monkeypatch)
    begun = desk.root / "begun"
    desk.write_hooks(
        f"hooks:\n  - {{id: slow, on: tool.before, then: {{run: 'echo x >> {begun}; sleep 2.5; exit 3', reads: nonzero}}, on_error: closed}}\n",
        users=True,
    )
    with connect(desk) as connection:  # the whole request is there when the engine accepts it
        connection.sendall(client.encode_request("claude-code", "PreToolUse", desk.payload(), 0))
        assert connection.recv(client.ANSWER_HEADER_SIZE)[12:16] == client.STATUS_WORKING.to_bytes(4, "big")
        wait_for(begun.exists)
    begun.unlink()
    assert deny_reason(desk.run_client(c_client, desk.payload())[0])  # clients wait two seconds for `working`
    assert begun.read_text() == "x\n"


@pytest.mark.timing
def test_a_changed_file_counts_within_a_second(desk: BridgeSandbox, c_client: list[str], engine: Engine) -> None:
    assert desk.run_client(c_client, desk.payload()) == ("", "", 0)
    for reason in ("One.", "Two, and longer."):
        desk.write_hooks(GUARD.replace("Never.", f"'{reason}'"))
        time.sleep(0.7)
        assert deny_reason(desk.run_client(c_client, desk.payload())[0]) == reason
    (desk.project / "hookline.yaml").unlink()  # the version that the user accepted stays in force
    time.sleep(0.7)
    assert deny_reason(desk.run_client(c_client, desk.payload())[0]) == reason


def test_limits_hold_whoever_decides(desk: BridgeSandbox, c_client: list[str], engine: Engine) -> None:
    desk.write_hooks(
        "hooks:\n  - {id: twice, on: tool.before, then: {deny: 'At most twice.'}, max_fires: 2}\n", users=True
    )
    assert deny_reason(desk.run_client(c_client, desk.payload())[0])
    engine.kill()
    assert deny_reason(desk.run_client(client.hookline_command("bridge", "--direct"), desk.payload())[0])
    assert desk.run_client(c_client, desk.payload()) == ("", "", 0)
    assert deny_reason(desk.run_client(c_client, desk.payload(session_id="another"))[0])


TABLE = [(name, file) for name in AGENT_NAMES for file in payloads(name)]


def test_served_and_direct_answers_are_the_same(
    desk: BridgeSandbox, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write_hooks(
        "hooks:\n"
        "  - {id: deny, on: tool.before, when: {tool: bash}, then: {deny: 'Not {{tool.input.command}}'}}\n"
        "  - {id: prompt, on: prompt.submit, then: {tell: 'Mind the tests.'}}\n"
        "  - {id: ask, on: approval.request, then: {deny: Ask me.}}\n"
        "  - {id: after, on: tool.after, then: {run: 'echo $HOME; exit 1'}, on_error: open}\n"
        "  - {id: stop, on: stop, then: {deny: Go on.}}\n",
        users=True,
    )
    _call_from(desk, monkeypatch)
    assert len(TABLE) > 40
    different = []
    for name, file in TABLE:
        payload = json.dumps({**payloads(name)[file]}).encode()
        call = desk.call(payload, event_name(file), agent=name)
        alone = asyncio.run(respond(call, LoadOnce()))
        (desk.home / ".local/state/hookline/sessions").exists() and _forget(desk)
        served = client.send_request(connect(desk), client.encode_request(name, event_name(file), payload, 0))
        _forget(desk)
        if served != (alone.exit_code, alone.stdout.encode(), alone.stderr.encode()):
            different.append((name, file, alone, served))
    assert different == []


def _call_from(desk: BridgeSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that this process makes are those of an agent at the desk."""
    for name, value in desk.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)  # sessions are kept at the desk
    monkeypatch.chdir(desk.project)


def _forget(desk: BridgeSandbox) -> None:
    for file in (desk.home / ".local/state/hookline/sessions").glob("*.json"):
        file.unlink()


def test_the_direct_process_answers_like_the_function(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    for payload, event in ((desk.payload(), "PreToolUse"), (b"", "PreToolUse"), (desk.payload(), "Stop")):
        alone = asyncio.run(respond_directly(desk.call(payload, event), LoadOnce()))
        out, err, code = desk.run_client(client.hookline_command("bridge", "--direct"), payload, event=event)
        assert Reply(out, err, code) == alone


def test_nothing_of_ours_is_written_beside_the_answer(desk: BridgeSandbox) -> None:
    """Gemini CLI takes what is on stderr for the answer."""
    desk.write_hooks(
        "hooks:\n  - {id: bad, on: tool.before, then: {run: 'exit 9'}, on_error: open}\n  - {id: x, oops: 1}\n"
    )
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    payload = json.dumps({"session_id": "s", "cwd": str(desk.project), **call}).encode()
    out, err, code = desk.run_client(client.hookline_command("bridge", "--direct"), payload, "gemini-cli", "BeforeTool")
    assert (err, code) == ("", 0)
    assert "run `hookline check`" in json.loads(out)["systemMessage"]


@pytest.mark.parametrize("payload", [b"", b"no JSON", b"\xff\xfe", b"{}", b"[" * 50_000])
def test_garbage_on_stdin_is_a_quiet_answer(
    desk: BridgeSandbox, argv: list[str], engine: Engine, payload: bytes
) -> None:
    assert desk.run_client(argv, payload) == ("", "", 0)
    assert desk.run_client(argv, payload, "opencode", "tool.execute.before") == ("{}", "", 0)
    assert desk.run_client(argv, payload, "windsurf", "pre_run_command") == ("", "", 0)


def test_a_payload_of_20_megabytes_is_judged(desk: BridgeSandbox, argv: list[str], engine: Engine) -> None:
    desk.write_hooks(GUARD)
    large = desk.payload("rm x", extra="x" * 20_000_000)
    assert deny_reason(desk.run_client(argv, large)[0]) == "Never."


def test_a_payload_that_is_too_large_is_not_let_through(desk: BridgeSandbox, argv: list[str], engine: Engine) -> None:
    desk.write_hooks(GUARD)
    large = desk.payload("ls", extra="x" * client.MAX_PAYLOAD)
    assert "too large" in deny_reason(desk.run_client(argv, large)[0])


def test_who_says_nothing_hinders_nobody(desk: BridgeSandbox, c_client: list[str], engine: Engine) -> None:
    desk.write_hooks(GUARD)
    silent = [connect(desk) for _ in range(50)]
    silent[0].sendall(client.encode_request("claude-code", "PreToolUse", desk.payload(), 0)[:-5])
    assert deny_reason(desk.run_client(c_client, desk.payload())[0]) == "Never."
    for each in silent:
        each.close()


@pytest.mark.parametrize(
    "message",
    [b"SSH-2.0-OpenSSH_9.2\r\n" * 10, client.MAGIC + b"\0\0\0\1" + b"\xff" * 28],
    ids=["another protocol", "endless"],
)
def test_what_is_no_message_of_ours_is_cut_off(desk: BridgeSandbox, engine: Engine, message: bytes) -> None:
    with connect(desk) as connection:
        connection.sendall(message)
        assert connection.recv(100) == b""
    assert engine.poll() is None


def test_a_client_of_another_release_makes_the_engine_end(desk: BridgeSandbox, engine: Engine) -> None:
    desk.write_hooks(GUARD)
    assert (
        client.send_request(connect(desk), client.encode_request("claude-code", "Stop", b"{}", 0, release="9.9"))
        is None
    )
    assert engine.wait(timeout=20) == 0
    assert deny_reason(desk.run_client(python_client(), desk.payload())[0]) == "Never."
    assert desk.engine_pid() not in (None, engine.pid)


def test_a_client_of_a_later_protocol_is_sent_away(desk: BridgeSandbox, engine: Engine) -> None:
    message = bytearray(client.encode_request("claude-code", "Stop", b"{}", 0))
    message[len(client.MAGIC) + 3] = 2
    assert client.send_request(connect(desk), bytes(message)) is None
    assert engine.wait(timeout=20) == 0


def test_an_engine_that_does_not_react_is_done_without(desk: BridgeSandbox, argv: list[str], engine: Engine) -> None:
    desk.write_hooks(GUARD)
    engine.send_signal(signal.SIGSTOP)
    assert deny_reason(desk.run_client(argv, desk.payload())[0]) == "Never."


def test_a_client_that_lost_patience_is_not_decided_for(desk: BridgeSandbox, engine: Engine) -> None:
    ran = desk.root / "ran"
    desk.write_hooks(
        f"hooks:\n  - {{id: run, on: tool.before, then: {{run: 'touch {ran}'}}, on_error: open}}\n", users=True
    )
    engine.send_signal(signal.SIGSTOP)
    with connect(desk) as connection:
        connection.sendall(client.encode_request("claude-code", "PreToolUse", desk.payload(), 0))
    engine.send_signal(signal.SIGCONT)
    assert client.send_request(connect(desk), client.encode_request("claude-code", "Stop", b"{}", 0)) is not None
    time.sleep(0.2)
    assert not ran.exists()


def test_an_engine_that_stops_in_the_middle_does_not_let_the_tool_run(
    desk: BridgeSandbox, argv: list[str], engine: Engine
) -> None:
    begun = desk.root / "begun"
    desk.write_hooks(
        f"hooks:\n  - {{id: slow, on: tool.before, then: {{run: 'touch {begun}; sleep 20'}}, on_error: open}}\n",
        users=True,
    )
    options = ["--spent=22500"] if argv == python_client() else []
    payload = json.dumps(
        {"sessionId": "s", "cwd": str(desk.project), "toolName": "bash", "toolArgs": {"command": "ls"}}
    ).encode()
    if not options:
        pytest.skip("only the Python client can be told how much time has passed")
    call = desk.start_client(argv, *options, "copilot-cli", "preToolUse")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(call.communicate, payload, 30)
        wait_for(begun.exists)
        time.sleep(0.4)  # by now the client knows that it is being decided for
        engine.send_signal(signal.SIGSTOP)
        said = json.loads(answer.result()[0])
    assert said["permissionDecision"] == "deny"
    assert "in time" in said["permissionDecisionReason"]


@pytest.mark.timing
def test_an_agent_that_goes_away_takes_its_programs_along(
    desk: BridgeSandbox, c_client: list[str], engine: Engine
) -> None:
    begun, ended = desk.root / "begun", desk.root / "ended"
    desk.write_hooks(
        f"hooks:\n  - {{id: slow, on: tool.before, then: {{run: 'echo $$ > {begun}; sleep 2; touch {ended}'}}, on_error: open}}\n",
        users=True,
    )
    call = desk.start_client(c_client, "claude-code", "PreToolUse")
    assert call.stdin is not None
    call.stdin.write(desk.payload())
    call.stdin.close()
    call.stdin = None
    wait_for(lambda: begun.exists() and begun.read_text().strip())
    call.kill()
    call.communicate()
    wait_for(lambda: not Path(f"/proc/{begun.read_text().strip()}").exists(), 1.5)
    assert not ended.exists()


def test_the_verb_is_the_same_client(desk: BridgeSandbox, engine: Engine) -> None:
    desk.write_hooks(GUARD)
    assert deny_reason(desk.run_client(client.hookline_command("bridge"), desk.payload())[0]) == "Never."
