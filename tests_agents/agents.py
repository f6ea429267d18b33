"""The coding agents that hookline is tested with, as npm brings them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MODULES: Final = Path(__file__).parent.parent / ".cache" / "agents" / "node_modules"
USERS: Final = Path(__file__).parent / "users"


@dataclass(frozen=True)
class Sandbox:
    """A temporary home and project. Everything that an agent reads and writes is below `root`."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"


@dataclass(frozen=True)
class Agent:
    name: str  # as `hookline install` says it
    program: str  # a glob below node_modules, because the package is named after the platform
    scope: str  # option of `hookline install`

    def copy_user_files(self, sandbox: Sandbox) -> None:
        """The files that a user of this agent has before hookline is installed."""
        shutil.copytree(USERS / self.name, sandbox.root, dirs_exist_ok=True)

    @property
    def command(self) -> tuple[str, ...]:
        found = sorted(MODULES.glob(self.program))
        if not found:
            raise FileNotFoundError(f"{self.name}: no {self.program} below {MODULES}: run make test-agents")
        runs = (shutil.which("node") or "node",) if found[0].suffix == ".js" else ()
        return (*runs, str(found[0]))


AGENTS: Final = (
    Agent("claude-code", "@anthropic-ai/claude-code-*/claude", "--project"),
    Agent("codex", "@openai/codex-*/vendor/*/bin/codex", "--user"),
    Agent("gemini-cli", "@google/gemini-cli/bundle/gemini.js", "--project"),
    Agent("copilot-cli", "@github/copilot-*/copilot", "--project"),
    Agent("qwen-code", "@qwen-code/qwen-code/cli-entry.js", "--user"),
    Agent("opencode", "opencode-*/bin/opencode", "--project"),
)
