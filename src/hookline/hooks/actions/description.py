"""Describes to a person what an action would do: pairs of a verb and its object, for `hookline trust`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.hooks.event import REMOVED, path_text
from hookline.hooks.outcome import Outcome
from hookline.hooks.templates import DataTemplate, ShellTemplate, Template

_MAX_VALUE_LENGTH: Final = 4_000  # characters of one value


def describe_outcome(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.verdict:
        yield outcome.verdict.word, outcome.reason
    for path, new in outcome.changes:
        yield ("remove", path_text(path)) if new is REMOVED else ("set", f"{path_text(path)} = {describe_value(new)}")
    yield from (("tell", note.text) for note in outcome.notes)
    yield from (("request", type(request).__name__.lower()) for request in outcome.requests)


def describe_value(value: Any) -> str:
    text = value.source if isinstance(value, Template) else value if isinstance(value, str) else describe_json(value)
    if len(text) <= _MAX_VALUE_LENGTH:
        return text
    return f"{text[:_MAX_VALUE_LENGTH]}… ({len(text) - _MAX_VALUE_LENGTH} more characters)"


def describe_json(value: Any) -> str:
    """JSON in which templates are their sources and dataclasses are objects."""
    return json.dumps(value, ensure_ascii=False, default=_json_default)


def _json_default(value: Any) -> Any:
    if isinstance(value, (Template, ShellTemplate)):
        return value.source
    if isinstance(value, DataTemplate):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value) if not each.name.startswith("_")}
    return str(value) if isinstance(value, (timedelta, PurePath)) else type(value).__name__
