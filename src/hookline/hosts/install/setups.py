"""How each coding agent is plugged in, by name. Its events are its module's in `hosts`; its file is named here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from hookline.hosts.agents import cline, opencode
from hookline.hosts.install.entries import (
    AgentSetup,
    claude_entry,
    copilot_entry,
    cursor_entry,
    entry_in_milliseconds,
    entry_in_seconds,
    flat_file_builder,
    grouped_file_builder,
    kiro_agent_files,
    kiro_entry,
    windsurf_entry,
)
from hookline.hosts.install.machine import InstallScope, Machine


def _settings_path(user: str, project: str, variable: str = "") -> Callable[[Machine, InstallScope], Path]:
    """A file below the home, of which a variable may name the first directory, or below the project."""

    def file(machine: Machine, scope: InstallScope) -> Path:
        if scope is InstallScope.PROJECT:
            return machine.project / project
        first, *rest = Path(user).parts
        return machine.directory_from_variable(variable, machine.home / first).joinpath(*rest)

    return file


def _settings_paths(user: str, project: str, variable: str = "") -> Callable[[Machine, InstallScope], tuple[Path, ...]]:
    file = _settings_path(user, project, variable)
    return lambda machine, scope: (file(machine, scope),)


def _agent_homes(*names: str, variable: str = "") -> Callable[[Machine], tuple[Path, ...]]:
    def homes(machine: Machine) -> tuple[Path, ...]:
        first, *more = (machine.home / name for name in names)
        return (machine.directory_from_variable(variable, first), *more)

    return homes


_CLAUDE_SETTINGS: Final = ".claude/settings.json"
_CODEX_HOOKS: Final = ".codex/hooks.json"
_GEMINI_SETTINGS: Final = ".gemini/settings.json"
_QWEN_SETTINGS: Final = ".qwen/settings.json"
_CURSOR_HOOKS: Final = ".cursor/hooks.json"

AGENT_SETUPS: Final = {
    "claude-code": AgentSetup(
        ("claude",),
        _agent_homes(".claude", variable="CLAUDE_CONFIG_DIR"),
        grouped_file_builder(_settings_path(_CLAUDE_SETTINGS, _CLAUDE_SETTINGS, "CLAUDE_CONFIG_DIR"), claude_entry),
    ),
    "codex": AgentSetup(
        ("codex",),
        _agent_homes(".codex", variable="CODEX_HOME"),
        grouped_file_builder(_settings_path(_CODEX_HOOKS, _CODEX_HOOKS, "CODEX_HOME"), entry_in_seconds),
        "Codex runs no hook before you have trusted it: start codex, type /hooks and accept those of hookline.",
    ),
    "gemini-cli": AgentSetup(
        ("gemini",),
        _agent_homes(".gemini"),
        grouped_file_builder(_settings_path(_GEMINI_SETTINGS, _GEMINI_SETTINGS), entry_in_milliseconds),
        "Gemini CLI runs no hooks in a folder that it does not trust.",
    ),
    "copilot-cli": AgentSetup(
        ("copilot",),
        _agent_homes(".copilot", variable="COPILOT_HOME"),
        flat_file_builder(
            _settings_paths(".copilot/hooks/hookline.json", ".github/hooks/hookline.json", "COPILOT_HOME"),
            copilot_entry,
            {"version": 1},
        ),
        "Copilot CLI runs a project's hooks only in a folder that it trusts; with -p, give it --trust-folder.",
    ),
    "qwen-code": AgentSetup(
        ("qwen",),
        _agent_homes(".qwen"),
        grouped_file_builder(_settings_path(_QWEN_SETTINGS, _QWEN_SETTINGS), entry_in_milliseconds),
        "Qwen Code runs no hooks in a folder that it does not trust.",
    ),
    "opencode": AgentSetup(
        ("opencode",),
        lambda machine: (machine.config / "opencode",),
        opencode.plugin_files,
    ),
    "cursor": AgentSetup(
        ("cursor", "cursor-agent"),
        _agent_homes(".cursor"),
        flat_file_builder(_settings_paths(_CURSOR_HOOKS, _CURSOR_HOOKS), cursor_entry, {"version": 1}),
    ),
    "cline": AgentSetup(
        ("cline",),
        _agent_homes(".cline", "Documents/Cline"),
        cline.hook_files,
        "Cline runs hooks only where they are switched on in its settings.",
    ),
    "windsurf": AgentSetup(
        ("windsurf",),
        _agent_homes(".codeium/windsurf"),
        flat_file_builder(_settings_paths(".codeium/windsurf/hooks.json", ".windsurf/hooks.json"), windsurf_entry),
    ),
    "kiro": AgentSetup(
        ("kiro-cli", "kiro"),
        _agent_homes(".kiro"),
        flat_file_builder(kiro_agent_files, kiro_entry, {"tools": ["*"]}),
        "Kiro's hooks belong to its agents: an agent made later has none, and the default one cannot have any. "
        "Start it with --agent and the name of one that has.",
    ),
}
