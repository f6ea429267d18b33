"""flo's SerializedSession, version 1 and 2, as it is read."""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

MAX_MESSAGES: Final = 20_000
MAX_FILES: Final = 2_000
MAX_VALUES: Final = 5_000
MAX_SUBAGENTS: Final = 50

Id = Annotated[str, Field(min_length=1, max_length=200)]
Key = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]
Message = dict[str, Any]


class FloFile(BaseModel):
    path: Key
    content: str
    encoding: Literal["utf8", "base64"] = "utf8"

    @model_validator(mode="after")
    def _check_content(self) -> FloFile:
        self.decode()
        return self

    def decode(self) -> bytes:
        if self.encoding == "utf8":
            return self.content.encode()
        try:
            return base64.b64decode(self.content, validate=True)
        except binascii.Error:
            raise ValueError(f"the content of {self.path} is not base64") from None


class FloNetworkPolicy(BaseModel):
    mode: str = "allowlist"
    allowedDomains: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=200)] = []


class FloTool(BaseModel):
    name: Id


class FloAgentConfig(BaseModel):
    name: Annotated[str, Field(max_length=100)] = ""
    systemPrompt: Annotated[str, Field(max_length=100_000)] = ""
    model: Annotated[str, Field(max_length=150)] = ""
    provider: Annotated[str, Field(max_length=40)] = ""
    tools: Annotated[list[Id | FloTool], Field(max_length=200)] = []
    networkPolicy: FloNetworkPolicy = FloNetworkPolicy()


class FloMetadata(BaseModel):
    createdAt: Annotated[float, Field(ge=0, le=1e14)]  # milliseconds since 1970


class FloSkill(BaseModel):
    name: Id


class FloExtension(BaseModel):
    id: Id


class FloDependencies(BaseModel):
    skills: list[FloSkill] = []
    extensions: list[FloExtension] = []
    hooks: dict[str, Any] | None = None


class FloDomState(BaseModel):
    viewportHtml: str
    headHtml: str = ""
    listeners: list[Any] = []


class FloSession(BaseModel):
    """Keys of version 2 in a session of version 1 are ignored, as flo does."""

    model_config = ConfigDict(extra="ignore")

    version: Literal[1, 2]
    agentId: Id
    config: FloAgentConfig
    conversation: Annotated[list[dict[str, Any]], Field(max_length=MAX_MESSAGES)]
    storage: Annotated[dict[Key, Any], Field(max_length=MAX_VALUES)]
    metadata: FloMetadata
    files: Annotated[list[FloFile], Field(max_length=MAX_FILES)] = []
    subagents: Annotated[list[FloSession], Field(max_length=MAX_SUBAGENTS)] = []
    dependencies: FloDependencies = FloDependencies()
    domState: FloDomState | None = None
    _ignores_hooks: bool = PrivateAttr(default=False)

    @property
    def ignores_hooks(self) -> bool:
        """Whether it has hooks that its version does not know."""
        return self._ignores_hooks

    @model_validator(mode="after")
    def _check(self) -> FloSession:
        read_messages(self.conversation)
        if self.version == 1:
            self._ignores_hooks = self._ignores_hooks or bool(self.dependencies.hooks)
            self.dependencies, self.domState = FloDependencies(), None
        return self

    def messages(self) -> list[Message]:
        return read_messages(self.conversation)


def read_messages(conversation: list[dict[str, Any]]) -> list[Message]:
    """As the store has them. Raises ValueError with the place of the first message that cannot be read."""
    found: list[Message] = []
    seen: set[str] = set()
    for position, each in enumerate(conversation):
        try:
            new = _read_message(each)
        except ValueError as error:
            raise ValueError(f"conversation.{position}: {error}") from None
        for message in new:
            if message["id"] in seen:
                message["id"] = f"msg_{uuid.uuid4().hex}"
            seen.add(message["id"])
        found += new
    return found


def _read_message(given: dict[str, Any]) -> list[Message]:
    role, content = given.get("role"), given.get("content")
    if role not in ("user", "assistant", "system", "tool"):
        raise ValueError("role must be user, assistant, system or tool")
    id = given.get("id")
    made = id if isinstance(id, str) and 0 < len(id) <= 200 else f"msg_{uuid.uuid4().hex}"
    if isinstance(content, list):
        return _read_blocks(made, role, content)
    if content is not None and not isinstance(content, str):
        raise ValueError("content must be text or a list of blocks")
    calls = _read_calls(given.get("tool_calls"))
    answered = given.get("tool_call_id")
    if role == "tool" and not isinstance(answered, str):
        raise ValueError("a message of a tool needs tool_call_id")
    others = {name: value for name, value in given.items() if name != "tool_calls"}
    return [{**others, "id": made, "content": content or "", **({"tool_calls": calls} if calls else {})}]


def _read_calls(given: Any) -> str:
    """As JSON text, empty without calls."""
    if given is None:
        return ""
    calls = json.loads(given) if isinstance(given, str) and given else given or []
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        raise ValueError("tool_calls must be a list of {id, function: {name, arguments}}")
    return json.dumps(calls) if calls else ""


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return (
        isinstance(function, dict)
        and isinstance(call.get("id"), str)
        and isinstance(function.get("name"), str)
        and isinstance(function.get("arguments", ""), str)
    )


def _read_blocks(id: str, role: str, blocks: list[Any]) -> list[Message]:
    """Content in blocks: text, tool_use and tool_result. Results come before what the person says with them."""
    text, calls, results = [], [], []
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            text.append(block["text"])
        elif kind == "tool_use" and isinstance(block.get("id"), str) and isinstance(block.get("name"), str):
            function = {"name": block["name"], "arguments": json.dumps(block.get("input") or {})}
            calls.append({"id": block["id"], "type": "function", "function": function})
        elif kind == "tool_result" and isinstance(block.get("tool_use_id"), str):
            results.append(_result_message(block))
        else:
            raise ValueError(f"a block must be text, tool_use or tool_result, not {kind!r}")
    said: Message = {"id": id, "role": role, "content": "\n".join(text)}
    if calls:
        said["tool_calls"] = json.dumps(calls)
    return [*results, *([said] if text or calls or not results else [])]


def _result_message(block: dict[str, Any]) -> Message:
    content = block.get("content")
    if isinstance(content, list):
        texts = [each.get("text") for each in content if isinstance(each, dict)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    shown = content if isinstance(content, str) else json.dumps(content)
    return {"id": f"msg_{uuid.uuid4().hex}", "role": "tool", "tool_call_id": block["tool_use_id"], "content": shown}
