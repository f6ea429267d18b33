"""Sends decisions to an OpenTelemetry collector: one span for each, over OTLP and HTTP.

A decision waits for nothing here: it is put into a queue of limited length, and a thread sends what is in it. The thread also
imports the SDK, which takes longer than a thousand decisions. A process that ends sooner, and for whose end an agent waits,
leaves its spans to another process. The environment of this process is not read, and no proxy of it is used: an agent may have
set it, and the user's own file says where spans go.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any, Final, cast

from hookline.hooks.record_settings import Telemetry
from hookline.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

_MAX_WAITING: Final = 2048
_MAX_BATCH: Final = 512
_BATCH_SECONDS: Final = 1.0
_TIMEOUT_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = (1.0, 5.0)
_EXIT_SECONDS: Final = 1.0  # for which an agent may have to wait
_OWN_EXIT_SECONDS: Final = 10.0  # of a program that is the user's own; importing the SDK takes most of it
_SAMPLED: Final = 1
_CHILD_CODE: Final = (
    "import json, sys; given = json.load(sys.stdin); sys.path[:] = given.pop('path'); "
    "from hookline.record.telemetry import send_spans; send_spans(**given)"
)

# GenAI semantic conventions, where they have a name; ours for the rest.
_ATTRIBUTES: Final = {
    "tool": "gen_ai.tool.name",
    "call": "gen_ai.tool.call.id",
    "session": "gen_ai.conversation.id",
    "agent": "gen_ai.agent.id",
    "user": "user.name",
    **{key: f"hookline.{key}" for key in ("event", "host", "thread", "caller", "verdict", "reason", "hook")},
    **{key: f"hookline.{key}" for key in ("file", "line", "dialect", "halt", "hooks", "record")},
}

_log = logging.getLogger("hookline")


@dataclass(frozen=True, slots=True)
class DecisionSpan:
    """One decision, as it waits to be sent."""

    entry: Mapping[str, Any]  # its record, without facts
    began: int  # nanoseconds since 1970
    ended: int
    parent: tuple[int, int] | None  # the trace and span in which the host's own code runs

    @property
    def name(self) -> str:
        return f"hookline {self.entry['event']} {self.entry.get('tool', '')}".rstrip()

    @property
    def attributes(self) -> dict[str, Any]:
        found = {name: self.entry[key] for key, name in _ATTRIBUTES.items() if key in self.entry}
        if self.entry["event"].startswith("tool."):
            found["gen_ai.operation.name"] = "execute_tool"
        if "failures" in self.entry:
            found["hookline.failures"] = [f"{each['hook']}: {each['kind']}" for each in self.entry["failures"]]
        return found

    @property
    def trace(self) -> int:
        """The decisions of one session are in one trace, unless the host's own code has one."""
        if self.parent is not None:
            return self.parent[0]
        session = str(self.entry.get("session", "")) or os.urandom(8).hex()
        return int.from_bytes(hashlib.sha256(session.encode("utf-8", "replace")).digest()[:16], "big") or 1


class TelemetrySender:
    """Sends to one collector. What does not fit into its queue is dropped, and counted."""

    def __init__(self, telemetry: Telemetry, post: Callable[[Telemetry, bytes], bool] | None = None) -> None:
        self._telemetry = telemetry
        self._post = post or post_spans
        self._waiting: deque[DecisionSpan] = deque(maxlen=_MAX_WAITING)
        self._something, self._idle, self._hurry = threading.Event(), threading.Event(), threading.Event()
        self._idle.set()
        self._is_installed = True
        self._is_imported = False
        self._pid = 0
        self._lock = threading.Lock()
        self._exit_seconds = 0.0
        self.dropped = 0

    def wait_at_exit(self) -> None:
        """A program of the user's own ends once its decisions are sent, also if it is a short one."""
        if not self._exit_seconds:
            self._exit_seconds = _OWN_EXIT_SECONDS
            atexit.register(lambda: self.flush(_OWN_EXIT_SECONDS))

    def send(self, entry: Mapping[str, Any], seconds: float) -> None:
        """Later, by the thread."""
        if not self._is_installed:
            return
        now = time.time_ns()
        if self._pid != os.getpid():  # the first one, or a fork: threads stay with the parent
            self._start()
        if len(self._waiting) == _MAX_WAITING:
            self.dropped += 1
        self._idle.clear()
        self._waiting.append(DecisionSpan(entry, now - int(seconds * 1e9), now, _current_span()))
        self._something.set()

    def flush(self, seconds: float) -> bool:
        """Waits until everything is sent, or the time is over."""
        self._hurry.set()
        self._something.set()
        is_nobodys = self._pid != os.getpid()  # after a fork, the thread is the parent's
        is_sent = is_nobodys or not self._is_installed or self._idle.wait(seconds)
        self._hurry.clear()
        return is_sent

    def finish(self) -> None:
        """Waits shortly for what is being sent. Another process sends the rest: no agent waits for it."""
        if self._pid != os.getpid() or not self._is_installed:
            return
        if not self._is_imported:
            self._hand_over()
        if self._is_imported and not self.flush(_EXIT_SECONDS):
            self._hand_over()

    def _hand_over(self) -> None:
        spans = []
        with suppress(IndexError):  # the thread may take some of them
            while True:
                spans.append(self._waiting.popleft())
        try:
            if spans:
                _start_sender(self._telemetry, spans)
        except Exception:  # as in the thread
            self.dropped += len(spans)
            _log.debug("decisions could not be sent", exc_info=True)

    def _start(self) -> None:
        with self._lock:
            if self._pid == os.getpid():
                return
            self._pid = os.getpid()
            self._is_imported = False
            self._waiting.clear()
            self._something, self._idle, self._hurry = threading.Event(), threading.Event(), threading.Event()
            if not self._exit_seconds:
                atexit.register(self.finish)
            threading.Thread(target=self._run, name="hookline-telemetry", daemon=True).start()

    def _run(self) -> None:
        try:
            import opentelemetry.exporter.otlp.proto.common.trace_encoder
            import opentelemetry.sdk.trace  # noqa: F401
        except ModuleNotFoundError as error:
            from hookline.extras import install_command

            _log.warning("record: opentelemetry needs %s. Install it: %s", error.name, install_command("otel"))
            self._is_installed = False
            self._waiting.clear()
            self._idle.set()
            return
        self._is_imported = True
        while True:
            self._something.wait()
            self._something.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MAX_BATCH))]
                self._send_batch(batch)
            self._idle.set()
            if self._waiting:  # it came in between
                self._idle.clear()
            self._hurry.wait(_BATCH_SECONDS)  # so that many decisions go in one request

    def _send_batch(self, batch: Sequence[DecisionSpan]) -> None:
        try:
            data = encode_batch(batch, os.getpid())
            for pause in (*_RETRY_SECONDS, 0.0):
                if self._post(self._telemetry, data):
                    return
                self._hurry.wait(pause)
            self.dropped += len(batch)
            _log.debug("%d decisions could not be sent to %s", len(batch), self._telemetry.endpoint)
        except Exception:  # a bug in the SDK ends one batch, not the thread
            self.dropped += len(batch)
            _log.debug("decisions could not be sent", exc_info=True)


def _start_sender(telemetry: Telemetry, spans: Iterable[DecisionSpan]) -> None:
    """A process that sends these. It has nothing to do with our terminal, pipes and process group. Raises OSError."""
    given = {
        "path": [path for path in sys.path if path],
        "telemetry": [telemetry.endpoint, telemetry.headers],
        "spans": [[dict(each.entry), each.began, each.ended, each.parent] for each in spans],
        "pid": os.getpid(),
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _CHILD_CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    with cast(IO[bytes], process.stdin) as pipe:
        pipe.write(json.dumps(given).encode())


def send_spans(telemetry: tuple[str, Sequence[Sequence[str]]], spans: Sequence[Sequence[Any]], pid: int) -> None:
    """In a process of its own: what an ended process, with this id, left."""
    endpoint, headers = telemetry
    to = Telemetry(endpoint, tuple((name, value) for name, value in headers))
    batch = [DecisionSpan(entry, began, ended, parent and tuple(parent)) for entry, began, ended, parent in spans]
    data = encode_batch(batch, pid)
    for pause in (*_RETRY_SECONDS, 0.0):
        if post_spans(to, data):
            return
        time.sleep(pause)


def finish_sending() -> None:
    """Before a process ends without Python's own end."""
    for sender in _senders.values():
        sender.finish()


def encode_batch(batch: Sequence[DecisionSpan], pid: int) -> bytes:
    """An OTLP request, in protobuf, of decisions of this process."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    data: bytes = encode_spans([_readable_span(each, pid) for each in batch]).SerializeToString()
    return data


def _readable_span(span: DecisionSpan, pid: int) -> ReadableSpan:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    trace, flags = span.trace, TraceFlags(_SAMPLED)
    resource, scope = _describe_process(pid)
    return ReadableSpan(
        span.name,
        SpanContext(trace, random.getrandbits(64) or 1, False, flags),
        None if span.parent is None else SpanContext(trace, span.parent[1], True, flags),
        resource,
        span.attributes,
        kind=SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR if "failures" in span.entry else StatusCode.UNSET),
        start_time=span.began,
        end_time=span.ended,
        instrumentation_scope=scope,
    )


@cache
def _describe_process(pid: int) -> tuple[Resource, InstrumentationScope]:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    about: dict[str, Any] = {"service.name": "hookline", "host.name": os.uname().nodename, "process.pid": pid}
    return Resource({**about, "service.version": version("hookline")}), InstrumentationScope(
        "hookline", version("hookline")
    )


def post_spans(telemetry: Telemetry, data: bytes) -> bool:
    """False if it may be tried again."""
    import httpx2 as http

    headers = {"content-type": "application/x-protobuf", **dict(telemetry.headers)}
    try:
        with http.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=False, trust_env=False) as client:
            answer = client.post(telemetry.endpoint, content=data, headers=headers)
    except http.HTTPError as error:
        _log.debug("%s could not be reached: %s", telemetry.endpoint, error)
        return False
    if answer.status_code >= 400:
        _log.debug("%s answered %d", telemetry.endpoint, answer.status_code)
    return answer.status_code not in (429, 502, 503, 504)


def telemetry_of_environment(env: Mapping[str, str]) -> Telemetry | None:
    """What the standard variables say, for a host whose environment is the user's own."""
    if env.get("OTEL_SDK_DISABLED", "").lower() == "true" or env.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    endpoint = env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    if not endpoint and (base := env.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")):
        endpoint = f"{base.rstrip('/')}/v1/traces"
    if not endpoint.startswith(("http://", "https://")):
        return None
    given = env.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or env.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = (each.partition("=") for each in given.split(",") if "=" in each)
    return Telemetry(endpoint, tuple((name.strip(), value.strip()) for name, _, value in pairs))


def _current_span() -> tuple[int, int] | None:
    """The trace and span of the host's own code, if it uses OpenTelemetry."""
    # Another thread may be just importing it: then the module is there, but not all that is in it.
    get_current_span = getattr(sys.modules.get("opentelemetry.trace"), "get_current_span", None)
    if get_current_span is None:
        return None
    context = get_current_span().get_span_context()
    return (context.trace_id, context.span_id) if context.is_valid else None


_senders: Final[dict[Telemetry, TelemetrySender]] = {}


def sender_for(telemetry: Telemetry) -> TelemetrySender:
    sender = _senders.get(telemetry)
    return sender or _senders.setdefault(telemetry, TelemetrySender(telemetry))
