from __future__ import annotations

from typing import Any

import pytest

from agent_payloads import event_name, payloads
from hookline.hosts.agents.caller import detect_agent

CLAUDE = {"CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": "/p"}
COPILOT = {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/p", "CLAUDE_PROJECT_DIR": "/p"}
CURSOR = {"CURSOR_VERSION": "2", "CLAUDE_PROJECT_DIR": "/p"}
GROK = {"GROK_HOOK_EVENT": "pre_tool_use", "GROK_SESSION_ID": "1", "CLAUDE_PROJECT_DIR": "/p"}


@pytest.mark.parametrize("environ", [CLAUDE, COPILOT, CURSOR, GROK, {**CLAUDE, **COPILOT, **CURSOR, **GROK}, {}])
@pytest.mark.parametrize("name", ["claude-code", "copilot-cli", "cursor", "grok-build", "vscode-copilot"])
def test_the_payload_identifies_the_caller(name: str, environ: dict[str, str]) -> None:
    wrong = [
        file
        for file, payload in payloads(name).items()
        if detect_agent("claude-code", lambda name: environ.get(name, ""), payload) != name
    ]
    assert payloads(name)
    assert not wrong


@pytest.mark.parametrize(
    ("environ", "caller"),
    [(CLAUDE, "claude-code"), (COPILOT, "copilot-cli"), (CURSOR, "cursor"), (GROK, "grok-build"), ({}, "claude-code")],
)
def test_the_environment_identifies_the_caller_without_a_payload(environ: dict[str, str], caller: str) -> None:
    assert detect_agent("claude-code", lambda name: environ.get(name, ""), {}) == caller


@pytest.mark.parametrize("name", ["codex", "gemini-cli", "copilot-cli", "qwen-code", "cursor", "kiro", "droid"])
def test_only_claude_codes_entries_can_have_another_caller(name: str) -> None:
    known: dict[str, Any] = payloads(name)
    assert all(
        detect_agent(name, lambda variable: {**CLAUDE, **COPILOT}.get(variable, ""), payload) == name
        for payload in known.values()
    )
    assert all(map(event_name, known))


@pytest.mark.parametrize(("entry", "other"), [("copilot-cli", "vscode-copilot"), ("vscode-copilot", "copilot-cli")])
def test_copilot_cli_and_vs_code_run_each_others_entries(entry: str, other: str) -> None:
    for name in (entry, other):
        found = {
            detect_agent(entry, lambda variable: COPILOT.get(variable, ""), each) for each in payloads(name).values()
        }
        assert found == {name}
