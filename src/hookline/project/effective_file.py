"""A file's hooks that are in force. What only trust needs is imported where it is used."""

from __future__ import annotations

import os
from pathlib import Path

from hookline.config.problem import Problem, Severity
from hookline.errors import HooklineError
from hookline.hooks.hook import Hook
from hookline.hooks.hook_files import HoldReason, HookFile, Standing
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project.parsed_file import CodeFolder, ParsedFile, import_folders, read_folders


@dataclass(frozen=True, slots=True)
class EffectiveFile:
    """The hooks of a file that are in force. `parsed` is the version that counts, which may be an earlier one."""

    parsed: ParsedFile
    hooks: tuple[Hook, ...]
    run_files: tuple[Path, ...] = ()  # a change of one of them changes what is in force
    folders: tuple[CodeFolder, ...] = ()  # folders whose code may be imported now
    problems: tuple[Problem, ...] = ()  # in addition to those of `parsed`
    trusted: bool = True  # covers the file's capabilities, too
    standing: Standing = "own"
    changed: ParsedFile | None = None  # the present version, if it is not the accepted one
    holds: tuple[HoldReason, ...] = ()  # if it cannot be read

    @property
    def is_valid(self) -> bool:
        return self.parsed.is_valid and all(problem.severity is not Severity.ERROR for problem in self.problems)

    @property
    def hook_files(self) -> tuple[HookFile, ...]:
        """The texts whose hooks are in force."""
        source, parsed = self.parsed.source, self.parsed
        if parsed.dialect is None:
            return ()
        name = (_absolute_path(source.path), source.display_path, parsed.dialect, str(source.layer))
        file = HookFile(*name, parsed.text, self.standing, source.run_by, packs=pack_texts(parsed))
        if self.changed is None:
            return (file,)
        changed = self.changed
        return (file, HookFile(*name, changed.text, "added", source.run_by, packs=pack_texts(changed)))

    def watched_files(self) -> tuple[Path, ...]:
        """Raises TooManyReferencesError."""
        packs = [pack.path for version in (self.parsed, self.changed) if version for pack in version.packs]
        return (
            *self.run_files,
            *dict.fromkeys(packs),
            *(file for folder in self.parsed.folders for file in folder_files(folder)),
        )

    def import_folders(self) -> EffectiveFile:
        """Adds the hooks of its folders. This runs their code."""
        if not self.folders:
            return self
        loaded = import_folders(self.folders)
        known = {(problem.code, problem.file, problem.line) for problem in self.parsed.problems}
        problems = [each for each in loaded.problems if (each.code, each.file, each.line) not in known]
        return replace(self, hooks=(*self.hooks, *loaded.hooks), problems=(*self.problems, *problems), folders=())

    def without_folders(self) -> EffectiveFile:
        """With the hooks of its folders as they can be read without importing them, and a warning for each folder."""
        warnings = [self._not_imported_warning(folder) for folder in self.parsed.folders]
        hooks = read_folders([folder for folder in self.parsed.folders if folder.path.exists()]).hooks
        if not self.trusted:
            from hookline.project.restrictions import restrict_hook

            hooks = tuple(map(restrict_hook, hooks))
        return replace(self, hooks=(*self.hooks, *hooks), problems=(*self.problems, *warnings), folders=())

    def _not_imported_warning(self, folder: CodeFolder) -> Problem:
        what = f"The Python files in {folder.display_path} were not imported; their hooks are shown as far as they can be read there."
        hint = "Only a session, `hookline fire` and `hookline test` import them."
        return Problem("not-imported", self.parsed.source.display_path, folder.line, what, hint, Severity.WARNING)


def pack_texts(parsed: ParsedFile) -> dict[str, str]:
    """The text of each pack that it extends, by the pack's key."""
    return {pack.key: pack.text for pack in parsed.packs if pack.text is not None}


def _absolute_path(path: Path) -> str:
    try:
        return os.path.abspath(path)
    except OSError:  # the current directory is gone
        return str(path)


def folder_files(folder: CodeFolder) -> tuple[Path, ...]:
    """Every file that importing the folder could run. Raises TooManyReferencesError."""
    try:
        return folder.files()
    except HooklineError as too_many:
        from hookline.project.referenced_files import TooManyReferencesError

        raise TooManyReferencesError(str(too_many)) from None
