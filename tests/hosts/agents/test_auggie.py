"""Auggie, as it calls and as it obeyed, seen with a fake server of its account."""

from __future__ import annotations

import json
from pathlib import Path

from agent_payloads import decisions, event_name, payloads
from hookline.hosts.agents import get_agent
from install_sandbox import install, make_machine

AUGGIE = get_agent("auggie")
SENT = payloads("auggie")


def test_no_reply_asks_or_holds_what_auggie_does_not() -> None:
    for file, payload in SENT.items():
        parsed = AUGGIE.read(event_name(file), payload)
        for _, decide in decisions(parsed.events[0]):
            text = AUGGIE.reply(parsed, [decide(each) for each in parsed.events]).stdout
            assert '"ask"' not in text
            assert "block" not in text


def test_return_code_decides_whether_a_command_failed() -> None:
    (event,) = AUGGIE.read("PostToolUse", SENT["PostToolUse"]).events
    assert event.facts["tool"]["ok"] is True
    failed = {**SENT["PostToolUse"], "tool_output": "<return-code>\n1\n</return-code>"}
    (event,) = AUGGIE.read("PostToolUse", failed).events
    assert event.facts["tool"]["ok"] is False


def test_entries_match_every_tool_and_count_milliseconds(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    install("auggie", machine)
    hooks = json.loads((machine.home / ".augment/settings.json").read_text())["hooks"]
    assert hooks["PreToolUse"][0]["matcher"] == ".*"
    assert hooks["PreToolUse"][0]["hooks"][0]["timeout"] == 60_000
