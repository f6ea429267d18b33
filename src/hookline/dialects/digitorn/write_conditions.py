"""Conditions in the format's own words."""

from __future__ import annotations

from typing import Any, Final

from hookline.dialects.digitorn.conditions import (
    CONDITIONS,
    DEFAULTS,
    EXPRESSION_NAMES,
    LAST_MESSAGES,
    PRESSURE,
    TURN,
)
from hookline.dialects.digitorn.texts import TONGUE
from hookline.dialects.unsaid import Unsaid, unsaid_condition
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.computed import Computes, Custom
from hookline.hooks.conditions.content import RecentMessagesSay
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.numbers import Compared, Every
from hookline.hooks.conditions.text import Fact, Is, Matches
from hookline.hooks.conditions.tool import KindIs
from hookline.hooks.tools import Kind, Tongue, ToolName
from hookline.patterns.spelt import Spelt

_EXCEEDED: Final = {path: name for name, (path, _) in DEFAULTS.items()}
_SIGNS: Final = {"above": ">", "at_least": ">=", "equals": "=="}
_NAMES: Final = {path: name for name, path in EXPRESSION_NAMES.items()}


def condition_value(condition: Condition) -> dict[str, Any]:
    match condition:
        case Always():
            return {"type": "always"}
        case Never():
            return {"type": "never"}
        case All(parts):
            return {"type": "all_of", "conditions": [condition_value(part) for part in parts]}
        case AnyOf(parts):
            return {"type": "any_of", "conditions": [condition_value(part) for part in parts]}
        case Not(part):
            return {"type": "not", "condition": condition_value(part)}
        case Custom(name, _, params):
            return _custom(name, params)
        case Matches(ToolName(tongue), Spelt(word, text)):
            return {"type": "tool_name", "match": _names(tongue, word, text)}
        case Matches(Fact(("error", "code")), Spelt("tool", text)):
            return {"type": "error_type", "match": text}
        case _:
            return _plain(condition)


def _plain(condition: Condition) -> dict[str, Any]:
    match condition:
        case KindIs(kind) if TONGUE.names.get(kind):
            return {"type": "tool_name", "match": TONGUE.names[kind][0]}
        case Is(("tool", "ok"), False):
            return {"type": "tool_failed"}
        case RecentMessagesSay(keyword, last) if last == LAST_MESSAGES:
            return {"type": "content_contains", "keyword": keyword}
        case Every(path, number) if path == TURN:
            return {"type": "turn_count", "every": number}
        case Compared():
            return _compared(condition)
        case Computes(formula, places) if dict(places) == EXPRESSION_NAMES:
            return {"type": "expression", "expr": formula.source}
        case _:
            raise unsaid_condition(condition)


def _compared(condition: Compared) -> dict[str, Any]:
    path, comparison, number = condition.path, condition.comparison, condition.number
    if path == TURN and comparison == "equals" and isinstance(number, int) and number >= 0:
        return {"type": "turn_count", "threshold": number}
    if path in _EXCEEDED and comparison == "above" and number >= 0 and (path != PRESSURE or number <= 1):
        return {"type": _EXCEEDED[path], "threshold": number}
    if path in _NAMES and comparison in _SIGNS and (number > 0 or (number == 0 and comparison == "above")):
        return {"type": "expression", "expr": f"{_NAMES[path]} {_SIGNS[comparison]} {number!r}"}
    raise Unsaid("this comparison of a number")  # an absent fact counts as 0 in an expression, and here it never holds


def _custom(name: str, params: Any) -> dict[str, Any]:
    if name in CONDITIONS or not isinstance(params, dict) or "type" in params:
        raise Unsaid(f"the registered condition {name}")
    return {"type": name, **params}


def _names(tongue: Tongue, word: str, text: str) -> str:
    if (word == "exactly" and not set(text) & set("*?[|")) or (word == "like" and not set(text) & set("?[|")):
        word = "tool"
    if word != "tool":
        raise Unsaid("a pattern of a tool's name that is no glob")
    if tongue.name == TONGUE.name:
        return text
    return "|".join(name for part in text.split("|") for name in _translated(tongue, part.strip()))


def _translated(tongue: Tongue, name: str) -> list[str]:
    """A name of another tongue, and what the format calls that kind of tool."""
    if name == "*":
        return [name]
    if set(name) & set("*?["):
        raise Unsaid(f"the tools {name} in the words of {tongue.name}")
    kinds = [kind for kind in Kind if name in tongue.names.get(kind, ())]
    return [name, *(TONGUE.names[kind][0] for kind in kinds if TONGUE.names.get(kind))]
