"""Kimi Code, as it calls and as it obeyed."""

from __future__ import annotations

from agent_payloads import decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note
from hookline.hosts.agents import get_agent

KIMI = get_agent("kimi-code")
SENT = payloads("kimi-code")


def test_nothing_but_context_is_printed_because_kimi_reads_it_as_a_prompt() -> None:
    for file, payload in SENT.items():
        parsed = KIMI.read(event_name(file), payload)
        for _, decide in decisions(parsed.events[0]):
            reply = KIMI.reply(parsed, [decide(each) for each in parsed.events])
            assert reply.stdout in ("", "mind the tests", "and be brief")
            assert (reply.exit_code == 2) <= bool(reply.stderr.strip())


def test_text_parts_are_the_prompt() -> None:
    parsed = KIMI.read("UserPromptSubmit", SENT["UserPromptSubmit"])
    assert parsed.events[0].facts["prompt"] == "run the tool"
    assert KIMI.reply(parsed, [Decision(parsed.events[0], notes=(Note("mind the tests"),))]).stdout == "mind the tests"


def test_stop_does_not_claim_that_no_hook_made_it_continue() -> None:
    """Kimi always says so, and hookline counts itself where the agent does not tell."""
    (event,) = KIMI.read("Stop", SENT["Stop"]).events
    assert "active" not in event.facts["stop"]
