"""Which names a matcher speaks of, decided when it is loaded."""

from __future__ import annotations

from itertools import product

import pytest

from hookline.dialects.tool_names import match_tool_name, resolve_tool_names
from hookline.hooks.conditions.logic import ALWAYS, All, AnyOf, Not
from hookline.hooks.conditions.text import Matches
from hookline.hooks.conditions.tool import tool_matchers
from hookline.hooks.event import Event
from hookline.hooks.host import CurrentHook, current_hook
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import TextPattern
from hookline.hooks.tool_name import HOST_NAMES, ToolName
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern


def javascript(source: str) -> TextPattern:
    return pattern(source, Syntax.JAVASCRIPT)


def _subject(compiled: TextPattern, dialect: str) -> ToolName:
    subject = match_tool_name(compiled, VOCABULARIES[dialect]).subject
    assert isinstance(subject, ToolName)
    return subject


@pytest.mark.parametrize(
    ("compiled", "dialect"),
    [
        (javascript("^bash$"), "flo"),
        (javascript("^(?!bash$)"), "flo"),
        (javascript(".*"), "flo"),
        (javascript("write_"), "flo"),
        (shorthand("exactly", "FileWriter"), "ai_agents"),
        (pattern("(?!BashExecutor$).*", Syntax.PYTHON, whole=True), "ai_agents"),
        (shorthand("tool", "Write|Edit"), "digitorn"),
        (shorthand("tool", "*.write"), "digitorn"),
        (shorthand("tool", "*"), "native"),
        (shorthand("tool", "TodoWrite"), "claude_code"),
    ],
)
def test_a_matcher_of_a_known_name_speaks_the_dialects_names(compiled: TextPattern, dialect: str) -> None:
    assert _subject(compiled, dialect).own_names == ()


@pytest.mark.parametrize(
    ("compiled", "dialect"),
    [
        (javascript("^Bash$"), "flo"),
        (javascript("^mcp"), "flo"),
        (shorthand("exactly", "Write"), "ai_agents"),
        (pattern("mcp__.*", Syntax.PYTHON, whole=True), "ai_agents"),
        (shorthand("tool", "run_shell_command"), "claude_code"),
        (shorthand("tool", "mcp*"), "native"),
    ],
)
def test_a_matcher_of_no_known_name_speaks_the_hosts_names(compiled: TextPattern, dialect: str) -> None:
    assert _subject(compiled, dialect).own_names is HOST_NAMES


@pytest.mark.parametrize(
    "compiled",
    [
        shorthand("tool", "Write|run_shell_command"),
        javascript("^(Write|run_shell_command)$"),
        javascript("^(?:Write$|run_shell_command$)"),
        javascript("^Write$|^run_shell_(?:command|thing)$"),
    ],
)
def test_alternatives_are_decided_one_by_one(compiled: TextPattern) -> None:
    matcher = match_tool_name(compiled, VOCABULARIES["claude_code"])

    def holds(name: str) -> bool:
        return matcher.holds(Event("tool.before", {"tool": {"name": name, "input": {}}}))

    assert holds("Write")
    assert holds("write_file")
    assert holds("run_shell_command")
    assert not holds("Bash")
    assert not holds("Read")


def test_a_pattern_that_excludes_a_name_keeps_excluding_it() -> None:
    """Were its own name tried as well, the shell of another agent would get through."""
    matcher = match_tool_name(javascript("^(?!Bash$|Read$)"), VOCABULARIES["claude_code"])
    assert not matcher.holds(Event("tool.before", {"tool": {"name": "run_shell_command", "input": {}}}))
    assert matcher.holds(Event("tool.before", {"tool": {"name": "write_file", "input": {}}}))


@pytest.mark.parametrize(
    ("compiled", "servers"),
    [
        (shorthand("tool", "mcp.github.*"), ("github",)),
        (shorthand("tool", "mcp.my_server.get"), ("my_server",)),
        (shorthand("tool", "mcp__my-server__*|mcp_other.*"), ("my-server", "other")),
        (javascript(r"^mcp\.github\..*"), ("github",)),
        (javascript("^mcp__a__b$"), ("a",)),
        (shorthand("tool", "mcp*"), ()),
        (shorthand("tool", "mcp.*.get"), ()),
        (shorthand("tool", "bash"), ()),
    ],
)
def test_the_servers_that_a_matcher_names(compiled: TextPattern, servers: tuple[str, ...]) -> None:
    assert _subject(compiled, "native").servers == servers


def test_every_matcher_of_a_condition_is_decided() -> None:
    native, mcp = VOCABULARIES["native"], shorthand("tool", "mcp*")
    open_matcher, decided = Matches(ToolName(native), mcp), match_tool_name(mcp, native)
    assert resolve_tool_names(All((open_matcher, Not(AnyOf((open_matcher, ALWAYS)))))) == All(
        (decided, Not(AnyOf((decided, ALWAYS))))
    )


def test_equal_matchers_share_one_subject() -> None:
    assert _subject(javascript("^bash$"), "flo") is _subject(javascript("^write_file$"), "flo")
    assert _subject(javascript("^Bash$"), "flo") is _subject(javascript("^Write$"), "flo")


DIALECTS = ("native", "flo", "microai", "ai_agents", "digitorn", "claude_code")
HOSTS = tuple(
    name
    for name in VOCABULARIES
    if name not in ("native", "flo", "standard_agents", "microai", "ai_agents", "digitorn")
)


@pytest.mark.parametrize(("dialect", "host"), list(product(DIALECTS, HOSTS)))
def test_the_dialects_first_name_matches_each_hosts_tool(dialect: str, host: str) -> None:
    vocabulary = VOCABULARIES[dialect]
    for kind, names in VOCABULARIES[host].names.items():
        for own in names:
            first = next(iter(vocabulary.names.get(kind, (own,))), own)
            if own in vocabulary.known_names:
                continue
            matcher = match_tool_name(shorthand("exactly", first), vocabulary)
            assert matcher.holds(Event("tool.before", {"tool": {"name": own, "kind": str(kind), "input": {}}})), own


@pytest.mark.parametrize(("dialect", "host"), list(product(DIALECTS, HOSTS)))
def test_templates_show_the_name_that_was_matched(dialect: str, host: str) -> None:
    """Stdin, environment and scripts are made of the same placeholders."""
    vocabulary = VOCABULARIES[dialect]
    shown = PlaceholderResolver(vocabulary)("tool.name")
    assert shown is not None
    for kind, names in VOCABULARIES[host].names.items():
        for own in names:
            event = Event("tool.before", {"tool": {"name": own, "kind": str(kind), "input": {}}})
            first = own if own in vocabulary.known_names else next(iter(vocabulary.names.get(kind, ())), own)
            for text in (first, own):
                matcher = match_tool_name(shorthand("exactly", text), vocabulary)
                if not matcher.holds(event):
                    continue
                token = current_hook.set(CurrentHook("h", tool_matchers=tuple(tool_matchers(matcher))))
                try:
                    assert shown(event) in (text, *vocabulary.names.get(kind, ()))
                    assert matcher.pattern.search(str(shown(event))) or dialect == "digitorn"
                finally:
                    current_hook.reset(token)
