"""JSON-RPC messages and the MCP tool calls in them, as facts for hooks and back. Nothing here waits or writes.

A message that hooks do not change keeps its original bytes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Set
from typing import Any, Final

from hookline.hooks.event import deep_equal
from hookline.hooks.kind_guess import guess_kind, signal_fields
from hookline.hooks.tool_name import guessed_kind
from hookline.hooks.tools import ToolKind
from hookline.hosts.mcp.result_meta import is_harmless_meta
from hookline.lazy_dataclasses import dataclass

CONNECTION_CLOSED: Final = -32000
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
MAX_NESTING: Final = 100  # levels of nesting in what hooks decide


class InvalidMessageError(ValueError):
    """The line is not a JSON-RPC message."""


@dataclass(frozen=True, slots=True)
class Message:
    value: dict[str, Any]
    line: bytes | None = None  # as received, without the line end; None if readers could disagree about it

    def to_bytes(self) -> bytes:
        return self.line if self.line is not None else encode_compact_json(self.value)

    @property
    def method(self) -> str | None:
        method = self.value.get("method")
        return method if isinstance(method, str) else None

    @property
    def id(self) -> Any:
        return self.value.get("id")

    @property
    def key(self) -> str:
        """The id as a key: 1, "1", true and 1.0 are four ids."""
        id = self.value.get("id")
        return str(id) if type(id) is int else json.dumps(id)

    @property
    def is_request(self) -> bool:
        return "method" in self.value and self.id is not None

    @property
    def is_response(self) -> bool:
        return "method" not in self.value and ("result" in self.value or "error" in self.value)

    @property
    def contradiction(self) -> str | None:
        """Why readers differ on what it is; None if they agree."""
        if "method" not in self.value:
            return None
        if "result" in self.value or "error" in self.value:
            return "it is a request and an answer in one"
        return None if isinstance(self.value["method"], str) else "its method is not a text"

    @property
    def params(self) -> Mapping[str, Any]:
        return get_object(self.value, "params")

    @property
    def result(self) -> Mapping[str, Any]:
        return get_object(self.value, "result")


def get_object(held: Any, *names: str) -> Mapping[str, Any]:
    """The object of parsed JSON at this path, or an empty one."""
    for name in names:
        held = held.get(name) if type(held) is dict else None
    return held if type(held) is dict else {}


def encode_compact_json(value: Any) -> bytes:
    """Encodes as ASCII, so that it is one line for every reader. Raises ValueError or TypeError if JSON cannot express it."""
    return json.dumps(value, separators=(",", ":")).encode()


def is_json_serializable(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def parse_messages(line: bytes) -> tuple[Message, ...]:
    """The messages of one line: one, or those of a batch. Raises InvalidMessageError."""
    line = line.strip(b" \t\r\n")
    has_duplicates = False
    try:
        text = line.decode("utf-8")
        try:
            value = _decode_unique(text)
        except _DuplicateKeyError:
            has_duplicates, value = True, json.loads(text)
    except RecursionError:
        raise InvalidMessageError("its values are nested too deep") from None
    except ValueError as error:  # not UTF-8, not JSON, or a number with too many digits
        raise InvalidMessageError(str(error).partition(";")[0]) from None
    if isinstance(value, dict):
        # Every reader takes it for one line. Between values JSON can only have \r, in texts also Unicode's line ends.
        is_one_line = "\r" not in text and (text.isascii() or len(text.splitlines()) == 1)
        return (Message(value, line if is_one_line and not has_duplicates else None),)
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        raise InvalidMessageError("a message is an object")
    return tuple(Message(each) for each in value)


_ENVELOPE_KEYS: Final = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))
CALL_PARAMS: Final = frozenset(("name", "arguments", "_meta", "task", "requestState", "inputResponses"))
_PARAMS_KEYS: Final = {
    "tools/call": CALL_PARAMS,
    "tasks/result": frozenset(("taskId",)),
    "initialize": frozenset(("protocolVersion", "capabilities", "clientInfo")),
    "notifications/cancelled": frozenset(("requestId", "reason")),
}
_RESULT_KEYS: Final = frozenset(
    ("content", "structuredContent", "isError", "_meta", "resultType", "task", "requestState", "inputRequests", "tools")
)
_ERROR_KEYS: Final = frozenset(("code", "message", "data"))


def misspelt_name(message: Message) -> str | None:
    """The first name in it that only a reader who ignores case would understand; None if there is none.

    Such a reader could find another method, tool or result than the hooks did.
    """
    value, method = message.value, message.method
    found = name_in_other_case(value, _ENVELOPE_KEYS)
    if found is None and method is not None:
        if method not in _PARAMS_KEYS and _fold(method) in _PARAMS_KEYS:
            return method
        found = name_in_other_case(message.params, _PARAMS_KEYS.get(method, frozenset()))
        if found is None and method == "tools/call":
            found = _ambiguous_argument(get_object(message.params, "arguments"))
    if found is None and "result" in value:
        found = name_in_other_case(message.result, _RESULT_KEYS)
    if found is None and "error" in value:
        found = name_in_other_case(get_object(value, "error"), _ERROR_KEYS)
    return found


def name_in_other_case(held: Mapping[str, Any], known: Set[str]) -> str | None:
    """The first name in it that is unknown, and that a reader who ignores case takes for a known one."""
    if not known or held.keys() <= known:
        return None
    folded = {_fold(name) for name in known}
    return next((name for name in held if name not in known and _fold(name) in folded), None)


def _ambiguous_argument(arguments: Mapping[str, Any]) -> str | None:
    """A name of which the arguments have two spellings."""
    if len(arguments) < 2:
        return None
    seen: set[str] = set()
    for name in arguments:
        folded = _fold(name)
        if folded in seen:
            return name
        seen.add(folded)
    return None


def _fold(name: str) -> str:
    """As the most lenient reader compares names: some end at a NUL, and some skip characters without a width."""
    name = name.partition("\0")[0]
    if name.isascii():
        return name.strip().lower()
    name = "".join(char for char in name if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


class _DuplicateKeyError(Exception):
    """A name appears twice in an object: readers differ on which one counts."""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise _DuplicateKeyError
    return held


_UNIQUE_KEYS: Final[Any] = json.JSONDecoder(object_pairs_hook=_build_object)  # making one takes as long as using it


def _decode_unique(text: str) -> Any:
    """Without the decoder's search for spaces around the value: the text has none."""
    try:
        value, end = _UNIQUE_KEYS.scan_once(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else _UNIQUE_KEYS.decode(text)  # which says what is wrong


def build_response(id: Any, result: Mapping[str, Any]) -> Message:
    return Message({"jsonrpc": "2.0", "id": id, "result": dict(result)})


def build_error(id: Any, code: int, text: str) -> Message:
    return Message({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})


def is_deep(value: Any, most: int = MAX_NESTING) -> bool:
    """True if objects and lists are nested more than `most` deep."""
    if type(value) is dict and _CONTAINERS.isdisjoint(map(type, value.values())):  # as most arguments are
        return most < 1
    level = [value]
    for _ in range(most):
        level = [inner for each in level for inner in _child_containers(each)]
        if not level:
            return False
    return True


_CONTAINERS: Final = frozenset((dict, list))
_OTHER: Final = str(ToolKind.OTHER)


def _child_containers(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in held if isinstance(each, (dict, list))]


CLIENT_CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
_MAX_TOOLS: Final = 10_000
_MAX_NAME_LENGTH: Final = 256
_DATE: Final = re.compile(r"[0-9T:.+Z-]*")
_INVALID_NAME_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class McpToolCall:
    message: Message
    tool: str  # as the server calls it
    arguments: dict[str, Any]

    @property
    def is_modern(self) -> bool:
        """True if the request carries the client's capabilities; such a client answers questions by calling again."""
        return CLIENT_CAPABILITIES_KEY in get_object(self.message.params, "_meta")

    def with_arguments(self, arguments: dict[str, Any]) -> McpToolCall:
        params = {**self.message.params, "arguments": arguments}
        return McpToolCall(Message({**self.message.value, "params": params}), self.tool, arguments)

    def facts(self, server: str, declared: ToolKind | None = None) -> dict[str, Any]:
        """`declared`: the kind that follows from what the server declares, if the call itself says nothing."""
        name, kind = tool_name(server, self.tool), _OTHER
        if declared is not None and guessed_kind({"name": name, "input": self.arguments}) is None:
            kind = str(declared)
        return {"name": name, "kind": kind, "id": str(self.message.id), "input": self.arguments}


def declared_kinds(listed: Mapping[str, Any]) -> dict[str, ToolKind]:
    """The kinds of the tools in a result of `tools/list` that only their annotations tell."""
    tools = listed.get("tools")
    found: dict[str, ToolKind] = {}
    for tool in tools if isinstance(tools, list) else ():
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or len(name) > _MAX_NAME_LENGTH or len(found) >= _MAX_TOOLS:
            continue
        fields = signal_fields(get_object(tool, "inputSchema", "properties"))
        said = get_object(tool, "annotations")
        guess = guess_kind(
            name, fields, reads_only=said.get("readOnlyHint") is True, destroys=said.get("destructiveHint") is True
        )
        if guess is not None:
            found[name] = guess.kind
    return found


def tool_name(server: str, tool: str) -> str:
    return f"mcp.{server}.{tool}"


def server_name(said: str) -> str:
    """The server's part of a tool's name: letters, digits, `_` and `-`."""
    return _INVALID_NAME_CHARACTERS.sub("_", said).strip("_")


def parse_tool_call(message: Message) -> McpToolCall | str:
    """The call, or why hooks cannot decide it."""
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        return "the tool's name is not a text"
    if arguments is not None and not isinstance(arguments, dict):
        return "the tool's arguments are not an object"
    if is_deep(arguments or {}):
        return "the tool's arguments are nested too deep"
    return McpToolCall(message, name, arguments or {})


def can_elicit(capabilities: Mapping[str, Any]) -> bool:
    """True if the client shows forms. An empty capability means forms: older clients send that."""
    held = capabilities.get("elicitation")
    return isinstance(held, Mapping) and (not held or "form" in held)


def error_result(reason: str, *, modern: bool) -> dict[str, Any]:
    """A tool error, so that the model reads the reason; clients may hide protocol errors from it."""
    result: dict[str, Any] = {"content": [_text_block(reason)], "isError": True}
    return {**result, "resultType": "complete"} if modern else result


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@dataclass(frozen=True, slots=True)
class CallResult:
    """The outcome of a call, as hooks see it.

    `result` is the text if the server sent only text, else everything in the result but a harmless `_meta`; for a protocol
    error, its message, or the message and whatever else it says.
    """

    message: Message
    result: Any
    ok: bool

    def facts(self) -> dict[str, Any]:
        facts = {"result": self.result, "ok": self.ok}
        return facts if self.ok else {**facts, "error": _format_value(self._error()) or "it failed"}

    def _error(self) -> Any:
        said = get_object(self.result).get("message") if "error" in self.message.value else None
        return said if isinstance(said, str) else self.result

    def apply_changes(self, tool: Mapping[str, Any], notes: str) -> Message:
        """Returns the same message if hooks changed nothing and added no notes."""
        result, ok = tool.get("result"), tool.get("ok") is not False
        if not self.ok and tool.get("error") != self.facts()["error"] and deep_equal(result, self.result):
            result = tool.get("error")
        if deep_equal(result, self.result) and ok is self.ok:
            return _with_notes(self.message, notes)
        if not is_json_serializable(result):
            result = _format_value(result)
        if "error" in self.message.value:
            return _with_notes(_with_error(_code_only(self.message), _format_value(result)), notes)
        return _with_notes(self._with_result(result, ok), notes)

    def _with_result(self, result: Any, ok: bool) -> Message:
        held = dict(self.message.result)
        if not deep_equal(result, self.result):
            kept = {name: value for name, value in held.items() if _is_preserved(name, value)}
            held = {
                name: value for name, value in (self._build_content(result) | kept).items() if value is not _NOTHING
            }
        if ok is not self.ok:
            held["isError"] = not ok
        return Message({**self.message.value, "result": held})

    def _build_content(self, result: Any) -> dict[str, Any]:
        if isinstance(result, dict) and _is_content(result.get("content")):
            return {name: result.get(name, _NOTHING) for name in ("content", "structuredContent", "_meta")}
        old, structured = self.result, self.message.result.get("structuredContent", _NOTHING)
        return {
            "content": [_text_block(_format_value(result))],
            "structuredContent": _update_structured(structured, old, result),
        }


_NOTHING: Final = object()
_RESULT_TYPES: Final = ("complete", "input_required")


def _is_preserved(name: str, value: Any) -> bool:
    """Whether it stays in a result that hooks changed, and is nothing that they have to see."""
    match name:
        case "_meta":
            return is_harmless_meta(value)
        case "isError":
            return isinstance(value, bool)
        case "resultType":
            return value in _RESULT_TYPES
    return False


def parse_text_result(message: Message) -> CallResult | None:
    """The final result of a call in which no name can be read in two ways, as most servers send it: a text.

    None if the message must be looked at more closely.
    """
    value = message.value
    if value.keys() != _RESULT_MESSAGE_KEYS:
        return None
    held = value["result"]
    text = _only_text(held)
    return None if text is None else CallResult(message, text, held.get("isError") is not True)


def result_of(message: Message) -> CallResult | None:
    """None if the result is nested too deep for hooks."""
    answer = "error" if "error" in message.value else "result"
    if not message.value.keys() <= {"jsonrpc", "id", answer}:  # a client might read the rest
        message = Message({name: message.value[name] for name in ("jsonrpc", "id", answer) if name in message.value})
    held: Any = message.value.get(answer)
    if answer == "result" and (text := _only_text(held)) is not None:
        return CallResult(message, text, held.get("isError") is not True)
    if is_deep(held):
        return None
    if answer == "error":
        return CallResult(message, _error_content(held), False)
    if not isinstance(held, dict):
        return CallResult(message, held, True)
    structured = held.get("structuredContent", _NOTHING)
    seen = {name: value for name, value in held.items() if not _is_preserved(name, value)}
    text = _text_of_content(held.get("content")) if seen.keys() <= {"content", "structuredContent"} else None
    if text is None or (structured is not _NOTHING and not _is_same_content(structured, text)):
        return CallResult(message, seen, held.get("isError") is not True)
    return CallResult(message, text, held.get("isError") is not True)


_RESULT_MESSAGE_KEYS: Final = frozenset(("jsonrpc", "id", "result"))
_TEXT_RESULT_KEYS: Final = frozenset(("content", "structuredContent", "isError", "resultType"))
_TEXT_BLOCK_KEYS: Final = frozenset(("type", "text"))


def _only_text(held: Any) -> str | None:
    """The text of a result as most servers send it: one block, and perhaps the same text as structured content.

    None if it must be looked at more closely. One function, because a process that has slept loads each one anew.
    """
    if (
        type(held) is not dict
        or not held.keys() <= _TEXT_RESULT_KEYS
        or held.get("resultType", "complete") != "complete"
    ):
        return None
    content, is_error, structured = held.get("content"), held.get("isError", False), held.get("structuredContent")
    if type(content) is not list or len(content) != 1 or (is_error is not False and is_error is not True):
        return None
    block = content[0]
    if type(block) is not dict or block.keys() != _TEXT_BLOCK_KEYS or block["type"] != "text":
        return None
    text = block["text"]
    if type(text) is not str:
        return None
    if "structuredContent" in held and not (
        type(structured) is dict and len(structured) == 1 and text in structured.values()
    ):
        return None
    return text


def _error_content(error: Any) -> Any:
    """The message, if the error says nothing else."""
    if not isinstance(error, dict):
        return error
    seen = {name: value for name, value in error.items() if name != "code" or not isinstance(value, int)}
    said = seen.get("message", "")
    return said if isinstance(said, str) and seen.keys() <= {"message"} else seen


def _text_of_content(content: Any) -> str | None:
    """None unless all of it is text."""
    if not _is_content(content):
        return None
    texts = [block.get("text") for block in content if block.get("type") == "text" and _is_plain_block(block)]
    return "\n".join(texts) if len(texts) == len(content) and all(isinstance(text, str) for text in texts) else None


def _is_plain_block(block: Mapping[str, Any]) -> bool:
    """Whether a block of text says nothing but its text. Annotations are for the client."""
    if not is_harmless_meta(block.get("_meta", {})):
        return False
    if block.keys() <= {"type", "text", "_meta"}:
        return True
    said = block.get("annotations")
    return (
        block.keys() <= {"type", "text", "_meta", "annotations"}
        and isinstance(said, dict)
        and said.keys() <= {"audience", "priority", "lastModified"}
        and all(who in ("user", "assistant") for who in said.get("audience") or ())
        and isinstance(said.get("priority", 0), (int, float))
        and _DATE.fullmatch(str(said.get("lastModified", ""))) is not None
    )


def _is_content(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(block, dict) for block in content)


def _is_same_content(structured: Any, text: str) -> bool:
    if isinstance(structured, dict) and len(structured) == 1 and deep_equal(next(iter(structured.values())), text):
        return True
    return deep_equal(_decode_json(text), structured)


def _decode_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _update_structured(structured: Any, old: Any, new: Any) -> Any:
    """The structured content for a changed text; dropped if it cannot be derived, because it would reveal the original."""
    if structured is _NOTHING or not isinstance(old, str):
        return _NOTHING
    if isinstance(structured, dict) and len(structured) == 1 and deep_equal(next(iter(structured.values())), old):
        return {name: _format_value(new) for name in structured}
    opened = _decode_json(new) if isinstance(new, str) else new
    return opened if isinstance(opened, type(structured)) and is_json_serializable(opened) else _NOTHING


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(cannot be shown)"


def _with_error(message: Message, text: str) -> Message:
    return Message({**message.value, "error": {**get_object(message.value, "error"), "message": text}})


def _code_only(message: Message) -> Message:
    """With nothing but the error's code, because hooks changed the rest."""
    code = get_object(message.value, "error").get("code")
    return Message({**message.value, "error": {"code": code} if isinstance(code, int) else {"code": INTERNAL_ERROR}})


def _with_notes(message: Message, notes: str) -> Message:
    if not notes:
        return message
    if "error" in message.value:
        said = get_object(message.value, "error").get("message")
        return _with_error(message, f"{said}\n\n{notes}" if said else notes)
    content = message.result.get("content")
    blocks = [*(content if isinstance(content, list) else ()), _text_block(notes)]
    return Message({**message.value, "result": {**message.result, "content": blocks}})


def too_deep_result(message: Message, *, modern: bool) -> Message:
    text = "hookline: the result is nested too deep for hooks to check"
    return Message({**message.value, "result": error_result(text, modern=modern)})
