"""A fake model on the loopback interface: it calls the shell with one scripted command after another, then ends.

It speaks the four streaming APIs that coding agents use. A request contains the results so far, and they determine
the next command, so an agent may repeat a request or send others in between.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Protocol, Self
from urllib.parse import urlsplit

from hookline.lazy_dataclasses import dataclass

Json = dict[str, Any]

SHELL_TOOLS = {
    "Bash": "command",  # Claude Code, Kimi Code
    "exec_command": "cmd",  # Codex
    "shell_command": "command",  # Codex, for other models
    "run_shell_command": "command",  # Gemini CLI, Qwen Code
    "bash": "command",  # Copilot CLI, opencode, Kilo, Pi
    "run_commands": "commands",  # Cline
    "run_terminal_command": "command",  # Grok Build
    "Execute": "command",  # Factory Droid
    "execute": "command",  # deepagents-code
    "terminal": "command",  # Hermes
    "exec": "command",  # OpenClaw
}
_DESCRIPTION = "as the script says"
_SAMPLES = {"string": _DESCRIPTION, "boolean": False, "integer": 30, "number": 30}


@dataclass(frozen=True)
class ShellCall:
    """A call of the agent's own shell tool."""

    id: str
    tool: str
    input: Json


class ModelApi(Protocol):
    def tools(self, request: Json) -> Mapping[str, Json]:
        """The tools in the request: name → JSON Schema of the input."""

    def results(self, request: Json) -> list[Any]:
        """The results of the tool calls so far, in order."""

    def stream_call(self, call: ShellCall) -> Iterator[Json]:
        """The streamed answer that calls a tool."""

    def stream_text(self, text: str) -> Iterator[Json]:
        """The streamed answer that is only text."""


def shell_call(offered: Mapping[str, Json], number: int, command: str) -> ShellCall | None:
    """None if the request offers no shell, for example because the agent asks for a title."""
    for tool, field in SHELL_TOOLS.items():
        if tool in offered:
            known = offered[tool].get("properties", {})
            wanted = (
                *offered[tool].get("required", ()),
                *(key for key in ("description", "is_background") if key in known),
            )
            extra = {key: _sample_value(known.get(key, {})) for key in wanted if key != field}
            value = [command] if known.get(field, {}).get("type") == "array" else command
            return ShellCall(f"call_{number}", tool, {**extra, field: value})
    return None


def _sample_value(schema: Json) -> Any:
    """A value for a field that the tool requires and the script says nothing about."""
    allowed = schema.get("enum")
    return allowed[0] if allowed else _SAMPLES.get(str(schema.get("type")), _DESCRIPTION)


class AnthropicApi:
    def tools(self, request: Json) -> Mapping[str, Json]:
        return {tool["name"]: tool.get("input_schema", {}) for tool in request.get("tools", ())}

    def results(self, request: Json) -> list[Any]:
        parts = (part for message in request["messages"] for part in _content_parts(message["content"]))
        return [part.get("content") for part in parts if part.get("type") == "tool_result"]

    def stream_call(self, call: ShellCall) -> Iterator[Json]:
        block = {"type": "tool_use", "id": call.id, "name": call.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.input)}
        return self._message(block, delta, "tool_use")

    def stream_text(self, text: str) -> Iterator[Json]:
        return self._message({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")

    def _message(self, block: Json, delta: Json, stop_reason: str) -> Iterator[Json]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        empty = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
        yield {"type": "message_start", "message": {**empty, "stop_reason": None, "usage": usage}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}


class OpenAIResponsesApi:
    def tools(self, request: Json) -> Mapping[str, Json]:
        return {tool["name"]: tool.get("parameters", {}) for tool in request.get("tools", ()) if "name" in tool}

    def results(self, request: Json) -> list[Any]:
        return [
            item["output"] for item in _content_parts(request["input"]) if item.get("type") == "function_call_output"
        ]

    def stream_call(self, call: ShellCall) -> Iterator[Json]:
        item = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, "status": "completed"}
        return self._response({**item, "name": call.tool, "arguments": json.dumps(call.input)})

    def stream_text(self, text: str) -> Iterator[Json]:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return self._response({"type": "message", "id": "msg_1", "role": "assistant", "content": content})

    def _response(self, item: Json) -> Iterator[Json]:
        response = {"id": "resp_1", "object": "response", "model": "scripted", "output": []}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        }


class OpenAIChatApi:
    def tools(self, request: Json) -> Mapping[str, Json]:
        functions = (tool["function"] for tool in request.get("tools", ()) if tool.get("type") == "function")
        return {function["name"]: function.get("parameters", {}) for function in functions}

    def results(self, request: Json) -> list[Any]:
        return [message["content"] for message in request["messages"] if message["role"] == "tool"]

    def stream_call(self, call: ShellCall) -> Iterator[Json]:
        function = {"name": call.tool, "arguments": json.dumps(call.input)}
        return self._chunks(
            {"tool_calls": [{"index": 0, "id": call.id, "type": "function", "function": function}]}, "tool_calls"
        )

    def stream_text(self, text: str) -> Iterator[Json]:
        return self._chunks({"content": text}, "stop")

    def _chunks(self, delta: Json, finish_reason: str) -> Iterator[Json]:
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}
        yield {**chunk, "choices": [choice]}
        yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}], "usage": usage}


class GeminiApi:
    def tools(self, request: Json) -> Mapping[str, Json]:
        declared = (one for tool in request.get("tools", ()) for one in tool.get("functionDeclarations", ()))
        return {one["name"]: one.get("parametersJsonSchema", one.get("parameters", {})) for one in declared}

    def results(self, request: Json) -> list[Any]:
        parts = (part for content in request["contents"] for part in content.get("parts", ()))
        return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]

    def stream_call(self, call: ShellCall) -> Iterator[Json]:
        return self._candidate({"functionCall": {"id": call.id, "name": call.tool, "args": call.input}})

    def stream_text(self, text: str) -> Iterator[Json]:
        return self._candidate({"text": text})

    def _candidate(self, part: Json) -> Iterator[Json]:
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def _content_parts(content: Any) -> list[Json]:
    """The parts of a content that is a list; a plain text has none."""
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


FINAL_TEXT: Final = "The script is done."
_APIS: Final[dict[str, ModelApi]] = {
    "/messages": AnthropicApi(),
    "/responses": OpenAIResponsesApi(),
    "/chat/completions": OpenAIChatApi(),
    ":streamGenerateContent": GeminiApi(),
}


@dataclass(frozen=True)
class ReceivedRequest:
    """A request of the scripted conversation."""

    body: Json
    results: list[Any]

    @property
    def text(self) -> str:
        """All texts in the request."""
        return "\n".join(_all_texts(self.body))


class ModelServer:
    """Use it as `with ModelServer(commands) as model:`, and point an agent to `model.url`."""

    def __init__(self, commands: Sequence[str]) -> None:
        self.commands = commands
        self.requests: list[ReceivedRequest] = []
        self.unknown: list[str] = []  # requests to paths that are not a model's
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_RequestHandler, self))
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

    def answer(self, api: ModelApi, request: Json) -> Iterator[Json]:
        results, offered = api.results(request), api.tools(request)
        call = shell_call(offered, len(results), (*self.commands, "")[min(len(results), len(self.commands))])
        if call is None:
            return api.stream_text("A title")
        self.requests.append(ReceivedRequest(request, results))
        return api.stream_call(call) if len(results) < len(self.commands) else api.stream_text(FINAL_TEXT)


class _RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, model: ModelServer, *given: Any) -> None:
        self.model = model
        super().__init__(*given)

    def do_POST(self) -> None:
        body = json.loads(self._read_body() or b"{}")
        path = urlsplit(self.path).path
        api = next((api for ending, api in _APIS.items() if path.endswith(ending)), None)
        if api is None:
            self._send_not_found()
        else:
            self._stream(self.model.answer(api, body))

    def do_GET(self) -> None:
        self._send_not_found()

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send_not_found(self) -> None:
        self.model.unknown.append(f"{self.command} {self.path}")
        self._send(404, "application/json", b'{"error": {"type": "not_found_error", "message": "not here"}}')

    def _stream(self, events: Iterator[Json]) -> None:
        lines = []
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{name}data: {json.dumps(event)}\n\n")
        if urlsplit(self.path).path.endswith("/chat/completions"):
            lines.append("data: [DONE]\n\n")
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _all_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _all_texts(part)
