"""Ask a backend of the Agent Hooks Protocol (AHP): a program or a URL, as one more hook.

Every failure that the protocol calls operational (a timeout, an error, an answer that was not asked for) is the action's
failure, so the hook's `on_error` is the failure policy.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from hookline.hooks.actions.json_result import DuplicateKey, block_outcome, parse_answer_object
from hookline.hooks.actions.post import url_origin
from hookline.hooks.actions.run_program import CommandTemplate
from hookline.hooks.event import Changes, Event, FactPath
from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.host import Host, PostRequest
from hookline.hooks.masking import mask
from hookline.hooks.outcome import SILENT, ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.hooks.tool_name import mcp_address
from hookline.hooks.tools import ToolKind, tool_kind
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.lazy_imports import json

JsonObject = dict[str, Any]

VERSIONS: Final = ("draft", "0.1")
"""Those that hookline speaks, the preferred one first."""
INTERCEPTED: Final = {
    "session.start": "session.start",
    "prompt.submit": "user.message.inbound",
    "tool.before": "tool.before",
    "approval.request": "tool.permission.request",
    "tool.after": "tool.after",
    "history.compact": "context.compact.before",
    "stop": "turn.finish.before",
}
"""Our events → those of the protocol that a backend can answer. In 0.1, that is only tool.before."""
OBSERVED: Final = {"session.end": "session.end", "model.error": "model.error"}
"""Events that a backend is only told about."""
_TARGETS: Final[Mapping[str, tuple[str, FactPath]]] = {
    "tool.before": ("input", ("tool", "input")),
    "tool.after": ("output", ("tool", "result")),
    "prompt.submit": ("prompt", ("prompt",)),
}
_KINDS: Final = {
    ToolKind.SHELL: "shell",
    ToolKind.READ: "file_read",
    ToolKind.WRITE: "file_write",
    ToolKind.EDIT: "file_edit",
}
_UNSUPPORTED_VERSION: Final = -32001
_MAX_MESSAGE_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class AskBackend:
    backend: CommandTemplate | str  # a program that is started for each event, or a URL
    timeout: timedelta
    versions: tuple[str, ...] = VERSIONS  # that may be spoken, the preferred one first
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()  # environment variables that the headers may use
    _spoken: list[str] = field(default_factory=list, init=False, repr=False, compare=False)  # once it is known
    instant = False
    constant = None
    label = "the action ahp"
    may = May.JUDGE | May.NOTES | May.HALT | May.CHANGE

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return ((),)

    def describe(self) -> Iterator[tuple[str, str]]:
        if isinstance(self.backend, str):
            yield "post", self.backend
            yield from (("header", f"{name}: {text}") for name, text in self.headers)
        else:
            yield "run", self.backend.describe()

    async def run(self, event: Event, host: Host) -> Outcome:
        id, versions = f"evt_{uuid4().hex}", self._spoken or list(self.versions)
        if event.name in OBSERVED:
            await self._send(_observe_notification(event, id, versions[0]), event, host)
            return SILENT
        while versions:
            version = versions.pop(0)
            response = await self._send(_intercept_request(event, id, version), event, host)
            effects = _read_response(response, id, version)
            if isinstance(effects, _OtherVersions):
                versions = [each for each in versions if each in effects.supported]
                continue
            self._spoken[:] = [version]
            return _outcome_of(effects, event, version)
        raise _failure(f"speaks none of the versions {', '.join(self.versions)} of the Agent Hooks Protocol")

    async def _send(self, message: JsonObject, event: Event, host: Host) -> str:
        """The text of the answer; empty for a notification."""
        is_request, body = "id" in message, json.dumps(message, ensure_ascii=True).encode()
        if isinstance(self.backend, str):
            request = PostRequest(self.backend, body, self.headers, self.variables, self.timeout)
            answer = await host.post(request)
            if answer.status not in ((200,) if is_request else (200, 202, 204)):
                raise _failure(f"got status {answer.status} from {url_origin(self.backend)}")
            return _complete(answer.text, answer.dropped)
        command = replace(self.backend.render(event, self.timeout), stdin=body + b"\n")
        finished = await host.run_program(command)
        if finished.exit_code:
            said = finished.stderr.strip()[:_MAX_MESSAGE_CHARS]
            raise ActionError(FailureKind.EXIT, f"ended with exit code {finished.exit_code}: {said}".rstrip(": "))
        return _complete(finished.stdout, finished.dropped)


def _complete(text: str, dropped: int) -> str:
    if dropped:
        raise _failure("answered more than what is read of an answer")
    return text


def _failure(what: str) -> ActionError:
    return ActionError(FailureKind.UNREADABLE_ANSWER, what)


@dataclass(frozen=True, slots=True)
class _OtherVersions:
    supported: tuple[str, ...]


def _intercept_request(event: Event, id: str, version: str) -> JsonObject:
    if event.name not in INTERCEPTED or (version == "0.1" and event.name != "tool.before"):
        raise _failure(f"cannot be asked about {event.name} in version {version} of the Agent Hooks Protocol")
    params = {
        "protocolVersion": version,
        "event": _protocol_event(event, id, INTERCEPTED[event.name]),
        "capabilities": capabilities_of(event.name, version),
    }
    return {"jsonrpc": "2.0", "id": id, "method": "hooks/intercept", "params": params}


def _observe_notification(event: Event, id: str, version: str) -> JsonObject:
    params = {"protocolVersion": version, "event": _protocol_event(event, id, OBSERVED[event.name])}
    return {"jsonrpc": "2.0", "method": "hooks/observe", "params": params}


def capabilities_of(event: str, version: str) -> JsonObject:
    """What a backend may answer to the event: only what hookline can enforce."""
    if version == "0.1":
        return {"effects": ["deny"]}
    accepts = EVENTS[event].accepts
    known = {"deny": May.DENY, "ask": May.ASK, "allow": May.ALLOW, "inject": May.NOTES, "flow": May.HALT}
    effects = [
        name for name, flag in known.items() if accepts & flag and not (name == "deny" and event in ENDING_EVENTS)
    ]
    told: JsonObject = {"effects": [*effects, "message"]}
    if event in _TARGETS:
        told["effects"].append("modify")
        told["modify"] = {_TARGETS[event][0]: {"replace": True, "merge": False}}
    if "flow" in effects:
        told["flow"] = {"operations": ["stop", *(["continue"] if event in ENDING_EVENTS else [])]}
    if "inject" in effects:
        told["inject"] = {"context": {"append": True, "deliverAt": ["now"]}}
    return told


def _protocol_event(event: Event, id: str, type_: str) -> JsonObject:
    facts, host, cwd = event.facts, event.read(("host", "name")), event.read(("cwd",))
    workspace, session = event.read(("workspace",)), event.read(("session", "id"))
    told: JsonObject = {
        "id": id,
        "source": f"urn:hookline:{host if isinstance(host, str) and host else 'host'}",
        "type": type_,
        "time": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "session": {"id": session if isinstance(session, str) and session else "unknown"},
    }
    if isinstance(cwd, str):
        told["session"]["cwd"] = cwd
    if isinstance(workspace, str):
        told["session"]["workspaceRoots"] = [workspace]
    tool = facts.get("tool")
    if isinstance(tool, dict):
        told |= _tool_members(tool)
    match event.name:
        case "tool.after":
            told |= _result_members(tool if isinstance(tool, dict) else {})
        case "prompt.submit":
            told["items"] = [_text_message("user", _as_text(facts.get("prompt")))]
        case "stop":
            told |= {"outcome": "completed", "continuationCount": 1 if event.read(("stop", "active")) is True else 0}
        case "session.end":
            told["reason"] = _as_text(event.read(("session", "reason")) or "other")
        case "model.error":
            error = {"class": event.read(("error", "code")), "message": event.read(("error", "message"))}
            told["error"] = {name: _as_text(value) for name, value in error.items()}
        case "history.compact":
            told["trigger"] = _as_text(facts.get("trigger") or "auto")
    return told


def _tool_members(tool: JsonObject) -> JsonObject:
    name, given, id = str(tool.get("name")), tool.get("input"), tool.get("id")
    call = id if isinstance(id, str) and id else f"call_{uuid4().hex}"
    address = mcp_address(name)
    told: JsonObject = {
        "callId": call,  # where version 0.1 has it
        "name": name,
        "input": given if isinstance(given, dict) else {"value": given},
        "origin": "native" if address is None else "mcp",
    }
    if kind := _KINDS.get(tool_kind(tool)):
        told["kind"] = kind
    if address is not None:
        told["mcp"] = {"server": {"name": address[0]}, "tool": address[1]}
    return {"tool": told, "call": {"id": call}, "path": told["origin"]}


def _result_members(tool: JsonObject) -> JsonObject:
    items = [_text_message("tool", _as_text(tool["result"]))] if tool.get("result") is not None else []
    if tool.get("ok") is False:
        error = {"class": "tool_error", "message": _as_text(tool.get("error") or "failed")}
        return {"items": items, "outcome": "error", "error": error, "execution": {"status": "executed"}}
    return {"items": items, "outcome": "ok", "execution": {"status": "executed"}}


def _text_message(role: str, text: str) -> JsonObject:
    part = {"id": "text", "kind": "text", "mediaType": "text/plain", "selection": "body", "text": text}
    return {"id": "message", "role": role, "parts": [part]}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _read_response(text: str, id: str, version: str) -> list[JsonObject] | _OtherVersions:
    """The effects, or which other versions the backend speaks. Raises ActionError for anything else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise _failure("did not answer with one JSON-RPC message on one line")
    try:
        response = parse_answer_object(lines[0])
    except DuplicateKey as twice:
        raise _failure(str(twice)) from None
    if response is None or response.get("jsonrpc") != "2.0":
        raise _failure("answered something that is not a JSON-RPC message")
    error = response.get("error")
    if isinstance(error, dict) and "result" not in response:
        return _read_error(error, response.get("id"), id)
    result = response.get("result")
    if response.get("id") != id or not isinstance(result, dict) or "error" in response:
        raise _failure("answered another request")
    if result.get("protocolVersion") != version:
        raise _failure(f"answered in version {_as_text(result.get('protocolVersion'))[:40]}, not in {version}")
    effects = result.get("effects")
    if not isinstance(effects, list) or not all(isinstance(effect, dict) for effect in effects):
        raise _failure("answered without effects")
    return effects


def _read_error(error: JsonObject, answered: Any, id: str) -> _OtherVersions:
    data = error.get("data")
    supported = data.get("supported") if isinstance(data, dict) else None
    if error.get("code") == _UNSUPPORTED_VERSION and answered == id and isinstance(supported, list):
        return _OtherVersions(tuple(each for each in supported if isinstance(each, str)))
    said = mask(f"{error.get('code')}: {_as_text(error.get('message'))}"[:_MAX_MESSAGE_CHARS])
    raise _failure(f"answered the error {said}")


def _outcome_of(effects: list[JsonObject], event: Event, version: str) -> Outcome:
    """All effects together. One that was not asked for makes the whole answer a failure."""
    told = capabilities_of(event.name, version)
    outcome = SILENT
    for effect in effects:
        type_ = effect.get("type")
        if type_ not in told["effects"] or type_ not in _EFFECTS:
            raise _failure(f"answered an effect that was not offered: {_as_text(type_)[:60]}")
        outcome = _join(outcome, _EFFECTS[type_](effect, event, told))
    return replace(outcome, changes=()) if outcome.verdict is Verdict.DENY else outcome


def _join(one: Outcome, other: Outcome) -> Outcome:
    stronger = other if other.verdict > one.verdict else one
    if one.changes and other.changes:
        raise _failure("answered two changes of the same value")
    return replace(
        stronger,
        reason=stronger.reason or one.reason or other.reason,
        changes=(*one.changes, *other.changes),
        notes=(*one.notes, *other.notes),
        halt=one.halt or other.halt,
    )


def _text_of(effect: JsonObject, key: str) -> str:
    text = effect.get(key)
    if not isinstance(text, str) or not text.strip():
        raise _failure(f"answered {effect.get('type')} without {key}")
    return text


def _deny(effect: JsonObject, event: Event, told: JsonObject) -> Outcome:
    return block_outcome(_text_of(effect, "reason"), event)


def _verdict(effect: JsonObject, event: Event, told: JsonObject) -> Outcome:
    reason = effect.get("reason")
    verdict = Verdict.ASK if effect["type"] == "ask" else Verdict.ALLOW
    return Outcome(verdict, reason if isinstance(reason, str) else "")


def _flow(effect: JsonObject, event: Event, told: JsonObject) -> Outcome:
    operation = effect.get("operation")
    if operation not in told["flow"]["operations"]:
        raise _failure(f"answered a flow that was not offered: {_as_text(operation)[:60]}")
    if operation == "continue":
        return Outcome(Verdict.DENY, _text_of(effect, "instruction"))
    reason = effect.get("reason")
    return Outcome(reason=reason if isinstance(reason, str) else "", halt=True)


def _modify(effect: JsonObject, event: Event, told: JsonObject) -> Outcome:
    target, path = _TARGETS[event.name]
    if effect.get("target") != target or effect.get("operation") != "replace" or "value" not in effect:
        raise _failure("answered a change that was not offered")
    value = effect["value"]
    if event.name == "tool.before":
        if not isinstance(value, dict):
            raise _failure("answered an input that is not an object")
    else:
        value = _messages_text(value)
    changes: Changes = ((path, value),)
    return Outcome(changes=changes)


def _inject(effect: JsonObject, event: Event, told: JsonObject) -> Outcome:
    if effect.get("target") != "context" or effect.get("operation") != "append" or effect.get("deliverAt") != "now":
        raise _failure("answered a context that was not offered")
    return Outcome(notes=(Note(_messages_text(effect.get("value"))),))


def _message(effect: JsonObject, event: Event, told: JsonObject) -> Outcome:
    return Outcome(notes=(Note(_text_of(effect, "text"), Audience.USER),))


def _messages_text(messages: Any) -> str:
    """The text of messages. Anything but text cannot be shown to the agent."""
    parts = [part for message in _objects(messages) for part in _objects(message.get("parts"))]
    texts = [part.get("text") for part in parts]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise _failure("answered messages that are not text")
    return "\n".join(str(text) for text in texts)


def _objects(value: Any) -> list[JsonObject]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise _failure("answered messages that cannot be read")
    return value


_EFFECTS: Final = {
    "deny": _deny,
    "ask": _verdict,
    "allow": _verdict,
    "flow": _flow,
    "modify": _modify,
    "inject": _inject,
    "message": _message,
}
