"""Finds the hooks files of the plugins that a user has enabled in Claude Code.

Claude Code records below the home which plugins are installed and for whom; its settings say which are enabled. A
project's settings count only for plugins that the user installed for that project, so opening a project never enables
or disables a plugin.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hookline.config.reader import salvage_file
from hookline.dialects.dialect import INSTALLED_PLUGINS_FILE

_USER_SETTINGS_FILE: Final = ".claude/settings.json"
_PROJECT_SETTINGS_FILES: Final = (
    ".claude/settings.local.json",
    ".claude/settings.json",
)  # the first one that mentions a plugin wins


def plugin_hooks_files(home: Path, directories: Sequence[Path]) -> Iterator[Path]:
    """The hooks files of the plugins that are enabled for a session in these project directories."""
    installed = _as_mapping(_read_mapping(home / INSTALLED_PLUGINS_FILE).get("plugins"))
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
    values = (_enabled_plugins(Path(project, file)).get(name) for file in _PROJECT_SETTINGS_FILES)
    return next((value for value in values if value is not None), None) is True


def _enabled_plugins(settings: Path) -> dict[str, Any]:
    return _as_mapping(_read_mapping(settings).get("enabledPlugins"))


def _read_mapping(file: Path) -> dict[str, Any]:
    """Empty if the file cannot be read: Claude Code has no plugins then either."""
    document, _ = salvage_file(file) if file.exists() else (None, ())
    return {} if document is None else _as_mapping(document.value)


def _as_mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
