"""What an MCP server answered → a tool's result."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from hookline.hooks.event import same
from hookline.hooks.host import ToolResult
from hookline.hosts.mcp.message import is_deep

LONGEST: Final = 1_000_000  # characters of a result
_NOTHING: Final = object()


def result_of(answer: CallToolResult, *, opened: bool = True) -> ToolResult:
    """Data stays data, so that hooks can reach into it; text that is JSON counts as data where it may be `opened`."""
    texts = [text for block in answer.content if (text := _text(block)) is not None]
    text, files = "\n".join(texts), _files(answer.content)
    if answer.is_error:
        said = _cut(text) or "the tool failed and did not say why"
        return ToolResult(said, False, said, files)
    content = _content(answer.structured_content, text, texts, opened)
    if content == "" and files:
        content = "\n".join(f"[{file['name']}]" for file in files)
    return ToolResult(content, attachments=files)


def _text(block: ContentBlock) -> str | None:
    match block:
        case TextContent(text=text):
            return text
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return text
        case ResourceLink(name=name, uri=uri):
            return f"{name}: {uri}"
    return None


def _files(blocks: Sequence[ContentBlock]) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = []
    for block in blocks:
        match block:
            case ImageContent(data=data, mime_type=kind) | AudioContent(data=data, mime_type=kind):
                name = f"{block.type}-{len(found) + 1}{mimetypes.guess_extension(kind) or ''}"
                found.append({"name": name, "mimeType": kind, "data": data})
            case EmbeddedResource(resource=BlobResourceContents(blob=data, mime_type=said, uri=uri)):
                kind = said or "application/octet-stream"
                found.append({"name": _last_of(str(uri)) or f"file-{len(found) + 1}", "mimeType": kind, "data": data})
    return tuple(found)


def _last_of(uri: str) -> str:
    try:
        return PurePosixPath(urlsplit(uri).path).name
    except ValueError:
        return ""


def _content(structured: Any, text: str, texts: list[str], opened: bool) -> Any:
    if structured is None or is_deep(structured):
        found = _json_in(text) if opened else _NOTHING
        return _cut(text) if found is _NOTHING else found
    held = _unwrapped(structured, text, texts)
    if isinstance(held, str) or _is_large(held):
        return _cut(text or _shown(held))
    if not text or not isinstance(held, dict) or "text" in held or held is not structured:
        return held
    return held if same(_json_in(text), held) else {**held, "text": _cut(text)}


def _unwrapped(structured: Any, text: str, texts: list[str]) -> Any:
    """The only value of an object that was made to hold it: its text says the value, not the object."""
    if not isinstance(structured, dict) or len(structured) != 1:
        return structured
    value = next(iter(structured.values()))
    if same(value, text) or same(value, _json_in(text)):
        return value
    if isinstance(value, list) and [_shown(each) for each in value] == [_respelt(each) for each in texts]:
        return value
    return text if not isinstance(value, (dict, list)) and _shown(value) == text else structured


def _json_in(text: str) -> Any:
    """The object or list that the text is, else nothing."""
    if not text.lstrip().startswith(("{", "[")) or len(text) > LONGEST:
        return _NOTHING
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING
    return value if isinstance(value, (dict, list)) and not is_deep(value) else _NOTHING


def _respelt(text: str) -> str:
    value = _json_in(text)
    return text if value is _NOTHING else _shown(value)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_large(value: Any) -> bool:
    return len(_shown(value)) > LONGEST


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… and {len(text) - LONGEST} more characters"
