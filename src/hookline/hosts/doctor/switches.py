"""Whether somebody has switched an agent's hooks off. Most agents look for that in more files than the one with ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hookline.hosts.agent import CodingAgent
from hookline.hosts.doctor.finding import Finding, problem
from hookline.hosts.install.edit import read
from hookline.hosts.install.files import text_of
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import wanted
from hookline.hosts.install.wanted import Entries

_ALL: Final = "disableAllHooks"
_OF_PROJECT: Final = {
    "claude-code": (".claude/settings.local.json", ".claude/settings.json"),
    "qwen-code": (".qwen/settings.json",),
    "gemini-cli": (".gemini/settings.json",),
}
"""The files of a project that may say so, the one that counts first in front; the user's own comes last."""
_OUR_NAME: Final = "hookline"  # of the entries that have one


def switched_off(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    """Raises HooklineError for a file that cannot be read."""
    for path in _files(agent, machine):
        settings = read(text_of(path) or "", machine.shown(path)).value
        word, off = _gemini(settings) if agent.name == "gemini-cli" else (_ALL, settings.get(_ALL))
        if off is True:
            yield problem("switch", f"{machine.shown(path)} says {word}", f"take {word} out")
        if off is not None and agent.name in _OF_PROJECT:
            return


def _files(agent: CodingAgent, machine: Machine) -> Iterator[Path]:
    yield from (machine.project / each for each in _OF_PROJECT.get(agent.name, ()))
    scopes = (Scope.USER,) if agent.name in _OF_PROJECT else tuple(Scope)
    wants = (want for scope in scopes for want in wanted(agent, machine, scope))
    yield from (want.path for want in wants if isinstance(want, Entries))


def _gemini(settings: Mapping[str, Any]) -> tuple[str, bool | None]:
    held = settings.get("hooksConfig")
    if not isinstance(held, dict):
        return "", None
    if isinstance(held.get("disabled"), list) and _OUR_NAME in held["disabled"]:
        return f"hooksConfig.disabled: {_OUR_NAME}", True
    return "hooksConfig.enabled: false", (held["enabled"] is False if "enabled" in held else None)
