"""Placeholders for facts, in a vocabulary's names for tools and fields, and their filters: `{{result | json}}`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from hookline.hooks.event import EVERY_ITEM, MISSING, Event, FactPath, fact_path
from hookline.hooks.json_text import json_text
from hookline.hooks.session_facts import format_utc
from hookline.hooks.templates import OPEN_BRACES, CommandWords, Placeholder
from hookline.hooks.tool_input import field_value, is_command_field, to_vocabulary
from hookline.hooks.tool_name import mcp_address, tool_name_in
from hookline.hooks.tools import NATIVE, Vocabulary
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import json


@dataclass(frozen=True, slots=True)
class Filtered:
    placeholder: Placeholder
    filter_name: str  # a key of FILTERS

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return self.placeholder.paths

    def __call__(self, event: Event) -> Any:
        return FILTERS[self.filter_name](self.placeholder(event))


@dataclass(frozen=True, slots=True)
class WithDefault:
    """The value, or the default if it is missing."""

    placeholder: Placeholder
    default: Any

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return self.placeholder.paths

    def __call__(self, event: Event) -> Any:
        value = self.placeholder(event)
        return self.default if value is MISSING else value


@dataclass(frozen=True, slots=True)
class WithAlternative:
    """The value, or another fact if it is missing."""

    placeholder: Placeholder
    alternative: Placeholder

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return (*self.placeholder.paths, *self.alternative.paths)

    def __call__(self, event: Event) -> Any:
        value = self.placeholder(event)
        return self.alternative(event) if value is MISSING else value


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value as one of these words; the first if none means the same."""

    placeholder: Placeholder
    words: tuple[str, ...]

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return self.placeholder.paths

    def __call__(self, event: Event) -> Any:
        value = self.placeholder(event)
        if value in self.words:
            return value
        same = next((group for group in _SAME_WORDS if value in group), ())
        return next((word for word in self.words if word in same), self.words[0])


def _to_json(value: Any) -> Any:
    """The JSON of the value, also of text. A missing value stays missing."""
    if value is MISSING:
        return MISSING
    return json_text(value, default=str)


def _text_only(value: Any) -> Any:
    """Missing unless it is text."""
    return value if isinstance(value, str) else MISSING


def _as_message(value: Any) -> Any:
    """A tool's result that is plain text, as an object; any other unchanged."""
    return {"success": True, "message": value} if isinstance(value, str) else value


def _to_utc(value: Any) -> Any:
    """The time as `2025-12-31T10:30:00Z`; the current time if the value is missing or not a time."""
    return format_utc(_parse_time(value))


def _count_items(value: Any) -> Any:
    """The length of a list or a mapping; a number unchanged."""
    if isinstance(value, (list, dict)):
        return len(value)
    return value if isinstance(value, (int, float)) else MISSING


def _or_empty(value: Any) -> Any:
    """Empty text if it is missing."""
    return "" if value is MISSING else value


def _tool_answer(value: Any) -> Any:
    """A tool's result as `{content, is_error}`; `is_error` is present only after a failure."""
    if not isinstance(value, dict):
        return MISSING
    error = value.get("error")
    if value.get("ok") is False or (error and value.get("ok") is not True):
        return {"content": error or value.get("result"), "is_error": True}
    return {"content": value.get("result")}


def _tool_output(value: Any) -> Any:
    """A tool's result as JSON; after a failure `{"error": …}`, with the result if there is one."""
    if not isinstance(value, dict):
        return MISSING
    answer, result = _tool_answer(value), value.get("result", MISSING)
    if "is_error" not in answer:
        return _to_json(result)
    return _to_json({"error": value.get("error") or "", **({} if result in (MISSING, None) else {"result": result})})


def _tool_content(value: Any) -> Any:
    """A tool's result, or its error."""
    answer = _tool_answer(value)
    return answer["content"] if isinstance(answer, dict) else MISSING


def _as_patch(value: Any) -> Any:
    """The input of a tool that writes or edits one file, as the patch that Codex would apply; any other unchanged."""
    if not isinstance(value, dict) or "command" in value or "patch" in value:
        return value
    path = next((value[key] for key in ("path", "file_path") if isinstance(value.get(key), str)), None)
    if path is None or not {"content", "old_string", "new_string"} & value.keys():
        return value
    content = value.get("content")
    if isinstance(content, str):
        lines = [f"*** Add File: {path}", *(f"+{line}" for line in content.splitlines())]
    else:
        old, new = (str(value.get(key) or "").splitlines() for key in ("old_string", "new_string"))
        lines = [f"*** Update File: {path}", "@@", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return {"command": "\n".join(("*** Begin Patch", *lines, "*** End Patch"))}


def _as_edits(value: Any) -> Any:
    """The input of a tool that writes or edits a file, as a list of `{old_string, new_string}`."""
    if not isinstance(value, dict):
        return MISSING
    if isinstance(value.get("edits"), list):
        return value["edits"]
    names = ("new_string", "content", "new_str", "file_text")
    new = next((value[key] for key in names if isinstance(value.get(key), str)), "")
    old = next((value[key] for key in ("old_string", "old_str") if isinstance(value.get(key), str)), "")
    return [{"old_string": old, "new_string": new}]


def _mcp_part(value: Any, part: int) -> Any:
    name = value.get("name") if isinstance(value, dict) else None
    address = mcp_address(name) if isinstance(name, str) else None
    return MISSING if address is None else address[part]


def _to_milliseconds(value: Any) -> Any:
    return int(_parse_time(value).timestamp() * 1000)


def _texts_of_fields(value: Any) -> Any:
    """A mapping with each of its values as text."""
    if not isinstance(value, dict):
        return MISSING
    return {key: held if isinstance(held, str) else json_text(held, default=str) for key, held in value.items()}


def _parse_time(value: Any) -> datetime:
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return datetime.now(UTC)


def _to_percent(value: Any) -> Any:
    """A share of 1 as a percentage; missing unless it is a number."""
    return round(value * 100, 1) if isinstance(value, (int, float)) else MISSING


def parse_filter(placeholder: Placeholder, filter_name: str) -> Filtered | WithDefault | OneOf | None:
    """A key of FILTERS, `or` with a default, which is JSON or else text, or `one_of` with words. None if it is neither."""
    word, _, rest = filter_name.partition(" ")
    if word == "or" and rest.strip():
        return WithDefault(placeholder, _parse_default(rest.strip()))
    if word == "one_of" and rest.split():
        return OneOf(placeholder, tuple(rest.split()))
    return Filtered(placeholder, filter_name) if filter_name in FILTERS else None


def _parse_default(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


FILTERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "json": _to_json,
    "text": _text_only,
    "message": _as_message,
    "utc": _to_utc,
    "count": _count_items,
    "or_empty": _or_empty,
    "answer": _tool_answer,
    "content": _tool_content,
    "output": _tool_output,
    "patch": _as_patch,
    "edits": _as_edits,
    "milliseconds": _to_milliseconds,
    "mcp_server": partial(_mcp_part, part=0),
    "mcp_tool": partial(_mcp_part, part=1),
    "texts": _texts_of_fields,
    "percent": _to_percent,
}
_SAME_WORDS: Final = (
    ("default", "off"),
    ("plan", "spec"),
    ("acceptEdits", "auto_edit", "auto-edit", "auto-low"),
    ("bypassPermissions", "yolo", "auto-high"),
    ("startup", "new"),
    ("complete", "completed", "exit", "prompt_input_exit", "user_exit", "user_close", "window_close"),
    ("abort", "aborted"),
)
"""How agents call the same mode of permissions, start or end of a session."""
_MAX_FILE_BYTES: Final = 1 << 20
_OPEN_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # a pipe would not end


@dataclass(frozen=True, slots=True)
class FactPlaceholder:
    """A fact, with a tool's name and input in the words of the vocabulary."""

    path: FactPath
    vocabulary: Vocabulary = NATIVE

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __call__(self, event: Event) -> Any:
        if self.path == ("tool", "name"):
            return tool_name_in(event, self.vocabulary) or MISSING
        if self.path == ("tool", "input"):
            return to_vocabulary(event, self.vocabulary)
        if self.path[:2] == ("tool", "input"):
            value = field_value(event, self.path[2:])
            return (
                CommandWords(value) if isinstance(value, (list, tuple)) and is_command_field(self.path[2:]) else value
            )
        return event.read(self.path)


@dataclass(frozen=True, slots=True)
class EventPlaceholder:
    """All facts and the event's name, as one object."""

    vocabulary: Vocabulary = NATIVE
    paths: tuple[FactPath, ...] = ((),)

    def __call__(self, event: Event) -> Any:
        facts = dict(event.facts)
        tool = facts.get("tool")
        if isinstance(tool, dict):
            renamed = {
                "name": tool_name_in(event, self.vocabulary) or MISSING,
                "input": to_vocabulary(event, self.vocabulary),
            }
            facts["tool"] = {**tool, **{key: value for key, value in renamed.items() if value is not MISSING}}
        return {"event": event.name} | {**facts, "event": event.name}


@dataclass(frozen=True, slots=True)
class ResultTextPlaceholder:
    """A tool's result as text: the text itself, or its JSON."""

    paths: tuple[FactPath, ...] = (("tool", "result"),)

    def __call__(self, event: Event) -> Any:
        value = event.read(("tool", "result"))
        if value is MISSING or isinstance(value, str):
            return value
        return json_text(value, default=str)


@dataclass(frozen=True, slots=True)
class FileTextPlaceholder:
    """The text of the file that the tool is about, as it is now; missing if it cannot be read."""

    paths: tuple[FactPath, ...] = (("tool", "input"), ("cwd",))

    def __call__(self, event: Event) -> Any:
        path, directory = field_value(event, ("path",)), event.read(("cwd",))
        if not isinstance(path, str):
            return MISSING
        file = os.path.join(directory if isinstance(directory, str) else "", os.path.expanduser(path))
        try:
            descriptor = os.open(file, _OPEN_FLAGS) if os.path.isabs(file) else None
        except (OSError, ValueError):
            return MISSING
        return MISSING if descriptor is None else _read_text(descriptor)


def _read_text(descriptor: int) -> Any:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return MISSING
        with open(descriptor, "rb", closefd=False) as opened:
            return opened.read(_MAX_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return MISSING
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class OpenBracesPlaceholder:
    """Two braces as themselves: `{{open_braces}}.State}}` is the text `{{.State}}`, not a placeholder."""

    paths: tuple[FactPath, ...] = ()

    def __call__(self, event: Event) -> Any:
        return "{{"


@dataclass(frozen=True, slots=True)
class PlaceholderResolver:
    """Resolves the names of facts, `fact | filter`, and filters of filtered values."""

    vocabulary: Vocabulary = NATIVE

    def __call__(
        self, name: str
    ) -> (
        FactPlaceholder
        | EventPlaceholder
        | ResultTextPlaceholder
        | FileTextPlaceholder
        | OpenBracesPlaceholder
        | Filtered
        | WithDefault
        | WithAlternative
        | OneOf
        | None
    ):
        fact, bar, filter_name = name.rpartition("|")
        if bar:
            placeholder = self(fact.strip())
            return None if placeholder is None else self._with_filter(placeholder, filter_name.strip())
        if name == "event":
            return EventPlaceholder(self.vocabulary)
        if name == "result.text":
            return ResultTextPlaceholder()
        if name == OPEN_BRACES:
            return OpenBracesPlaceholder()
        if name == "file.text":
            return FileTextPlaceholder()
        path = fact_path(name)
        return None if path is None or EVERY_ITEM in path else FactPlaceholder(path, self.vocabulary)

    def _with_filter(
        self, placeholder: Placeholder, filter_name: str
    ) -> Filtered | WithDefault | WithAlternative | OneOf | None:
        word, _, name = filter_name.partition(" ")
        if word != "or_fact":
            return parse_filter(placeholder, filter_name)
        other = self(name.strip())
        return None if other is None else WithAlternative(placeholder, other)
