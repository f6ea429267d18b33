"""`ahp:` with real backends: hookline's own, and a small one of another make, as processes and over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hookline.engine.decision import Decision
from hookline.hooks.actions.ask_backend import AskBackend, capabilities_of
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, FailureKind, Verdict
from hookline.project import load_text
from hookline.testing import ScriptedHost

PEER = """
import json, sys, time
line = sys.stdin.readline()
message = json.loads(line)
open("seen", "a").write(line)
params = message["params"]
answer = json.loads(sys.argv[1])
if answer.get("sleep"):
    time.sleep(answer["sleep"])
if answer.get("raw") is not None:
    print(answer["raw"] * answer.get("times", 1))
elif "id" in message:
    supported = answer.get("supported", ["draft", "0.1"])
    told = {"jsonrpc": "2.0", "id": answer.get("id", message["id"])}
    if params["protocolVersion"] not in supported:
        told["error"] = {"code": -32001, "message": "unsupported", "data": {"supported": supported}}
    elif "error" in answer:
        told["error"] = answer["error"]
    else:
        version = answer.get("version", params["protocolVersion"])
        told["result"] = {"protocolVersion": version}
        if "effects" in answer:
            told["result"]["effects"] = answer["effects"]
    print(json.dumps(told, ensure_ascii=False))
sys.stderr.write("e" * answer.get("stderr", 0))
sys.exit(answer.get("exit", 0))
"""
DENY = {"effects": [{"type": "deny", "reason": "Not here.", "code": "x.y"}]}
CALL = {"tool": {"name": "bash", "id": "t1", "input": {"command": "ls"}}}


def text(value: str) -> list[dict[str, Any]]:
    return [{"id": "m", "role": "user", "parts": [{"id": "p", "kind": "text", "text": value}]}]


class Project:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "peer.py").write_text(PEER)

    def ask(self, answer: dict[str, Any], event: str = "tool.before", facts: Any = None, **hook: Any) -> Decision:
        backend = [sys.executable, str(self.directory / "peer.py"), json.dumps(answer)]
        return self.decide({"ahp": backend}, event, facts, **hook)

    def decide(self, then: dict[str, Any], event: str = "tool.before", facts: Any = None, **hook: Any) -> Decision:
        options = {"timeout": "20s", "on_error": "open", **hook}
        value = {"hooks": [{"id": "policy", "on": event, "then": then, **options}]}
        book = load_text(json.dumps(value), "hookline.json", "native")
        common = {"cwd": str(self.directory), "workspace": str(self.directory), "session": {"id": "s1"}}
        given = {**common, **(CALL if facts is None else facts)}
        return asyncio.run(book.decide(Event(event, given), ScriptedHost()))

    def seen(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "seen").read_text().splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_backend_denies(project: Project) -> None:
    decision = project.ask(DENY)
    assert (decision.verdict, decision.reason, decision.by) == (Verdict.DENY, "Not here.", "policy")
    (message,) = project.seen()
    event = message["params"]["event"]
    assert (message["jsonrpc"], message["method"], message["id"]) == ("2.0", "hooks/intercept", event["id"])
    assert event["tool"] == {
        "name": "bash",
        "kind": "shell",
        "input": {"command": "ls"},
        "origin": "native",
    }
    assert (event["call"], event["path"], event["type"]) == ({"id": "t1"}, "native", "tool.before")
    assert event["session"] == {"id": "s1", "cwd": str(project.directory), "workspaceRoots": [str(project.directory)]}
    assert message["params"]["capabilities"] == capabilities_of("tool.before", "draft")


@pytest.mark.parametrize("character", ["\u2028", "\u0085", "\x1c"])
def test_only_a_newline_ends_a_message(project: Project, character: str) -> None:
    reason = f"Not{character}here."
    told = {"effects": [{"type": "deny", "reason": reason}]}
    decision = project.ask(told)
    assert (decision.verdict, decision.reason) == (Verdict.DENY, reason)


def test_no_effects_decide_nothing(project: Project) -> None:
    decision = project.ask({"effects": []})
    assert (decision.verdict, decision.failures) == (Verdict.SILENT, ())


def test_every_effect_is_obeyed(project: Project) -> None:
    effects = [
        {"type": "ask", "reason": "Sure?"},
        {"type": "modify", "target": "input", "operation": "replace", "value": {"command": "ls -l"}},
        {"type": "inject", "target": "context", "operation": "append", "deliverAt": "now", "value": text("careful")},
        {"type": "message", "text": "seen"},
    ]
    decision = project.ask({"effects": effects})
    assert (decision.verdict, decision.reason, decision.failures) == (Verdict.ASK, "Sure?", ())
    assert decision.event.read(("tool", "input")) == {"command": "ls -l"}
    assert [(note.audience, note.text) for note in decision.notes] == [
        (Audience.AGENT, "careful"),
        (Audience.USER, "seen"),
    ]


def test_a_result_is_replaced_and_the_agent_stopped(project: Project) -> None:
    effects = [
        {"type": "modify", "target": "output", "operation": "replace", "value": text("***")},
        {"type": "flow", "operation": "stop", "reason": "Enough."},
    ]
    facts = {"tool": {**CALL["tool"], "result": "KEY", "ok": True}}
    decision = project.ask({"effects": effects}, "tool.after", facts)
    assert (decision.event.read(("tool", "result")), decision.halt) == ("***", True)
    (message,) = project.seen()
    assert message["params"]["event"]["items"][0]["parts"][0]["text"] == "KEY"


def test_a_stop_continues_with_the_instruction(project: Project) -> None:
    effects = [{"type": "flow", "operation": "continue", "instruction": "Run the tests."}]
    decision = project.ask({"effects": effects}, "stop", {})
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "Run the tests.")


@pytest.mark.parametrize(
    "answer",
    [
        {"effects": [{"type": "approve"}]},
        {"effects": [{"type": "deny"}]},
        {"effects": [{"type": "modify", "target": "output", "operation": "replace", "value": []}]},
        {"effects": [{"type": "modify", "target": "input", "operation": "merge", "value": {}}]},
        {"effects": [{"type": "modify", "target": "input", "operation": "replace", "value": "ls"}]},
        {"effects": [{"type": "flow", "operation": "continue", "instruction": "x"}]},
        {"effects": [{"type": "message", "text": "fine"}, {"type": "com.example.other"}]},
        {},
        {"effects": None},
        {"effects": "deny"},
        {"effects": ["deny"]},
        {"error": {"code": -32003, "message": "down"}},
        {"id": "evt_other"},
        {"version": "1999"},
        {"raw": "not json"},
        {"raw": ""},
        {"raw": '{"jsonrpc": "2.0"}\\n{"jsonrpc": "2.0"}'},
        {"raw": '{"jsonrpc": "2.0", "result": {}, "result": {}}'},
        {"raw": "x" * 2_000_000},
        {"effects": [], "exit": 3},
    ],
    ids=lambda answer: json.dumps(answer)[:60],
)
@pytest.mark.parametrize(("on_error", "verdict"), [("closed", Verdict.DENY), ("open", Verdict.SILENT)])
def test_the_failure_policy_decides_about_any_other_answer(
    project: Project, answer: dict[str, Any], on_error: str, verdict: Verdict
) -> None:
    decision = project.ask(answer, on_error=on_error)
    assert (decision.verdict, len(decision.failures)) == (verdict, 1)
    assert not [note for note in decision.notes if note.text == "fine"]  # all effects count, or none


def test_a_backend_that_is_too_slow_is_a_failure(project: Project) -> None:
    decision = project.ask({"sleep": 20, **DENY}, timeout="500ms", on_error="closed")
    assert (decision.verdict, decision.failures[0].kind) == (Verdict.DENY, FailureKind.TIMEOUT)


def test_a_program_that_does_not_exist_is_a_failure(project: Project) -> None:
    decision = project.decide({"ahp": ["no-such-backend"]}, on_error="closed")
    assert (decision.verdict, decision.failures[0].kind) == (Verdict.DENY, FailureKind.CANNOT_START)


def test_the_version_is_negotiated_and_remembered(project: Project) -> None:
    assert project.ask({"supported": ["0.1"], **DENY}).verdict is Verdict.DENY
    assert [message["params"]["protocolVersion"] for message in project.seen()] == ["draft", "0.1"]
    assert project.seen()[1]["params"]["capabilities"] == {"effects": ["deny"]}
    assert project.seen()[0]["id"] == project.seen()[1]["id"]


def test_a_version_can_be_named(project: Project) -> None:
    backend = [sys.executable, str(project.directory / "peer.py"), json.dumps(DENY)]
    assert project.decide({"ahp": backend, "versions": "0.1"}).verdict is Verdict.DENY
    assert [message["params"]["protocolVersion"] for message in project.seen()] == ["0.1"]


def test_a_backend_of_an_unknown_draft_is_refused_clearly(project: Project) -> None:
    decision = project.ask({"supported": ["2031-01-01"]}, on_error="closed")
    assert decision.verdict is Verdict.DENY
    assert "speaks none of the versions draft, 0.1" in decision.failures[0].text


def test_the_first_draft_has_no_other_events(project: Project) -> None:
    decision = project.ask({"supported": ["0.1"]}, "prompt.submit", {"prompt": "hi"}, on_error="closed")
    assert decision.verdict is Verdict.DENY
    assert "prompt.submit" in decision.failures[0].text


def test_a_session_s_end_is_only_told(project: Project) -> None:
    decision = project.ask({}, "session.end", {"session": {"id": "s1", "reason": "logout"}})
    assert decision.failures == ()
    (message,) = project.seen()
    assert ("id" in message, message["method"], message["params"]["event"]["reason"]) == (
        False,
        "hooks/observe",
        "logout",
    )


def test_an_mcp_tool_says_its_server(project: Project) -> None:
    project.ask({}, facts={"tool": {"name": "mcp__github__create_issue", "input": {}}})
    tool = project.seen()[0]["params"]["event"]["tool"]
    assert (tool["origin"], tool["mcp"]["server"]["name"]) == ("mcp", "github")


class _Backend(BaseHTTPRequestHandler):
    status = 200
    indent: ClassVar[int | None] = None
    received: ClassVar[list[tuple[str | None, dict[str, Any]]]] = []

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.received.append((self.headers.get("authorization"), message))
        result = {"protocolVersion": "draft", **DENY}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}, indent=self.indent).encode()
        self.send_response(self.status)
        self.send_header("content-length", str(len(body)))
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Backend)
    _Backend.status, _Backend.received, _Backend.indent = 200, [], None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hooks"
    server.shutdown()
    server.server_close()


def test_a_backend_over_http(project: Project, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLICY_TOKEN", "secret")
    headers = {"headers": {"Authorization": "Bearer $POLICY_TOKEN"}, "variables": ["POLICY_TOKEN"]}
    decision = project.decide({"ahp": url, **headers})
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "Not here.")
    assert _Backend.received[0][0] == "Bearer secret"


def test_over_http_an_answer_may_have_several_lines(project: Project, url: str) -> None:
    """Only stdio has one message on each line."""
    _Backend.indent = 2
    assert project.decide({"ahp": url}).verdict is Verdict.DENY


def test_a_backend_may_write_as_much_to_stderr_as_it_likes(project: Project) -> None:
    decision = project.ask({**DENY, "stderr": 20_000_000})
    assert (decision.verdict, decision.failures) == (Verdict.DENY, ())
    cut = project.ask({**DENY, "raw": "x", "times": 20_000_000})
    assert cut.failures[0].text.endswith("answered more than what is read of an answer")


@pytest.mark.parametrize("status", [202, 204, 301, 401, 500])
def test_another_status_is_a_failure(project: Project, url: str, status: int) -> None:
    _Backend.status = status
    decision = project.decide({"ahp": url}, on_error="closed")
    assert (decision.verdict, len(decision.failures)) == (Verdict.DENY, 1)


def test_hookline_s_own_backend_is_a_peer(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "policy"
    elsewhere.mkdir()
    rule = "hooks: [{id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}]"
    (elsewhere / "hookline.yaml").write_text(rule)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    trust = [sys.executable, "-m", "hookline", "trust", "--yes"]
    subprocess.run(trust, cwd=elsewhere, check=True, capture_output=True, timeout=120)
    backend = [sys.executable, "-m", "hookline", "ahp"]
    facts = {"cwd": str(elsewhere), "tool": {"name": "bash", "input": {"command": "rm -rf x"}}}
    denied = project.decide({"ahp": backend}, facts=facts)
    assert (denied.verdict, denied.reason) == (Verdict.DENY, "Never. (hook no-rm, hookline.yaml:1)"), denied.failures
    fine = project.decide({"ahp": backend}, facts={"cwd": str(elsewhere), **CALL})
    assert (fine.verdict, fine.failures) == (Verdict.SILENT, ())


def test_what_it_runs_is_shown_before_it_is_trusted() -> None:
    def described(then: str) -> list[tuple[str, str]]:
        book = load_text(f"hooks: [{{id: a, on: tool.before, then: {then}}}]", "hookline.yaml", "native")
        (hook,) = book.hooks
        assert isinstance(hook.then, AskBackend)
        return list(hook.then.describe())

    assert described("{ahp: [policy, --strict]}") == [("run", "policy --strict")]
    assert described("{ahp: 'https://a.example/', headers: {X: y}}") == [
        ("post", "https://a.example/"),
        ("header", "X: y"),
    ]
