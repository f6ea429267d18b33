"""`matcher`: a tool of the vocabulary, a pattern of names, a tool of an MCP server, or a list of these."""

from __future__ import annotations

from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Severity
from hookline.dialects.condition_form import join_names
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.hook_interchange.names import TOOL_KINDS, VOCABULARY
from hookline.dialects.tool_names import match_tool_name
from hookline.formatting import closest_match
from hookline.hooks.conditions.logic import AnyOf
from hookline.hooks.conditions.text import Matches
from hookline.hooks.protocols import Condition
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import Vocabulary, kind_of_name
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

_GROUP: Final = lazy_pattern(r"\^\(\?:([^()]*)\)\$")
_GLOB_CHARACTERS: Final = lazy_pattern(r"[*?\[\]|]")
_BEYOND_RE2: Final = lazy_pattern(r"\(\?(?:[=!]|<[=!]|>)|(?<!\\)(?:\\\\)*\\[1-9]|\(\?P=")
_WORD: Final = lazy_pattern(r"[A-Za-z0-9-]+")
_MAX_WORDS: Final = 20  # of a pattern that are tried as names
_MCP_NAME: Final = lazy_pattern(r"mcp__(?P<server>(?:(?!__).)+)__(?P<tool>.+)")
_NAMES_BY_KIND: Final = {kind: name for name, kind in TOOL_KINDS.items()}
_HINT: Final = 'Write a tool such as "shell", {"pattern": "…"}, {"mcp": {"server": "…"}}, or a list of these.'


def parse_matcher(at: Node) -> Condition | None:
    """None after a problem."""
    if isinstance(at.value, list):
        parts = [_parse_single(item) for item in at.items()]
        if not parts:
            at.add_problem("empty", f"{at.location}: the list is empty, so it matches no tool.", _HINT)
        found = [part for part in parts if part is not None]
        if not found or len(found) < len(parts):
            return None
        joined = join_names(found)
        return joined[0] if len(joined) == 1 else AnyOf(tuple(joined))
    return _parse_single(at)


def _parse_single(at: Node) -> Condition | None:
    if isinstance(at.value, str):
        return _parse_name(at)
    if at.mapping() is None:
        return None
    if (place := at.get("pattern")) is not None:
        return _parse_pattern(place)
    if (place := at.get("mcp")) is not None:
        return _parse_mcp(place)
    at.add_problem("bad-matcher", f"{at.location}: this is neither a pattern nor an MCP tool.", _HINT)
    return None


def _parse_name(at: Node) -> Condition | None:
    name = at.text()
    if name is None:
        return None
    if name in TOOL_KINDS:
        return match_tool_name(shorthand("tool", "|".join(VOCABULARY.names[TOOL_KINDS[name]])), VOCABULARY)
    guess = _NAMES_BY_KIND.get(kind_of_name(name)) or closest_match(name, TOOL_KINDS)
    hint = f'Did you mean "{guess}"?' if guess else f"The tools are {', '.join(TOOL_KINDS)}."
    what = f"{at.location}: {name!r} is not in the format's vocabulary, so it matches only tools of that very name."
    at.add_problem("unknown-tool", what, hint, severity=Severity.WARNING)
    return match_tool_name(shorthand("exactly", name), VOCABULARY)


def _parse_pattern(at: Node) -> Condition | None:
    text = at.text()
    if text is None:
        return None
    try:
        if _BEYOND_RE2.search(text):
            raise BadPattern("RE2 has no look-around and no back-references")
        return match_tool_name(pattern(text, Syntax.NATIVE), VOCABULARY)
    except BadPattern as bad:
        at.add_problem("bad-pattern", f"{at.location}: {bad.why}.", "Write a regular expression of RE2.")
        return None


def _parse_mcp(at: Node) -> Condition | None:
    server = at.require("server", 'Write {"mcp": {"server": "github", "tool": "create_issue"}}.')
    tool = at.get("tool")
    names = [None if server is None else server.text(), "*" if tool is None else tool.text()]
    if None in names:
        return None
    literal = [name for name in (names if tool is not None else names[:1]) if name is not None]
    if any(_GLOB_CHARACTERS.search(name) for name in literal):
        what = f"{at.location}: a server and a tool are plain names."
        at.add_problem("bad-matcher", what, 'Write {"pattern": "…"} for a regular expression.')
        return None
    return match_tool_name(shorthand("tool", f"mcp__{names[0]}__{names[1]}"), VOCABULARY)


def write_matcher(when: Condition) -> Any:
    """Raises NotExpressible."""
    parts = when.parts if isinstance(when, AnyOf) else (when,)
    written = _distinct([each for part in parts for each in _write_part(part)])
    return written[0] if len(written) == 1 else written


def _distinct(values: list[Any]) -> list[Any]:
    return [each for index, each in enumerate(values) if each not in values[:index]]


def _write_part(when: Condition) -> list[Any]:
    if not isinstance(when, Matches) or not isinstance(when.subject, ToolName):
        raise NotExpressible(condition=when)
    compiled, source = when.pattern, when.subject.vocabulary
    if isinstance(compiled, Shorthand) and compiled.word in ("tool", "exactly"):
        names = [compiled.text] if compiled.word == "exactly" else [each.strip() for each in compiled.text.split("|")]
        return _write_names(names, source)
    named = _named_tools(compiled, source) if isinstance(compiled, Pattern) else []
    if named:
        return _write_names(named, source)
    if not isinstance(compiled, Pattern) or compiled.whole or _BEYOND_RE2.search(compiled.source):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.source}")
    names_known_tools = source != VOCABULARY and any(compiled.search(name) for name in source.known_names)
    if names_known_tools or not _matches_same_mcp_tools(compiled, source):
        raise NotExpressible(f"a pattern for the tool's name: {compiled.source}")
    return [{"pattern": compiled.source}]


def _matches_same_mcp_tools(compiled: Pattern, source: Vocabulary) -> bool:
    """Whether the pattern surely means the same MCP tools, whose names may be spelled otherwise there."""
    if source.mcp == VOCABULARY.mcp:
        return True

    def matches(server: str, tool: str) -> tuple[bool, bool]:
        spelled = (each.mcp.format(server=server, tool=tool) for each in (source, VOCABULARY))
        one, other = (bool(compiled.search(name)) for name in spelled)
        return one, other

    marker = source.mcp.partition("{")[0].strip("_.")
    if marker in compiled.source:  # without a marker, any name may be that of an MCP tool
        return all(matches("x", "y"))
    words = ("x", *dict.fromkeys(_WORD.findall(compiled.source)))[:_MAX_WORDS]
    return all(one == other for one, other in (matches(s, t) for s in words for t in words))


def _named_tools(compiled: Pattern, source: Vocabulary) -> list[str]:
    """The names in a pattern such as `a|b`, if it matches these of the known names and no others."""
    names = _GROUP.sub(r"\1", compiled.source).split("|")
    return names if {name for name in source.known_names if compiled.search(name)} == set(names) else []


def _write_names(names: list[str], source: Vocabulary) -> list[Any]:
    return _distinct([each for name in names for each in _write_name(name, source)])


def _write_name(name: str, source: Vocabulary) -> list[Any]:
    """Several if the name stands for several kinds of tools, as `Write` does in Cursor."""
    if found := _MCP_NAME.fullmatch(name):
        server, tool = found["server"], found["tool"]
        if tool == "*" and not _GLOB_CHARACTERS.search(server):
            return [{"mcp": {"server": server}}]
        if not _GLOB_CHARACTERS.search(name):
            return [{"mcp": {"server": server, "tool": tool}}]
    if _GLOB_CHARACTERS.search(name):
        raise NotExpressible(f"a pattern for the tool's name: {name}")
    kinds = source.kinds_of(name)
    if not kinds:
        return [name]
    if not all(kind in _NAMES_BY_KIND for kind in kinds):
        raise NotExpressible(f"the tool {name}")
    return [_NAMES_BY_KIND[kind] for kind in kinds]
