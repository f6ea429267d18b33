"""Finds the hooks files of the extensions that a user has enabled in Gemini CLI.

Extensions are directories below the home. A file beside them has rules for each: paths where it is enabled or, after a
`!`, disabled; a `*` at the end stands for everything below. The last rule that fits the session's directory counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hookline.config.reader import salvage_file
from hookline.dialects.dialect import GEMINI_EXTENSIONS

_RULES_FILE: Final = "extension-enablement.json"


def extension_hooks_files(home: Path, directories: Sequence[Path]) -> Iterator[Path]:
    """The hooks files of the extensions that are enabled for a session in the last of these directories."""
    folder = home / GEMINI_EXTENSIONS
    rules = _read_mapping(folder / _RULES_FILE)
    for file in sorted(folder.glob("*/hooks/hooks.json")):
        extension = file.parent.parent
        manifest = _read_mapping(extension / "gemini-extension.json")
        own = _as_mapping(rules.get(manifest.get("name") or extension.name)).get("overrides")
        if manifest and _is_enabled(own if isinstance(own, list) else [], directories[-1]):
            yield file


def _is_enabled(rules: list[Any], directory: Path) -> bool:
    place = f"{directory.as_posix().rstrip('/')}/"
    fitting = [rule for rule in rules if isinstance(rule, str) and _fits(rule.removeprefix("!"), place)]
    return not fitting or not fitting[-1].startswith("!")


def _fits(rule: str, place: str) -> bool:
    pattern = re.sub(r"(/?)\\\*", r"(?:\1.*)?", re.escape(rule))
    return re.fullmatch(pattern, place, re.DOTALL) is not None


def _read_mapping(file: Path) -> dict[str, Any]:
    """Empty if the file cannot be read: Gemini CLI has no such extension, or no rules, then either."""
    document, _ = salvage_file(file) if file.exists() else (None, ())
    return {} if document is None else _as_mapping(document.value)


def _as_mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
