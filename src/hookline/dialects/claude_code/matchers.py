"""`matcher` and `if`: the calls for which a hook runs. `if` is a permission rule, such as `Bash(rm *)`."""

from __future__ import annotations

import re
from typing import Final

from hookline.dialects.claude_code.names import MATCHER_FACTS, TOOL_EVENTS, VOCABULARY
from hookline.dialects.conversion import NotExpressible, flatten_all
from hookline.dialects.settings_json import translate_tool_names
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import ALWAYS, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, ShellCommands
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import ToolKind, kind_of_name
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

TOOL_FAILED: Final = Equals(("tool", "ok"), False)
RULE_SCHEMA_PATTERN: Final = r"^\s*[^()\s|]+\s*(?:\([\s\S]*\))?\s*$"
_RULE_PATTERN: Final = lazy_pattern(r"\s*([^()\s|]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_NAME_LIST: Final = lazy_pattern(r"[A-Za-z0-9_|, -]+")
_PLAIN_NAME: Final = lazy_pattern(r"[A-Za-z0-9_-]+")
_ANCHORED_NAME_LIST: Final = lazy_pattern(rf"\^\(\?:({_NAME_LIST.pattern})\)\$")
_FILE_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)


@dataclass(frozen=True, slots=True)
class PermissionRule:
    condition: Condition
    warning: str = ""  # why it may not do what its author expects


def parse_matcher(text: str, event_name: str) -> Condition:
    """Names separated by `|` or `,`, or a regular expression to search for. Raises BadPattern."""
    if text in ("", "*"):
        return ALWAYS
    is_name_list = _NAME_LIST.fullmatch(text) is not None
    if is_name_list:
        text = "|".join(name for part in re.split(r"[|,]", text) if (name := part.strip()))
        if not text:
            return Never("its matcher names no tool.")
    if event_name in TOOL_EVENTS:
        names = shorthand("tool", text) if is_name_list else pattern(text, Syntax.JAVASCRIPT)
        return match_tool_name(names, VOCABULARY)
    path, default = MATCHER_FACTS[event_name]
    compiled = pattern(f"^(?:{text})$" if is_name_list else text, Syntax.JAVASCRIPT)
    condition = Matches(Fact(path), compiled)
    return AnyOf((condition, Not(Exists(path)))) if default and compiled.search(default) else condition


def tool_of_rule(text: str) -> str | None:
    """The tool of a rule such as `Bash(git push:*)`, which as a matcher matches no tool; None for another text."""
    found = _RULE_PATTERN.fullmatch(text)
    if found is None or not found[2] or _NAME_LIST.fullmatch(found[2]) or kind_of_name(found[1]) is ToolKind.OTHER:
        return None
    try:
        return None if pattern(text, Syntax.JAVASCRIPT).search(found[1]) else found[1]
    except BadPattern:
        return found[1]


def parse_permission_rule(text: str) -> PermissionRule:
    """Raises BadPattern if the text is not a rule."""
    found = _RULE_PATTERN.fullmatch(text)
    if found is None:
        raise BadPattern("this is neither a tool's name nor Tool(pattern)")
    name, inner = found[1], (found[2] or "").strip()
    name_condition = match_tool_name(shorthand("tool", name), VOCABULARY)
    if inner in ("", "*"):
        return PermissionRule(name_condition)
    input_condition = _input_condition(kind_of_name(name), inner)
    if input_condition is None:
        warning = f"{name} has no input that {inner} applies to; the hook runs for every {name}."
        return PermissionRule(name_condition, warning)
    return PermissionRule(all_of([name_condition, input_condition]))


def _input_condition(kind: ToolKind, inner: str) -> Condition | None:
    """The pattern in parentheses as a condition; None if this kind of tool has no input that it applies to."""
    if kind is ToolKind.SHELL:
        inner = f"{inner.removesuffix(':*')} *" if inner.endswith(":*") else inner
        return Matches(ShellCommands(ToolField(("command",), VOCABULARY)), shorthand("starts", inner))
    if kind in _FILE_KINDS:
        return _any_of(
            [Matches(ToolField(("file_path",), VOCABULARY), shorthand("glob", glob)) for glob in gitignore_globs(inner)]
        )
    if kind is ToolKind.FETCH and inner.startswith("domain:"):
        return Matches(ToolField(("url",), VOCABULARY), shorthand("host", inner.removeprefix("domain:")))
    if kind is ToolKind.FETCH:
        return Matches(ToolField(("url",), VOCABULARY), shorthand("like", inner))
    if kind is ToolKind.AGENT:
        return Matches(ToolField(("subagent_type",), VOCABULARY), shorthand("like", inner))
    return None


def gitignore_globs(inner: str) -> tuple[str, ...]:
    """As in .gitignore: a bare name matches anywhere, a directory matches everything below it.

    `//` starts at the root of the file system, `/` at the project. The home is not known here, so `~/` matches anywhere.
    """
    if inner.startswith("//"):
        glob = inner[1:]
    elif inner.startswith("~/"):
        glob = f"**/{inner[2:]}"
    elif "/" in inner.rstrip("/"):
        glob = inner.removeprefix("./").removeprefix("/")
    else:
        glob = f"**/{inner}"
    if glob.endswith("/"):
        return (f"{glob}**",)
    return (glob,) if glob.endswith("**") else (glob, f"{glob}/**")


def _any_of(parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def write_matcher_and_rule(when: Condition, event_name: str) -> tuple[str | None, str | None]:
    """The `matcher` and `if` for this condition. Raises NotExpressible."""
    parts = flatten_all(when)
    if event_name not in TOOL_EVENTS:
        return _write_fact_matcher(parts, event_name), None
    names = [part for part in parts if isinstance(part, Matches) and isinstance(part.subject, ToolName)]
    rest = [part for part in parts if part not in names]
    if len(rest) > 1 or len(names) > 2 or (rest and not names):
        raise NotExpressible("its condition")
    if not names:
        return None, None
    if not rest and len(names) == 1 and not _is_glob(names[0]):
        return _write_matcher(names[0]), None
    rule = _write_tool_name(names[-1])
    if rest:
        rule += f"({_write_rule_pattern(names[-1], rest[0])})"
    return (_write_matcher(names[0]) if len(names) == 2 else None), rule


def _write_fact_matcher(parts: list[Condition], event_name: str) -> str | None:
    if not parts:
        return None
    path, _ = MATCHER_FACTS.get(event_name, ((), ""))
    match parts:
        case [Matches(Fact(asked_path), Pattern() as compiled)] | [
            AnyOf((Matches(Fact(asked_path), Pattern() as compiled), Not(Exists())))
        ] if asked_path == path and compiled.syntax is Syntax.JAVASCRIPT:
            names = _ANCHORED_NAME_LIST.fullmatch(compiled.source)
            text = names[1] if names else compiled.source
            if parse_matcher(text, event_name) == parts[0]:
                return text
    raise NotExpressible("its condition")


def _is_glob(condition: Matches) -> bool:
    """A name with a star must be written as a rule."""
    compiled = condition.pattern
    return isinstance(compiled, Shorthand) and compiled.word == "tool" and "*" in compiled.text


def _write_matcher(condition: Matches) -> str:
    compiled, subject = condition.pattern, condition.subject
    assert isinstance(subject, ToolName)
    is_own = subject.vocabulary == VOCABULARY
    if is_own and isinstance(compiled, Pattern) and compiled.syntax is Syntax.JAVASCRIPT and not compiled.whole:
        return compiled.source
    names = translate_tool_names(compiled, subject.vocabulary, VOCABULARY)
    if all(_PLAIN_NAME.fullmatch(name) for name in names):
        return "|".join(names)
    return "^(?:" + "|".join(re.sub(r"([^\w])", r"\\\1", name) for name in names) + ")$"


def _write_tool_name(condition: Matches) -> str:
    compiled, subject = condition.pattern, condition.subject
    assert isinstance(subject, ToolName)
    is_own = isinstance(compiled, Shorthand) and compiled.word == "tool" and subject.vocabulary == VOCABULARY
    if is_own and re.fullmatch(r"[^()\s|]+", compiled.source):
        return compiled.source
    (name, *more) = translate_tool_names(compiled, subject.vocabulary, VOCABULARY)
    if more:
        raise NotExpressible("a rule for several tools")
    return name


def _write_rule_pattern(name_condition: Matches, input_condition: Condition) -> str:
    """The text in parentheses that means the input condition."""
    first = input_condition
    if isinstance(first, AnyOf) and first.parts:
        first = first.parts[0]
    if not isinstance(first, Matches) or not isinstance(first.pattern, Shorthand):
        raise NotExpressible("its condition on the tool's input")
    word, text = first.pattern.word, first.pattern.text
    kind = kind_of_name(_write_tool_name(name_condition))
    spellings = {"host": (f"domain:{text}",), "glob": _glob_spellings(text)}.get(word, (text,))
    for each in spellings:
        if each.strip() == each and each not in ("", "*") and _input_condition(kind, each) == input_condition:
            return each
    raise NotExpressible("its condition on the tool's input")


def _glob_spellings(glob: str) -> tuple[str, ...]:
    """The ways to write a glob in a rule."""
    return (glob, f"/{glob}", glob.removeprefix("**/"), glob.removesuffix("**"), f"/{glob.removesuffix('**')}")
