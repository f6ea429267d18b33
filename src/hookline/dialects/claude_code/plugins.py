"""The plugins that a user has in Claude Code: where their hooks are.

Claude Code writes down what was installed, for whom, below the home; what is switched on stands in its settings. What a
project's settings say counts only for a plugin that the user has installed for that very project: a project that is
merely opened switches nothing on or off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hookline.config.reader import salvage_file

_INSTALLED_PLUGINS_FILE: Final = ".claude/plugins/installed_plugins.json"
_USER_SETTINGS_FILE: Final = ".claude/settings.json"
_PROJECT_SETTINGS_FILES: Final = (
    ".claude/settings.local.json",
    ".claude/settings.json",
)  # the one that counts first in front


def plugin_hooks_files(home: Path, directories: Sequence[Path]) -> Iterator[Path]:
    """The files of the plugins that are on for a session in a project with these directories."""
    installed = _as_mapping(_read_mapping(home / _INSTALLED_PLUGINS_FILE).get("plugins"))
    users = _enabled_plugins(home / _USER_SETTINGS_FILE) if installed else {}
    for name, entries in installed.items():
        for entry in entries if isinstance(entries, list) else ():
            path = _as_mapping(entry).get("installPath")
            if (
                isinstance(path, str)
                and os.path.isabs(path)
                and _is_enabled(name, _as_mapping(entry), users, directories)
            ):
                file = Path(path, "hooks", "hooks.json")
                if file.is_file():
                    yield file


def _is_enabled(name: str, entry: dict[str, Any], users: dict[str, Any], directories: Sequence[Path]) -> bool:
    if entry.get("scope") == "user":
        return users.get(name) is True
    project = entry.get("projectPath")
    if not isinstance(project, str) or Path(os.path.realpath(project)) not in directories:
        return False
    said = (_enabled_plugins(Path(project, file)).get(name) for file in _PROJECT_SETTINGS_FILES)
    return next((each for each in said if each is not None), None) is True


def _enabled_plugins(settings: Path) -> dict[str, Any]:
    return _as_mapping(_read_mapping(settings).get("enabledPlugins"))


def _read_mapping(file: Path) -> dict[str, Any]:
    """Nothing where it cannot be read: then Claude Code has no plugins either."""
    document, _ = salvage_file(file) if file.exists() else (None, ())
    return {} if document is None else _as_mapping(document.value)


def _as_mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
