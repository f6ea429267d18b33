"""A model on the loopback interface that does what its script says: one shell command after the other, then a text.

Which command comes next is read from the request itself, which carries the results of those before, so an agent may
repeat a request or ask for other things in between.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import urlsplit

from hookline.hosts.doctor.model_apis import Anthropic, Api, Gemini, Json, OpenAIChat, OpenAIResponses, shell_call

FAREWELL: Final = "The script is done."
_APIS: Final[dict[str, Api]] = {
    "/messages": Anthropic(),
    "/responses": OpenAIResponses(),
    "/chat/completions": OpenAIChat(),
    ":streamGenerateContent": Gemini(),
}


@dataclass(frozen=True)
class Asked:
    """A request of the agent in the scripted conversation."""

    body: Json
    results: list[Any]

    @property
    def text(self) -> str:
        """Everything that the model is told."""
        return "\n".join(_texts(self.body))


class ModelServer:
    """`with ModelServer(commands) as model:` and an agent that is pointed to `model.url`."""

    def __init__(self, commands: Sequence[str]) -> None:
        self.commands = commands
        self.asked: list[Asked] = []
        self.unknown: list[str] = []  # requests that are no model's to answer
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Conversation, self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, api: Api, request: Json) -> Iterator[Json]:
        results, offered = api.results(request), api.tools(request)
        call = shell_call(offered, len(results), (*self.commands, "")[min(len(results), len(self.commands))])
        if call is None:
            return api.say("A title")
        self.asked.append(Asked(request, results))
        return api.call(call) if len(results) < len(self.commands) else api.say(FAREWELL)


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, model: ModelServer, *given: Any) -> None:
        self.model = model
        super().__init__(*given)

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        path = urlsplit(self.path).path
        api = next((api for ending, api in _APIS.items() if path.endswith(ending)), None)
        if api is None:
            self._refuse()
        else:
            self._stream(self.model.answer(api, body))

    def do_GET(self) -> None:
        self._refuse()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        read = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            read += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return read

    def _refuse(self) -> None:
        self.model.unknown.append(f"{self.command} {self.path}")
        self._send(404, "application/json", b'{"error": {"type": "not_found_error", "message": "not here"}}')

    def _stream(self, events: Iterator[Json]) -> None:
        lines = []
        for event in events:
            named = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{named}data: {json.dumps(event)}\n\n")
        if urlsplit(self.path).path.endswith("/chat/completions"):
            lines.append("data: [DONE]\n\n")
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: object) -> None:
        """Nothing: the tests read what was asked."""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
