"""Conditions in the native format's own words."""

from __future__ import annotations

import re
from typing import Any, Final

from hookline.dialects.native.conditions import EXPRESSION_NAMES, PATH_WORDS, SYNTAXES
from hookline.dialects.unsaid import Unsaid, unsaid_condition
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.computed import Computes, Custom
from hookline.hooks.conditions.content import RecentMessagesSay
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.numbers import Compared, Every
from hookline.hooks.conditions.paths import ToolPath
from hookline.hooks.conditions.text import Exists, Fact, Is, Matches
from hookline.hooks.conditions.tool import KindIs
from hookline.hooks.event import Path, path_text
from hookline.hooks.fields import ToolField
from hookline.hooks.tools import ToolName, is_path_field
from hookline.patterns.pattern import Pattern, Syntax
from hookline.patterns.spelt import Spelt

_PLAIN_NAME: Final = re.compile(r"[\w.:-]+")  # means the same as a glob


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
            return {"tool": _tool(compiled)}
        case Matches(ToolPath(path), Spelt(word) as compiled) if word in PATH_WORDS:
            return {"input": {_field_name(path): _pattern(compiled)}}
        case Matches(ToolField(path), Spelt(word) as compiled) if word in PATH_WORDS and is_path_field(str(path[-1])):
            return {"input": {_field_name(path): _pattern(compiled.pattern)}}
        case Matches(ToolField(path), compiled):
            return {"input": {_field_name(path): _pattern(compiled)}}
        case Matches(Fact(("error", "code")), Spelt("tool", text)):
            return {"error_code": text}
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
        case Custom(name, _, params):
            return {"custom": {name: params}}
        case _:
            raise unsaid_condition(condition)


def _field_name(path: Path) -> str:
    if any("." in str(step) or step == "" for step in path):
        raise Unsaid(f"the input field {path_text(path)!r}: a dot in a name means a step here")
    return path_text(path)


def _tool(compiled: Any) -> Any:
    """A name where that says it, else the long form."""
    if isinstance(compiled, Spelt) and compiled.word == "tool":
        names = [name.strip() for name in compiled.text.split("|")]
        if all(names) and not any("/" in name for name in names):
            return names[0] if len(names) == 1 else names
        if all(name and not set(name) & set("?[") for name in names):
            return {"like": names[0] if len(names) == 1 else names}
    if isinstance(compiled, Spelt) and compiled.word == "exactly" and _PLAIN_NAME.fullmatch(compiled.text):
        return compiled.text
    said = _pattern(compiled)
    return {"matches": said} if isinstance(said, str) else said


def _pattern(compiled: Any) -> Any:
    """Text in native syntax, or the long form that names another."""
    if isinstance(compiled, Spelt):
        return _pattern(compiled.pattern) if compiled.word == "tool" else {compiled.word: compiled.text}
    if not isinstance(compiled, Pattern):
        raise Unsaid("a pattern that is not one of ours")
    if compiled.syntax is Syntax.NATIVE and not compiled.whole:
        return compiled.source
    word = next(word for word, syntax in SYNTAXES.items() if syntax is compiled.syntax)
    return {word: compiled.source, "whole": True} if compiled.whole else {word: compiled.source}
