"""`matcher` in an agent's hook file: the tools, or the sources and triggers, for which a hook runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hookline.dialects.agent_files.format import AgentFormat, BadPatternPolicy, Matching
from hookline.dialects.condition_form import same_meaning, tool_globs
from hookline.dialects.conversion import NotExpressible, flatten_all, names_servers, translate_tool_name
from hookline.dialects.settings_json import translate_tool_names
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import ALWAYS, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Exists, Fact, Matches
from hookline.hooks.protocols import Condition, TextPattern
from hookline.hooks.tool_input import tool_field
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import Vocabulary
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

_NAMES: Final = lazy_pattern(r"[A-Za-z0-9_|]+")
_PLAIN_NAME: Final = lazy_pattern(r"[A-Za-z0-9_]+")
_ANY_TOOL: Final = ("", "*", ".*")
_MCP_TOOL: Final = "mcp[_.:]|MCP:|@"
_SERVER: Final = lazy_pattern(r"[\w.:@/-]+[_./]\*")
COMMAND_PATTERN: Final = "commandRegex"  # a key of a group
_ALL_MCP: Final = "@mcp"  # what follows is a pattern for the name


def takes_matcher(format: AgentFormat, event_name: str) -> bool:
    return format.events[event_name] in TOOL_EVENTS or event_name in format.matcher_facts


TOOL_EVENTS: Final = ("tool.before", "tool.after", "approval.request")


def parse_matcher(format: AgentFormat, text: str, event_name: str) -> Condition:
    """Raises BadPattern for an expression that cannot be read, unless the agent gives it a meaning."""
    text = text.strip()
    if text in _ANY_TOOL:
        return ALWAYS
    if event_name in format.matcher_facts:
        return _match_fact(format, text, event_name)
    if format.matching is Matching.GLOB:
        return _match_glob(format, text)
    if format.matching is Matching.ALIASES:
        return _match_aliases(format, text)
    names, vocabulary = _name_list(format, text, event_name), format.vocabulary_at(event_name)
    if names is not None:
        return match_tool_name(shorthand("tool", names), vocabulary) if names else Never("it names no tool.")
    try:
        whole = format.matching_at(event_name) is Matching.WHOLE
        return match_tool_name(pattern(f"^(?:{text})$" if whole else text, Syntax.JAVASCRIPT), vocabulary)
    except BadPattern:
        if format.bad_matcher is BadPatternPolicy.LITERAL:
            return match_tool_name(shorthand("exactly", text), vocabulary)
        if format.bad_matcher is BadPatternPolicy.RUNS:
            return ALWAYS
        raise


def is_valid_matcher(format: AgentFormat, text: str) -> bool:
    """Whether it is a pattern at all, whatever the agent makes of one that is not."""
    if format.matching is Matching.GLOB or text.strip() in _ANY_TOOL:
        return True
    try:
        pattern(text.strip(), Syntax.JAVASCRIPT)
    except BadPattern:
        return False
    return True


def _name_list(format: AgentFormat, text: str, event_name: str) -> str | None:
    """The names, if it is a list of names and the agent compares those exactly. Aliases become the agent's own names."""
    has_aliases = any(part.strip() in format.tool_aliases for part in text.split("|"))
    is_exact = format.matching_at(event_name) is Matching.NAMES
    if not _NAMES.fullmatch(text) or not (is_exact or has_aliases):
        return None
    found = [name for part in text.split("|") if (name := part.strip())]
    return "|".join(dict.fromkeys(format.tool_aliases.get(name, name) for name in found))


def _match_fact(format: AgentFormat, text: str, event_name: str) -> Condition:
    path, default = format.matcher_facts[event_name]
    exact = format.matching in (Matching.WHOLE, Matching.GLOB) or (
        format.matching is Matching.NAMES and _NAMES.fullmatch(text) is not None
    )
    compiled = pattern(f"^(?:{text})$" if exact else text, Syntax.JAVASCRIPT)
    is_field = path[:2] == ("tool", "input")
    condition = Matches(tool_field(path[2:], format.vocabulary.name) if is_field else Fact(path), compiled)
    return AnyOf((condition, Not(Exists(path)))) if default and compiled.search(default) else condition


def _match_glob(format: AgentFormat, text: str) -> Condition:
    any_mcp_tool = match_tool_name(pattern(_MCP_TOOL, Syntax.JAVASCRIPT), format.vocabulary)
    if text == "@builtin":
        return Not(any_mcp_tool)
    if text.startswith("@") and "/" not in text:
        text = f"{text}/*"
    text = format.tool_aliases.get(text, text)
    return match_tool_name(shorthand("tool", text), format.vocabulary)


def _match_aliases(format: AgentFormat, text: str) -> Condition:
    """A tool with several names is meant by a pattern that matches one of them."""
    if text == "@builtin":
        return _match_glob(format, text)
    if text.startswith(_ALL_MCP):
        any_mcp_tool = match_tool_name(pattern(_MCP_TOOL, Syntax.JAVASCRIPT), format.vocabulary)
        name = text.removeprefix(_ALL_MCP)
        return all_of([any_mcp_tool, match_tool_name(pattern(name or ".", Syntax.JAVASCRIPT), format.vocabulary)])
    compiled = pattern(text, Syntax.JAVASCRIPT)
    meant = [own for alias, own in format.tool_aliases.items() if compiled.search(alias) or compiled.search(own)]
    names = dict.fromkeys(name for own in meant for name in (own, *_aliases_of(format, own)))
    by_pattern = match_tool_name(compiled, format.vocabulary)
    if not names:
        return by_pattern
    return AnyOf((by_pattern, match_tool_name(shorthand("tool", "|".join(names)), format.vocabulary)))


def _aliases_of(format: AgentFormat, own: str) -> list[str]:
    return [alias for alias, name in format.tool_aliases.items() if name == own]


def command_pattern(format: AgentFormat, text: str) -> Matches:
    """That the command of a shell matches. Raises BadPattern."""
    return Matches(tool_field(("command",), format.vocabulary.name), pattern(text, Syntax.JAVASCRIPT))


def write_group_keys(format: AgentFormat, when: Condition, event_name: str) -> dict[str, str]:
    """What says for which tools it runs; nothing if it runs for every tool. Raises NotExpressible."""
    parts = flatten_all(when)
    commands = {text: part for part in parts if (text := _command_of(format, part)) is not None}
    matcher = write_matcher(format, all_of(part for part in parts if part not in commands.values()), event_name)
    if len(commands) > 1:
        raise NotExpressible("its condition")
    own = {"matcher": matcher, COMMAND_PATTERN: next(iter(commands), None)}
    return {key: text for key, text in own.items() if text is not None}


def _command_of(format: AgentFormat, part: Condition) -> str | None:
    """The text of `commandRegex`, if it says this and the format has it."""
    if COMMAND_PATTERN not in format.group_keys or not isinstance(part, Matches):
        return None
    try:
        return part.pattern.source if same_meaning(part, command_pattern(format, part.pattern.source)) else None
    except BadPattern:
        return None


def write_matcher(format: AgentFormat, when: Condition, event_name: str) -> str | None:
    """None if it runs for every tool. Raises NotExpressible."""
    parts = flatten_all(when)
    if not parts:
        return None
    if not takes_matcher(format, event_name):
        raise NotExpressible("its condition")
    for text in _spellings(format, parts):
        try:
            if text not in _ANY_TOOL and same_meaning(parse_matcher(format, text, event_name), all_of(parts)):
                return text
        except BadPattern:
            continue
    if len(parts) == 1 and isinstance(parts[0], Matches) and isinstance(parts[0].subject, ToolName):
        return _write_names(format, parts[0].pattern, parts[0].subject, event_name)
    raise NotExpressible("its condition")


def _spellings(format: AgentFormat, parts: Sequence[Condition]) -> list[str]:
    """The ways in which these conditions could have been written."""
    match parts:
        case [Matches(), Matches(_, Pattern(source=name))]:
            return [_ALL_MCP, f"{_ALL_MCP}{name}"]
        case [condition]:
            return _spellings_of_one(format, condition)
    return []


def _spellings_of_one(format: AgentFormat, condition: Condition) -> list[str]:
    match condition:
        case AnyOf((Matches(_, compiled), Not(Exists()) | Matches())):
            source = compiled.source
        case Matches(_, Shorthand() as compiled) if (names := tool_globs(compiled)) is not None:
            source = "|".join(names)
        case Matches(_, compiled):
            source = compiled.source
        case Not(Matches()):
            return ["@builtin"]
        case _:
            return []
    whole = re.fullmatch(r"\^\(\?:(.*)\)\$", source, re.DOTALL)
    aliases = {name: alias for alias, name in reversed(list(format.tool_aliases.items()))}
    aliased = "|".join(aliases.get(name, name) for name in source.split("|"))
    return [*([whole[1]] if whole else []), source.removesuffix("/*"), source, aliased]


def _write_names(format: AgentFormat, compiled: TextPattern, subject: ToolName, event_name: str) -> str:
    """Plain names of tools, or all tools of an MCP server, in the agent's own words."""
    server = _server_prefix(compiled, subject.vocabulary, format.vocabulary_at(event_name))
    if server:
        return _write_server(format, server, event_name)
    if isinstance(compiled, Pattern):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.source}")
    names = translate_tool_names(compiled, subject.vocabulary, format.vocabulary_at(event_name))
    if format.matching is Matching.GLOB:
        if len(names) > 1:
            raise NotExpressible("a matcher for several tools")
        return names[0]
    escaped = [name if _PLAIN_NAME.fullmatch(name) else re.sub(r"([^\w])", r"\\\1", name) for name in names]
    is_plain = all(_PLAIN_NAME.fullmatch(name) for name in names)
    matching = format.matching_at(event_name)
    if matching is Matching.WHOLE or (matching is Matching.NAMES and is_plain):
        return "|".join(escaped)
    return f"^(?:{'|'.join(escaped)})$"


def _server_prefix(compiled: TextPattern, source: Vocabulary, target: Vocabulary) -> str:
    """What all names of the tools of an MCP server begin with, for a pattern that means these; otherwise ""."""
    if not isinstance(compiled, Shorthand) or not _SERVER.fullmatch(compiled.text):
        return ""
    if not names_servers(target):
        return ""
    tool = "x"  # any name
    name = next(iter(translate_tool_name(f"{compiled.text[:-1]}{tool}", source, target)), "")
    return name.removesuffix(tool) if name.startswith(target.mcp.partition("{")[0]) else ""


def _write_server(format: AgentFormat, prefix: str, event_name: str) -> str:
    if format.matching is Matching.GLOB:
        return prefix.removesuffix("/")
    escaped = re.sub(r"([^\w@/-])", r"\\\1", prefix)
    is_searched = format.matching_at(event_name) in (Matching.NAMES, Matching.REGEX)
    return f"^{escaped}" if is_searched else f"{escaped}.*"  # Kiro takes only what begins with @ for an MCP tool
