"""The coding agents, by name. A new one is a module and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Final, cast

from hookline.errors import HooklineError
from hookline.hosts.agent import CodingAgent

_MODULES: Final = {
    "claude-code": "hookline.hosts.claude_code",
    "codex": "hookline.hosts.codex",
    "gemini-cli": "hookline.hosts.gemini_cli",
    "copilot-cli": "hookline.hosts.copilot_cli",
    "qwen-code": "hookline.hosts.qwen_code",
    "opencode": "hookline.hosts.opencode",
    "cursor": "hookline.hosts.cursor",
    "cline": "hookline.hosts.cline",
    "windsurf": "hookline.hosts.windsurf",
    "kiro": "hookline.hosts.kiro",
}
NAMES: Final = tuple(_MODULES)


def agent(name: str) -> CodingAgent:
    """Imported when first named."""
    if name not in _MODULES:
        raise HooklineError(f"there is no coding agent {name!r}; the agents are {', '.join(NAMES)}")
    return cast(CodingAgent, import_module(_MODULES[name]).AGENT)
