"""How long an agent waits for its hooks, and how long they may take: less, for an agent goes on without them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

_SECONDS: Final = {
    "claude-code": 600.0,
    "codex": 600.0,
    "gemini-cli": 60.0,
    "copilot-cli": 30.0,
    "qwen-code": 60.0,
    "opencode": 600.0,  # it has no limit of its own
    "cursor": 30.0,  # not documented
    "cline": 30.0,
    "windsurf": 30.0,  # not documented
    "kiro": 30.0,
}
_OF_EVENTS: Final = {
    ("claude-code", "UserPromptSubmit"): 30.0,
    ("claude-code", "SessionEnd"): 1.5,
    ("codex", "SessionEnd"): 1.0,
}
_UNKNOWN: Final = 30.0


def host_timeout(agent: str, event: str) -> timedelta:
    """After this the agent kills its hook and goes on."""
    return timedelta(seconds=_OF_EVENTS.get((agent, event), _SECONDS.get(agent, _UNKNOWN)))


def margin(agent: str, event: str) -> timedelta:
    """A tenth, at least half a second and at most ten: in it we hear each on_error, answer, and die where we must."""
    longest = host_timeout(agent, event)
    return min(max(longest / 10, timedelta(seconds=0.5)), timedelta(seconds=10))


def hooks_until(agent: str, event: str, spent: timedelta) -> timedelta:
    """What is left for the hooks, of which `spent` has passed already."""
    left = host_timeout(agent, event) - margin(agent, event) - spent
    return max(left, timedelta(seconds=0.05))


def answer_until(agent: str, event: str, spent: timedelta) -> timedelta:
    """Whatever happens, there is an answer by then."""
    return hooks_until(agent, event, spent) + margin(agent, event) / 3
