"""Windsurf, according to its documentation: it reads only an exit code and stderr."""

from __future__ import annotations

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.hosts.agents import get_agent

WINDSURF = get_agent("windsurf")
SENT = payloads("windsurf")


@pytest.mark.parametrize("file", SENT)
def test_only_pre_events_are_blocked_and_always_with_a_reason(file: str) -> None:
    events = WINDSURF.read(event_name(file), SENT[file]).events
    for _, decide in decisions(events[0]):
        reply = WINDSURF.reply(WINDSURF.read(event_name(file), SENT[file]), [decide(event) for event in events])
        assert reply.exit_code in ((0, 2) if file.startswith("pre_") else (0,))
        assert reply.exit_code == 0 or reply.stderr.strip()
        assert not reply.stdout


def test_an_edit_that_replaces_nothing_writes_the_file() -> None:
    (event,) = WINDSURF.read("pre_write_code", SENT["pre_write_code-new"]).events
    assert event.facts["tool"]["kind"] == "write"
    assert event.facts["tool"]["input"]["content"] == "API_KEY=1"


def test_each_edit_is_an_event() -> None:
    events = WINDSURF.read("pre_write_code", SENT["pre_write_code"]).events
    assert [event.facts["tool"]["input"]["new_string"] for event in events] == ["b", "d"]
