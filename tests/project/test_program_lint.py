"""Commands that cannot run as written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.config.problem import Problem, Severity
from hookline.hooks.actions.chain import leaf_actions
from hookline.project import load_text
from hookline.project.lint import lint_hooks
from hookline.project.program_lint import lint_programs, lint_variables

CODES = ("blank-command", "unit", "not-expanded")


def find_program(name: str) -> str | None:
    return f"/bin/{name}" if name in ("bash", "python3", "cat", "git", "sh") else None


def missing(then: str, tmp_path: Path) -> list[str]:
    (tmp_path / "here.sh").write_text("exit 0")
    text = f"hooks: [{{id: x, on: tool.before, then: {then}, on_error: closed}}]"
    book = load_text(text, str(tmp_path / "hookline.yaml"), "native")
    found = [each for hook in book.hooks for each in lint_programs(hook, list(leaf_actions(hook.then)), find_program)]
    assert all(each.severity is Severity.WARNING and each.code == "no-program" for each in found)
    return [each.what for each in found]


@pytest.mark.parametrize(
    ("then", "what"),
    [
        ("{run: ./missing.sh}", "./missing.sh, but there is no such file"),
        ("{run: bash missing.sh}", "missing.sh, but there is no such file"),
        ("{run: [python3, missing.py]}", "missing.py, but there is no such file"),
        ("{run: source ./missing.sh}", "./missing.sh, but there is no such file"),
        ("{run: nosuchprogram -x}", "nosuchprogram, but there is no such program"),
        ("{run: [nosuchprogram]}", "nosuchprogram, but there is no such program"),
        ("{run: 'X=1 nosuchprogram'}", "nosuchprogram, but there is no such program"),
        ("{run: 'cat | nosuchprogram'}", "nosuchprogram, but there is no such program"),
        ("{run: 'nosuchprogram {{input.path}}'}", "nosuchprogram, but there is no such program"),
        ("{run: exit 0, only_if: ./missing.sh}", "./missing.sh, but there is no such file"),
        ("[{log: a}, {run: ./missing.sh}]", "./missing.sh, but there is no such file"),
    ],
)
def test_a_program_that_does_not_exist(then: str, what: str, tmp_path: Path) -> None:
    (found,) = missing(then, tmp_path)
    assert f"x runs {what}" in found


@pytest.mark.parametrize(
    "then",
    [
        "{run: ./here.sh}",
        "{run: bash here.sh}",
        "{run: 'bash -c \"exit 0\"'}",
        "{run: 'if true; then exit 1; fi'}",
        "{run: '$HOME/x.sh'}",
        "{run: '~/x.sh'}",
        "{run: 'cd sub && ./missing.sh'}",
        "{run: './missing.sh', cwd: sub}",
        "{run: 'command -v ruff && ruff check'}",
        "{run: 'f() { cat; }; f'}",
        "{run: 'git diff | cat'}",
        "{run: 'echo nosuchprogram'}",
    ],
)
def test_a_program_that_exists_or_that_only_the_shell_knows(then: str, tmp_path: Path) -> None:
    assert missing(then, tmp_path) == []


def lint(value: Any, file: str, dialect: str) -> list[Problem]:
    text = value if isinstance(value, str) else json.dumps(value)
    return [each for each in lint_hooks(load_text(text, file, dialect).hooks) if each.code in CODES]


def pre_tool_use(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": list(entries)}}


@pytest.mark.parametrize(
    ("config", "file", "dialect", "hint"),
    [
        (
            pre_tool_use({"command": "true", "timeout": 30}),
            ".microai/settings.json",
            "microai",
            "Write 30000 for 30 s.",
        ),
        (pre_tool_use({"command": "true", "timeout": 5}), "hub.json", "flo", "Write 5000 for 5 s."),
        (
            pre_tool_use({"hooks": [{"type": "command", "command": "true", "timeout": 30000}]}),
            ".ai_agents/settings.json",
            "ai_agents",
            "Write 30 for 30 s.",
        ),
        (
            pre_tool_use({"hooks": [{"type": "command", "command": "true", "timeout": 0.005}]}),
            ".ai_agents/settings.json",
            "ai_agents",
            "No program starts and answers in so short a time.",
        ),
    ],
)
def test_a_timeout_in_another_unit(config: Any, file: str, dialect: str, hint: str) -> None:
    (found,) = lint(config, file, dialect)
    assert (found.code, found.severity, found.hint) == ("unit", Severity.WARNING, hint)


def test_usual_timeouts() -> None:
    assert lint(pre_tool_use({"command": "true", "timeout": 5000}), ".microai/settings.json", "microai") == []
    group = {"hooks": [{"type": "command", "command": "true", "timeout": 600}]}
    assert lint(pre_tool_use(group), ".ai_agents/settings.json", "ai_agents") == []


@pytest.mark.parametrize(
    ("config", "file", "dialect"),
    [
        (pre_tool_use({"command": "  "}), ".microai/settings.json", "microai"),
        (pre_tool_use({"command": "\n"}), "hub.json", "flo"),
        (pre_tool_use({"hooks": [{"type": "command", "command": " "}]}), ".ai_agents/settings.json", "ai_agents"),
        (pre_tool_use({"hooks": [{"type": "command", "command": " "}]}), ".claude/settings.json", "claude_code"),
        ("hooks: [{id: x, on: tool.before, then: {run: ' '}, on_error: open}]", "hookline.yaml", "native"),
    ],
)
def test_a_blank_command_is_an_error(config: Any, file: str, dialect: str) -> None:
    (found,) = lint(config, file, dialect)
    assert (found.code, found.severity) == ("blank-command", Severity.ERROR)
    text = config if isinstance(config, str) else json.dumps(config)
    assert found in load_text(text, file, dialect).problems, "a session refuses to start"


def test_a_variable_in_a_url_must_be_listed() -> None:
    hook = "hooks: [{id: x, on: tool.after, then: {post: 'https://x.test/$TOKEN?$filter=a'%s}, on_error: open}]"
    (found,) = lint(hook % "", "hookline.yaml", "native")
    assert (found.code, found.hint) == ("not-expanded", "Add TOKEN to variables.")
    assert lint(hook % ", variables: [TOKEN]", "hookline.yaml", "native") == []


def test_scripts_below_a_directory_that_the_hook_is_told_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / ".claude/hooks").mkdir(parents=True)
    (tmp_path / ".claude/hooks/there.sh").write_text("exit 0")
    commands = (
        '"$CLAUDE_PROJECT_DIR"/.claude/hooks/there.sh',
        "python3 ${CLAUDE_PROJECT_DIR}/.claude/hooks/there.sh",
        "$CLAUDE_PROJECT_DIR/.claude/hooks/gone.sh",
        'python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/gone.py" --check',
        "$OTHER/.claude/hooks/gone.sh",
    )
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in commands]
    text = json.dumps({"hooks": {"PreToolUse": groups}})
    book = load_text(text, str(tmp_path / ".claude/settings.json"), "claude_code")
    found = [each for hook in book.hooks for each in lint_programs(hook, list(leaf_actions(hook.then)), find_program)]
    assert [each.what.split(" runs ")[1] for each in found] == [
        "./.claude/hooks/gone.sh, but there is no such file here.",
        "./.claude/hooks/gone.py, but there is no such file here.",
    ]


def test_a_variable_of_a_url_that_is_not_set() -> None:
    then = "{post: 'https://example.com/$HOOK_PATH/$OTHER', variables: [HOOK_PATH]}"
    book = load_text(f"hooks: [{{id: x, on: tool.before, then: {then}, on_error: open}}]", "hookline.yaml", "native")
    actions = list(leaf_actions(book.hooks[0].then))
    (found,) = lint_variables(book.hooks[0], actions, lambda name: False)
    assert (found.code, found.severity) == ("unset-variable", Severity.WARNING)
    assert found.what == "x posts to a URL with $HOOK_PATH, which is not set here."
    assert not list(lint_variables(book.hooks[0], actions, lambda name: True))
