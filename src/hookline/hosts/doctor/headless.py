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
_NO_TELEMETRY: Final = {"privacy": {"usageStatisticsEnabled": False}}


@dataclass(frozen=True)
class HeadlessRun:
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def _claude_code_run(url: str, home: Path) -> HeadlessRun:
    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _NO_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return HeadlessRun(("-p", PROMPT, "--allowedTools", "Bash"), environment)


def _codex_run(url: str, home: Path) -> HeadlessRun:
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
    return HeadlessRun(arguments, {"LOOPBACK_KEY": _NO_KEY})


def _gemini_cli_run(url: str, home: Path) -> HeadlessRun:
    """Without a setting it takes the address for a gateway's, and settings that outrank the user's must be root's."""
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    _write_settings_once(home / ".gemini" / "settings.json", {"security": security, **_NO_TELEMETRY})
    environment = {"GEMINI_API_KEY": _NO_KEY, "GOOGLE_GEMINI_BASE_URL": url}
    return HeadlessRun(("-m", "gemini-2.5-flash", "--yolo", "-p", PROMPT), environment)


def _copilot_cli_run(url: str, home: Path) -> HeadlessRun:
    environment = {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": _NO_KEY,
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }
    return HeadlessRun(("-p", PROMPT, "--allow-all-tools", "--trust-folder"), environment)


def _qwen_code_run(url: str, home: Path) -> HeadlessRun:
    security = {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}}
    environment = {
        "OPENAI_API_KEY": _NO_KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": _write_settings_once(
            home / "qwen-system.json", {"security": security, **_NO_TELEMETRY}
        ),
    }
    return HeadlessRun(("--yolo", "-p", PROMPT), environment)


def _opencode_run(url: str, home: Path) -> HeadlessRun:
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
    return HeadlessRun(("run", PROMPT), environment)


def _write_settings_once(file: Path, settings: Mapping[str, Any]) -> str:
    """Once; what is there already stays."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), "utf-8")
    return str(file)


HEADLESS_RUNS: Final[dict[str, Callable[[str, Path], HeadlessRun]]] = {
    "claude-code": _claude_code_run,
    "codex": _codex_run,
    "gemini-cli": _gemini_cli_run,
    "copilot-cli": _copilot_cli_run,
    "qwen-code": _qwen_code_run,
    "opencode": _opencode_run,
}
"""Agent → how it is started, given the model's address and its home, in which a file is made that it needs."""
