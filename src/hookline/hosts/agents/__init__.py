"""The coding agents, by name. A new one is a module and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Final, cast

from hookline.errors import HooklineError
from hookline.hosts.agents.agent import CodingAgent

_MODULES: Final = {
    "claude-code": "hookline.hosts.agents.claude_code",
    "codex": "hookline.hosts.agents.codex",
    "gemini-cli": "hookline.hosts.agents.gemini_cli",
    "copilot-cli": "hookline.hosts.agents.copilot_cli",
    "qwen-code": "hookline.hosts.agents.qwen_code",
    "opencode": "hookline.hosts.agents.opencode",
    "cursor": "hookline.hosts.agents.cursor",
    "cline": "hookline.hosts.agents.cline",
    "windsurf": "hookline.hosts.agents.windsurf",
    "kiro": "hookline.hosts.agents.kiro",
}
AGENT_NAMES: Final = tuple(_MODULES)


def get_agent(name: str) -> CodingAgent:
    """Imported when first named."""
    if name not in _MODULES:
        raise HooklineError(f"there is no coding agent {name!r}; the agents are {', '.join(AGENT_NAMES)}")
    return cast(CodingAgent, import_module(_MODULES[name]).AGENT)
