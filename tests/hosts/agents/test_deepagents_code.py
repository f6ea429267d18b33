"""deepagents-code, as it calls and as it obeyed."""

from __future__ import annotations

import json

from agent_payloads import decisions, event_name, payloads
from hookline.hosts.agents import get_agent

DCODE = get_agent("deepagents-code")
SENT = payloads("deepagents-code")


def test_changes_and_questions_are_never_sent_because_it_ignores_them() -> None:
    for file, payload in SENT.items():
        parsed = DCODE.read(event_name(file), payload)
        for _, decide in decisions(parsed.events[0]):
            text = DCODE.reply(parsed, [decide(each) for each in parsed.events]).stdout
            assert "updatedInput" not in text
            assert '"ask"' not in text


def test_exit_code_and_text_of_a_command_are_known() -> None:
    (event,) = DCODE.read("PostToolUse", SENT["PostToolUse"]).events
    assert (event.facts["tool"]["ok"], "hello-from-tool" in event.facts["tool"]["result"]) == (True, True)
    failed = json.loads(json.dumps(SENT["PostToolUse"]))
    failed["tool_response"]["artifact"]["exit_code"] = 2
    (event,) = DCODE.read("PostToolUse", failed).events
    assert (event.facts["tool"]["ok"], event.facts["tool"]["error"]) == (False, "exit code 2")


def test_its_javascript_is_a_shell() -> None:
    payload = {**SENT["PreToolUse"], "tool_name": "js_eval", "tool_input": {"code": "1"}}
    assert DCODE.read("PreToolUse", payload).events[0].facts["tool"]["kind"] == "shell"
