"""How each coding agent is run here: without a person, in a home of its own, with the loopback model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).parent.parent / ".cache" / "agents"
MODULES: Final = CACHE / "node_modules"
USERS: Final = Path(__file__).parent / "users"
MODEL: Final = "http://model.invalid"  # stands for the model's address in their files
PROMPT: Final = "Do what the script says."


@dataclass(frozen=True)
class Place:
    """Where one agent works: everything that it reads and writes is below `root`."""

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
    program: str  # below node_modules, a pattern: the platform's own package
    arguments: tuple[str, ...]
    environment: Callable[[str], Mapping[str, str]]  # the model's address → variables
    scope: str = "--project"  # where hookline is installed

    def move_in(self, place: Place, url: str) -> None:
        """What a user of this agent has, in the home and in the project, when hookline comes."""
        shutil.copytree(USERS / self.name, place.root, dirs_exist_ok=True)
        for file in [file for file in place.home.rglob("*") if file.is_file()]:
            file.write_text(file.read_text("utf-8").replace(MODEL, url), "utf-8")

    def command(self) -> list[str]:
        found = sorted(MODULES.glob(self.program))
        if not found:
            raise FileNotFoundError(f"{self.name}: no {self.program} below {MODULES}: run make test-agents")
        runs = [shutil.which("node") or "node"] if found[0].suffix in (".js", ".mjs") else []
        return [*runs, str(found[0]), *self.arguments]


AGENTS: Final = (
    Agent(
        "claude-code",
        "@anthropic-ai/claude-code-*/claude",
        ("-p", PROMPT, "--allowedTools", "Bash"),
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    Agent(
        "codex",
        "@openai/codex-*/vendor/*/bin/codex",
        (
            "exec",
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            PROMPT,
        ),
        lambda url: {"LOOPBACK_KEY": "none"},
        scope="--user",
    ),
    Agent(
        "gemini-cli",
        "@google/gemini-cli/bundle/gemini.js",
        ("-m", "gemini-2.5-flash", "--yolo", "-p", PROMPT),
        lambda url: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url},
    ),
    Agent(
        "copilot-cli",
        "@github/copilot-*/copilot",
        ("-p", PROMPT, "--allow-all-tools", "--trust-folder"),
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
        },
    ),
    Agent(
        "qwen-code",
        "@qwen-code/qwen-code/cli-entry.js",
        ("--yolo", "-p", PROMPT),
        lambda url: {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"},
        scope="--user",
    ),
    Agent(
        "opencode",
        "opencode-*/bin/opencode",
        ("run", PROMPT),
        lambda url: {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "NPM_CONFIG_OFFLINE": "true",  # else it waits at its start for a package that no plugin here needs
        },
    ),
)
