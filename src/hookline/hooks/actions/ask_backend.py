"""Ask a backend of the Agent Hooks Protocol (AHP): a program or a URL, as one more hook.

Every failure that the protocol calls operational (a timeout, an error, an answer that was not asked for) is the action's
failure, so the hook's `on_error` is the failure policy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from hookline.hooks.actions.json_result import DuplicateKey, block_outcome, parse_answer_object
from hookline.hooks.actions.post import url_origin
from hookline.hooks.actions.run_program import CommandTemplate
from hookline.hooks.event import Changes, Event, FactPath
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
    "prompt.submit": "turn.start",
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
_EFFECTS_BY_EVENT: Final[Mapping[str, tuple[str, ...]]] = {
    "session.start": ("inject", "message"),
    "prompt.submit": ("deny", "modify", "inject", "flow", "message"),
    "tool.before": ("deny", "allow", "ask", "modify", "inject", "flow", "message"),
    "approval.request": ("deny", "allow", "flow", "message"),
    "tool.after": ("modify", "inject", "flow", "message"),
    "history.compact": ("deny", "inject", "message"),
    "stop": ("flow", "message"),
}
"""Of those that the draft has for each event, the ones that hookline can enforce."""
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
            return _one_message(answer.text.strip(), is_cut=bool(answer.dropped))
        command = replace(self.backend.render(event, self.timeout), stdin=body + b"\n")
        finished = await host.run_program(command)
        if finished.exit_code:
            said = finished.stderr.strip()[:_MAX_MESSAGE_CHARS]
            raise ActionError(FailureKind.EXIT, f"ended with exit code {finished.exit_code}: {said}".rstrip(": "))
        return _one_line(_one_message(finished.stdout, is_cut=finished.is_cut)) if is_request else ""


def _one_message(text: str, *, is_cut: bool) -> str:
    if is_cut:
        raise _failure("answered more than what is read of an answer")
    return text


def _one_line(text: str) -> str:
    """JSON may contain U+2028, at which splitlines cuts."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) != 1:
        raise _failure("did not answer with one JSON-RPC message on one line")
    return lines[0]


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
        "event": _protocol_event(event, id, INTERCEPTED[event.name], version),
        "capabilities": _offer(event, version),
    }
    return {"jsonrpc": "2.0", "id": id, "method": "hooks/intercept", "params": params}


def _observe_notification(event: Event, id: str, version: str) -> JsonObject:
    params = {"protocolVersion": version, "event": _protocol_event(event, id, OBSERVED[event.name], version)}
    return {"jsonrpc": "2.0", "method": "hooks/observe", "params": params}


def capabilities_of(event: str, version: str) -> JsonObject:
    """What a backend may answer to the event: only what hookline can enforce."""
    if version == "0.1":
        return {"effects": ["deny"]}
    told: JsonObject = {"effects": list(_EFFECTS_BY_EVENT[event])}
    if "modify" in told["effects"]:
        told["modify"] = {_TARGETS[event][0]: {"replace": True, "merge": False}}
    if "flow" in told["effects"]:
        told["flow"] = {"operations": ["stop"]}
    if "inject" in told["effects"]:
        told["inject"] = {"context": {"append": True, "deliverAt": ["now"]}}
    return told


def _offer(event: Event, version: str) -> JsonObject:
    told = capabilities_of(event.name, version)
    if event.name == "stop" and version != "0.1":
        count = 1 if event.read(("stop", "active")) is True else 0
        told["flow"] = {"operations": ["stop", "continue"], "continuationCount": count, "remainingContinuations": 1}
    return told


def _protocol_event(event: Event, id: str, type_: str, version: str) -> JsonObject:
    host = _text_or(event.read(("host", "name")), "hookline")
    session: JsonObject = {"id": _text_or(event.read(("session", "id")), "unknown")}
    told: JsonObject = {
        "id": id,
        "source": f"urn:hookline:{host}",
        "type": type_,
        "harness": {"name": host, "version": "unknown"},
        "time": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "session": session,
    }
    cwd, workspace = event.read(("cwd",)), event.read(("workspace",))
    if isinstance(cwd, str):
        session["cwd"] = cwd
    if isinstance(workspace, str):
        session["workspaceRoots"] = [workspace]
    tool = event.facts.get("tool")
    if isinstance(tool, dict):
        told |= _tool_members(tool, version)
    members = _MEMBERS.get(event.name)
    return {**told, **members(event)} if members is not None else told


def _tool_members(tool: JsonObject, version: str) -> JsonObject:
    name, given = str(tool.get("name")), tool.get("input")
    call = _text_or(tool.get("id"), f"call_{uuid4().hex}")
    address = mcp_address(name)
    told: JsonObject = {"name": name, "input": given if isinstance(given, dict) else {"value": given}}
    if kind := _KINDS.get(tool_kind(tool)):
        told["kind"] = kind
    if version == "0.1":
        return {"tool": {"callId": call, **told}}
    told["origin"] = "native" if address is None else "mcp"
    if address is not None:
        unknown = {"transport": "_unknown", "addressForm": "name", "address": address[0]}
        told["mcp"] = {
            "server": {"id": address[0], "name": address[0]},
            "toolName": address[1],
            "provenance": "inferred",
            "connection": unknown,
        }
    return {"tool": told, "call": {"id": call}, "path": told["origin"]}


def _result_members(event: Event) -> JsonObject:
    tool = event.facts.get("tool")
    tool = tool if isinstance(tool, dict) else {}
    items = [_text_message("tool", _as_text(tool["result"]))] if tool.get("result") is not None else []
    told: JsonObject = {"items": items, "outcome": "ok", "execution": {"status": "executed"}}
    if tool.get("ok") is False:
        told |= {
            "outcome": "error",
            "error": {"class": "tool_error", "message": _as_text(tool.get("error") or "failed")},
        }
    return told


def _prompt_members(event: Event) -> JsonObject:
    items = [_text_message("user", _as_text(event.facts.get("prompt")))]
    return {"turn": {"id": _turn_id(event)}, "trigger": "user", "items": items}


def _stop_members(event: Event) -> JsonObject:
    count = 1 if event.read(("stop", "active")) is True else 0
    return {"turn": {"id": _turn_id(event)}, "outcome": "completed", "continuationCount": count, "items": []}


def _start_members(event: Event) -> JsonObject:
    source = event.read(("session", "source"))
    trigger = source if source in ("startup", "resume", "clear", "compact", "fork") else "startup"
    mode = _text_or(event.read(("session", "mode")), "default")
    return {"trigger": trigger, "permissionMode": mode, "items": [], "manifest": _manifest()}


def _compact_members(event: Event) -> JsonObject:
    trigger = event.facts.get("trigger")
    return {"trigger": trigger if trigger in ("auto", "manual", "hook") else "auto", "items": []}


def _error_members(event: Event) -> JsonObject:
    error = {"class": _text_or(event.read(("error", "code")), "unknown")}
    error["message"] = _text_or(event.read(("error", "message")), "unknown")
    return {
        "error": error,
        "attempt": {"id": f"attempt_{uuid4().hex}", "number": 1},
        "model": {"id": "unknown", "provider": "unknown"},
        "execution": {"status": "executed"},
    }


_MEMBERS: Final[Mapping[str, Callable[[Event], JsonObject]]] = {
    "session.start": _start_members,
    "prompt.submit": _prompt_members,
    "approval.request": lambda event: {"sandboxBypass": False, "suggestions": []},
    "tool.after": _result_members,
    "history.compact": _compact_members,
    "stop": _stop_members,
    "session.end": lambda event: {
        "outcome": "unknown",
        "reason": _text_or(event.read(("session", "reason")), "other"),
    },
    "model.error": _error_members,
}


def _manifest() -> JsonObject:
    """What hookline can do with a backend's answers, in the form of the protocol's discovery."""
    offered = [
        {"event": theirs, "modes": ["intercept"], "capabilities": capabilities_of(ours, "draft")}
        for ours, theirs in INTERCEPTED.items()
        if ours != "stop"
    ]
    return {
        "events": [*offered, *({"event": each, "modes": ["observe"]} for each in OBSERVED.values())],
        "gaps": [],
        "transports": ["stdio", "http"],
        "authentication": [],
        "toolPaths": ["native", "mcp"],
        "contentCategories": ["text"],
        "limits": {},
        "managedPolicy": {"scopes": ["user", "project"], "disableable": True},
        "correlationIdentityFields": ["id", "session.id", "call.id"],
    }


def _turn_id(event: Event) -> str:
    number = event.read(("turn", "number"))
    return f"turn_{number}" if isinstance(number, int) else f"turn_{uuid4().hex}"


def _text_message(role: str, text: str) -> JsonObject:
    part = {"id": "text", "kind": "text", "mediaType": "text/plain", "selection": "body", "text": text}
    return {"id": "message", "role": role, "parts": [part]}


def _text_or(value: Any, default: str) -> str:
    return value if isinstance(value, str) and value else default


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _read_response(text: str, id: str, version: str) -> list[JsonObject] | _OtherVersions:
    """The effects, or which other versions the backend speaks. Raises ActionError for anything else."""
    try:
        response = parse_answer_object(text)
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
    told = _offer(event, version)
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
        instruction = effect.get("instruction", "A hook wants you to continue.")
        if not isinstance(instruction, str):
            raise _failure("answered an instruction that is not text")
        return Outcome(Verdict.DENY, instruction)
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
