"""Where the files of each dialect are found. Importing this imports no dialect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from hookline.lazy_dataclasses import dataclass

FileSelector = Callable[[Path, Sequence[Path]], Iterable[Path]]
"""Selects the user's files that count, given the home directory and the directories of the session's project."""


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """Where to find a dialect's files."""

    pattern: str  # a glob, relative to the project's directory
    user: bool = False  # relative to the user's home instead
    local: bool = False  # not shared with others: comes after the project's files
    selector: FileSelector | None = None  # None: all files that match
    is_common_name: bool = False  # other programs use this name too: the content decides
    in_session: bool = False  # the hooks belong to the agent: a stored session has their text


INSTALLED_PLUGINS_FILE: Final = ".claude/plugins/installed_plugins.json"


def _claude_plugin_files(home: Path, directories: Sequence[Path]) -> Iterable[Path]:
    if not os.path.exists(home / INSTALLED_PLUGINS_FILE):
        return ()
    files: FileSelector = import_module("hookline.dialects.claude_code.plugins").plugin_hooks_files
    return files(home, directories)


CONFIG_LOCATIONS: Final[Mapping[str, tuple[ConfigLocation, ...]]] = {
    "native": (
        ConfigLocation(".config/hookline/hookline.yaml", user=True),
        ConfigLocation("hookline.yaml"),
        ConfigLocation(".hookline/*.yaml"),
        ConfigLocation("hookline.local.yaml", local=True),
    ),
    "ai_agents": (
        ConfigLocation(".ai_agents/settings.json", user=True),
        ConfigLocation(".ai_agents/settings.json"),
        ConfigLocation(".ai_agents/settings.local.json", local=True),
    ),
    "claude_code": (
        ConfigLocation(".claude/settings.json", user=True),
        ConfigLocation(".claude/plugins/**/hooks/hooks.json", user=True, selector=_claude_plugin_files),
        ConfigLocation(".claude/settings.json"),
        ConfigLocation(".claude/settings.local.json", local=True),
    ),
    "digitorn": (ConfigLocation("digitorn.yaml"), ConfigLocation("app.yaml", is_common_name=True)),
    "flo": (
        ConfigLocation("hub.json"),
        ConfigLocation(".flo/hooks.json", in_session=True),
        ConfigLocation(".flo/hub.json", user=True),
    ),
    "microai": (
        ConfigLocation(".microai/settings.json"),
        ConfigLocation(".microai/settings.local.json", local=True),
    ),
    "standard_agents": (),
}
"""By dialect, in the order in which dialects are looked for."""

DIALECT_BY_FILE_NAME: Final = {
    "hookline.yaml": "native",
    "hookline.local.yaml": "native",
    "hub.json": "flo",
    "digitorn.yaml": "digitorn",
}
"""File names that are a location of this dialect, and of no other, in whatever directory they are."""
