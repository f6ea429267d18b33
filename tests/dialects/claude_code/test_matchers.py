from __future__ import annotations

import pytest

from hookline.dialects.claude_code.matchers import (
    gitignore_globs,
    parse_matcher,
    parse_permission_rule,
    write_matcher_and_rule,
)
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import all_of
from hookline.hooks.conditions.text import Equals
from hookline.hooks.event import Event
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.pattern import BadPattern, Syntax, pattern


def tool_event(name: str, **input: str) -> Event:
    return Event("tool.before", {"tool": {"name": name, "input": input}})


@pytest.mark.parametrize(
    ("matcher", "name", "matches"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Edit|Write", "Write", True),
        ("Edit, Write", "Write", True),
        ("mcp__.*", "mcp__notes__add", True),
        ("^Note", "NotebookEdit", True),
        ("|", "Bash", False),
    ],
)
def test_a_matcher_is_a_list_of_names_or_a_regular_expression(matcher: str, name: str, matches: bool) -> None:
    assert parse_matcher(matcher, "PreToolUse").holds(tool_event(name)) is matches


def test_without_a_tool_the_matcher_tests_the_events_own_fact() -> None:
    resumed = parse_matcher("resume", "SessionStart")
    assert resumed.holds(Event("session.start", {"session": {"source": "resume"}}))
    assert not resumed.holds(Event("session.start", {"session": {"source": "startup"}}))


def test_a_missing_fact_has_its_default() -> None:
    assert parse_matcher("startup", "SessionStart").holds(Event("session.start", {}))
    assert not parse_matcher("resume", "SessionStart").holds(Event("session.start", {}))


@pytest.mark.parametrize(
    ("rule", "event", "matches"),
    [
        ("Bash", tool_event("Bash", command="ls"), True),
        ("Bash(rm *)", tool_event("Bash", command="rm x"), True),
        ("Bash(rm *)", tool_event("Bash", command="ls"), False),
        ("Read(src/**)", tool_event("Read", file_path="src/a.py"), True),
        ("Read(src/**)", tool_event("Read", file_path="docs/a.md"), False),
        ("WebFetch(domain:a.b)", tool_event("WebFetch", url="https://a.b/x"), True),
        ("WebFetch(domain:a.b)", tool_event("WebFetch", url="https://c.d/x"), False),
    ],
)
def test_a_rule_tests_the_tool_and_its_input(rule: str, event: Event, matches: bool) -> None:
    assert parse_permission_rule(rule).condition.holds(event) is matches


def test_a_rule_for_an_input_that_the_tool_lacks_warns() -> None:
    assert parse_permission_rule("mcp__a__b(x)").warning
    assert not parse_permission_rule("Bash(ls)").warning


@pytest.mark.parametrize("text", ["", "Bash|Read", "Bash(ls", "(x)"])
def test_text_that_is_not_a_rule_is_refused(text: str) -> None:
    with pytest.raises(BadPattern):
        parse_permission_rule(text)


@pytest.mark.parametrize(
    ("inner", "globs"),
    [
        ("a.py", ("**/a.py", "**/a.py/**")),
        ("src/", ("**/src/**",)),
        ("/src/a", ("src/a", "src/a/**")),
        ("./src/a", ("src/a", "src/a/**")),
        ("//etc/hosts", ("/etc/hosts", "/etc/hosts/**")),
        ("~/x", ("**/x", "**/x/**")),
        ("src/**", ("src/**",)),
    ],
)
def test_paths_are_read_as_in_gitignore(inner: str, globs: tuple[str, ...]) -> None:
    assert gitignore_globs(inner) == globs


@pytest.mark.parametrize(("matcher", "rule"), [("Edit|Write", None), ("^Note", None), (None, "Bash(rm *)")])
def test_a_condition_is_written_as_it_was_read(matcher: str | None, rule: str | None) -> None:
    parts = [parse_matcher(matcher, "PreToolUse")] if matcher else []
    parts += [parse_permission_rule(rule).condition] if rule else []
    assert write_matcher_and_rule(all_of(parts), "PreToolUse") == (matcher, rule)


def test_any_other_condition_is_not_expressible() -> None:
    with pytest.raises(NotExpressible):
        write_matcher_and_rule(Equals(("turn", "number"), 3), "PreToolUse")


@pytest.mark.parametrize("matcher", ["run_shell.*", "^run_shell", "mcp_github_.*", "write_file|MCP:status"])
def test_another_agents_pattern_is_not_copied_where_it_matches_nothing(matcher: str) -> None:
    condition = match_tool_name(pattern(matcher, Syntax.JAVASCRIPT), VOCABULARIES["gemini_cli"])
    with pytest.raises(NotExpressible):
        write_matcher_and_rule(condition, "PreToolUse")
