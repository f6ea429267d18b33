"""A tools/call and its result ↔ what hooks judge. Nothing here waits or writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.event import same
from hookline.hosts.mcp.message import Message, is_deep, object_in, sayable

CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Call:
    message: Message
    tool: str  # as the server calls it
    arguments: dict[str, Any]

    @property
    def is_modern(self) -> bool:
        """True if the request says for itself what the client can do; such a client answers questions by trying again."""
        return CAPABILITIES in object_in(self.message.params, "_meta")

    def with_arguments(self, arguments: dict[str, Any]) -> Call:
        params = {**self.message.params, "arguments": arguments}
        return Call(Message({**self.message.value, "params": params}), self.tool, arguments)

    def facts(self, server: str) -> dict[str, Any]:
        return {
            "name": tool_name(server, self.tool),
            "kind": "other",
            "id": str(self.message.id),
            "input": self.arguments,
        }


def tool_name(server: str, tool: str) -> str:
    return f"mcp.{server}.{tool}"


def server_name(said: str) -> str:
    """As it stands in a tool's name: letters, digits, `_` and `-`."""
    return _NOT_IN_NAMES.sub("_", said).strip("_")


def call_in(message: Message) -> Call | str:
    """The call, or why it cannot be judged."""
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        return "the tool's name is not a text"
    if arguments is not None and not isinstance(arguments, dict):
        return "the tool's arguments are not an object"
    if is_deep(arguments or {}):
        return "the tool's arguments are nested too deep"
    return Call(message, name, arguments or {})


def can_elicit(capabilities: Mapping[str, Any]) -> bool:
    """True if the client shows forms. An empty capability means forms, as it did when there was nothing else."""
    held = capabilities.get("elicitation")
    return isinstance(held, Mapping) and (not held or "form" in held)


def refusal(reason: str, *, modern: bool) -> dict[str, Any]:
    """A tool's own error, so that the model reads the reason; a protocol error need not reach it."""
    result: dict[str, Any] = {"content": [_text(reason)], "isError": True}
    return {**result, "resultType": "complete"} if modern else result


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a call, as hooks see it. `result` is the text where the server said nothing but text, else the
    result's own `content` and `structuredContent`; of a protocol error, its message."""

    message: Message
    result: Any
    ok: bool

    def facts(self) -> dict[str, Any]:
        facts = {"result": self.result, "ok": self.ok}
        return facts if self.ok else {**facts, "error": _shown(self.result) or "it failed"}

    def changed(self, tool: Mapping[str, Any], notes: str) -> Message:
        """The same message where hooks left these facts as they were and have nothing to tell."""
        result, ok = tool.get("result"), tool.get("ok") is not False
        if not self.ok and tool.get("error") != self.facts()["error"] and same(result, self.result):
            result = tool.get("error")
        if same(result, self.result) and ok is self.ok:
            return _with_notes(self.message, notes)
        if not sayable(result):
            result = _shown(result)
        if "error" in self.message.value:
            return _with_notes(_with_error(_without_data(self.message), _shown(result)), notes)
        return _with_notes(self._with_result(result, ok), notes)

    def _with_result(self, result: Any, ok: bool) -> Message:
        held = dict(self.message.result)
        if not same(result, self.result):
            kept = {name: held[name] for name in _BESIDE if name in held}
            held = {name: value for name, value in (self._content(result) | kept).items() if value is not _NOTHING}
        if ok is not self.ok:
            held["isError"] = not ok
        return Message({**self.message.value, "result": held})

    def _content(self, result: Any) -> dict[str, Any]:
        if isinstance(result, dict) and _is_content(result.get("content")):
            structured = result.get("structuredContent", _NOTHING)
            return {"content": result["content"], "structuredContent": structured}
        old, structured = self.result, self.message.result.get("structuredContent", _NOTHING)
        return {"content": [_text(_shown(result))], "structuredContent": _restructured(structured, old, result)}


_NOTHING: Final = object()
_BESIDE: Final = ("_meta", "isError", "resultType")  # what stays of a result that hooks changed


def told_by(message: Message) -> Told | None:
    """None if hooks could not be shown it."""
    if "error" in message.value:
        if "result" in message.value:  # a client might read this instead
            message = Message({name: value for name, value in message.value.items() if name != "result"})
        said = object_in(message.value, "error").get("message")
        return Told(message, said if isinstance(said, str) else "", False)
    if is_deep(message.value.get("result")):
        return None
    result = message.result
    content, structured = result.get("content"), result.get("structuredContent", _NOTHING)
    text = _only_text(content)
    if text is None or (structured is not _NOTHING and not _says_the_same(structured, text)):
        seen = {name: result[name] for name in ("content", "structuredContent") if name in result}
        return Told(message, seen, result.get("isError") is not True)
    return Told(message, text, result.get("isError") is not True)


def _only_text(content: Any) -> str | None:
    if not _is_content(content):
        return None
    texts = [block.get("text") for block in content if block.get("type") == "text"]
    return "\n".join(texts) if len(texts) == len(content) and all(isinstance(text, str) for text in texts) else None


def _is_content(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(block, dict) for block in content)


def _says_the_same(structured: Any, text: str) -> bool:
    if isinstance(structured, dict) and len(structured) == 1 and same(next(iter(structured.values())), text):
        return True
    return same(_opened(text), structured)


def _opened(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _restructured(structured: Any, old: Any, new: Any) -> Any:
    """The structured twin of a changed text; nothing where it cannot be told, for it would say what was changed."""
    if structured is _NOTHING or not isinstance(old, str):
        return _NOTHING
    if isinstance(structured, dict) and len(structured) == 1 and same(next(iter(structured.values())), old):
        return {name: _shown(new) for name in structured}
    opened = _opened(new) if isinstance(new, str) else new
    return opened if isinstance(opened, type(structured)) and sayable(opened) else _NOTHING


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(it cannot be shown)"


def _with_error(message: Message, text: str) -> Message:
    return Message({**message.value, "error": {**object_in(message.value, "error"), "message": text}})


def _without_data(message: Message) -> Message:
    """Nothing that the server said beside the error's words."""
    error = {name: value for name, value in object_in(message.value, "error").items() if name != "data"}
    return Message({**message.value, "error": error})


def _with_notes(message: Message, notes: str) -> Message:
    if not notes:
        return message
    if "error" in message.value:
        said = object_in(message.value, "error").get("message")
        return _with_error(message, f"{said}\n\n{notes}" if said else notes)
    content = message.result.get("content")
    blocks = [*(content if isinstance(content, list) else ()), _text(notes)]
    return Message({**message.value, "result": {**message.result, "content": blocks}})


def unread(message: Message, *, modern: bool) -> Message:
    text = "hookline: the result is nested too deep to be judged by the hooks"
    return Message({**message.value, "result": refusal(text, modern=modern)})
