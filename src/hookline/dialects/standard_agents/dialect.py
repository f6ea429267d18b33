"""Hooks that are Python functions in a folder, which a native file or the user names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.dialects.conversion import hook_label
from hookline.dialects.dialect import LoadResult, NamedFolder, WriteResult
from hookline.hooks.actions.python_function import RunPython
from hookline.hooks.hook import Hook
from hookline.hooks.wording import Wording

NAME: Final = "standard_agents"
WORDING: Final = Wording(
    dialect=NAME,
    unit="s",
    failures={"blocks": "prevents the write", "": "changes nothing"},
    run_earlier="list it earlier",
    on_error="a failure",
)


class StandardAgentsDialect:
    """It has no config file. Its document is the folder's path, the value of `standard_agents:` in a native file."""

    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        return False

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        at = Node.of(document, problems)
        path = at.text(hint="Write the path of a folder with Python files.")
        return LoadResult((), tuple(problems), () if path is None else (NamedFolder(NAME, path, at.line),))

    def accepts(self, path: Path) -> bool:
        return path.is_dir() or (path.suffix == ".py" and path.is_file())

    def check(self, folder: Path, shown: str) -> tuple[Problem, ...]:
        from hookline.dialects.standard_agents.folder import DefinitionsFolder

        return DefinitionsFolder(folder, shown).check()

    def files(self, folder: Path) -> tuple[Path, ...]:
        from hookline.dialects.standard_agents.folder import list_files

        return list_files(folder).python

    def read_folders(self, folders: Sequence[tuple[Path, str]]) -> LoadResult:
        from hookline.dialects.standard_agents.folder import DefinitionsFolder, read_folders

        return read_folders([DefinitionsFolder(*each) for each in folders])

    def import_folders(self, folders: Sequence[tuple[Path, str]]) -> LoadResult:
        from hookline.dialects.standard_agents.folder import DefinitionsFolder, import_folders

        return import_folders([DefinitionsFolder(*each) for each in folders])

    def schema(self) -> dict[str, Any]:
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:hookline:standard_agents",
            "title": "the folder of Python files that standard_agents: names",
            "type": "string",
            "minLength": 1,
            "examples": ["hooks"],
        }

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        return WriteResult("", "yaml", tuple(_describe_not_expressible(hook) for hook in hooks))


DIALECT: Final = StandardAgentsDialect()


def _describe_not_expressible(hook: Hook) -> str:
    if isinstance(hook.then, RunPython):
        return f"{hook_label(hook)}: the Python function {hook.then.name} stays where it is; name its folder instead"
    return f"{hook_label(hook)}: hooks of this dialect are Python functions, which convert cannot write"
