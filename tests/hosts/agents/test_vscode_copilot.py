"""Copilot in VS Code, according to its documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents import get_agent
from hookline.project.sources import Source, SourceLayer

VSCODE = get_agent("vscode-copilot")
SENT = payloads("vscode-copilot")


def _deny(name: str) -> object:
    parsed = VSCODE.read(name, SENT[name])
    return json.loads(VSCODE.reply(parsed, [Decision(each, Verdict.DENY, "no") for each in parsed.events]).stdout)


def test_a_denied_stop_stands_inside_the_events_own_output() -> None:
    assert _deny("Stop") == {"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "no"}}


def test_a_prompt_is_denied_by_the_keys_that_it_reads_there() -> None:
    assert _deny("UserPromptSubmit") == {"continue": False, "stopReason": "no"}


def test_events_by_copilot_clis_names_are_known() -> None:
    parsed = VSCODE.read("preToolUse", SENT["PreToolUse"])
    assert parsed.events[0].facts["tool"]["kind"] == "shell"


def test_each_replacement_of_several_files_is_judged() -> None:
    replacements = [{"filePath": path, "oldString": "a", "newString": "b"} for path in ("/p/a.py", "/p/.env")]
    called = {
        "tool_name": "multi_replace_string_in_file",
        "tool_input": {"explanation": "x", "replacements": replacements},
    }
    events = VSCODE.read("PreToolUse", {**SENT["PreToolUse"], **called}).events
    assert [each.facts["tool"]["input"]["filePath"] for each in events] == ["/p/a.py", "/p/.env"]


@pytest.mark.parametrize(
    ("file", "layer", "runs"),
    [
        (".github/hooks/a.json", SourceLayer.PROJECT, True),
        (".github/copilot/settings.json", SourceLayer.PROJECT, False),
        (".github/copilot/settings.local.json", SourceLayer.LOCAL, False),
        (".copilot/settings.json", SourceLayer.USER, False),
    ],
)
def test_the_settings_of_copilot_cli_are_left_to_that(file: str, layer: SourceLayer, runs: bool) -> None:
    source = Source(Path("/work", file), file, "copilot_cli", layer)
    assert VSCODE.runs_hooks_of(source) is runs
    assert get_agent("copilot-cli").runs_hooks_of(source)
