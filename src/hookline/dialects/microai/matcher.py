"""`matcher`: a tool's name, `*`, or a name with a pattern for its main parameter, such as `Bash(git:*)`."""

from __future__ import annotations

import re
from typing import Any, Final

from hookline.dialects.conversion import NotExpressible
from hookline.dialects.settings_json import translate_tool_names
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import ALWAYS, All, Always, AnyOf, Never, all_of
from hookline.hooks.conditions.text import Matches, ShellCommands
from hookline.hooks.protocols import Condition, Subject
from hookline.hooks.tool_input import ToolField, choose_field_name
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import FIELD_NAMES, VOCABULARIES, ToolKind, Vocabulary, kind_of_name
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern

VOCABULARY: Final = VOCABULARIES["microai"]
MAIN_PARAMETERS: Final = {
    ToolKind.SHELL: "command",
    ToolKind.READ: "file_path",
    ToolKind.WRITE: "file_path",
    ToolKind.EDIT: "file_path",
    ToolKind.FETCH: "url",
    ToolKind.SEARCH: "query",
    ToolKind.GLOB: "pattern",
    ToolKind.GREP: "pattern",
}
"""The parameter that a pattern in parentheses applies to."""
MATCHER_PATTERN: Final = r"^(?:[^()]*|[^()]+\([\s\S]+\))$"
_PATH_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)
_TOOL_WITH_PATTERN: Final = lazy_pattern(r"([^()]+)\((.+)\)", re.DOTALL)
_SEVERAL: Final = lazy_pattern(r"\)\s*[,|]\s*\w+\(")
_REGEX_OF_COMMAND: Final = lazy_pattern(r"\^(.+)|/([^/ ]+)/|(.*\w):(?:\.\*|\*\*)", re.DOTALL)
_NAMED_PARAMETER: Final = lazy_pattern(r"\s*(\w+)\s*[:=]\s*(?!\*\Z)(.+)", re.DOTALL)
_SHELL_SYNTAX: Final = lazy_pattern(
    r"[&|;<>()`!\n]|^\s*(?:\w+\+?=|(?:for|if|while|until|case|select|function|coproc)\b|\{)"
)
"""In a prefix: what is no part of a command that the shell runs."""
_NOT_IN_NAMES: Final = lazy_pattern(r"[|*?^$\[\]{}\\,\s]")


class BadMatcher(ValueError):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


@dataclass(frozen=True, slots=True)
class Matcher:
    condition: Condition
    warning: str = ""  # why it may not do what its author expects
    hint: str = ""


def parse_matcher(text: str) -> Matcher:
    """Raises BadMatcher if the text is not a matcher."""
    if text in ("", "*"):
        return Matcher(ALWAYS)
    name, parenthesis, rest = text.strip().partition("(")
    if text != f"{name.rstrip()}{parenthesis}{rest}" and not _NOT_IN_NAMES.search(name.rstrip()):
        why = "no tool's name has a space, so this never matches."
        return Matcher(Never(why), why, f"Write {name.rstrip()}{parenthesis}{rest}.")
    if "(" not in text and ")" not in text:
        return _parse_tool_name(text)
    call = _TOOL_WITH_PATTERN.fullmatch(text)
    if call is None:
        raise BadMatcher("this is neither a tool's name nor Tool(pattern).", "Write Bash, Bash(git:*) or *.")
    name, inner = call[1], call[2]
    kind = kind_of_name(name)
    if kind not in MAIN_PARAMETERS:
        why = f"{name} has no main parameter that a pattern applies to, so this never matches."
        return Matcher(Never(why), why, f"Write {name} alone, and check $INPUT in the command.")
    if inner.startswith("domain:") and kind is not ToolKind.FETCH:
        why = f"{name} contacts no host, so domain: never matches."
        return Matcher(Never(why), why, "Write WebFetch(domain:…).")
    tool = _parse_tool_name(name)
    condition = all_of([tool.condition, parse_value_pattern(inner, kind)])
    if _SEVERAL.search(inner):
        return Matcher(condition, "this is one pattern, and no value is like it.", "Write one entry for each matcher.")
    if kind is ToolKind.SHELL and (words := _REGEX_OF_COMMAND.fullmatch(inner)) is not None:
        why = "patterns are not regular expressions, and no command is like this one."
        return Matcher(condition, why, f"Write {name}({(words[1] or words[2] or words[3]).rstrip('$')}:*).")
    if (named := _NAMED_PARAMETER.fullmatch(inner)) is not None and named[1] in _parameter_names(kind):
        why = f"{named[1]} is no part of a pattern: it is always the main parameter that is compared."
        return Matcher(condition, why, f"Write {name}({named[2]}).")
    return Matcher(condition, tool.warning, tool.hint)


def _parameter_names(kind: ToolKind) -> frozenset[str]:
    ours = VOCABULARY.fields
    main = next(name for name in FIELD_NAMES[kind] if ours.get(name, name) == MAIN_PARAMETERS[kind])
    return frozenset((main, *FIELD_NAMES[kind][main]))


def _parse_tool_name(name: str) -> Matcher:
    condition = match_tool_name(shorthand("exactly", name), VOCABULARY)
    if not _NOT_IN_NAMES.search(name):
        return Matcher(condition)
    why = f"names are compared literally, and no tool is called {name!r}."
    return Matcher(condition, why, "Write one entry for each tool, or * for all.")


def parse_value_pattern(inner: str, kind: ToolKind) -> Condition:
    """The pattern in parentheses as a condition on the main parameter."""
    if inner in ("*", ":*"):
        return ALWAYS
    on_path = kind in _PATH_KINDS
    subject = ToolField((MAIN_PARAMETERS[kind],), VOCABULARY)
    if inner.endswith(":*"):
        return _prefix_condition(subject, inner[:-2], kind)
    if inner.startswith("domain:"):
        return _host_condition(subject, inner.removeprefix("domain:"))
    if on_path:
        return _path_condition(subject, inner)
    return Matches(subject, shorthand("like" if "*" in inner else "exactly", inner))


def _prefix_condition(subject: Subject, prefix: str, kind: ToolKind) -> Condition:
    as_written = Matches(subject, shorthand("begins", prefix))
    if kind is not ToolKind.SHELL:
        return as_written
    command = Matches(ShellCommands(subject), shorthand("command", prefix))
    return AnyOf((command, as_written)) if _SHELL_SYNTAX.search(prefix) else command


def _host_condition(subject: Subject, host: str) -> Condition:
    try:
        return Matches(subject, shorthand("host", host))
    except BadPattern as bad:
        raise BadMatcher(f"{bad.why}.", "") from None


def _path_condition(subject: Subject, glob: str) -> Condition:
    try:
        condition = Matches(subject, shorthand("glob", glob))
    except BadPattern as bad:
        raise BadMatcher(f"{bad.why}.", "") from None
    if "[" not in glob and "{" not in glob:
        return condition
    return AnyOf((condition, Matches(subject, shorthand("exactly", glob))))  # app/[id]/page.tsx is also a path


def write_matchers(when: Condition) -> tuple[str, ...]:
    """The matchers that together mean the condition; each needs its own entry. Raises NotExpressible."""
    match when:
        case Always():
            return ("*",)
        case AnyOf(parts) if parts:
            return tuple(dict.fromkeys(text for part in parts for text in write_matchers(part)))
        case Matches(ToolName(vocabulary), compiled):
            return _write_tool_names(compiled, vocabulary)
        case All((Matches(ToolName(vocabulary), compiled), value)):
            return tuple(_write_call(name, value) for name in _write_tool_names(compiled, vocabulary))
        case _:
            raise NotExpressible("its condition")


def _write_tool_names(compiled: Any, vocabulary: Vocabulary) -> tuple[str, ...]:
    if isinstance(compiled, Shorthand) and (compiled.word, compiled.text) == ("tool", "*"):
        return ("*",)
    names = translate_tool_names(compiled, vocabulary, VOCABULARY)
    if any("(" in name or ")" in name for name in names):
        raise NotExpressible(f"the tool's name {names[0]}")
    return names


def _write_call(name: str, value: Condition) -> str:
    kind = kind_of_name(name)
    if kind not in MAIN_PARAMETERS:
        raise NotExpressible(f"a condition on the input of {name}")
    inner = _write_value_pattern(value, kind)
    again = parse_value_pattern(inner, kind)
    if _normalize_condition(again, kind) != _normalize_condition(value, kind):
        raise NotExpressible("its condition on the tool's input")
    return f"{name}({inner})"


def _write_value_pattern(value: Condition, kind: ToolKind) -> str:
    match value:
        case Matches(ToolField() | ShellCommands(ToolField()), Shorthand(word, text)):
            return {"begins": f"{text}:*", "command": f"{text}:*", "host": f"domain:{text}"}.get(word, text)
        case AnyOf((Matches() as first, Matches())):
            return _write_value_pattern(first, kind)
        case _:
            raise NotExpressible("its condition on the tool's input")


def _normalize_condition(value: Condition, kind: ToolKind) -> Any:
    """The condition independent of which name its field has."""
    match value:
        case Matches(ToolField((str(field),)) | ShellCommands(ToolField((str(field),))) as subject, compiled):
            return type(subject), choose_field_name({MAIN_PARAMETERS[kind]: ""}, field, kind), compiled
        case AnyOf(parts):
            return tuple(_normalize_condition(part, kind) for part in parts)
        case _:
            return value
