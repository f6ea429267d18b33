"""Decisions as spans: at a real OTLP receiver, which decodes what it gets."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hookline.engine.book import Book
from hookline.extras import install_command
from hookline.hooks.event import Event
from hookline.hooks.record_settings import RecordedFacts, RecordSettings, Telemetry
from hookline.project import load_text
from hookline.record import telemetry as telemetry_module
from hookline.record.record_reader import read_records
from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory
from hookline.record.telemetry import TelemetrySender, telemetry_of_environment

pytest.importorskip("opentelemetry.sdk", reason="hookline[otel] is not installed")
pytest.importorskip("opentelemetry.exporter.otlp.proto.common", reason="hookline[otel] is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

HOOKS = (
    "hooks: [{id: no-rm, on: tool.before, when: {input: {command: ^rm}}, then: {deny: 'Not with token=abcdefgh123.'}}]"
)


class Receiver:
    """Answers `POST /v1/traces`."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], ExportTraceServiceRequest]] = []
        self.busy = 0  # so many requests are refused
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                is_busy, receiver.busy = receiver.busy > 0, receiver.busy - 1
                if not is_busy:
                    assert self.path == "/v1/traces"
                    receiver.requests.append((dict(self.headers), ExportTraceServiceRequest.FromString(body)))
                self.send_response(503 if is_busy else 200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for _, request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def wait(self, count: int) -> list[Any]:
        assert self.has_spans(count, seconds=60), f"{len(self.spans)} of {count} spans came"
        return self.spans

    def has_spans(self, count: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while len(self.spans) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return len(self.spans) >= count


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    started = Receiver()
    yield started
    started.server.shutdown()
    started.server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry_module, "_BATCH_SECONDS", 0.05)
    monkeypatch.setattr(telemetry_module, "_RETRY_SECONDS", (0.05, 0.05))


def book(receiver: Receiver, **more: Any) -> Book:
    loaded = load_text(HOOKS, "hookline.yaml")
    settings = RecordSettings(telemetry=Telemetry(f"{receiver.url}/v1/traces"), **more)
    return Book(loaded.layers, files=loaded.files, record=settings)


def event(command: str, **more: Any) -> Event:
    tool = {"name": "Bash", "kind": "shell", "id": "toolu_1", "input": {"command": command}}
    facts = {"host": {"name": "claude-code"}, "session": {"id": "s1"}, "agent": {"id": "helper"}, "tool": tool, **more}
    return Event("tool.before", facts)


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_a_decision_is_a_span(receiver: Receiver, directory: RecordDirectory, recorder: Recorder) -> None:
    before = time.time_ns()
    recorder.decide_now(book(receiver), event("rm x"))
    (span,) = receiver.wait(1)
    (record,) = (each for each in read_records(directory) if each["kind"] == "decision")
    assert span.name == "hookline tool.before Bash"
    assert before <= span.end_time_unix_nano <= time.time_ns()
    assert span.start_time_unix_nano <= span.end_time_unix_nano
    assert attributes(span) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Bash",
        "gen_ai.tool.call.id": "toolu_1",
        "gen_ai.conversation.id": "s1",
        "gen_ai.agent.id": "helper",
        "hookline.event": "tool.before",
        "hookline.host": "claude-code",
        "hookline.verdict": "deny",
        "hookline.reason": "Not with token=***",
        "hookline.hook": "no-rm",
        "hookline.file": "hookline.yaml",
        "hookline.line": 1,
        "hookline.dialect": "native",
        "hookline.hooks": record["hooks"],
        "hookline.record": record["id"],
    }
    ((headers, request),) = receiver.requests
    assert headers["content-type"] == "application/x-protobuf"
    resource = {each.key: each.value for each in request.resource_spans[0].resource.attributes}
    assert resource["service.name"].string_value == "hookline"


def test_the_decisions_of_a_session_are_one_trace(receiver: Receiver, recorder: Recorder) -> None:
    asked = [event("ls"), event("cat"), event("ls", session={"id": "s2"})]
    for each in asked:
        recorder.decide_now(book(receiver), each)
    spans = receiver.wait(3)
    traces = [span.trace_id for span in spans]
    assert traces[0] == traces[1] != traces[2]
    assert len({span.span_id for span in spans}) == 3


def test_a_decision_is_a_child_of_the_hosts_own_span(receiver: Receiver, recorder: Recorder) -> None:
    from opentelemetry.sdk.trace import TracerProvider

    with TracerProvider(shutdown_on_exit=False).get_tracer("host").start_as_current_span("work") as work:
        recorder.decide_now(book(receiver), event("ls"))
    (span,) = receiver.wait(1)
    context = work.get_span_context()
    assert (int.from_bytes(span.trace_id, "big"), int.from_bytes(span.parent_span_id, "big")) == (
        context.trace_id,
        context.span_id,
    )


def test_no_facts_are_sent(receiver: Receiver, recorder: Recorder) -> None:
    recorder.decide_now(book(receiver, facts=RecordedFacts.FULL), event("cat private.txt"))
    receiver.wait(1)
    assert b"private" not in receiver.requests[0][1].SerializeToString()


def test_nothing_is_sent_if_nothing_is_recorded(receiver: Receiver, recorder: Recorder) -> None:
    recorder.decide_now(book(receiver, enabled=False), event("ls"))
    recorder.decide_now(load_text(HOOKS, "hookline.yaml"), event("ls"))
    recorder.decide_now(book(receiver), event("rm x"))
    assert [attributes(span)["hookline.verdict"] for span in receiver.wait(1)] == ["deny"]


def test_a_collector_that_is_busy_is_asked_again(receiver: Receiver, recorder: Recorder) -> None:
    receiver.busy = 2
    recorder.decide_now(book(receiver), event("ls"))
    receiver.wait(1)
    assert receiver.busy < 0


def test_a_decision_never_waits_for_a_collector(directory: RecordDirectory) -> None:
    """It hangs for as long as the test runs; the queue is full, and what does not fit is counted."""
    hangs = threading.Event()
    sent: list[bool] = []

    def post(telemetry: Telemetry, data: bytes) -> bool:
        sent.append(hangs.wait(60))
        return True

    sender = TelemetrySender(Telemetry(), post)
    for _ in range(5_000):
        sender.send({"event": "tool.before", "verdict": "deny"}, 0.001)
    assert not sent
    assert sender.dropped >= 5_000 - 2048 - 512
    assert not sender.flush(0.01)
    hangs.set()
    assert sender.flush(30)


def test_a_decision_while_another_thread_imports_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    sender = TelemetrySender(Telemetry(), lambda telemetry, data: bool(sent.append(data)) or True)
    with monkeypatch.context() as importing:
        importing.setitem(sys.modules, "opentelemetry.trace", ModuleType("opentelemetry.trace"))
        sender.send({"event": "tool.before", "verdict": "deny"}, 0.0)
    assert sender.dropped == 0


def test_without_the_extra_it_is_told_once(
    receiver: Receiver, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    sender = TelemetrySender(Telemetry(receiver.url))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            sender.send({"event": "tool.before"}, 0.0)
            assert sender.flush(10)
    assert [record.getMessage() for record in caplog.records] == [
        f"record: opentelemetry needs opentelemetry.sdk.trace. Install it: {install_command('otel')}"
    ]


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1/"}, Telemetry("http://a:1/v1/traces")),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://b/t"},
            Telemetry("https://b/t"),
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_HEADERS": "x=1, y = 2=3,"},
            Telemetry("http://a/v1/traces", (("x", "1"), ("y", "2=3"))),
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_TRACES_EXPORTER": "none"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "file:///etc/passwd"}, None),
    ],
)
def test_the_standard_variables(env: dict[str, str], expected: Telemetry | None) -> None:
    assert telemetry_of_environment(env) == expected


AGENT = """
import hookline
with hookline.session(config="hookline.yaml") as session:
    session.guard(lambda command: "", name="bash")(command="ls")
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "HOME": str(home), **more}


def test_a_python_program_follows_its_own_environment(receiver: Receiver, tmp_path: Path) -> None:
    """It ends at once, and what it decided is sent nevertheless."""
    (tmp_path / "hookline.yaml").write_text(HOOKS)
    env = environment(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url)
    argv = [sys.executable, "-c", AGENT]
    subprocess.run(argv, cwd=tmp_path, env=env, check=True, timeout=60)
    names = {span.name for span in receiver.wait(4)}
    assert {"hookline session.start", "hookline tool.before bash", "hookline tool.after bash"} <= names


def test_a_python_program_ends_soon_without_a_collector(tmp_path: Path) -> None:
    """Nothing listens there: it is not asked again and again at the end."""
    (tmp_path / "hookline.yaml").write_text(HOOKS)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        env = environment(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{unused.getsockname()[1]}")
        subprocess.run([sys.executable, "-c", AGENT], cwd=tmp_path, env=env, check=True, timeout=60)


@pytest.fixture
def short_home() -> Iterator[Path]:
    """An engine's socket needs a short path: those of tests are often too long, and each call would decide by itself."""
    with tempfile.TemporaryDirectory(prefix="hl") as home:
        yield Path(home)


@pytest.fixture
def other() -> Iterator[Receiver]:
    started = Receiver()
    yield started
    started.server.shutdown()
    started.server.server_close()


def own_file(home: Path, receiver: Receiver) -> None:
    own = home / ".config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"record: {{opentelemetry: {{endpoint: '{receiver.url}', headers: {{x-key: k1}}}}}}\n{HOOKS}\n")


def test_a_call_that_no_engine_answers_is_sent(receiver: Receiver, tmp_path: Path) -> None:
    """The agent has its answer before the SDK is imported, and does not wait for it."""
    own_file(tmp_path, receiver)
    payload = json.dumps(
        {"session_id": "s9", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": "rm"}}
    )
    argv = [sys.executable, "-m", "hookline", "bridge", "--direct", "claude-code", "PreToolUse"]
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path, text=True
    )
    assert "deny" in process.communicate(payload, timeout=60)[0]
    (span,) = receiver.wait(1)
    assert attributes(span)["gen_ai.conversation.id"] == "s9"
    ((headers, request),) = receiver.requests
    assert headers["x-key"] == "k1"
    resource = {each.key: each.value for each in request.resource_spans[0].resource.attributes}
    assert resource["process.pid"].int_value == process.pid


def test_a_proxy_that_ends_at_once_is_sent(receiver: Receiver, tmp_path: Path) -> None:
    """Each span once, whether or not the SDK was imported in time."""
    own_file(tmp_path, receiver)
    argv = [sys.executable, "-m", "hookline", "mcp", "--name", "s", "--", "true"]
    subprocess.run(argv, input="", env=environment(tmp_path), cwd=tmp_path, text=True, timeout=60)
    receiver.wait(1)
    with (tmp_path / "record.txt").open("wb") as file:
        argv = [sys.executable, "-m", "hookline", "log", "--json"]
        subprocess.run(argv, env=environment(tmp_path), cwd=tmp_path, stdout=file, check=True, timeout=60)
    ids = [json.loads(line)["id"] for line in (tmp_path / "record.txt").read_text().splitlines()]
    assert sorted(attributes(span)["hookline.record"] for span in receiver.wait(len(ids))) == sorted(ids)


@contextmanager
def engine(home: Path, env: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", "hookline", "serve"], env=env, cwd=home)
    socket_file = home / ".local/state/hookline/run/engine.sock"
    deadline = time.monotonic() + 60
    while not socket_file.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.slow
def test_the_environment_of_a_coding_agent_sends_nothing_anywhere(
    receiver: Receiver, other: Receiver, short_home: Path
) -> None:
    """A project may set variables for the hooks of its agent: neither a collector nor a proxy of it is used."""
    own_file(short_home, receiver)
    hostile = dict.fromkeys(("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), other.url)
    hostile |= dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), other.url)
    hostile |= {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_HEADERS": "x-evil=1"}
    env = environment(short_home, **hostile)
    call = {"tool_name": "Bash", "tool_input": {"command": "rm x"}}
    payload = json.dumps({"session_id": "s9", "cwd": str(short_home), **call})
    argv = [sys.executable, "-m", "hookline", "bridge", "claude-code", "PreToolUse"]
    with engine(short_home, env):
        for _ in range(6):  # if the engine is slow to answer, the client decides itself, and ends before it could send
            subprocess.run(argv, input=payload, env=env, cwd=short_home, text=True, capture_output=True, timeout=300)
            if receiver.has_spans(1, seconds=10):
                break
        span, *_ = receiver.wait(1)
    assert attributes(span)["gen_ai.conversation.id"] == "s9"
    headers = {name.lower() for name in receiver.requests[0][0]}
    assert "x-key" in headers
    assert "x-evil" not in headers
    assert not other.requests
