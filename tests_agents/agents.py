"""The coding agents that hookline is tested with, as npm and PyPI bring them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookline.hosts.agents import get_agent

PACKAGES: Final = Path(__file__).parent.parent / ".cache" / "agents"
MODULES: Final = PACKAGES / "node_modules"
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
    program: str  # a glob below node_modules, because the package is named after the platform, or python/NAME/bin/…
    scope: str  # option of `hookline install`

    @property
    def deny_ends_run(self) -> bool:
        return get_agent(self.name).deny_ends_run

    def copy_user_files(self, sandbox: Sandbox) -> None:
        """The files that a user of this agent has before hookline is installed."""
        shutil.copytree(USERS / self.name, sandbox.root, dirs_exist_ok=True)

    @property
    def command(self) -> tuple[str, ...]:
        found = sorted((PACKAGES if self.program.startswith("python/") else MODULES).glob(self.program))
        if not found:
            raise FileNotFoundError(f"{self.name}: no {self.program} below {PACKAGES}: run make test-agents")
        if found[0].suffix == ".br":
            return (str(_unpack(found[0])),)
        runs = (_node(),) if found[0].suffix in (".js", ".mjs") else ()
        return (*runs, str(found[0]))


def _node() -> str:
    """The newest Node: some agents need a newer one than most machines have."""
    found = next(iter(MODULES.glob("node-*/bin/node")), None)
    return str(found) if found else shutil.which("node") or "node"


def _unpack(packed: Path) -> Path:
    """A program that its own installation script would unpack."""
    program = packed.with_suffix("")
    if not program.exists():
        code = "const [, from, to] = process.argv, fs = require('fs')\n"
        code += "fs.writeFileSync(to, require('zlib').brotliDecompressSync(fs.readFileSync(from)), {mode: 0o755})"
        temporary = program.with_suffix(".new")
        subprocess.run([_node(), "-e", code, str(packed), str(temporary)], check=True)
        temporary.rename(program)
    return program


AGENTS: Final = (  # those that compute longest come first, so that no process waits for them at the end
    Agent("openclaw", "openclaw/openclaw.mjs", "--user"),
    Agent("kilo", "@kilocode/cli-*/bin/kilo", "--project"),
    Agent("claude-code", "@anthropic-ai/claude-code-*/claude", "--project"),
    Agent("codex", "@openai/codex-*/vendor/*/bin/codex", "--user"),
    Agent("gemini-cli", "@google/gemini-cli/bundle/gemini.js", "--project"),
    Agent("copilot-cli", "@github/copilot-*/copilot", "--project"),
    Agent("qwen-code", "@qwen-code/qwen-code/cli-entry.js", "--user"),
    Agent("opencode", "opencode-*/bin/opencode", "--project"),
    Agent("cline", "@cline/cli-*/bin/cline", "--project"),
    Agent("grok-build", "@xai-official/grok-*/bin/grok.br", "--user"),
    Agent("droid", "@factory/cli-*/bin/droid", "--project"),
    Agent("pi", "@earendil-works/pi-coding-agent/dist/bundle/cli.js", "--user"),
    Agent("kimi-code", "@moonshot-ai/kimi-code/dist/main.mjs", "--user"),
    Agent("deepagents-code", "python/deepagents-code/bin/dcode", "--user"),
    Agent("hermes", "python/hermes/bin/hermes", "--user"),
)
