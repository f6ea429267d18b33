from __future__ import annotations

import pytest

from hookline.dialects.hook_interchange.names import ABSENT_EVENTS, EVENTS, TOOL_EVENTS, stdin_of

CORE = {
    "before_tool_execute", "after_tool_execute", "session_start", "session_end", "before_prompt", "agent_stop",
}  # fmt: skip


def test_every_core_event_is_fired() -> None:
    assert set(EVENTS) >= CORE
    assert not set(EVENTS) & set(ABSENT_EVENTS)
    assert set(TOOL_EVENTS) <= set(EVENTS)


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_has_an_stdin(event: str) -> None:
    assert {"session_id", "cwd", "hook_event_name"} <= set(stdin_of(event).value)
