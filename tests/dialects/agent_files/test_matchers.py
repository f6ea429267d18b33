"""What a matcher of an agent's hook file matches, and how it is written."""

from __future__ import annotations

import pytest

from hookline.dialects.agent_files.format import FORMATS, AgentFormat
from hookline.dialects.agent_files.kiro import FILE_FORMAT
from hookline.dialects.agent_files.matchers import is_valid_matcher, parse_matcher, takes_matcher, write_matcher
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.dialect import AGENT_FILE_DIALECTS, get_dialect
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.event import Event
from hookline.hooks.tools import NATIVE, VOCABULARIES
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import BadPattern

for _name in AGENT_FILE_DIALECTS:
    get_dialect(_name)


def matches(name: str, matcher: str, event_name: str, tool: str) -> bool:
    event = Event("tool.before", {"tool": {"name": tool, "input": {"command": "ls"}}})
    return bool(parse_matcher(FORMATS[name], matcher, event_name).holds(event))


@pytest.mark.parametrize(
    ("name", "event", "matcher", "heard", "unheard"),
    [
        ("codex", "PreToolUse", "Bash", "run_shell_command", "Read"),
        ("codex", "PreToolUse", "Write", "Edit", "Bash"),
        ("codex", "PreToolUse", "^B.*h$", "Bash", "Read"),
        ("gemini_cli", "BeforeTool", "shell", "Bash", "Read"),
        ("gemini_cli", "BeforeTool", "mcp__.*", "mcp.git.status", "Bash"),
        ("qwen_code", "PreToolUse", "Shell|ReadFile", "Read", "Write"),
        ("droid", "PreToolUse", "Exec", "Bash", "Read"),
        ("droid", "PreToolUse", "git___.*", "mcp__git__status", "mcp__hub__status"),
        ("cursor", "preToolUse", "Shell|MCP:status", "mcp__git__status", "Read"),
        ("cursor", "preToolUse", "Write", "Edit", "Read"),
        ("copilot_cli", "preToolUse", "bas.", "Bash", "Read"),
        ("copilot_cli", "preToolUse", "git-.*", "mcp__git__status", "mcp__hub__status"),
        ("copilot_cli", "PreToolUse", "Bash", "bash", "Read"),
        ("kiro", "preToolUse", "fs_*", "Edit", "Bash"),
        ("kiro", "preToolUse", "@git/status", "mcp__git__status", "mcp__git__push"),
    ],
)
def test_a_matcher_is_compared_with_the_agents_name_of_a_tool(
    name: str, event: str, matcher: str, heard: str, unheard: str
) -> None:
    assert matches(name, matcher, event, heard)
    assert not matches(name, matcher, event, unheard)


@pytest.mark.parametrize(
    ("matcher", "heard", "unheard"),
    [
        ("shell", "run_shell_command", "Read"),
        ("^shell$", "Bash", "Read"),
        ("^(fs_write|fsWrite|write)$", "Edit", "Bash"),
        ("fsWrite", "Write", "Read"),
        ("^read$", "Read", "Write"),
        ("web", "WebFetch", "Bash"),
        ("@git/.*", "mcp__git__status", "mcp__hub__status"),
        ("@builtin", "Bash", "mcp__git__status"),
        ("@mcp", "mcp__git__status", "Bash"),
        ("@mcp.*stat.*", "mcp__git__status", "mcp__git__push"),
    ],
)
def test_a_matcher_in_a_hook_file_of_kiro_means_every_name_of_a_tool(matcher: str, heard: str, unheard: str) -> None:
    condition = parse_matcher(FILE_FORMAT, matcher, "PreToolUse")
    assert condition.holds(Event("tool.before", {"tool": {"name": heard, "input": {}}}))
    assert not condition.holds(Event("tool.before", {"tool": {"name": unheard, "input": {}}}))


@pytest.mark.parametrize("matcher", ["", "*", ".*", " * "])
def test_an_empty_matcher_and_a_star_match_everything(matcher: str) -> None:
    assert parse_matcher(FORMATS["codex"], matcher, "PreToolUse") is ALWAYS


def test_a_matcher_that_cannot_be_read_means_what_the_agent_makes_of_it() -> None:
    assert not is_valid_matcher(FORMATS["gemini_cli"], "(")
    assert not matches("gemini_cli", "(", "BeforeTool", "Bash")
    assert matches("cursor", "(", "preToolUse", "Bash")
    with pytest.raises(BadPattern):
        parse_matcher(FORMATS["codex"], "(", "PreToolUse")


def test_not_every_event_takes_a_matcher() -> None:
    assert takes_matcher(FORMATS["codex"], "SessionStart")
    assert not takes_matcher(FORMATS["codex"], "Stop")
    assert not takes_matcher(FORMATS["windsurf"], "pre_user_prompt")


@pytest.mark.parametrize(
    ("name", "event", "matcher"),
    [
        ("codex", "PreToolUse", "Bash|apply_patch"),
        ("codex", "SessionStart", "startup|resume"),
        ("gemini_cli", "BeforeTool", "write_.*"),
        ("cursor", "beforeShellExecution", "git push"),
        ("copilot_cli", "preToolUse", "bash|create"),
        ("kiro", "preToolUse", "@git"),
        ("kiro", "preToolUse", "@builtin"),
    ],
)
def test_a_matcher_is_written_as_it_was_read(name: str, event: str, matcher: str) -> None:
    assert write_matcher(FORMATS[name], parse_matcher(FORMATS[name], matcher, event), event) == matcher


@pytest.mark.parametrize("matcher", ["@mcp", "@mcp.*stat.*", "shell"])
def test_a_matcher_in_a_hook_file_of_kiro_is_written_as_it_was_read(matcher: str) -> None:
    assert write_matcher(FILE_FORMAT, parse_matcher(FILE_FORMAT, matcher, "PreToolUse"), "PreToolUse") == matcher


@pytest.mark.parametrize(
    ("format", "event", "matcher"),
    [
        (FILE_FORMAT, "PreToolUse", "@git/.*"),
        (FORMATS["kiro"], "preToolUse", "@git"),
        (FORMATS["codex"], "PreToolUse", "^mcp__git__"),
        (FORMATS["gemini_cli"], "BeforeTool", "^mcp_git_"),
        (FORMATS["droid"], "PreToolUse", "^git___"),
        (FORMATS["copilot_cli"], "preToolUse", "git-.*"),
    ],
)
@pytest.mark.parametrize(("text", "vocabulary"), [("mcp.git.*", "native"), ("@git/*", "kiro")])
def test_all_tools_of_an_mcp_server(format: AgentFormat, event: str, matcher: str, text: str, vocabulary: str) -> None:
    condition = match_tool_name(shorthand("tool", text), VOCABULARIES[vocabulary])
    assert write_matcher(format, condition, event) == matcher
    written = parse_matcher(format, matcher, event)
    for name in ("mcp__git__status", "mcp__github__status", "Bash"):
        event_ = Event("tool.before", {"tool": {"name": name, "input": {}}})
        assert written.holds(event_) is condition.holds(event_) is (name == "mcp__git__status")


def test_an_agent_that_does_not_name_the_server_has_no_matcher_for_it() -> None:
    with pytest.raises(NotExpressible):
        write_matcher(FORMATS["cursor"], match_tool_name(shorthand("tool", "mcp.git.*"), NATIVE), "preToolUse")


@pytest.mark.parametrize(("name", "event"), [("cursor", "preToolUse"), ("droid", "PreToolUse")])
def test_a_tool_of_an_mcp_server_has_no_matcher_where_only_one_format_says_the_server(name: str, event: str) -> None:
    """An agent would never match the other spelling, and the guard would be lost."""
    own = "MCP:status" if name == "droid" else "mcp__git__status"
    condition = match_tool_name(shorthand("exactly", own), FORMATS[name].vocabulary)
    with pytest.raises(NotExpressible, match=own):
        write_matcher(FORMATS[name], condition, event)


def test_a_name_of_several_kinds_of_tools_is_translated_to_each() -> None:
    condition = match_tool_name(shorthand("tool", "Write"), VOCABULARIES["cursor"])
    assert write_matcher(FORMATS["droid"], condition, "PreToolUse") == "^(?:Create|Edit)$"


def test_names_of_another_vocabulary_are_translated() -> None:
    condition = match_tool_name(shorthand("tool", "bash|write_file"), VOCABULARIES["native"])
    assert write_matcher(FORMATS["droid"], condition, "PreToolUse") == "^(?:Execute|Create)$"
    assert write_matcher(FORMATS["copilot_cli"], condition, "preToolUse") == "bash|create"
    with pytest.raises(NotExpressible):
        write_matcher(FORMATS["kiro"], condition, "preToolUse")
