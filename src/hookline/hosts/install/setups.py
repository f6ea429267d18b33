"""How each coding agent is plugged in, by name. Its events are its module's in `hosts`; its file is named here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from hookline.hosts.install import cline, opencode
from hookline.hosts.install.flat import copilot, cursor, flat, kiro, kiro_agents, windsurf
from hookline.hosts.install.groups import claude, groups, in_milliseconds, in_seconds
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.wanted import Setup


def _below(user: str, project: str, variable: str = "") -> Callable[[Machine, Scope], Path]:
    """A file below the home, of which a variable may name the first directory, or below the project."""

    def file(machine: Machine, scope: Scope) -> Path:
        if scope is Scope.PROJECT:
            return machine.project / project
        first, *rest = Path(user).parts
        return machine.named(variable, machine.home / first).joinpath(*rest)

    return file


def _files(user: str, project: str, variable: str = "") -> Callable[[Machine, Scope], tuple[Path, ...]]:
    file = _below(user, project, variable)
    return lambda machine, scope: (file(machine, scope),)


def _homes(*names: str, variable: str = "") -> Callable[[Machine], tuple[Path, ...]]:
    def homes(machine: Machine) -> tuple[Path, ...]:
        first, *more = (machine.home / name for name in names)
        return (machine.named(variable, first), *more)

    return homes


_CLAUDE: Final = ".claude/settings.json"
_CODEX: Final = ".codex/hooks.json"
_GEMINI: Final = ".gemini/settings.json"
_QWEN: Final = ".qwen/settings.json"
_CURSOR: Final = ".cursor/hooks.json"

SETUPS: Final = {
    "claude-code": Setup(
        ("claude",),
        _homes(".claude", variable="CLAUDE_CONFIG_DIR"),
        groups(_below(_CLAUDE, _CLAUDE, "CLAUDE_CONFIG_DIR"), claude),
    ),
    "codex": Setup(
        ("codex",),
        _homes(".codex", variable="CODEX_HOME"),
        groups(_below(_CODEX, _CODEX, "CODEX_HOME"), in_seconds),
        "Codex runs no hook before you have trusted it: start codex, type /hooks and accept those of hookline.",
    ),
    "gemini-cli": Setup(
        ("gemini",),
        _homes(".gemini"),
        groups(_below(_GEMINI, _GEMINI), in_milliseconds),
        "Gemini CLI runs no hooks in a folder that it does not trust.",
    ),
    "copilot-cli": Setup(
        ("copilot",),
        _homes(".copilot", variable="COPILOT_HOME"),
        flat(
            _files(".copilot/hooks/hookline.json", ".github/hooks/hookline.json", "COPILOT_HOME"),
            copilot,
            {"version": 1},
        ),
        "Copilot CLI runs a project's hooks only in a folder that it trusts; with -p, give it --trust-folder.",
    ),
    "qwen-code": Setup(
        ("qwen",),
        _homes(".qwen"),
        groups(_below(_QWEN, _QWEN), in_milliseconds),
        "Qwen Code runs no hooks in a folder that it does not trust.",
    ),
    "opencode": Setup(
        ("opencode",),
        lambda machine: (machine.config / "opencode",),
        opencode.wants,
    ),
    "cursor": Setup(
        ("cursor", "cursor-agent"),
        _homes(".cursor"),
        flat(_files(_CURSOR, _CURSOR), cursor, {"version": 1}),
    ),
    "cline": Setup(
        ("cline",),
        _homes(".cline", "Documents/Cline"),
        cline.wants,
        "Cline runs hooks only where they are switched on in its settings.",
    ),
    "windsurf": Setup(
        ("windsurf",),
        _homes(".codeium/windsurf"),
        flat(_files(".codeium/windsurf/hooks.json", ".windsurf/hooks.json"), windsurf),
    ),
    "kiro": Setup(
        ("kiro-cli", "kiro"),
        _homes(".kiro"),
        flat(kiro_agents, kiro, {"tools": ["*"]}),
        "Kiro's hooks belong to its agents: an agent made later has none, and the default one cannot have any. "
        "Start it with --agent and the name of one that has.",
    ),
}
