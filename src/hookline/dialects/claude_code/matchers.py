"""`matcher` and `if`: which calls a hook hears. The second is a permission rule, such as `Bash(rm *)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hookline.dialects.claude_code.names import MATCHER_FACTS, TOOL_EVENTS, VOCABULARY
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.settings_json import translate_tool_names
from hookline.hooks.conditions.logic import ALWAYS, All, Always, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches
from hookline.hooks.conditions.tool import ToolPath
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tools import ToolKind, ToolName, kind_of_name
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

TOOL_SUCCEEDED: Final = Not(Equals(("tool", "ok"), False))
TOOL_FAILED: Final = Equals(("tool", "ok"), False)
RULE_SCHEMA_PATTERN: Final = r"^\s*[^()\s|]+\s*(?:\([\s\S]*\))?\s*$"
_RULE_PATTERN: Final = re.compile(r"\s*([^()\s|]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_NAME_LIST: Final = re.compile(r"[A-Za-z0-9_|, -]+")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_ANCHORED_NAME_LIST: Final = re.compile(rf"\^\(\?:({_NAME_LIST.pattern})\)\$")
_FILE_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)


@dataclass(frozen=True, slots=True)
class PermissionRule:
    condition: Condition
    warning: str = ""  # why it may not do what its author thinks


def parse_matcher(text: str, named: str) -> Condition:
    """Names with `|` or `,` between them, or a regular expression that is searched for. Raises BadPattern."""
    if text in ("", "*"):
        return ALWAYS
    listed = _NAME_LIST.fullmatch(text) is not None
    if listed:
        text = "|".join(name for part in re.split(r"[|,]", text) if (name := part.strip()))
        if not text:
            return Never("its matcher names nothing.")
    if named in TOOL_EVENTS:
        found = shorthand("tool", text) if listed else pattern(text, Syntax.JAVASCRIPT)
        return Matches(ToolName(VOCABULARY), found)
    path, usual = MATCHER_FACTS[named]
    asked = pattern(f"^(?:{text})$" if listed else text, Syntax.JAVASCRIPT)
    told = Matches(Fact(path), asked)
    return AnyOf((told, Not(Exists(path)))) if usual and asked.search(usual) else told


def parse_permission_rule(text: str) -> PermissionRule:
    """Raises BadPattern for what is none."""
    found = _RULE_PATTERN.fullmatch(text)
    if found is None:
        raise BadPattern("this is neither a tool's name nor Tool(pattern)")
    name, inner = found[1], (found[2] or "").strip()
    called = Matches(ToolName(VOCABULARY), shorthand("tool", name))
    if inner in ("", "*"):
        return PermissionRule(called)
    asked = _input_condition(kind_of_name(name), inner)
    if asked is None:
        return PermissionRule(
            called, f"{name} has nothing that {inner} could be asked about; the hook hears every {name}."
        )
    return PermissionRule(all_of([called, asked]))


def _input_condition(kind: ToolKind, inner: str) -> Condition | None:
    """What the pattern in parentheses asks of the call; None if there is nothing to ask."""
    if kind is ToolKind.SHELL:
        return Matches(ToolField(("command",), VOCABULARY), shorthand("starts", inner))
    if kind in _FILE_KINDS:
        return _any_of(
            [Matches(ToolPath(("file_path",), VOCABULARY), shorthand("glob", glob)) for glob in gitignore_globs(inner)]
        )
    if kind is ToolKind.FETCH and inner.startswith("domain:"):
        return Matches(ToolField(("url",), VOCABULARY), shorthand("host", inner.removeprefix("domain:")))
    if kind is ToolKind.FETCH:
        return Matches(ToolField(("url",), VOCABULARY), shorthand("like", inner))
    if kind is ToolKind.AGENT:
        return Matches(ToolField(("subagent_type",), VOCABULARY), shorthand("like", inner))
    return None


def gitignore_globs(inner: str) -> tuple[str, ...]:
    """As .gitignore reads it: a bare name anywhere, a directory with all that is below it.

    `//` begins at the root of the file system, `/` at the project's; a home is not known here, so `~/` is anywhere.
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


def write_matcher_and_rule(when: Condition, named: str) -> tuple[str | None, str | None]:
    """`matcher` and `if` that say the same. Raises Unsaid."""
    parts = _flatten(when)
    if named not in TOOL_EVENTS:
        return _write_fact_matcher(parts, named), None
    names = [part for part in parts if isinstance(part, Matches) and isinstance(part.subject, ToolName)]
    rest = [part for part in parts if part not in names]
    if len(rest) > 1 or len(names) > 2 or (rest and not names):
        raise NotExpressible("its condition")
    if not names:
        return None, None
    if not rest and len(names) == 1 and not _is_glob(names[0]):
        return _write_matcher(names[0]), None
    asked = f"{_write_tool_name(names[-1])}{f'({_write_rule_pattern(names[-1], rest[0])})' if rest else ''}"
    return (_write_matcher(names[0]) if len(names) == 2 else None), asked


def _flatten(when: Condition) -> list[Condition]:
    if isinstance(when, Always):
        return []
    return [each for part in when.parts for each in _flatten(part)] if isinstance(when, All) else [when]


def _write_fact_matcher(parts: list[Condition], named: str) -> str | None:
    if not parts:
        return None
    path, _ = MATCHER_FACTS.get(named, ((), ""))
    match parts:
        case [Matches(Fact(held), Pattern() as compiled)] | [
            AnyOf((Matches(Fact(held), Pattern() as compiled), Not(Exists())))
        ] if held == path and compiled.syntax is Syntax.JAVASCRIPT:
            listed = _ANCHORED_NAME_LIST.fullmatch(compiled.source)
            text = listed[1] if listed else compiled.source
            if parse_matcher(text, named) == parts[0]:
                return text
    raise NotExpressible("its condition")


def _is_glob(asked: Matches) -> bool:
    """Names with a star in them are said as a rule."""
    return isinstance(asked.pattern, Shorthand) and asked.pattern.word == "tool" and "*" in asked.pattern.text


def _write_matcher(asked: Matches) -> str:
    compiled, subject = asked.pattern, asked.subject
    assert isinstance(subject, ToolName)
    if isinstance(compiled, Pattern) and compiled.syntax is Syntax.JAVASCRIPT and not compiled.whole:
        return compiled.source
    names = translate_tool_names(compiled, subject.vocabulary, VOCABULARY)
    if all(_PLAIN_NAME.fullmatch(name) for name in names):
        return "|".join(names)
    return "^(?:" + "|".join(re.sub(r"([^\w])", r"\\\1", name) for name in names) + ")$"


def _write_tool_name(asked: Matches) -> str:
    compiled, subject = asked.pattern, asked.subject
    assert isinstance(subject, ToolName)
    own = isinstance(compiled, Shorthand) and compiled.word == "tool" and subject.vocabulary == VOCABULARY
    if own and re.fullmatch(r"[^()\s|]+", compiled.source):
        return compiled.source
    (name, *more) = translate_tool_names(compiled, subject.vocabulary, VOCABULARY)
    if more:
        raise NotExpressible("a rule for several tools")
    return name


def _write_rule_pattern(called: Matches, asked: Condition) -> str:
    """The text in parentheses that asks this of the call."""
    first = asked.parts[0] if isinstance(asked, AnyOf) and asked.parts else asked
    if not isinstance(first, Matches) or not isinstance(first.pattern, Shorthand):
        raise NotExpressible("its condition on the tool's input")
    word, text = first.pattern.word, first.pattern.text
    kind = kind_of_name(_write_tool_name(called))
    tried = {"host": (f"domain:{text}",), "glob": _glob_spellings(text)}.get(word, (text,))
    for each in tried:
        if each.strip() == each and each not in ("", "*") and _input_condition(kind, each) == asked:
            return each
    raise NotExpressible("its condition on the tool's input")


def _glob_spellings(glob: str) -> tuple[str, ...]:
    """How a rule may say a glob."""
    return (glob, f"/{glob}", glob.removeprefix("**/"), glob.removesuffix("**"), f"/{glob.removesuffix('**')}")
