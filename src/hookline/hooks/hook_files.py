"""The texts of the files whose hooks are in force, so that a record can say under which hooks it was made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal

from hookline.hooks.hook import GLOBAL_SCOPE, Scope
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import hashlib, json

Standing = Literal["own", "accepted", "restricted", "added"]
"""Why its hooks are in force: the user's own file; a project's file that the user trusts; one that nobody trusts, whose
denies count; or the text of a trusted file that was changed since, whose denies count in addition."""


@dataclass(frozen=True, slots=True)
class HookFile:
    """One file as it was when its hooks were loaded."""

    path: str
    shown_as: str  # its name in messages
    dialect: str
    layer: str
    text: str
    standing: Standing = "own"
    run_by: str = ""  # the coding agent that runs its hooks itself: only those that it ignores are in force
    scope: Scope = GLOBAL_SCOPE  # of all its hooks, as for a skill
    packs: Mapping[str, str] = field(default_factory=dict)  # the texts of the packs that it extends


@dataclass(frozen=True, slots=True)
class HoldReason:
    """Why every tool call is held, by a hook that is in no file: a file cannot be read, or the config has errors."""

    hook: str  # the hook's id
    layer: str
    reason: str
    file: str
    line: int
    dialect: str
    is_trusted: bool = True


_FILE_KEYS: Final = ("path", "shown_as", "dialect", "layer", "text", "standing", "run_by")
_SCOPE_KEYS: Final = ("agent", "prompt", "session")
_HOLD_KEYS: Final = ("hook", "layer", "reason", "file", "line", "dialect", "is_trusted")


def _fields(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _file_json(file: HookFile) -> dict[str, Any]:
    fields = _fields(file, _FILE_KEYS)
    if file.packs:
        fields["packs"] = dict(file.packs)
    return fields if file.scope == GLOBAL_SCOPE else {**fields, "scope": _fields(file.scope, _SCOPE_KEYS)}


class HookFiles:
    """All files of one book, and what else makes its hooks."""

    def __init__(self, files: tuple[HookFile, ...] = (), holds: tuple[HoldReason, ...] = ()) -> None:
        self.files = files
        self.holds = holds

    def with_files(self, layer: str, files: tuple[HookFile, ...]) -> HookFiles:
        """With these files as those of the layer."""
        return HookFiles((*(file for file in self.files if file.layer != layer), *files), self.holds)

    @cached_property
    def data(self) -> bytes:
        value = {
            "files": [_file_json(file) for file in self.files],
            "holds": [_fields(hold, _HOLD_KEYS) for hold in self.holds],
        }
        return json.dumps(value, separators=(",", ":")).encode()

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @staticmethod
    def parse(data: bytes) -> HookFiles:
        """Raises ValueError, TypeError or KeyError if the data is not what `data` returned."""
        found: dict[str, Any] = json.loads(data)
        files = (HookFile(**{**each, "scope": Scope(**each.get("scope", {}))}) for each in found["files"])
        return HookFiles(tuple(files), tuple(HoldReason(**each) for each in found["holds"]))


NO_FILES: Final = HookFiles()
