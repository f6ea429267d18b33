"""What git says of the workspace. A repository's own settings can name programs; none of them is run."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.hooks.host import Command, Finished
from hookline.runtime.tools.environment import run_for
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Workspace

_TIMEOUT: Final = timedelta(seconds=20)
_ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_INHERITED: Final = ("PATH", "HOME", "USER")
_QUIET: Final = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false")
_OF_A_FILTER: Final = ("clean=", "smudge=", "process=", "required=false")


async def changes(place: Place) -> str | None:
    """Changed files, as `git status --porcelain` tells them; None if it is no repository."""
    config = await _git(place, "config", "--null", "--name-only", "--list")
    if config.exit_code != 0 or (await _git(place, "rev-parse", "--is-inside-work-tree")).stdout.strip() != "true":
        return None
    settings = [setting for each in (*_QUIET, *_silenced(config.stdout)) for setting in ("-c", each)]
    status = await _git(place, *settings, "status", "--porcelain", "--branch", "--ignore-submodules=all", "--", ".")
    if status.exit_code != 0:
        raise Refused(f"git status failed: {status.stderr.strip()[:500]}")
    return status.stdout.rstrip("\n")


def _silenced(names: str) -> list[str]:
    """Every filter that the settings name, made one that does nothing."""
    filters = {name[7:].rpartition(".")[0] for name in names.split("\0") if name.lower().startswith("filter.")}
    odd = [each for each in filters if "=" in each or "\n" in each]
    if odd:
        raise Refused("git's settings name a filter in a way that cannot be turned off")
    return [f"filter.{name}.{setting}" for name in sorted(filters) if name for setting in _OF_A_FILTER]


async def _git(place: Place, *arguments: str) -> Finished:
    argv = ("git", "--no-pager", *arguments)
    root = str(Workspace(place.workspace).root)
    command = Command(argv=argv, cwd=root, env=_ENVIRONMENT, inherit_env=_INHERITED, timeout=_TIMEOUT)
    return await run_for(place, command)
