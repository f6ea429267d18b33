"""The coding agents, by name. A new agent is a module and a row here."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Final, cast

from hookline.errors import HooklineError
from hookline.hosts.agents.agent import CodingAgent

_MODULES: Final = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "copilot-cli": "copilot_cli",
    "qwen-code": "qwen_code",
    "opencode": "opencode",
    "cursor": "cursor",
    "cline": "cline",
    "windsurf": "windsurf",
    "kiro": "kiro",
    "kilo": "kilo",
    "grok-build": "grok_build",
    "droid": "droid",
    "pi": "pi",
    "openclaw": "openclaw",
    "kimi-code": "kimi_code",
    "deepagents-code": "deepagents_code",
    "hermes": "hermes",
    "auggie": "auggie",
    "vscode-copilot": "vscode_copilot",
    "openhands": "openhands",
    "letta-code": "letta_code",
    "crush": "crush",
}
AGENT_NAMES: Final = tuple(_MODULES)
_UNKNOWN_AGENT_TIMEOUT: Final = timedelta(seconds=30)


def get_agent(name: str) -> CodingAgent:
    """Imports the agent's module on first use."""
    if name not in _MODULES:
        raise HooklineError(f"there is no coding agent {name!r}; the agents are {', '.join(AGENT_NAMES)}")
    # Not by sys.modules: a module that another thread imports stands there before it is complete.
    return cast(CodingAgent, import_module(f"{__name__}.{_MODULES[name]}").AGENT)


def event_timeout(agent: str, event: str) -> timedelta:
    """The time after which the agent kills its hook and continues."""
    return get_agent(agent).event_timeout(event) if agent in _MODULES else _UNKNOWN_AGENT_TIMEOUT
