"""The four streaming APIs in which coding agents talk to a model: what a request tells, and how an answer is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]

SHELLS = {
    "Bash": "command",  # Claude Code
    "exec_command": "cmd",  # Codex
    "shell_command": "command",  # Codex, for other models
    "run_shell_command": "command",  # Gemini CLI, Qwen Code
    "bash": "command",  # Copilot CLI, opencode
}
_BESIDE = {"description": "as the script says", "is_background": False}


@dataclass(frozen=True)
class Call:
    """A call of the agent's shell tool, in the agent's own words."""

    id: str
    tool: str
    input: Json


class Api(Protocol):
    def tools(self, request: Json) -> Mapping[str, Json]:
        """The tools that the agent offers: name → JSON Schema of the input."""

    def results(self, request: Json) -> list[Any]:
        """What the tools answered so far, as the model is told it, in order."""

    def call(self, call: Call) -> Iterator[Json]:
        """The streamed answer that calls a tool."""

    def say(self, text: str) -> Iterator[Json]:
        """The streamed answer that is only text."""


def shell_call(offered: Mapping[str, Json], number: int, command: str) -> Call | None:
    """None where no shell is offered: the agent asks for a title or the like."""
    for tool, field in SHELLS.items():
        if tool in offered:
            known = offered[tool].get("properties", {})
            beside = {key: value for key, value in _BESIDE.items() if key in known}
            return Call(f"call_{number}", tool, {field: command, **beside})
    return None


class Anthropic:
    def tools(self, request: Json) -> Mapping[str, Json]:
        return {tool["name"]: tool.get("input_schema", {}) for tool in request.get("tools", ())}

    def results(self, request: Json) -> list[Any]:
        parts = (part for message in request["messages"] for part in _parts(message["content"]))
        return [part.get("content") for part in parts if part.get("type") == "tool_result"]

    def call(self, call: Call) -> Iterator[Json]:
        block = {"type": "tool_use", "id": call.id, "name": call.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.input)}
        return self._message(block, delta, "tool_use")

    def say(self, text: str) -> Iterator[Json]:
        return self._message({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")

    def _message(self, block: Json, delta: Json, ended: str) -> Iterator[Json]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        empty = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
        yield {"type": "message_start", "message": {**empty, "stop_reason": None, "usage": usage}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": ended, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}


class OpenAIResponses:
    def tools(self, request: Json) -> Mapping[str, Json]:
        return {tool["name"]: tool.get("parameters", {}) for tool in request.get("tools", ()) if "name" in tool}

    def results(self, request: Json) -> list[Any]:
        return [item["output"] for item in _parts(request["input"]) if item.get("type") == "function_call_output"]

    def call(self, call: Call) -> Iterator[Json]:
        item = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, "status": "completed"}
        return self._response({**item, "name": call.tool, "arguments": json.dumps(call.input)})

    def say(self, text: str) -> Iterator[Json]:
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


class OpenAIChat:
    def tools(self, request: Json) -> Mapping[str, Json]:
        functions = (tool["function"] for tool in request.get("tools", ()) if tool.get("type") == "function")
        return {function["name"]: function.get("parameters", {}) for function in functions}

    def results(self, request: Json) -> list[Any]:
        return [message["content"] for message in request["messages"] if message["role"] == "tool"]

    def call(self, call: Call) -> Iterator[Json]:
        function = {"name": call.tool, "arguments": json.dumps(call.input)}
        return self._chunks(
            {"tool_calls": [{"index": 0, "id": call.id, "type": "function", "function": function}]}, "tool_calls"
        )

    def say(self, text: str) -> Iterator[Json]:
        return self._chunks({"content": text}, "stop")

    def _chunks(self, delta: Json, ended: str) -> Iterator[Json]:
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        begun = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}
        yield {**chunk, "choices": [begun]}
        yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": ended}], "usage": usage}


class Gemini:
    def tools(self, request: Json) -> Mapping[str, Json]:
        declared = (one for tool in request.get("tools", ()) for one in tool.get("functionDeclarations", ()))
        return {one["name"]: one.get("parametersJsonSchema", one.get("parameters", {})) for one in declared}

    def results(self, request: Json) -> list[Any]:
        parts = (part for content in request["contents"] for part in content.get("parts", ()))
        return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]

    def call(self, call: Call) -> Iterator[Json]:
        return self._candidate({"functionCall": {"id": call.id, "name": call.tool, "args": call.input}})

    def say(self, text: str) -> Iterator[Json]:
        return self._candidate({"text": text})

    def _candidate(self, part: Json) -> Iterator[Json]:
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def _parts(content: Any) -> list[Json]:
    """Content is one text or a list of parts."""
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
