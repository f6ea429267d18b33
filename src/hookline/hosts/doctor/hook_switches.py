"""Whether somebody has switched an agent's hooks off. Most agents look for that in more files than the one with ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hookline.config.json_edit import parse_object
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.doctor.finding import Finding, problem_finding
from hookline.hosts.install.entries import EntriesFile
from hookline.hosts.install.machine import InstallScope, Machine, read_file_text
from hookline.hosts.install.plan import desired_files

_DISABLE_KEY: Final = "disableAllHooks"
_PROJECT_SETTINGS: Final = {
    "claude-code": (".claude/settings.local.json", ".claude/settings.json"),
    "qwen-code": (".qwen/settings.json",),
    "gemini-cli": (".gemini/settings.json",),
}
"""The files of a project that may say so, the one that counts first in front; the user's own comes last."""
_ENTRY_NAME: Final = "hookline"  # of the entries that have one


def find_disabled_hooks(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    """Raises HooklineError for a file that cannot be read."""
    for path in _settings_files(agent, machine):
        settings = parse_object(read_file_text(path) or "", machine.display_path(path)).value
        word, off = (
            _gemini_switch(settings) if agent.name == "gemini-cli" else (_DISABLE_KEY, settings.get(_DISABLE_KEY))
        )
        if off is True:
            yield problem_finding("switch", f"{machine.display_path(path)} says {word}", f"take {word} out")
        if off is not None and agent.name in _PROJECT_SETTINGS:
            return


def _settings_files(agent: CodingAgent, machine: Machine) -> Iterator[Path]:
    yield from (machine.project / each for each in _PROJECT_SETTINGS.get(agent.name, ()))
    scopes = (InstallScope.USER,) if agent.name in _PROJECT_SETTINGS else tuple(InstallScope)
    wants = (want for scope in scopes for want in desired_files(agent, machine, scope))
    yield from (want.path for want in wants if isinstance(want, EntriesFile))


def _gemini_switch(settings: Mapping[str, Any]) -> tuple[str, bool | None]:
    held = settings.get("hooksConfig")
    if not isinstance(held, dict):
        return "", None
    if isinstance(held.get("disabled"), list) and _ENTRY_NAME in held["disabled"]:
        return f"hooksConfig.disabled: {_ENTRY_NAME}", True
    return "hooksConfig.enabled: false", (held["enabled"] is False if "enabled" in held else None)
