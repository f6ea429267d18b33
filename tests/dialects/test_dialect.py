"""Which dialect a file belongs to, and what dialects import."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import AGENT_FILE_DIALECTS, all_dialects, recognise_dialect

COMMAND = {"type": "command", "command": "sleep 1"}
SHAPES: tuple[Any, ...] = (
    {"hooks": [{"on": "tool.before", "then": "deny"}]},
    {"runtime": {"hooks": [{"id": "a", "on": "tool_start", "action": {"type": "gate"}}]}},
    {"matcher": "x", "action": "deny"},
    *({"hooks": {event: [entry]}} for event in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop") for entry in (
        {"hooks": [COMMAND]},
        {"hooks": [{**COMMAND, "timeout": 30}]},
        {"matcher": "CodeEditor", "hooks": [COMMAND]},
        {"matcher": "Bash", "hooks": [{**COMMAND, "if": "Bash(ls)"}]},
        {"hooks": [{"type": "action", "action": "deny"}]},
        {"command": "true"},
        {"command": "true", "timeout": 100},
        {"matcher": "Bash(git:*)", "command": "true"},
        {"command": "true", "continueOnFailure": False},
        {"command": "true", "continueOnError": False},
        {"action": "deny"},
    )),
    *({"hooks": {event: [entry]}} for event in ("SessionStart", "SessionEnd", "AgentStart", "SubagentStop") for entry in (
        {"hooks": [COMMAND]},
        {"command": "true"},
    )),
)  # fmt: skip


@pytest.mark.parametrize("value", SHAPES, ids=json.dumps)
def test_a_file_that_two_dialects_can_read_is_asked_about_and_never_guessed(value: Any) -> None:
    document, _ = read_text(json.dumps(value), "z.json")
    assert document is not None
    loaded = {name: each.load(document) for name, each in all_dialects().items() if name not in AGENT_FILE_DIALECTS}
    candidates = [
        name
        for name, found in loaded.items()
        if found.hooks
        and not any(problem.severity is Severity.ERROR or problem.code == "unknown-key" for problem in found.problems)
    ]
    found = recognise_dialect(document)
    if not isinstance(found, Problem):
        assert candidates in ([found.name], [])
    elif candidates:
        assert found.what == f"this could be a file of {' or '.join(candidates)}."
    else:
        assert found.code == "unknown-dialect"


def test_the_name_decides_where_it_can() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [COMMAND]}]}})
    for file, name in (
        ("hub.json", "flo"),
        (".claude/settings.json", "claude_code"),
        ("hooks/hooks.json", "claude_code"),
    ):
        document, _ = read_text(text, file)
        assert document is not None
        assert getattr(recognise_dialect(document), "name", None) == name


def test_no_dialect_imports_an_optional_dependency() -> None:
    script = (
        "import sys\n"
        "from hookline.dialects.dialect import all_dialects\n"
        "all_dialects()\n"
        "import hookline.dialects.digitorn.builder\n"
        "print(sorted({'pydantic', 'httpx', 'httpx2', 'mcp', 'sqlalchemy'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


GROUPS = {"PreToolUse": [{"description": "x", "matcher": "Bash", "hooks": [COMMAND]}]}


@pytest.mark.parametrize(
    "file",
    ["agents/reviewer.md", ".claude/commands/deploy.md", "plugin/skills/pdf/SKILL.md", "plugin/hooks/hooks.json"],
)
def test_a_component_of_claude_code_is_recognised_by_place_and_shape(file: str) -> None:
    text = json.dumps({"name": "x", "description": "y", "hooks": GROUPS})
    document, _ = read_text(f"---\n{text}\n---\n" if file.endswith(".md") else text, file)
    assert document is not None
    found = recognise_dialect(document)
    assert getattr(found, "name", found) == "claude_code"


@pytest.mark.parametrize(
    ("file", "value", "name"),
    [
        (".github/hooks/hooks.json", {"version": 1, "hooks": {"PreToolUse": [{"command": "true"}]}}, "copilot_cli"),
        ("z.json", {"version": 1, "hooks": {"PreToolUse": [{"bash": "true", "timeoutSec": 5}]}}, "copilot_cli"),
        ("z.json", {"version": 1, "hooks": {"userPromptSubmitted": [{"command": "true"}]}}, "copilot_cli"),
        ("z.json", {"version": 1, "hooks": {"beforeShellExecution": [{"command": "true"}]}}, "cursor"),
        (".cursor/hooks.json", {"version": 1, "hooks": {"stop": [{"command": "true"}]}}, "cursor"),
        (".windsurf/hooks.json", {"hooks": {"pre_run_command": [{"command": "true"}]}}, "windsurf"),
        ("z.json", {"hooks": {"pre_run_command": [{"command": "true"}]}}, "windsurf"),
        ("z.json", {"hooks": {"BeforeTool": [{"hooks": [COMMAND]}]}}, "gemini_cli"),
        (".gemini/settings.json", {"hooks": {"SessionStart": [{"hooks": [COMMAND]}]}}, "gemini_cli"),
        (".qwen/settings.json", {"hooks": {"PreToolUse": [{"hooks": [COMMAND]}]}}, "qwen_code"),
        (".codex/hooks.json", {"hooks": {"PreToolUse": [{"hooks": [COMMAND]}]}}, "codex"),
        (".factory/settings.json", {"hooks": {"PreToolUse": [{"hooks": [COMMAND]}]}}, "droid"),
        (".factory/hooks.json", {"PreToolUse": [{"hooks": [COMMAND]}]}, "droid"),
        (".kiro/agents/dev.json", {"hooks": {"preToolUse": [{"command": "true"}]}}, "kiro"),
    ],
)
def test_a_file_of_a_coding_agent_is_recognised_by_place_or_by_what_only_it_has(
    file: str, value: Any, name: str
) -> None:
    document, _ = read_text(json.dumps(value), file)
    assert document is not None
    found = recognise_dialect(document)
    assert getattr(found, "name", found) == name


def test_a_list_of_hooks_of_another_program_is_one_problem() -> None:
    value = {"hooks": [{"name": f"h{n}", "entry": "true", "language": "system"} for n in range(12)]}
    document, _ = read_text(json.dumps(value), "z.json")
    assert document is not None
    found = recognise_dialect(document)
    assert isinstance(found, Problem)
    assert found.code == "unknown-dialect"


def test_the_hint_for_a_settings_file_names_claude_code_first() -> None:
    document, _ = read_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [COMMAND]}]}}), "z.json")
    assert document is not None
    found = recognise_dialect(document)
    assert isinstance(found, Problem)
    assert found.hint == "Say which: --dialect claude_code."
