"""How long an agent waits for its hooks, and how long they may take: less, for an agent goes on without them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

_TIMEOUT_SECONDS: Final = {
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
_EVENT_TIMEOUT_SECONDS: Final = {
    ("claude-code", "UserPromptSubmit"): 30.0,
    ("claude-code", "SessionEnd"): 1.5,
    ("codex", "SessionEnd"): 1.0,
}
_DEFAULT_TIMEOUT_SECONDS: Final = 30.0


def agent_timeout(agent: str, event: str) -> timedelta:
    """After this the agent kills its hook and goes on."""
    return timedelta(
        seconds=_EVENT_TIMEOUT_SECONDS.get((agent, event), _TIMEOUT_SECONDS.get(agent, _DEFAULT_TIMEOUT_SECONDS))
    )


def timeout_margin(agent: str, event: str) -> timedelta:
    """A tenth, at least half a second and at most ten: in it we hear each on_error, answer, and die where we must."""
    longest = agent_timeout(agent, event)
    return min(max(longest / 10, timedelta(seconds=0.5)), timedelta(seconds=10))


def time_for_hooks(agent: str, event: str, spent: timedelta) -> timedelta:
    """What is left for the hooks, of which `spent` has passed already."""
    left = agent_timeout(agent, event) - timeout_margin(agent, event) - spent
    return max(left, timedelta(seconds=0.05))


def time_for_answer(agent: str, event: str, spent: timedelta) -> timedelta:
    """Whatever happens, there is an answer by then."""
    return time_for_hooks(agent, event, spent) + timeout_margin(agent, event) / 3
