"""Conditions in the native format's own words."""

from __future__ import annotations

from typing import Any

from hookline.dialects.native.conditions import EXPRESSION_NAMES
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.computed import Computes
from hookline.hooks.conditions.content import RecentMessagesSay
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.numbers import Compared, Every
from hookline.hooks.conditions.text import Exists, Fact, Is, Matches
from hookline.hooks.conditions.tool import KindIs
from hookline.hooks.event import path_text
from hookline.hooks.tools import ToolField, ToolName
from hookline.patterns.pattern import Pattern, Syntax


def condition_value(condition: Condition) -> Any:
    """A mapping, or `never`; {} always holds."""
    match condition:
        case Always():
            return {}
        case Never():
            return "never"
        case All(parts):
            return _all(parts)
        case AnyOf(parts):
            return {"any": [condition_value(part) for part in parts]}
        case Not(part):
            return {"not": condition_value(part)}
        case _:
            return _leaf(condition)


def _all(parts: tuple[Condition, ...]) -> Any:
    """One mapping where no two parts need the same key, else a list."""
    values = [condition_value(part) for part in parts]
    merged: dict[str, Any] = {}
    for value in values:
        if not isinstance(value, dict) or not _merge(merged, value):
            return {"all": values}
    return merged


def _merge(into: dict[str, Any], value: dict[str, Any]) -> bool:
    for key, held in value.items():
        if key in ("input", "fact") and key in into:
            if set(into[key]) & set(held):
                return False
            into[key] = {**into[key], **held}
        elif key in into:
            return False
        else:
            into[key] = held
    return True


def _leaf(condition: Condition) -> dict[str, Any]:
    match condition:
        case Matches(ToolName(), compiled):
            return {"tool": {"matches": said} if isinstance(said := _pattern(compiled), str) else said}
        case Matches(ToolField(path), compiled):
            return {"input": {path_text(path): _pattern(compiled)}}
        case Matches(Fact(path), compiled):
            return {"fact": {path_text(path): _pattern(compiled)}}
        case KindIs(kind):
            return {"kind": str(kind)}
        case Is(path, value):
            return {"fact": {path_text(path): {"is": value}}}
        case Exists(path):
            return {"fact": {path_text(path): {"exists": True}}}
        case Compared(path, comparison, number):
            return {"fact": {path_text(path): {comparison: number}}}
        case Every(path, every):
            return {"fact": {path_text(path): {"every": every}}}
        case RecentMessagesSay(keyword, last):
            return {"says": {"keyword": keyword, "last": last}}
        case Computes(formula, places) if dict(places) == EXPRESSION_NAMES:
            return {"expr": formula.source}
        case _:
            raise Unsaid(f"the condition {type(condition).__name__}")


def _pattern(compiled: Any) -> Any:
    """Text in native syntax, or the long form that names another."""
    if not isinstance(compiled, Pattern):
        raise Unsaid("a pattern that is not one of ours")
    if compiled.syntax is Syntax.NATIVE:
        return rf"\A(?:{compiled.source})\z" if compiled.whole else compiled.source
    if compiled.whole:
        return {str(compiled.syntax.value): f"^(?:{compiled.source})$"}
    return {str(compiled.syntax.value): compiled.source}
