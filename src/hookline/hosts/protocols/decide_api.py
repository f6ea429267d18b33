"""`POST /decide`: a canonical event in, a decision out, for programs in any language."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NoReturn

from hookline.engine.decision import Decision
from hookline.errors import InvalidEvent
from hookline.formatting import printable, shorten
from hookline.hooks.events import EVENTS, canonical_event
from hookline.hooks.tools import KINDS_WITH_INPUT, tool_kind
from hookline.hosts.protocols.http_endpoint import BadRequestError, HttpResponse, Route
from hookline.hosts.protocols.local_decider import DecideRequest, LocalDecider

API_VERSION: Final = 1
_MAX_NAME: Final = 256  # characters of a host's or session's name
_MAX_TIMEOUT: Final = 3600.0  # seconds
_KEYS: Final = ("version", "event", "facts", "host", "session", "cwd", "timeout")


def decide_routes(decider: LocalDecider) -> dict[tuple[str, str], Route]:
    async def decide(body: bytes) -> HttpResponse:
        request = parse_decide_request(body)
        try:
            return HttpResponse(decision_json(await decider.decide(request)))
        except InvalidEvent as error:
            raise BadRequestError(f"facts: {error}", HTTPStatus.UNPROCESSABLE_ENTITY) from None
        except TimeoutError:
            raise BadRequestError("the hooks did not answer in time", HTTPStatus.GATEWAY_TIMEOUT) from None

    async def describe(body: bytes) -> HttpResponse:
        return HttpResponse(openapi_document())

    return {("POST", "/decide"): decide, ("GET", "/openapi.json"): describe}


def decision_json(decision: Decision) -> dict[str, Any]:
    """The decision as `fire --json` prints it, with the reason as people and agents read it."""
    failures = [{"hook": each.hook, "kind": str(each.kind), "text": each.text} for each in decision.failures]
    return {
        "version": API_VERSION,
        **decision.as_json(),
        "reason": decision.full_reason,
        "failures": failures,
    }


def parse_decide_request(body: bytes) -> DecideRequest:
    """Raises BadRequestError. An unknown key is an error: it may be a misspelt fact."""
    given = parse_json_object(body)
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise BadRequestError(f"unknown key {shorten(printable(unknown[0]))!r}; known: {', '.join(_KEYS)}")
    if given.get("version", API_VERSION) != API_VERSION:
        raise BadRequestError(f"version: this engine speaks version {API_VERSION}")
    event = canonical_event(_read_name(given, "event", ""))
    if event is None:
        raise BadRequestError(f"event: write one of {', '.join(EVENTS)}")
    facts = given.get("facts", {})
    if not isinstance(facts, dict):
        raise BadRequestError("facts: expected an object")
    if event == "tool.before":
        _check_input(facts.get("tool"))
    session = _read_name(given, "session", "") or None
    host = _read_name(given, "host", "local-api")
    return DecideRequest(event, facts, host, _read_directory(given), session, _read_timeout(given))


def _check_input(tool: Any) -> None:
    """Under a misspelt key, hooks would not see what the tool is called with. Other tools may have no input."""
    if isinstance(tool, dict) and "input" not in tool and tool_kind(tool) in KINDS_WITH_INPUT:
        text = 'facts: tool.input is missing. Write {"tool": {"name": "bash", "input": {"command": "ls"}}}'
        raise BadRequestError(text, HTTPStatus.UNPROCESSABLE_ENTITY)


def parse_json_object(body: bytes) -> dict[str, Any]:
    """Refuses what two readers could understand differently: a key twice, NaN. Raises BadRequestError."""
    try:
        given = json.loads(body.decode("utf-8"), parse_constant=_reject_constant, object_pairs_hook=_reject_duplicates)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"the body is not valid JSON: {shorten(printable(str(error)))}") from None
    if not isinstance(given, dict):
        raise BadRequestError("the body is not a JSON object")
    return given


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(pairs)
    if len(parsed) < len(pairs):
        raise ValueError("a key appears twice in one object")
    return parsed


def _read_name(given: Mapping[str, Any], key: str, default: str) -> str:
    value = given.get(key)
    if value is None:
        return default
    if not isinstance(value, str) or not value or len(value) > _MAX_NAME:
        raise BadRequestError(f"{key}: expected text of at most {_MAX_NAME} characters")
    return value


def _read_directory(given: Mapping[str, Any]) -> Path:
    value = given.get("cwd")
    if not isinstance(value, str) or "\0" in value or not os.path.isabs(value):
        raise BadRequestError("cwd: write the absolute path of the directory in which the agent works")
    if not os.path.isdir(value):
        raise BadRequestError("cwd: there is no such directory")
    return Path(value)


def _read_timeout(given: Mapping[str, Any]) -> timedelta:
    value = given.get("timeout", 60)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadRequestError("timeout: expected a number of seconds")
    if not 0 < value <= _MAX_TIMEOUT:
        raise BadRequestError(f"timeout: expected seconds between 0 and {_MAX_TIMEOUT:.0f}")
    return timedelta(seconds=value)


def openapi_document() -> dict[str, Any]:
    """The API in OpenAPI 3.1. The events and their facts come from the table of events."""
    text = {"type": "string"}
    error = {"description": "No decision: treat it as a deny.", "content": _json_content(_object(error=text))}
    return {
        "openapi": "3.1.0",
        "info": {"title": "hookline's local API", "version": str(API_VERSION)},
        "paths": {
            "/decide": {
                "post": {
                    "summary": "Ask the hooks about one event.",
                    "requestBody": {"required": True, "content": _json_content(_request_schema())},
                    "responses": {
                        "200": {"description": "The decision.", "content": _json_content(_decision_schema())},
                        "default": error,
                    },
                }
            }
        },
    }


def _request_schema() -> dict[str, Any]:
    facts = {name: sorted(kind.facts) for name, kind in EVENTS.items()}
    schema = _object(
        version={"const": API_VERSION},
        event={"enum": list(EVENTS), "description": "What is about to happen, or just did."},
        facts={"type": "object", "description": "The facts of the event.", "x-facts": facts},
        host={"type": "string", "description": "The name of your program, for hooks and for the record."},
        session={"type": "string", "description": "Links the events of one session: limits count per session."},
        cwd={"type": "string", "description": "The absolute path of the directory in which the agent works."},
        timeout={"type": "number", "description": "Seconds for all hooks together.", "default": 60},
    )
    return {**schema, "required": ["event", "cwd"], "additionalProperties": False}


def _decision_schema() -> dict[str, Any]:
    text = {"type": "string"}
    note = _object(**{"for": {"enum": ["agent", "user"]}, "text": text})
    return _object(
        version={"const": API_VERSION},
        event=text,
        verdict={"enum": ["silent", "allow", "ask", "deny"], "description": "Run the tool unless it is deny or ask."},
        reason={"type": "string", "description": "For the agent and the person."},
        by={"type": ["string", "null"], "description": "The id of the hook that decided."},
        halt={"type": "boolean", "description": "Stop the agent."},
        facts={"type": "object", "description": "As the hooks left them: run the tool with facts.tool.input."},
        notes={"type": "array", "items": note},
        failures={"type": "array", "items": _object(hook=text, kind=text, text=text)},
        trace={"type": "array", "items": {"type": "object"}},
    )


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _json_content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
