"""The texts of the files whose hooks are in force, so that a record can say under which hooks it was made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal

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
    packs: Mapping[str, str] = field(default_factory=dict)  # the texts of the packs that it extends


def _fields(file: HookFile) -> dict[str, Any]:
    fields = {name: getattr(file, name) for name in ("path", "shown_as", "dialect", "layer", "text", "standing")}
    return {**fields, "packs": dict(file.packs)} if file.packs else fields


class HookFiles:
    """All files of one book."""

    def __init__(self, files: tuple[HookFile, ...] = ()) -> None:
        self.files = files

    @cached_property
    def data(self) -> bytes:
        return json.dumps([_fields(file) for file in self.files], separators=(",", ":")).encode()

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @staticmethod
    def parse(data: bytes) -> HookFiles:
        """Raises ValueError or TypeError if the data is not what `data` returned."""
        found: list[dict[str, Any]] = json.loads(data)
        return HookFiles(tuple(HookFile(**each) for each in found))


NO_FILES: Final = HookFiles()
