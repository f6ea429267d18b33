from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from hookline.hosts.doctor.fake_model import FINAL_TEXT, ModelServer

pytestmark = pytest.mark.slow


ANTHROPIC = (
    "/v1/messages",
    {"messages": [], "tools": [{"name": "Bash", "input_schema": {"properties": {"command": {}}}}]},
)
RESPONSES = ("/v1/responses", {"input": [], "tools": [{"type": "function", "name": "exec_command", "parameters": {}}]})
CHAT = (
    "/v1/chat/completions",
    {"messages": [], "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}]},
)
GEMINI = (
    "/v1beta/models/any:streamGenerateContent?alt=sse",
    {"contents": [], "tools": [{"functionDeclarations": [{"name": "run_shell_command", "parameters": {}}]}]},
)
RESULTS: dict[str, dict[str, Any]] = {
    ANTHROPIC[0]: {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": "done"}]}]},
    RESPONSES[0]: {"input": [{"type": "function_call_output", "call_id": "call_0", "output": "done"}]},
    CHAT[0]: {"messages": [{"role": "tool", "content": "done"}]},
    GEMINI[0]: {"contents": [{"parts": [{"functionResponse": {"name": "x", "response": "done"}}]}]},
}


def post(model: ModelServer, path: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(model.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read(), "utf-8")


@pytest.mark.parametrize(("path", "body"), [ANTHROPIC, RESPONSES, CHAT, GEMINI], ids=lambda value: str(value)[:20])
def test_the_script_ends_after_the_last_result(path: str, body: dict[str, Any]) -> None:
    with ModelServer(["echo one"]) as model:
        called = post(model, path, body)
        ended = post(model, path, {**body, **RESULTS[path]})
    assert "echo one" in called
    assert FINAL_TEXT not in called
    assert FINAL_TEXT in ended
    assert [asked.results for asked in model.requests] == [[], ["done"]]


def test_a_request_without_a_shell_is_not_part_of_the_script() -> None:
    with ModelServer(["echo one"]) as model:
        assert "echo one" not in post(model, ANTHROPIC[0], {"messages": []})
    assert model.requests == []


def test_an_unknown_path_is_not_found() -> None:
    with ModelServer([]) as model, pytest.raises(urllib.error.HTTPError, match="404") as refused:
        post(model, "/telemetry", {})
    refused.value.close()
    assert model.unknown == ["POST /telemetry"]
