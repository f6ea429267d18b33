from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}\n'


@pytest.mark.parametrize("arguments", [(), ("--url", "http://127.0.0.1:1/", "--", "cat")])
def test_it_is_either_a_command_or_a_url(hookline, arguments):
    result = hookline("mcp", *arguments)
    assert result.exit_code == 1
    assert "either the server's command after -- or --url" in result.stderr


def test_a_login_is_for_a_url_that_can_be_reached(hookline):
    result = hookline("mcp", "--login", "--", "cat")
    assert (result.exit_code, "--login needs --url" in result.stderr) == (1, True)
    result = hookline("mcp", "--login", "--url", "http://127.0.0.1:1/")
    assert (result.exit_code, "hookline: the login failed" in result.stderr) == (1, True)


@pytest.mark.parametrize("url", ["", "example.org", "ftp://example.org", "http://", "http://a:b:c/", "http://a/\n"])
def test_a_url_is_http(hookline, url):
    result = hookline("mcp", "--url", url)
    assert result.exit_code == 1
    assert "is not an http or https URL" in result.stderr


@pytest.mark.parametrize("header", ["no colon", "bad name: x", "A: b\r\nC: d", ": x"])
def test_a_header_is_a_name_and_a_text(hookline, header):
    result = hookline("mcp", "--url", "http://127.0.0.1:1/", "--header", header)
    assert result.exit_code == 1
    assert result.stderr == "hookline: --header: write it as 'Name: value'\n"


def test_a_named_file_that_cannot_be_read_stops_it(hookline):
    result = hookline("mcp", "--config", "missing.yaml", "--", "touch", "started")
    assert result.exit_code == 1
    assert not Path("started").exists()


def test_it_does_not_start_with_errors_in_a_file(hookline):
    Path("hookline.yaml").write_text("hooks: [{id: no, on: tool.before, when: {tol: x}, then: {deny: no}}]\n")
    result = hookline("mcp", "--", "touch", "started")
    assert result.exit_code == 1
    assert "hookline.yaml:1" in result.stderr
    assert "--keep-going" in result.stderr
    assert not Path("started").exists()


def test_with_keep_going_it_starts_although_a_file_has_errors(process, project):
    Path("hookline.yaml").write_text("hooks: [{id: no, on: tool.before, when: {tol: x}, then: {deny: no}}]\n")
    done = process("mcp", "--keep-going", "--name", "cat", "--", "cat", input=CALL % "bad")
    assert done.returncode == 0
    assert "hookline.yaml:1" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("--config", "named.yaml")])
def test_nothing_is_recorded_if_your_own_file_says_so(process, project, arguments):
    own = Path.home() / ".config" / "hookline" / "hookline.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("record: off\nhooks: []\n")
    Path("named.yaml").write_text("record: {facts: full}\nhooks: [{id: a, on: tool.before, then: {deny: no}}]\n")
    assert process("mcp", *arguments, "--name", "cat", "--", "cat", input=CALL % "bad").returncode == 0
    assert "bad" not in process("log", "--json").stdout


def test_a_project_that_nobody_trusted_may_deny_but_run_nothing(process, project):
    Path("hookline.yaml").write_text(
        "hooks:\n"
        "  - {id: no, on: tool.before, when: {tool: mcp.cat.bad}, then: {deny: not this}}\n"
        "  - {id: runs, on: session.start, then: {run: touch ran}, on_error: open}\n"
    )
    done = process("mcp", "--name", "cat", "--", "cat", input=CALL % "bad")
    assert done.returncode == 0
    result = json.loads(done.stdout)["result"]
    assert result["isError"] is True
    assert "nobody has trusted" in result["content"][0]["text"]
    assert "not this" not in done.stdout
    assert not Path("ran").exists()
    assert "trust" in done.stderr
    assert "no (hookline.yaml:2): not this" in done.stderr


def test_a_plain_file_can_be_the_client(process):
    done = process("mcp", "--", "cat", input=INITIALIZE)
    assert done.returncode == 0
    assert done.stdout == INITIALIZE


def test_nobody_can_be_the_client(command, project):
    done = subprocess.run([*command, "mcp", "--", "cat"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_streams_are_one_clear_line(command, project):
    done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *command, "mcp", "--", "cat"], capture_output=True, timeout=60)
    assert done.returncode == 1
    assert b"must be open" in done.stderr


@pytest.fixture
def heard() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that refuses every request, and the headers that came with them."""
    headers: list[dict[str, str]] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers.append(dict(self.headers.items()))
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp", headers
    server.shutdown()
    thread.join()
    server.server_close()


def test_headers_are_sent(command, project, monkeypatch, heard):
    url, headers = heard
    monkeypatch.setenv("HOOKLINE_MCP_HEADERS", '{"Authorization": "Bearer a", "X-One": "1"}')
    argv = [*command, "mcp", "--url", url, "--header", "X-One: 2"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write(INITIALIZE)
        client.stdin.flush()
        assert "error" in json.loads(client.stdout.readline())
        client.stdin.close()
        assert client.wait(60) == 0
    sent = {name.lower(): value for name, value in headers[0].items()}
    assert (sent["authorization"], sent["x-one"]) == ("Bearer a", "2")
