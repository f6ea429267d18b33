"""Copies what the hooks of a project's file run into a case's own directory: a script is found there as in the project."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from hookline.dialects.dialect import CONFIG_LOCATIONS
from hookline.hooks.hook import Hook
from hookline.project import project_directories
from hookline.project.referenced_files import TooManyReferencesError, find_references
from hookline.project.run_files import RunFiles


def copy_run_files(hooks: Iterable[Hook], file: Path, directory: Path) -> None:
    """Those that a trusted file's hooks would be bound to. What is in the directory already stays."""
    root = _base_directory(file)
    with suppress(TooManyReferencesError):  # then the hook says what it misses
        run = RunFiles(find_references(hooks), root, file.parent, {}, file).paths()
        for path in run:
            target = directory / os.path.relpath(path, root)
            if path.is_relative_to(root) and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)


def _base_directory(file: Path) -> Path:
    """The directory whose file it is: that of `.cursor/hooks.json` is the parent of `.cursor`."""
    file = file.resolve()
    patterns = {place.pattern for places in CONFIG_LOCATIONS.values() for place in places if not place.user}
    depth = max((len(PurePath(each).parts) for each in patterns if file.match(each)), default=0)
    return file.parents[depth - 1] if depth else project_directories(file.parent, Path.home())[0]
