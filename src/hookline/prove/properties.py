"""Properties of hooks: a condition, and that every event for which it holds is stopped."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Final

from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.config.reader import FileFormat, read_text
from hookline.dialects.native.conditions import parse_condition
from hookline.dialects.native.keys import HookInfo
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.events import EVENTS, event_named
from hookline.hooks.outcome import Verdict
from hookline.hooks.protocols import Condition, May
from hookline.hooks.tools import NATIVE
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

PROPERTY_KEYS: Final = ("id", "never", "on", "ask_is_enough")
_DOUBLE_QUOTED: Final = lazy_pattern(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """Every event for which the condition holds is denied; with `ask_is_enough`, denied or asked about."""

    id: str
    event: str
    condition: Condition
    text: str  # as it was written, or as JSON
    ask_is_enough: bool = False
    line: int = 1

    @property
    def stopping(self) -> frozenset[Verdict]:
        return frozenset((Verdict.DENY, Verdict.ASK)) if self.ask_is_enough else frozenset((Verdict.DENY,))


def parse_property(text: str, *, event: str = "tool.before", ask_is_enough: bool = False, id: str = "") -> Property:
    """The conditions of a hook's `when`, as one line of YAML. Raises ConfigError."""
    document, problems = read_text(_as_mapping(text), "the property", FileFormat.YAML)
    if document is None and '"' in text:  # a pattern in double quotes is as common as it is wrong in YAML
        quoted = _DOUBLE_QUOTED.sub(lambda found: "'" + found[1].replace("'", "''") + "'", text)
        document, _ = read_text(_as_mapping(quoted), "the property", FileFormat.YAML)
    if document is None:
        raise ConfigError(problems)
    found: list[Problem] = []
    condition = _parse(Node.of(document, found), event)
    if condition is None or found:
        raise ConfigError(sorted(found))
    _check_event(event)
    return Property(id or text, event, condition, text, ask_is_enough)


def _as_mapping(text: str) -> str:
    return text if text.lstrip().startswith(("{", "[")) or "\n" in text.strip() else f"{{{text}}}"


def read_properties(at: Node) -> list[Property]:
    """The list under `properties:` of a test file. Problems are added to the node's."""
    return [found for place in at.items() if (found := _read_property(place)) is not None]


def _read_property(at: Node) -> Property | None:
    if at.mapping() is None:
        return None
    at.check_keys(PROPERTY_KEYS, "a property")
    never, id, on, ask = at.get("never"), at.get("id"), at.get("on"), at.get("ask_is_enough")
    if never is None:
        at.add_problem("missing-key", f"{at.location}: never is missing.", "Write never: {tool: …, input: …}.")
        return None
    written = None if on is None else on.text()
    event = "tool.before" if written is None else event_named(written, None)
    if event is None or not EVENTS[event].accepts & May.DENY:
        (on or at).add_problem(
            "unknown-event", f"{at.location}: no hook can deny {written!r}.", "Write on: tool.before."
        )
        return None
    condition = _parse(never, event)
    name = None if id is None else id.text()
    flag = None if ask is None else ask.flag()
    if condition is None:
        return None
    text = json.dumps(never.value, ensure_ascii=False, default=str)
    return Property(name or f"line {at.line}", event, condition, text, flag is True, at.line)


def _parse(at: Node, event: str) -> Condition | None:
    if _has_backspace(at.value):
        problem = r"a text has a backspace character. In double quotes, \b is that character."
        at.add_problem("control-character", problem, r"Use single quotes: '\b'.")
        return None
    return parse_condition(at, HookInfo(event, NATIVE, timedelta(seconds=60), "property"))


def _has_backspace(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_backspace, value.values()))
    return any(map(_has_backspace, value)) if isinstance(value, list) else isinstance(value, str) and "\b" in value


def _check_event(event: str) -> None:
    if not EVENTS[event].accepts & May.DENY:
        raise HooklineError(f"no hook can deny {event}, so there is nothing to prove")
