"""Letta Code, according to its source and documentation."""

from __future__ import annotations

from agent_payloads import decisions, event_name, payloads
from hookline.hosts.agents import get_agent

LETTA = get_agent("letta-code")
SENT = payloads("letta-code")


def test_it_is_told_by_exit_code_and_stderr_only() -> None:
    for file, payload in SENT.items():
        parsed = LETTA.read(event_name(file), payload)
        for _, decide in decisions(parsed.events[0]):
            reply = LETTA.reply(parsed, [decide(each) for each in parsed.events])
            assert reply.stdout == ""
            assert reply.exit_code in (0, 2)
            assert (reply.exit_code == 2) <= bool(reply.stderr.strip())


def test_directory_and_result_have_names_of_their_own() -> None:
    (event,) = LETTA.read("PostToolUse", SENT["PostToolUse"]).events
    assert event.facts["cwd"] == "/home/dev/project"
    assert event.facts["tool"]["result"] == {"status": "success", "output": "a.txt"}
