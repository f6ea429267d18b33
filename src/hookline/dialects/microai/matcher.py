"""`matcher`: a tool's name, `*`, or a name with a pattern for its main parameter, as in `Bash(git:*)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from hookline.dialects.settings import tool_names
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.condition import Condition, Subject
from hookline.hooks.conditions.logic import ALWAYS, All, Always, AnyOf, Never, all_of
from hookline.hooks.conditions.paths import ToolPath
from hookline.hooks.conditions.text import Matches
from hookline.hooks.fields import ToolField, own_field
from hookline.hooks.tools import TONGUES, Kind, Tongue, ToolName, kind_of
from hookline.patterns.pattern import BadPattern
from hookline.patterns.spelt import Spelt, spelt

TONGUE: Final = TONGUES["microai"]
MAIN: Final = {
    Kind.SHELL: "command",
    Kind.READ: "file_path",
    Kind.WRITE: "file_path",
    Kind.EDIT: "file_path",
    Kind.FETCH: "url",
    Kind.SEARCH: "query",
    Kind.GLOB: "pattern",
    Kind.GREP: "pattern",
}
"""What a pattern in parentheses is asked about."""
SHAPE: Final = r"^(?:[^()]*|[^()]+\([\s\S]+\))$"
_PATHS: Final = (Kind.READ, Kind.WRITE, Kind.EDIT)
_CALL: Final = re.compile(r"([^()]+)\((.+)\)", re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r"[|*?^$\[\]{}\\,\s]")


class BadMatcher(ValueError):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


@dataclass(frozen=True, slots=True)
class Matcher:
    condition: Condition
    doubt: str = ""  # why it may not do what its author thinks
    hint: str = ""


def matcher(text: str) -> Matcher:
    """Raises BadMatcher for what is none."""
    if text in ("", "*"):
        return Matcher(ALWAYS)
    if "(" not in text and ")" not in text:
        return _named(text)
    call = _CALL.fullmatch(text)
    if call is None:
        raise BadMatcher("this is neither a tool's name nor Tool(pattern).", "Write Bash, Bash(git:*) or *.")
    name, inner = call[1], call[2]
    kind = kind_of(name)
    if kind not in MAIN:
        why = f"{name} has no main parameter that a pattern could be asked about, so it never applies."
        return Matcher(Never(why), why, f"Write {name} alone, and look at $INPUT in the command.")
    if inner.startswith("domain:") and kind is not Kind.FETCH:
        why = f"{name} goes to no host, so domain: never applies."
        return Matcher(Never(why), why, "Write WebFetch(domain:…).")
    named = _named(name)
    return Matcher(all_of([named.condition, value_condition(inner, kind)]), named.doubt, named.hint)


def _named(name: str) -> Matcher:
    condition = Matches(ToolName(TONGUE), spelt("exactly", name))
    if not _NOT_IN_NAMES.search(name):
        return Matcher(condition)
    why = f"a name is compared as it stands, and no tool is called {name!r}."
    return Matcher(condition, why, "Write one entry for each tool, or * for all.")


def value_condition(inner: str, kind: Kind) -> Condition:
    """What the pattern in parentheses asks of the main parameter."""
    if inner in ("*", ":*"):
        return ALWAYS
    on_path = kind in _PATHS
    subject: Subject = ToolPath((MAIN[kind],), TONGUE) if on_path else ToolField((MAIN[kind],), TONGUE)
    if inner.endswith(":*"):
        return Matches(subject, spelt("begins" if on_path or kind is Kind.FETCH else "command", inner[:-2]))
    if inner.startswith("domain:"):
        return _host(subject, inner.removeprefix("domain:"))
    if on_path:
        return _path(subject, inner)
    return Matches(subject, spelt("like" if "*" in inner else "exactly", inner))


def _host(subject: Subject, host: str) -> Condition:
    try:
        return Matches(subject, spelt("host", host))
    except BadPattern as bad:
        raise BadMatcher(f"{bad.why}.", "") from None


def _path(subject: Subject, glob: str) -> Condition:
    try:
        asked = Matches(subject, spelt("glob", glob))
    except BadPattern as bad:
        raise BadMatcher(f"{bad.why}.", "") from None
    if "[" not in glob and "{" not in glob:
        return asked
    return AnyOf((asked, Matches(subject, spelt("exactly", glob))))  # app/[id]/page.tsx is a path as well


def matcher_texts(when: Condition) -> tuple[str, ...]:
    """The matchers that together say the same, each for an entry of its own. Raises Unsaid."""
    match when:
        case Always():
            return ("*",)
        case AnyOf(parts) if parts:
            return tuple(dict.fromkeys(text for part in parts for text in matcher_texts(part)))
        case Matches(ToolName(tongue), compiled):
            return _names(compiled, tongue)
        case All((Matches(ToolName(tongue), compiled), value)):
            return tuple(_call(name, value) for name in _names(compiled, tongue))
        case _:
            raise Unsaid("its condition")


def _names(compiled: Any, tongue: Tongue) -> tuple[str, ...]:
    if isinstance(compiled, Spelt) and (compiled.word, compiled.text) == ("tool", "*"):
        return ("*",)
    names = tool_names(compiled, tongue, TONGUE)
    if any("(" in name or ")" in name for name in names):
        raise Unsaid(f"the tool's name {names[0]}")
    return names


def _call(name: str, value: Condition) -> str:
    kind = kind_of(name)
    if kind not in MAIN:
        raise Unsaid(f"a condition on the input of {name}")
    inner = _inner(value, kind)
    again = value_condition(inner, kind)
    if _asked(again, kind) != _asked(value, kind):
        raise Unsaid("its condition on the tool's input")
    return f"{name}({inner})"


def _inner(value: Condition, kind: Kind) -> str:
    match value:
        case Matches(ToolPath() | ToolField(), Spelt(word, text)):
            return {"begins": f"{text}:*", "command": f"{text}:*", "host": f"domain:{text}"}.get(word, text)
        case AnyOf((Matches() as first, Matches())):
            return _inner(first, kind)
        case _:
            raise Unsaid("its condition on the tool's input")


def _asked(value: Condition, kind: Kind) -> Any:
    """What is asked of which field, whatever its name."""
    match value:
        case Matches(ToolPath((str(field),)) | ToolField((str(field),)) as subject, compiled):
            return type(subject), own_field({MAIN[kind]: ""}, field, kind), compiled
        case AnyOf(parts):
            return tuple(_asked(part, kind) for part in parts)
        case _:
            return value
