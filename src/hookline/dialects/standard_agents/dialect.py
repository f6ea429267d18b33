"""Hooks that are Python functions, in the files of a folder that a native file, or the user, names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem
from hookline.config.shape import Reader
from hookline.dialects.dialect import Loaded, NamedFolder, Place, Written
from hookline.hooks.actions.python import RunPython
from hookline.hooks.hook import Hook

NAME: Final = "standard_agents"


class StandardAgents:
    """There is no file of this dialect but the folder; its document is the folder's path, as `standard_agents:` has it."""

    name = NAME
    places: tuple[Place, ...] = ()

    def recognises(self, document: Document) -> bool:
        return False

    def load(self, document: Document) -> Loaded:
        problems: list[Problem] = []
        at = Reader.of(document, problems)
        path = at.text(hint="Write the path of a folder with Python files.")
        return Loaded((), tuple(problems), () if path is None else (NamedFolder(NAME, path, at.line),))

    def reads(self, path: Path) -> bool:
        return path.is_dir() or (path.suffix == ".py" and path.is_file())

    def look(self, folder: Path, shown: str) -> tuple[Problem, ...]:
        from hookline.dialects.standard_agents.folder import Folder

        return Folder(folder, shown).look()

    def files(self, folder: Path) -> tuple[Path, ...]:
        from hookline.dialects.standard_agents.folder import files_in

        return files_in(folder).python

    def import_folder(self, folder: Path, shown: str) -> Loaded:
        from hookline.dialects.standard_agents.folder import Folder

        return Folder(folder, shown).imported()

    def schema(self) -> dict[str, Any]:
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "the folder of Python files that standard_agents: names",
            "type": "string",
            "minLength": 1,
        }

    def write(self, hooks: Iterable[Hook]) -> Written:
        return Written("", "yaml", tuple(_unsaid(hook) for hook in hooks))


DIALECT: Final = StandardAgents()


def _unsaid(hook: Hook) -> str:
    place = f"{hook.id} ({hook.origin.file}:{hook.origin.line})"
    if isinstance(hook.then, RunPython):
        return f"{place}: the Python function {hook.then.name} stays where it is; name its folder instead"
    return f"{place}: hooks of this dialect are Python functions, which nobody can write for you"
