"""Hooks that an agent's file can express are written so that they read the same again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.conversion import with_vocabulary
from hookline.dialects.dialect import AdaptableDialect, Excerpt, get_dialect
from hookline.lazy_dataclasses import replace
from hookline.project import load_text
from hookline.testing import load_cases
from hookline.testing.case_runner import config_text, default_file_name

CASES = Path(__file__).parents[2] / "cases"
WRITTEN = ("codex", "copilot_cli", "cursor", "droid", "gemini_cli", "kiro", "qwen_code", "windsurf")


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "kiro"])
def test_a_file_that_is_written_again_has_the_same_hooks(name: str) -> None:
    compared = 0
    for case in load_cases(CASES / name):
        if case.config is None:
            continue
        file = default_file_name(name)
        hooks = [hook for hook in load_text(config_text(case.config), file, name).hooks if hook.enabled]
        written = get_dialect(name).write(hooks)
        if written.not_expressible or not hooks:
            continue
        again = load_text(json.dumps(written.value), file, name).hooks
        plain = [replace(hook, id="", origin=hooks[0].origin) for hook in hooks]
        assert [replace(hook, id="", origin=hooks[0].origin) for hook in again] == plain, case.name
        compared += 1
    assert compared >= 5


KIRO_HOOKS = [
    {"name": "a", "trigger": "PreToolUse", "matcher": "shell", "action": {"type": "command", "command": "./a"}},
    {"name": "b", "trigger": "UserPromptSubmit", "action": {"type": "command", "command": "./b"}, "timeout": 5},
    {"name": "c", "trigger": "PostToolUse", "action": {"type": "agent", "prompt": "Run the tests."}},
]


def test_a_file_of_hooks_for_kiro_is_written_as_one() -> None:
    file = {"version": "v1", "hooks": KIRO_HOOKS}
    hooks = load_text(json.dumps(file), ".kiro/hooks/team.json", "kiro").hooks
    named = [replace(hook, id=name) for hook, name in zip(hooks, "abc", strict=True)]
    written = get_dialect("kiro").write(named)
    assert written.value == file
    assert not written.not_expressible


def test_a_pattern_for_commands_is_written_beside_the_matcher() -> None:
    command = {"type": "command", "command": "./a"}
    groups = [
        {"matcher": "Execute", "commandRegex": r"\brm\s+-", "hooks": [command, {"type": "command", "command": "./b"}]},
        {"matcher": "Execute", "hooks": [command]},
        {"commandRegex": "^git", "hooks": [command]},
    ]
    file = {"hooks": {"PreToolUse": groups}}
    written = get_dialect("droid").write(load_text(json.dumps(file), ".factory/settings.json", "droid").hooks)
    assert (written.value, written.not_expressible) == (file, ())


def test_a_disabled_hook_is_written_where_the_agent_has_such_a_key() -> None:
    file = {"version": "v1", "hooks": [{**KIRO_HOOKS[0], "enabled": False}]}
    hooks = load_text(json.dumps(file), ".kiro/hooks/team.json", "kiro").hooks
    written = get_dialect("kiro").write([replace(hook, id="a") for hook in hooks])
    assert written.value == file
    assert [line.partition("): ")[2] for line in get_dialect("cursor").write(hooks).not_expressible] == [
        "that it is disabled"
    ]


@pytest.mark.parametrize(
    ("dialect", "file", "value"),
    [
        ("kiro", ".kiro/agents/dev.json", {"hooks": {"preToolUse": [{"matcher": "fs_write", "command": "./a"}]}}),
        (
            "kiro",
            ".kiro/hooks/one.kiro.hook",
            {
                "name": "One",
                "version": "1",
                "when": {"type": "postToolUse", "toolTypes": ["shell", "write"]},
                "then": {"type": "runCommand", "command": "./a", "timeout": 5},
            },
        ),
        (
            "kiro",
            ".kiro/hooks/one.kiro.hook",
            {
                "name": "One",
                "version": "1",
                "when": {"type": "promptSubmit"},
                "then": {"type": "runCommand", "command": "./a"},
            },
        ),
    ],
)
def test_an_excerpt_is_in_the_format_of_the_hooks_own_file(dialect: str, file: str, value: dict[str, Any]) -> None:
    known = get_dialect(dialect)
    assert isinstance(known, AdaptableDialect)
    (hook,) = load_text(json.dumps(value), file, dialect).hooks
    found = known.excerpt(replace(hook, id="One"))
    assert found == Excerpt(value)


def test_an_excerpt_names_its_file_if_only_the_place_tells_its_format() -> None:
    kimi = get_dialect("kimi_code")
    assert isinstance(kimi, AdaptableDialect)
    text = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell"\ncommand = "./a"\n'
    (older,) = load_text(text, ".kimi/config.toml", "kimi_code").hooks
    (newer,) = load_text(text, ".kimi-code/config.toml", "kimi_code").hooks
    value = {"hooks": [{"event": "PreToolUse", "matcher": "Shell", "command": "./a"}]}
    assert kimi.excerpt(older) == Excerpt(value, ".kimi/config.toml")
    assert kimi.excerpt(newer) == Excerpt(value)


@pytest.mark.parametrize("first", ["#!/usr/bin/env bash", "#!/bin/sh -e", "import sys"])
def test_the_excerpt_of_a_program_of_cline_says_what_runs_it(first: str) -> None:
    cline, file = get_dialect("cline"), ".clinerules/hooks/PreToolUse.py"
    assert isinstance(cline, AdaptableDialect)
    (hook,) = load_text(json.dumps({"program": f"{first}\n"}), file, "cline").hooks
    found = cline.excerpt(hook)
    assert found is not None
    (again,) = load_text(json.dumps(found.value), found.file, "cline").hooks
    assert again.then == hook.then


def test_entries_of_one_hook_for_kiro_have_names_of_their_own() -> None:
    file = {"version": "v1", "hooks": KIRO_HOOKS[:1]}
    (hook,) = load_text(json.dumps(file), ".kiro/hooks/team.json", "kiro").hooks
    written = get_dialect("kiro").write([replace(hook, id="a"), replace(hook, id="a")])
    assert [entry["name"] for entry in written.value["hooks"]] == ["a", "a 2"]


@pytest.mark.parametrize("name", WRITTEN)
def test_what_an_agents_file_cannot_say_is_named(name: str) -> None:
    text = "hooks: [{id: no-rm, on: tool.before, when: {tool: bash}, then: {deny: Not rm.}}]"
    hooks = load_text(text, "hookline.yaml", "native").hooks
    written = get_dialect(name).write(with_vocabulary(name, hooks))
    assert len(written.not_expressible) == 1
    assert written.not_expressible[0].startswith("no-rm (hookline.yaml:1): ")


def test_cline_s_programs_are_not_written() -> None:
    hooks = load_text("hooks: [{id: a, on: stop, then: {log: x}}]", "hookline.yaml", "native").hooks
    assert get_dialect("cline").write(hooks).not_expressible


OFF = {
    "copilot_cli": {"agentStop": [{"bash": "./a"}, {"bash": "./b"}]},
    "droid": {"Stop": [{"hooks": [{"type": "command", "command": "./a"}, {"type": "command", "command": "./b"}]}]},
    "gemini_cli": {
        "AfterAgent": [{"hooks": [{"type": "command", "command": "./a"}, {"type": "command", "command": "./b"}]}]
    },
    "qwen_code": {"Stop": [{"hooks": [{"type": "command", "command": "./a"}, {"type": "command", "command": "./b"}]}]},
}


@pytest.mark.parametrize("name", OFF)
def test_a_file_whose_hooks_are_all_off_says_so(name: str) -> None:
    hooks = load_text(json.dumps({"hooks": OFF[name]}), default_file_name(name), name).hooks
    written = get_dialect(name).write([replace(hook, enabled=False) for hook in hooks])
    assert not written.not_expressible
    again = load_text(json.dumps(written.value), default_file_name(name), name).hooks
    assert [hook.enabled for hook in again] == [False, False]


def test_gemini_cli_names_the_hooks_that_are_off() -> None:
    first, second = load_text(json.dumps({"hooks": OFF["gemini_cli"]}), "settings.json", "gemini_cli").hooks
    written = get_dialect("gemini_cli").write([first, replace(second, enabled=False)])
    assert written.value["hooksConfig"] == {"disabled": [second.id]}
    again = load_text(json.dumps(written.value), "settings.json", "gemini_cli").hooks
    assert [hook.enabled for hook in again] == [True, False]
    lost = get_dialect("qwen_code").write([replace(first, enabled=False), second]).not_expressible
    assert any("that it is disabled" in line for line in lost)
