"""What `POST /decide` takes and answers."""

from __future__ import annotations

import asyncio
import json
import os
from http import HTTPStatus
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bridge_sandbox import GUARD, BridgeSandbox
from hookline.hooks.events import EVENTS
from hookline.hosts.bridge.hook_cache import LoadOnce
from hookline.hosts.protocols.decide_api import decide_routes, openapi_document, parse_decide_request
from hookline.hosts.protocols.http_endpoint import BadRequestError, HttpResponse
from hookline.hosts.protocols.local_decider import LocalDecider


def post(desk: BridgeSandbox, **request: Any) -> HttpResponse:
    environment = {os.fsencode(name): os.fsencode(value) for name, value in desk.environment.items()}
    route = decide_routes(LocalDecider(LoadOnce(), environment))["POST", "/decide"]

    async def ask() -> HttpResponse:
        return await route(json.dumps(request).encode())

    return asyncio.run(ask())


def operation() -> dict[str, Any]:
    described: dict[str, Any] = openapi_document()["paths"]["/decide"]["post"]
    return described


def test_a_decision_has_the_shape_that_the_openapi_document_describes(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    request = {
        "event": "tool.before",
        "cwd": str(desk.project),
        "session": "s",
        "facts": {"tool": {"name": "bash", "input": {"command": "rm x"}}},
    }
    jsonschema.validate(request, operation()["requestBody"]["content"]["application/json"]["schema"])
    answer = post(desk, **request)
    assert answer.status is HTTPStatus.OK
    jsonschema.validate(answer.body, operation()["responses"]["200"]["content"]["application/json"]["schema"])
    assert (answer.body["version"], answer.body["verdict"], answer.body["by"]) == (1, "deny", "no-rm")
    assert answer.body["reason"] == "Never. (hook no-rm, hookline.yaml:2)"


def test_a_dialect_s_name_of_an_event_is_understood(tmp_path: Path) -> None:
    body = json.dumps({"event": "PreToolUse", "cwd": str(tmp_path)}).encode()
    assert parse_decide_request(body).event == "tool.before"


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"event": "tool.befor"}, "event: write one of"),
        ({}, "event: write one of"),
        ({"event": "stop", "cwd": "relative"}, "cwd: write the absolute path"),
        ({"event": "stop"}, "cwd: write the absolute path"),
        ({"event": "stop", "cwd": "/nowhere/at/all"}, "cwd: there is no such directory"),
        ({"event": "stop", "facts": []}, "facts: expected an object"),
        ({"event": "stop", "fact": {}}, "unknown key 'fact'"),
        ({"event": "stop", "version": 2}, "this engine speaks version 1"),
        ({"event": "stop", "cwd": "/", "timeout": 0}, "timeout"),
        ({"event": "stop", "cwd": "/", "timeout": True}, "timeout"),
        ({"event": "stop", "cwd": "/", "session": 7}, "session: expected text"),
    ],
)
def test_a_wrong_request_is_told_what_to_write(request_: dict[str, Any], says: str) -> None:
    with pytest.raises(BadRequestError, match=says):
        parse_decide_request(json.dumps(request_).encode())


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"event": NaN}', b'{"cwd": "/", "cwd": "/tmp"}', b"\xff", b"[" * 9999]
)
def test_what_is_not_one_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequestError):
        parse_decide_request(body)


def test_malformed_facts_are_no_decision(desk: BridgeSandbox) -> None:
    with pytest.raises(BadRequestError, match="tool is text"):
        post(desk, event="tool.before", cwd=str(desk.project), facts={"tool": "bash"})


@pytest.mark.parametrize("facts", [{"name": "bash", "args": {"command": "rm x"}}, {"name": "Zap", "kind": "write"}])
def test_a_shell_or_file_tool_without_its_input_is_no_decision(desk: BridgeSandbox, facts: dict[str, Any]) -> None:
    desk.write_hooks(GUARD)
    with pytest.raises(BadRequestError, match=r"tool\.input is missing") as refused:
        post(desk, event="tool.before", cwd=str(desk.project), facts={"tool": facts})
    assert refused.value.status is HTTPStatus.UNPROCESSABLE_ENTITY
    other = post(desk, event="tool.before", cwd=str(desk.project), facts={"tool": {"name": "today"}})
    assert (other.status, other.body["verdict"]) == (HTTPStatus.OK, "silent")


def test_every_event_is_described() -> None:
    schema = operation()["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["event"]["enum"] == list(EVENTS)
    assert schema["properties"]["facts"]["x-facts"].keys() == EVENTS.keys()
