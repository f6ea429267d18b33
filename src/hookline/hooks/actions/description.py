"""Describes to a person what an action would do: pairs of a verb and its object, for `hookline trust`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.hooks.event import REMOVED, path_text
from hookline.hooks.outcome import Audience, Outcome
from hookline.hooks.templates import DataTemplate, ShellTemplate, Template
from hookline.lazy_dataclasses import field_names
from hookline.lazy_imports import json, lazy_pattern

_EVENT_NAMES: Final = {  # the dialects' own constants beside an event's facts
    "hook_event_name": lazy_pattern(r"[A-Z][A-Za-z]+"),
    "type": lazy_pattern(r"(pre|post)_tool_use|user_prompt_submit|stop|agent_(start|end)"),
}
_EMPTY_VALUES: Final = (None, "", False)


def describe_outcome(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.halt:
        yield "halt", outcome.reason
    elif outcome.verdict:
        yield outcome.verdict.word, outcome.reason
    for path, new in outcome.changes:
        yield ("remove", path_text(path)) if new is REMOVED else ("set", f"{path_text(path)} = {describe_value(new)}")
    for note in outcome.notes:
        yield ("tell_user" if note.audience is Audience.USER else "tell"), note.text
    for request in outcome.requests:
        prompt = request.summary_prompt
        yield "request", "compact" if prompt is None else f"compact: {prompt}"


def describe_value(value: Any) -> str:
    """The whole value: what is cut off could be what matters."""
    return value.source if isinstance(value, Template) else value if isinstance(value, str) else describe_json(value)


def describe_input(what: str, data: DataTemplate | None) -> Iterator[tuple[str, str]]:
    """Data that a program, a script or a URL gets, unless it is only facts of the event under their names."""
    if data is not None and not _is_facts_only(data.value, is_top=True):
        yield what, describe_value(data.value)


def _is_facts_only(value: Any, *, is_top: bool = False) -> bool:
    if isinstance(value, Template):
        return value.is_single_placeholder
    if isinstance(value, dict):
        return all(_is_event_name(key, part) or _is_facts_only(part) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_facts_only, value))
    return not is_top and value in _EMPTY_VALUES


def _is_event_name(key: str, value: Any) -> bool:
    return key in _EVENT_NAMES and isinstance(value, str) and _EVENT_NAMES[key].fullmatch(value) is not None


def describe_json(value: Any) -> str:
    """JSON in which templates are their sources and dataclasses are objects."""
    return json.dumps(value, ensure_ascii=False, default=_json_default)


def _json_default(value: Any) -> Any:
    if isinstance(value, (Template, ShellTemplate)):
        return value.source
    if isinstance(value, DataTemplate):
        return value.value
    if names := field_names(value):
        return {name: getattr(value, name) for name in names if not name.startswith("_")}
    return str(value) if isinstance(value, (timedelta, PurePath)) else type(value).__name__
