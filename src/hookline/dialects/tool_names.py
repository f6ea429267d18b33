"""Decides, when a file is loaded, which names a tool matcher is compared with: its dialect's, or the host's own.

A matcher that matches one of the dialect's known names means tools by their name in that dialect. One that matches none of
them (`run_shell_command`, `mcp__.*`) means the host's own names. Alternatives are decided one by one, so that
`Write|run_shell_command` loses neither.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.conditions.text import Matches
from hookline.hooks.protocols import Condition, TextPattern
from hookline.hooks.tool_name import HOST_NAMES, ToolName
from hookline.hooks.tools import VOCABULARIES, Vocabulary
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, UndecidedError, split_alternatives

_SERVER: Final = lazy_pattern(r"mcp(?:__|[._:])([A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*?)(?:__|\.|_(?=\*|\.\*|$))")
_PLAIN_NAMES: Final = lazy_pattern(r"\^?(?:\((?:\?:)?)?[A-Za-z0-9_|*-]+\)?\$?")
"""A matcher that only lists names or their beginnings. Any other may exclude some, such as `^(?!Task$)`, and is not compared with aliases."""


def match_tool_name(compiled: TextPattern, vocabulary: Vocabulary) -> Matches:
    """Equal conditions are one object: most rules of a file name the same few tools, and each condition has a cache."""
    return _match_tool_name(compiled, vocabulary.name)


@lru_cache(maxsize=1024)
def _match_tool_name(compiled: TextPattern, vocabulary_name: str) -> Matches:
    return Matches(_tool_name(compiled, vocabulary_name), compiled)


def resolve_tool_names(condition: Condition) -> Condition:
    """The condition with each of its tool matchers decided."""
    match condition:
        case All(parts):
            return All(tuple(resolve_tool_names(part) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(resolve_tool_names(part) for part in parts))
        case Not(part):
            return Not(resolve_tool_names(part))
        case Matches(ToolName(vocabulary), compiled):
            return match_tool_name(compiled, vocabulary)
        case _:
            return condition


@lru_cache(maxsize=4096)
def _tool_name(compiled: TextPattern, vocabulary_name: str) -> ToolName:
    known = _known_names(vocabulary_name)
    if not _matches_any(compiled, known):
        own_names = HOST_NAMES
    else:
        own_names = tuple(part for part in _alternatives(compiled) if not _matches_any(part, known))
    matches_aliases = _PLAIN_NAMES.fullmatch(compiled.source) is not None
    return _shared_subject(vocabulary_name, own_names, _named_servers(compiled), matches_aliases)


@lru_cache
def _known_names(vocabulary_name: str) -> frozenset[str]:
    return VOCABULARIES[vocabulary_name].known_names


@lru_cache(maxsize=1024)
def _shared_subject(
    vocabulary_name: str, own_names: tuple[TextPattern, ...], servers: tuple[str, ...], matches_aliases: bool
) -> ToolName:
    """Equal subjects are one object, because each has a cache."""
    vocabulary = VOCABULARIES[vocabulary_name]
    return ToolName(vocabulary, own_names, servers, matches_aliases and bool(vocabulary.aliases))


def _matches_any(compiled: TextPattern, names: frozenset[str]) -> bool:
    try:
        return any(compiled.search(name) for name in names)
    except UndecidedError:
        return True


def _alternatives(compiled: TextPattern) -> tuple[TextPattern, ...]:
    """The patterns of which one must match; the pattern itself if it cannot be split."""
    if "|" not in compiled.source:
        return (compiled,)
    if isinstance(compiled, Pattern):
        return split_alternatives(compiled)
    if not isinstance(compiled, Shorthand) or compiled.word != "tool":
        return (compiled,)
    try:
        return tuple(shorthand("tool", part.strip()) for part in compiled.text.split("|"))
    except BadPattern:
        return (compiled,)


def _named_servers(compiled: TextPattern) -> tuple[str, ...]:
    """The MCP servers that the matcher names."""
    source = compiled.source.replace("\\", "")
    return tuple(dict.fromkeys(_SERVER.findall(source))) if "mcp" in source else ()
