"""`matcher` and `if`: which calls a hook hears. The second is a permission rule, such as `Bash(rm *)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hookline.dialects.claude_code.words import MATCHED, TONGUE, TOOL_EVENTS
from hookline.dialects.settings import tool_names
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import ALWAYS, All, Always, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.paths import ToolPath
from hookline.hooks.conditions.text import Exists, Fact, Is, Matches
from hookline.hooks.fields import ToolField
from hookline.hooks.tools import Kind, ToolName, kind_of
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern
from hookline.patterns.spelt import Spelt, spelt

SUCCEEDED: Final = Not(Is(("tool", "ok"), False))
FAILED: Final = Is(("tool", "ok"), False)
RULE: Final = r"^\s*[^()\s|]+\s*(?:\([\s\S]*\))?\s*$"
_RULE: Final = re.compile(r"\s*([^()\s|]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_LIST: Final = re.compile(r"[A-Za-z0-9_|, -]+")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_WHOLE_LIST: Final = re.compile(rf"\^\(\?:({_LIST.pattern})\)\$")
_FILES: Final = (Kind.READ, Kind.WRITE, Kind.EDIT)


@dataclass(frozen=True, slots=True)
class Rule:
    condition: Condition
    doubt: str = ""  # why it may not do what its author thinks


def matcher(text: str, named: str) -> Condition:
    """Names with `|` or `,` between them, or a regular expression that is searched for. Raises BadPattern."""
    if text in ("", "*"):
        return ALWAYS
    listed = _LIST.fullmatch(text) is not None
    if listed:
        text = "|".join(name for part in re.split(r"[|,]", text) if (name := part.strip()))
        if not text:
            return Never("its matcher names nothing.")
    if named in TOOL_EVENTS:
        found = spelt("tool", text) if listed else pattern(text, Syntax.JAVASCRIPT)
        return Matches(ToolName(TONGUE), found)
    path, usual = MATCHED[named]
    asked = pattern(f"^(?:{text})$" if listed else text, Syntax.JAVASCRIPT)
    told = Matches(Fact(path), asked)
    return AnyOf((told, Not(Exists(path)))) if usual and asked.search(usual) else told


def rule(text: str) -> Rule:
    """Raises BadPattern for what is none."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise BadPattern("this is neither a tool's name nor Tool(pattern)")
    name, inner = found[1], (found[2] or "").strip()
    called = Matches(ToolName(TONGUE), spelt("tool", name))
    if inner in ("", "*"):
        return Rule(called)
    asked = _asked(kind_of(name), inner)
    if asked is None:
        return Rule(called, f"{name} has nothing that {inner} could be asked about; the hook hears every {name}.")
    return Rule(all_of([called, asked]))


def _asked(kind: Kind, inner: str) -> Condition | None:
    """What the pattern in parentheses asks of the call; None if there is nothing to ask."""
    if kind is Kind.SHELL:
        return Matches(ToolField(("command",), TONGUE), spelt("starts", inner))
    if kind in _FILES:
        return _one_of([Matches(ToolPath(("file_path",), TONGUE), spelt("glob", glob)) for glob in globs(inner)])
    if kind is Kind.FETCH and inner.startswith("domain:"):
        return Matches(ToolField(("url",), TONGUE), spelt("host", inner.removeprefix("domain:")))
    if kind is Kind.FETCH:
        return Matches(ToolField(("url",), TONGUE), spelt("like", inner))
    if kind is Kind.AGENT:
        return Matches(ToolField(("subagent_type",), TONGUE), spelt("like", inner))
    return None


def globs(inner: str) -> tuple[str, ...]:
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


def _one_of(parts: list[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def said(when: Condition, named: str) -> tuple[str | None, str | None]:
    """`matcher` and `if` that say the same. Raises Unsaid."""
    parts = _flat(when)
    if named not in TOOL_EVENTS:
        return _fact_matcher(parts, named), None
    names = [part for part in parts if isinstance(part, Matches) and isinstance(part.subject, ToolName)]
    rest = [part for part in parts if part not in names]
    if len(rest) > 1 or len(names) > 2 or (rest and not names):
        raise Unsaid("its condition")
    if not names:
        return None, None
    if not rest and len(names) == 1 and not _is_glob(names[0]):
        return _matcher_text(names[0]), None
    asked = f"{_name_of(names[-1])}{f'({_inner(names[-1], rest[0])})' if rest else ''}"
    return (_matcher_text(names[0]) if len(names) == 2 else None), asked


def _flat(when: Condition) -> list[Condition]:
    if isinstance(when, Always):
        return []
    return [each for part in when.parts for each in _flat(part)] if isinstance(when, All) else [when]


def _fact_matcher(parts: list[Condition], named: str) -> str | None:
    if not parts:
        return None
    path, _ = MATCHED.get(named, ((), ""))
    match parts:
        case [Matches(Fact(held), Pattern() as compiled)] | [
            AnyOf((Matches(Fact(held), Pattern() as compiled), Not(Exists())))
        ] if held == path and compiled.syntax is Syntax.JAVASCRIPT:
            listed = _WHOLE_LIST.fullmatch(compiled.source)
            text = listed[1] if listed else compiled.source
            if matcher(text, named) == parts[0]:
                return text
    raise Unsaid("its condition")


def _is_glob(asked: Matches) -> bool:
    """Names with a star in them are said as a rule."""
    return isinstance(asked.pattern, Spelt) and asked.pattern.word == "tool" and "*" in asked.pattern.text


def _matcher_text(asked: Matches) -> str:
    compiled, subject = asked.pattern, asked.subject
    assert isinstance(subject, ToolName)
    if isinstance(compiled, Pattern) and compiled.syntax is Syntax.JAVASCRIPT and not compiled.whole:
        return compiled.source
    names = tool_names(compiled, subject.tongue, TONGUE)
    if all(_NAME.fullmatch(name) for name in names):
        return "|".join(names)
    return "^(?:" + "|".join(re.sub(r"([^\w])", r"\\\1", name) for name in names) + ")$"


def _name_of(asked: Matches) -> str:
    compiled, subject = asked.pattern, asked.subject
    assert isinstance(subject, ToolName)
    own = isinstance(compiled, Spelt) and compiled.word == "tool" and subject.tongue == TONGUE
    if own and re.fullmatch(r"[^()\s|]+", compiled.source):
        return compiled.source
    (name, *more) = tool_names(compiled, subject.tongue, TONGUE)
    if more:
        raise Unsaid("a rule for several tools")
    return name


def _inner(called: Matches, asked: Condition) -> str:
    """The text in parentheses that asks this of the call."""
    first = asked.parts[0] if isinstance(asked, AnyOf) and asked.parts else asked
    if not isinstance(first, Matches) or not isinstance(first.pattern, Spelt):
        raise Unsaid("its condition on the tool's input")
    word, text = first.pattern.word, first.pattern.text
    kind = kind_of(_name_of(called))
    tried = {"host": (f"domain:{text}",), "glob": _ways(text)}.get(word, (text,))
    for each in tried:
        if each.strip() == each and each not in ("", "*") and _asked(kind, each) == asked:
            return each
    raise Unsaid("its condition on the tool's input")


def _ways(glob: str) -> tuple[str, ...]:
    """How a rule may say a glob."""
    return (glob, f"/{glob}", glob.removeprefix("**/"), glob.removesuffix("**"), f"/{glob.removesuffix('**')}")
