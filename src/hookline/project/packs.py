"""Finds and reads the packs that a file extends.

A pack is named by its distribution, as in `hookline:recommended`, or by its path. Nothing is imported or downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hookline.config.document import Document
from hookline.config.problem import Problem
from hookline.config.reader import salvage_file, salvage_text
from hookline.dialects.dialect import ExtendableDialect, Pack, PackReference
from hookline.errors import HooklineError
from hookline.formatting import closest_match
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.project.sources import Source

ENTRY_POINTS: Final = "hookline.packs"
_OWN: Final = "hookline"
_OWN_DIRECTORY: Final = Path(__file__).parent.parent / "packs"
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_MAX_DEPTH: Final = 8
_MAX_FILES: Final = 64
_MAX_READS: Final = 256  # a file counts as often as others extend it
_INSTALLED_NAME: Final = lazy_pattern(r"([A-Za-z0-9][\w.-]*):([a-z0-9][a-z0-9_-]*)")


@dataclass(frozen=True, slots=True)
class PackFile:
    """A pack's file. `key` identifies it where its text is kept: the name of an installed pack, or the file's path."""

    key: str
    path: Path
    shown_as: str
    text: str | None = None  # None: it could not be read

    @property
    def is_own(self) -> bool:
        """Whether it is a part of hookline, so that its text changes only with hookline."""
        return self.key.startswith(f"{_OWN}:")


def own_pack_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _OWN_DIRECTORY.glob("*.yaml")))


class PackReader:
    """Reads the packs of one source. `files` are those that it looked for.

    With `texts`, these count instead of the files on disk: versions that were kept, by their key.
    """

    def __init__(self, dialect: ExtendableDialect, source: Source, texts: Mapping[str, str] | None = None) -> None:
        self._dialect = dialect
        self._source = source
        self._texts = texts
        self._files: dict[str, PackFile] = {}
        self._reads = 0

    @property
    def files(self) -> tuple[PackFile, ...]:
        return tuple(self._files.values())

    def read(self, document: Document) -> dict[str, Pack | Problem]:
        return self._read_all(document, self._source.path, self._source.display_path, (str(self._source.path),))

    def _read_all(
        self, document: Document, path: Path, shown: str, chain: tuple[str, ...]
    ) -> dict[str, Pack | Problem]:
        references = self._dialect.pack_references(document)
        return {each.name: self._read_one(each, document, path, shown, chain) for each in references}

    def _read_one(
        self, reference: PackReference, document: Document, path: Path, shown: str, chain: tuple[str, ...]
    ) -> Pack | Problem:
        def problem(code: str, what: str, hint: str = "") -> Problem:
            return Problem(code, document.file, reference.line, f"extends: {what}", hint)

        try:
            file = self._find(reference.name, path, shown)
        except _NotFoundError as missing:
            return problem("no-pack", missing.what, missing.hint)
        if file.key in chain:
            return problem("pack-cycle", f"{reference.name} extends itself.", "Remove one of the two.")
        self._reads += 1
        if len(chain) > _MAX_DEPTH or len(self._files) >= _MAX_FILES or self._reads > _MAX_READS:
            return problem("no-pack", "too many files extend each other.", "Extend fewer files.")
        found, problems = self._read_text(file)
        self._files[file.key] = file if found is None else PackFile(file.key, file.path, file.shown_as, found.text)
        if found is None or problems:
            return problem("no-pack", f"{reference.name} cannot be read. {problems[0]}")
        return Pack(found, self._read_all(found, file.path, file.shown_as, (*chain, file.key)))

    def _read_text(self, file: PackFile) -> tuple[Document | None, tuple[Problem, ...]]:
        if self._texts is None or (file.is_own and file.key not in self._texts):
            return salvage_file(file.path, file.shown_as)
        text = self._texts.get(file.key)
        if text is None:
            return None, (Problem("no-file", file.shown_as, 1, "no copy of it was kept."),)
        return salvage_text(text, file.shown_as)

    def _find(self, name: str, extending: Path, shown: str) -> PackFile:
        """Raises _NotFoundError."""
        if "://" in name:
            raise _NotFoundError(f"{name} is an address.", "Packs are not downloaded: install one, or write its path.")
        installed = _INSTALLED_NAME.fullmatch(name)
        if installed is not None:
            distribution, pack = installed.groups()
            return PackFile(name, _own_pack(pack) if distribution == _OWN else self._installed(name), name)
        if not name.endswith(_SUFFIXES):
            known = closest_match(name, own_pack_names())
            hint = f"Did you mean {_OWN}:{known}?" if known else "A pack's file ends in .yaml."
            raise _NotFoundError(f"there is no pack {name}.", hint)
        path = Path(os.path.normpath(os.path.join(os.path.abspath(extending.parent), os.path.expanduser(name))))
        self._refuse_outside(name, path)
        return PackFile(str(path), path, os.path.normpath(os.path.join(os.path.dirname(shown), name)))

    def _installed(self, name: str) -> Path:
        try:
            return _installed_pack(*name.split(":"))
        except _NotFoundError:
            if name in (self._texts or ()):  # it was removed, and the text that was kept counts
                return Path(name)
            raise

    def _refuse_outside(self, name: str, path: Path) -> None:
        project = self._source.project
        if project is None or self._texts is not None:  # then nothing is read from there
            return
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(project)):
            raise _NotFoundError(f"{name} is outside the project.", "Extend a file inside it, or an installed pack.")


class _NotFoundError(HooklineError):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def _own_pack(name: str) -> Path:
    if name not in own_pack_names():
        guess = closest_match(name, own_pack_names())
        hint = f"Did you mean {_OWN}:{guess}?" if guess else f"The packs are {', '.join(own_pack_names())}."
        raise _NotFoundError(f"there is no pack {_OWN}:{name}.", hint)
    return _OWN_DIRECTORY / f"{name}.yaml"


def _installed_pack(distribution: str, name: str) -> Path:
    """The file of a pack that an installed distribution has. Its code is found, not run."""
    from importlib.metadata import entry_points

    points = [point for point in entry_points(group=ENTRY_POINTS) if point.name == distribution]
    if not points:
        known = [_OWN, *(point.name for point in entry_points(group=ENTRY_POINTS))]
        guess = closest_match(distribution, known)
        hint = f"Did you mean {guess}:{name}?" if guess else "Install it."
        raise _NotFoundError(f"no package with packs named {distribution} is installed.", hint)
    directory = _package_directory(points[0].value)
    path = None if directory is None else directory / f"{name}.yaml"
    if path is None or not path.is_file():
        packs = [] if directory is None else sorted(file.stem for file in directory.glob("*.yaml"))
        guess = closest_match(name, packs)
        hint = f"It has {', '.join(packs)}." if packs else "Is it installed in this environment?"
        raise _NotFoundError(
            f"{distribution} has no pack {name}.", f"Did you mean {distribution}:{guess}?" if guess else hint
        )
    return path


def _package_directory(package: str) -> Path | None:
    """Only the top package is looked up: finding an inner one would import the packages around it."""
    from importlib.util import find_spec

    top, *inner = package.split(".")
    spec = find_spec(top)
    places = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(places)), *inner) if places else None
