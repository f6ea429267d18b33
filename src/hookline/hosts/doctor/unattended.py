"""How each coding agent is run without a person, with a model at an address of ours and nothing of the user's.

Seen to work with Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0, Copilot CLI 1.0.102, Qwen Code 0.24.4 and
opencode 1.18.33. Others cannot be run so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROMPT: Final = "Do what the script says."
_NO_KEY: Final = "none"
_SILENT: Final = {"privacy": {"usageStatisticsEnabled": False}}


@dataclass(frozen=True)
class Start:
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def _claude_code(url: str, home: Path) -> Start:
    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _NO_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return Start(("-p", PROMPT, "--allowedTools", "Bash"), environment)


def _codex(url: str, home: Path) -> Start:
    """Its trust of hooks is bound to the user's own files, and so is not asked for here."""
    provider = f'{{name = "loopback", base_url = "{url}/v1", wire_api = "responses", env_key = "LOOPBACK_KEY"}}'
    arguments = (
        "exec",
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
        "--skip-git-repo-check",
        *("-c", 'model = "scripted"', "-c", 'model_provider = "loopback"'),
        *("-c", f"model_providers.loopback = {provider}"),
        PROMPT,
    )
    return Start(arguments, {"LOOPBACK_KEY": _NO_KEY})


def _gemini_cli(url: str, home: Path) -> Start:
    """Without a setting it takes the address for a gateway's, and settings that outrank the user's must be root's."""
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    _written(home / ".gemini" / "settings.json", {"security": security, **_SILENT})
    environment = {"GEMINI_API_KEY": _NO_KEY, "GOOGLE_GEMINI_BASE_URL": url}
    return Start(("-m", "gemini-2.5-flash", "--yolo", "-p", PROMPT), environment)


def _copilot_cli(url: str, home: Path) -> Start:
    environment = {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": _NO_KEY,
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }
    return Start(("-p", PROMPT, "--allow-all-tools", "--trust-folder"), environment)


def _qwen_code(url: str, home: Path) -> Start:
    security = {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}}
    environment = {
        "OPENAI_API_KEY": _NO_KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": _written(home / "qwen-system.json", {"security": security, **_SILENT}),
    }
    return Start(("--yolo", "-p", PROMPT), environment)


def _opencode(url: str, home: Path) -> Start:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": _NO_KEY},
        "models": {"scripted": {"name": "scripted"}},
    }
    settings = {"model": "loopback/scripted", "provider": {"loopback": provider}, "share": "disabled"}
    environment = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "NPM_CONFIG_OFFLINE": "true",  # else it waits at its start for a package that no plugin here needs
    }
    return Start(("run", PROMPT), environment)


def _written(file: Path, settings: Mapping[str, Any]) -> str:
    """Once; what is there already stays."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), "utf-8")
    return str(file)


UNATTENDED: Final[dict[str, Callable[[str, Path], Start]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "copilot-cli": _copilot_cli,
    "qwen-code": _qwen_code,
    "opencode": _opencode,
}
"""Agent → how it is started, given the model's address and its home, in which a file is made that it needs."""
