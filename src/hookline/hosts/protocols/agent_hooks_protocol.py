"""A backend of the Agent Hooks Protocol: a harness asks `hooks/intercept`, the hooks answer with effects.

The protocol is a working draft. Two of its versions are spoken: `0.1`, in which a backend may only deny, and `draft`. A
decision is limited to the effects that the request advertises; what it cannot express becomes a deny.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict, is_withheld
from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent_event import Ability
from hookline.hosts.agents.merged_decision import MergedDecision, merge_for, replace_surrogates, value_text
from hookline.hosts.agents.payload import (
    Facts,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    mcp_tool_name,
    result_facts,
    tool_facts,
)
from hookline.hosts.protocols.decide_api import parse_json_object
from hookline.hosts.protocols.http_endpoint import BadRequestError, HttpResponse, Route
from hookline.hosts.protocols.local_decider import DecideRequest
from hookline.lazy_dataclasses import dataclass, replace

HOST_NAME: Final = "ahp"
VERSIONS: Final = ("draft", "0.1")
_INTERCEPTED: Final = {
    "session.start": "session.start",
    "turn.start": "prompt.submit",
    "user.message.inbound": "prompt.submit",
    "tool.before": "tool.before",
    "tool.permission.request": "approval.request",
    "tool.after": "tool.after",
    "context.compact.before": "history.compact",
    "turn.finish.before": "stop",
}
_OBSERVED: Final = {**_INTERCEPTED, "session.end": "session.end", "model.error": "model.error"}
_KINDS: Final = {
    "shell": ToolKind.SHELL,
    "file_read": ToolKind.READ,
    "file_write": ToolKind.WRITE,
    "file_edit": ToolKind.EDIT,
}
_HOOKS_TIMEOUT: Final = timedelta(seconds=30)  # the longest deadline that the protocol recommends to harnesses
_MAX_REMEMBERED: Final = 256  # answers, for requests that are sent again
_REMEMBERED_FOR: Final = 2 * _HOOKS_TIMEOUT  # later, other hooks may be in force

log = logging.getLogger("hookline")

Decide = Callable[[DecideRequest], Awaitable[Decision]]
JsonObject = dict[str, Any]


class _ErrorCode(IntEnum):
    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    UNSUPPORTED_PROTOCOL_VERSION = -32001
    UNSUPPORTED_EVENT = -32002
    BACKEND_INTERNAL_ERROR = -32004


class _RpcError(Exception):
    def __init__(self, code: _ErrorCode, text: str, data: JsonObject | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class _Question:
    """A request that can be decided: an event of the harness as one of ours, or one for each file of a patch."""

    name: str  # ours
    facts: tuple[Facts, ...]
    directory: Path
    session: str | None


class AgentHooksBackend:
    def __init__(self, decide: Decide, directory: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`directory` has the hooks for harnesses that do not say where they work."""
        self._decide = decide
        self._directory = directory
        self._clock = clock
        self._answered: OrderedDict[bytes, tuple[float, JsonObject]] = OrderedDict()  # (expires at, response)

    async def answer(self, message: bytes) -> JsonObject | None:
        """The response to one JSON-RPC message; None for a notification."""
        try:
            given = parse_json_object(message)
        except BadRequestError as error:
            return _error_response(None, _RpcError(_ErrorCode.PARSE_ERROR, str(error)))
        id = given.get("id")
        try:
            return await self._answer_request(given, id)
        except _RpcError as error:
            return _error_response(id, error) if "id" in given else None
        except Exception as error:  # a bug must reach the harness as a failure, never as "no effect"
            log.error("Agent Hooks Protocol: this is a bug in hookline", exc_info=error)
            text = f"hookline has a bug ({type(error).__name__})"
            return _error_response(id, _RpcError(_ErrorCode.BACKEND_INTERNAL_ERROR, text)) if "id" in given else None

    async def _answer_request(self, given: JsonObject, id: Any) -> JsonObject | None:
        params = _check_envelope(given)
        method = given["method"]
        if method == "hooks/observe":
            await self._observe(params)
            return None
        if "id" not in given:
            return None
        if method == "hooks/capabilities":
            return _success_response(id, params, manifest=_MANIFEST)
        if method == "hooks/configuration":
            return _success_response(id, params, configuration=_CONFIGURATION)
        if method != "hooks/intercept":
            raise _RpcError(_ErrorCode.METHOD_NOT_FOUND, f"unknown method {method!r}")
        return await self._intercept(params, id)

    async def _intercept(self, params: JsonObject, id: Any) -> JsonObject:
        event = _read_event(params)
        if event.get("id") != id:
            raise _RpcError(_ErrorCode.INVALID_PARAMS, "the request's id is not the event's id")
        key, now = _digest(params), self._clock()
        until, given = self._answered.get(key, (now, {}))
        if now < until:
            return given
        capabilities = first_mapping(params, "capabilities")
        if not isinstance(capabilities.get("effects"), list):
            raise _RpcError(_ErrorCode.INVALID_PARAMS, "capabilities.effects is missing")
        decided = await self._ask_hooks(_INTERCEPTED, event)
        effects = _effects_of(decided, capabilities, params["protocolVersion"]) if decided else []
        response = _success_response(id, params, effects=effects)
        self._answered[key] = (self._clock() + _REMEMBERED_FOR.total_seconds(), response)
        while len(self._answered) > _MAX_REMEMBERED:
            self._answered.popitem(last=False)
        return response

    async def _observe(self, params: JsonObject) -> None:
        try:
            await self._ask_hooks(_OBSERVED, _read_event(params))
        except (_RpcError, HooklineError, TimeoutError) as error:
            log.warning("an observed event was not understood: %s", error)

    async def _ask_hooks(self, known: Mapping[str, str], event: JsonObject) -> _Decided:
        question = self._read_question(known, event)
        decisions = []
        for facts in question.facts:
            request = DecideRequest(
                question.name, facts, HOST_NAME, question.directory, question.session, _HOOKS_TIMEOUT
            )
            try:
                decisions.append(await self._decide(request))
            except TimeoutError:
                raise _RpcError(_ErrorCode.BACKEND_INTERNAL_ERROR, "the hooks did not answer in time") from None
            except HooklineError as error:
                raise _RpcError(_ErrorCode.INVALID_PARAMS, str(error)) from None
        return _Decided(tuple(Event(question.name, dict(facts)) for facts in question.facts), tuple(decisions))

    def _read_question(self, known: Mapping[str, str], event: JsonObject) -> _Question:
        name = known.get(first_text(event, "type"))
        if name is None:
            raise _RpcError(_ErrorCode.UNSUPPORTED_EVENT, "unsupported event", {"supported": list(known)})
        session = first_mapping(event, "session")
        places = [session.get("cwd"), *_texts(session.get("workspaceRoots"))]
        directory = next((found for each in places if (found := _existing_directory(each))), self._directory)
        return _Question(name, tuple(_facts_of(name, event)), directory, first_text(session, "id") or None)


@dataclass(frozen=True, slots=True)
class _Decided:
    events: tuple[Event, ...]
    decisions: tuple[Decision, ...]


def _check_envelope(given: JsonObject) -> JsonObject:
    """The parameters of a message that is JSON-RPC 2.0 in a version that is spoken here."""
    if given.get("jsonrpc") != "2.0" or not isinstance(given.get("method"), str):
        raise _RpcError(_ErrorCode.INVALID_REQUEST, "not a JSON-RPC 2.0 request")
    if "id" in given and (isinstance(given["id"], bool) or not isinstance(given["id"], str | int)):
        raise _RpcError(_ErrorCode.INVALID_REQUEST, "id must be text or a number")
    params = given.get("params")
    if not isinstance(params, dict):
        raise _RpcError(_ErrorCode.INVALID_PARAMS, "params is not an object")
    if params.get("protocolVersion") not in VERSIONS:
        supported = {"supported": list(VERSIONS)}
        raise _RpcError(_ErrorCode.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported AHP protocol version", supported)
    return params


def _digest(params: JsonObject) -> bytes:
    """Names a request by all that it says: harnesses may count their events alike, and one may use an id again."""
    text = json.dumps(params, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).digest()


def _read_event(params: JsonObject) -> JsonObject:
    event = params.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("id"), str):
        raise _RpcError(_ErrorCode.INVALID_PARAMS, "params.event is not an event with an id")
    return event


def _facts_of(name: str, event: JsonObject) -> list[Facts]:
    session = first_mapping(event, "session")
    agent = known_facts(**{key: first_text(first_mapping(session, "agent"), key) for key in ("id",)})
    base = known_facts(agent=agent, session=known_facts(id=first_text(session, "id")))
    if name in ("tool.before", "tool.after", "approval.request"):
        more = _outcome_facts(event) if name == "tool.after" else {}
        approval: Facts = {"approval": {}} if name == "approval.request" else {}
        return [{**base, **approval, "tool": {**tool, **more}} for tool in _tool_facts(event)]
    match name:
        case "prompt.submit":
            messages = mapping_list(event, "items") or mapping_list(first_mapping(event, "message"), "messages")
            return [{**base, "prompt": _message_text(messages)}]
        case "stop":
            active = isinstance(count := event.get("continuationCount"), int) and count > 0
            return [{**base, "stop": {"reason": first_text(event, "outcome") or "end_turn", "active": active}}]
        case "session.end":
            ended = known_facts(id=first_text(session, "id"), reason=first_text(event, "reason"))
            return [{**base, "session": ended}]
        case "model.error":
            error = first_mapping(event, "error")
            return [{**base, "error": {"code": first_text(error, "class"), "message": first_text(error, "message")}}]
        case "history.compact":
            return [{**base, **known_facts(trigger=first_text(event, "trigger"))}]
    return [base]


def _tool_facts(event: JsonObject) -> list[Facts]:
    tool = first_mapping(event, "tool")
    name, input = first_text(tool, "name"), tool.get("input")
    if not name or not isinstance(input, dict):
        raise _RpcError(_ErrorCode.INVALID_PARAMS, "tool.name must be text and tool.input an object")
    id = first_text(first_mapping(event, "call"), "id") or first_text(tool, "callId")
    if tool.get("origin") == "mcp":
        descriptor = first_mapping(tool, "mcp")
        server = first_mapping(descriptor, "server")
        owner = first_text(descriptor, "server", "serverName") or first_text(server, "name", "id")
        name = name if name.startswith("mcp__") else mcp_tool_name(owner, name)
    kind = tool.get("kind")
    return tool_facts("", name, id, input, _KINDS.get(kind) if isinstance(kind, str) else None)


def _outcome_facts(event: JsonObject) -> Facts:
    text = _message_text(mapping_list(event, "items"))
    if event.get("outcome", "ok") == "ok":
        return result_facts(True, text)
    error = first_text(first_mapping(event, "error"), "message") or str(event.get("outcome"))
    return result_facts(False, text or None, error)


def _message_text(messages: Sequence[Mapping[str, Any]]) -> str:
    parts = [part for message in messages for part in mapping_list(message, "parts")]
    return "\n".join(text for part in parts if (text := first_text(part, "text")))


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _existing_directory(path: object) -> Path | None:
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        return None
    return Path(path) if Path(path).is_dir() else None


def _effects_of(decided: _Decided, capabilities: JsonObject, version: str) -> list[JsonObject]:
    """The decision as far as the harness can enforce it. Only advertised effects are used."""
    name = decided.events[0].name
    ability = _ability_of(name, capabilities, version)
    answer = merge_for(ability, decided.events, decided.decisions)
    if name in _NEEDS_DENY and not ability.deny and not answer.halt and _would_deny(decided, ability):
        raise _RpcError(_ErrorCode.BACKEND_INTERNAL_ERROR, "a hook denied this, and the request does not offer deny")
    if name == "tool.after" and not ability.change and _withholds(decided):
        if not ability.halt:
            raise _RpcError(_ErrorCode.BACKEND_INTERNAL_ERROR, "the result must be withheld, and it cannot be replaced")
        return [{"type": "flow", "operation": "stop", "reason": "A hook could not check this result."}]
    if answer.is_denied:
        return _denial_of(name, answer)
    return [*_verdict_effects(answer), *_change_effects(name, answer), *_text_effects(answer, capabilities)]


def _ability_of(name: str, capabilities: JsonObject, version: str) -> Ability:
    effects = set(_texts(capabilities.get("effects")))
    if version == "0.1":
        effects &= {"deny"}
    flow = set(_texts(first_mapping(capabilities, "flow").get("operations"))) if "flow" in effects else set()
    target = _TARGETS.get(name, "")
    can_change = "modify" in effects and first_mapping(first_mapping(capabilities, "modify"), target).get("replace")
    return Ability(
        deny="continue" in flow if name == "stop" else "deny" in effects,
        ask="ask" in effects,
        allow="allow" in effects,
        change=bool(target) and can_change is True,
        context="inject" in effects,
        halt="stop" in flow,
        user="message" in effects,
    )


_NEEDS_DENY: Final = ("tool.before", "prompt.submit", "approval.request", "history.compact")
"""At these events, an answer without effects lets the harness go on."""
_TARGETS: Final = {"tool.before": "input", "tool.after": "output", "prompt.submit": "prompt"}


def _would_deny(decided: _Decided, ability: Ability) -> bool:
    return merge_for(replace(ability, deny=True), decided.events, decided.decisions).is_denied


def _withholds(decided: _Decided) -> bool:
    return any(is_withheld(each.event.read(("tool", "result"))) for each in decided.decisions)


def _denial_of(name: str, answer: MergedDecision) -> list[JsonObject]:
    reason = replace_surrogates(answer.reason.strip()) or "Blocked by a hook"
    if name == "stop":
        return [{"type": "flow", "operation": "continue", "instruction": reason}]
    effects: list[JsonObject] = [{"type": "deny", "reason": reason}]
    if answer.halt:
        effects.append({"type": "flow", "operation": "stop", "reason": reason})
    return effects


def _verdict_effects(answer: MergedDecision) -> list[JsonObject]:
    reason = replace_surrogates(answer.reason.strip())
    if answer.halt:
        return [{"type": "flow", "operation": "stop", "reason": reason or "Stopped by a hook"}]
    if answer.verdict in (Verdict.ASK, Verdict.ALLOW):
        return [{"type": answer.verdict.word}]
    return []


def _change_effects(name: str, answer: MergedDecision) -> list[JsonObject]:
    if not answer.is_changed:
        return []
    value: Any = answer.new
    if name != "tool.before":
        role = "tool" if name == "tool.after" else "user"
        value = [_text_message(role, value_text(value))]
    return [{"type": "modify", "target": _TARGETS[name], "operation": "replace", "value": value}]


def _text_effects(answer: MergedDecision, capabilities: JsonObject) -> list[JsonObject]:
    effects: list[JsonObject] = []
    if answer.context:
        times = _texts(first_mapping(first_mapping(capabilities, "inject"), "context").get("deliverAt"))
        when = "now" if "now" in times or not times else times[0]
        value = [_text_message("system", answer.context)]
        effects.append(
            {"type": "inject", "target": "context", "operation": "append", "deliverAt": when, "value": value}
        )
    if answer.message and "message" in _texts(capabilities.get("effects")):
        effects.append({"type": "message", "text": replace_surrogates(answer.message)})
    return effects


def _text_message(role: str, text: str) -> JsonObject:
    part = {"id": "hookline-text", "kind": "text", "mediaType": "text/plain", "selection": "body", "synthesized": True}
    return {
        "id": "hookline",
        "role": role,
        "parts": [{**part, "text": replace_surrogates(text)}],
        "synthesized": True,
    }


def _success_response(id: Any, params: JsonObject, **result: Any) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": params["protocolVersion"], **result}}


def _error_response(id: Any, error: _RpcError) -> JsonObject:
    told: JsonObject = {"code": int(error.code), "message": str(error)}
    return {"jsonrpc": "2.0", "id": id, "error": told if error.data is None else {**told, "data": error.data}}


def _event_capabilities(event: str) -> JsonObject:
    effects = _EFFECTS[event]
    told: JsonObject = {"effects": effects}
    if "modify" in effects:
        told["modify"] = {_TARGETS[_INTERCEPTED[event]]: {"replace": True, "merge": False}}
    if "flow" in effects:
        told["flow"] = {"operations": ["stop", "continue"] if event == "turn.finish.before" else ["stop"]}
    if "inject" in effects:
        told["inject"] = {"context": {"append": True, "deliverAt": ["now", "next_turn"]}}
    return {"event": event, "modes": ["observe", "intercept"], "capabilities": told}


_EFFECTS: Final = {
    "session.start": ["inject", "message"],
    "turn.start": ["deny", "modify", "inject", "flow", "message"],
    "user.message.inbound": ["deny", "modify", "inject", "flow", "message"],
    "tool.before": ["deny", "ask", "modify", "inject", "flow", "message"],
    "tool.permission.request": ["deny", "allow", "flow", "message"],
    "tool.after": ["modify", "inject", "flow", "message"],
    "context.compact.before": ["deny", "message"],
    "turn.finish.before": ["flow", "message"],
}
_MANIFEST: Final = {
    "events": [
        *map(_event_capabilities, _INTERCEPTED),
        *({"event": each, "modes": ["observe"]} for each in _OBSERVED if each not in _INTERCEPTED),
    ],
    "gaps": [
        {"path": "attachments", "reason": "content is read as text; attachments are not fetched"},
        {"path": "model.request.before", "reason": "not supported"},
    ],
    "transports": ["http", "stdio"],
    "authentication": ["bearer"],
    "toolPaths": ["native", "mcp"],
    "contentCategories": ["text"],
    "limits": {"minTimeoutMs": 1, "maxTimeoutMs": 30_000},
    "managedPolicy": {"scopes": ["user", "project"], "disableable": True},
    "correlationIdentityFields": ["id", "source", "session.id", "call.id"],
}

_CONFIGURATION: Final = {
    "subscriptions": [
        {
            "events": list(_INTERCEPTED),
            "mode": "intercept",
            "timeoutMs": 30_000,
            "failurePolicy": "fail-closed",
            "content": {"default": "body"},
        },
        {
            "events": [each for each in _OBSERVED if each not in _INTERCEPTED],
            "mode": "observe",
            "content": {"default": "body"},
        },
    ]
}
"""What a harness subscribes to that adopts its backend's defaults."""


def ahp_routes(backend: AgentHooksBackend) -> dict[tuple[str, str], Route]:
    """The HTTP binding: one message a request; 202 without a body for a notification."""
    from http import HTTPStatus

    async def answer(body: bytes) -> HttpResponse:
        response = await backend.answer(body)
        return HttpResponse(response) if response is not None else HttpResponse(None, HTTPStatus.ACCEPTED)

    return {("POST", "/ahp"): answer}
