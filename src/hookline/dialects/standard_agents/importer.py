"""Imports the Python files of one folder, isolated from everything else that this process has imported.

Each folder becomes a package, so two folders may have files of the same name, and the folder need not be on `sys.path`:
`import limits` finds limits.py in the folder, unless the standard library has a module of that name. Only source files
are read, never compiled ones.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import importlib.util
import itertools
import sys
import weakref
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from threading import RLock
from types import CodeType, ModuleType
from typing import Any, Final

from hookline.lazy_imports import hashlib
from hookline.standard_agents.definitions import Definitions, collecting

_PREFIX: Final = "_hookline_folder_"
_package_numbers: Final = itertools.count(1)
_import_lock: Final = RLock()


def import_files(
    folder: Path, files: Sequence[Path], beside: Sequence[Path]
) -> tuple[Definitions, dict[Path, BaseException]]:
    """What the files define, and the error of each file that failed.

    The files may import each other and those in `beside`, but no other file of the folder. What a file defined before
    it failed is kept. The modules live as long as the definitions do.
    """
    definitions = Definitions()
    package = _FolderPackage(f"{_PREFIX}{next(_package_numbers)}", folder, frozenset((*files, *beside)))
    failed: dict[Path, BaseException] = {}
    with _import_lock:
        _FINDER.add(package)
        weakref.finalize(definitions, _FINDER.remove, package.name)
        with collecting(definitions):
            for file in files:
                try:
                    package.load(file)
                except (Exception, SystemExit) as error:
                    failed[file] = error
    return definitions, failed


_CacheKey = tuple[Path, tuple[Path, ...], str]
_cached_definitions: Final[weakref.WeakValueDictionary[_CacheKey, Definitions]] = weakref.WeakValueDictionary()


def import_files_once(
    folder: Path, files: Sequence[Path], beside: Sequence[Path]
) -> tuple[Definitions, dict[Path, BaseException]]:
    """As `import_files`, but files that succeeded and have not changed are not run again while their definitions are in
    use.
    """
    with _import_lock:
        key = folder, tuple(files), _files_digest((*files, *beside))
        known = _cached_definitions.get(key)
        if known is not None:
            return known, {}
        definitions, failed = import_files(folder, files, beside)
        if not failed and _files_digest((*files, *beside)) == key[2]:
            _cached_definitions[key] = definitions
        return definitions, failed


def _files_digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        try:
            data = file.read_bytes()
        except OSError as error:
            data = str(error).encode("utf-8", "surrogateescape")
        digest.update(f"{len(data)}:{file}:".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()


class _FolderPackage:
    def __init__(self, name: str, folder: Path, files: frozenset[Path]) -> None:
        self.name = name
        self.folder = folder
        self._files = files  # the files that were checked; no other file is imported
        self._directories = {folder, *(parent for file in files for parent in file.parents)}
        self.failed: dict[str, BaseException] = {}  # a module that failed once is not run again
        self._dotted_files: dict[str, Path] = {}
        self._builtins = {**vars(builtins), "__import__": self._import_module, "print": _print_to_stderr}

    def load(self, file: Path) -> None:
        importlib.import_module(self._module_name(file))

    def _module_name(self, file: Path) -> str:
        """The module's name is the path of its file. Dots in a file name are replaced, as they would separate modules."""
        parts = file.relative_to(self.folder).with_suffix("").parts
        if parts[-1] == "__init__" and _module_file(file.parent) not in self._files:
            parts = parts[:-1]
        name = ".".join((self.name, *(part.replace(".", "·") for part in parts)))
        if any("." in part for part in parts):
            self._dotted_files[name] = file
        return name

    def find_module_spec(self, name: str) -> importlib.machinery.ModuleSpec | None:
        """Finds `package.sub.file`; every directory is a package, even without `__init__.py`."""
        if name in self._dotted_files:
            return self._build_spec(name, self._dotted_files[name])
        place = self.folder.joinpath(*(step.replace("·", ".") for step in name.split(".")[1:]))
        if place != self.folder and _module_file(place) in self._files:
            return self._build_spec(name, _module_file(place), place)
        if place not in self._directories:
            return None
        if (place / "__init__.py") in self._files:
            return self._build_spec(name, place / "__init__.py", place)
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(place)]
        return spec

    def _build_spec(self, name: str, file: Path, below: Path | None = None) -> importlib.machinery.ModuleSpec | None:
        inside = [str(below)] if below in self._directories else None
        loader = _SourceOnlyLoader(name, str(file), self)
        return importlib.util.spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)

    def install_builtins(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._builtins

    def _import_module(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """`import` for the folder's files: the standard library first, then the folder, then anything installed."""
        head = name.partition(".")[0]
        if level or head in sys.stdlib_module_names or not self._contains(head):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = importlib.import_module(f"{self.name}.{name}")
        if not fromlist:
            return sys.modules[f"{self.name}.{head}"]
        return builtins.__import__(module.__name__, globals, locals, fromlist, 0)

    def _contains(self, head: str) -> bool:
        return self.folder / f"{head}.py" in self._files or self.folder / head in self._directories


class _SourceOnlyLoader(importlib.machinery.SourceFileLoader):
    """Ignores compiled files: they may differ from the source that was checked."""

    def __init__(self, name: str, path: str, package: _FolderPackage) -> None:
        super().__init__(name, path)
        self._package = package

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        known = self._package.failed.get(module.__name__)
        if known is not None:
            raise known
        self._package.install_builtins(module)
        try:
            super().exec_module(module)
        except BaseException as error:
            self._package.failed[module.__name__] = error
            raise


class _FolderFinder(MetaPathFinder):
    """Finds only the modules of folder packages."""

    def __init__(self) -> None:
        self._packages: dict[str, _FolderPackage] = {}

    def add(self, package: _FolderPackage) -> None:
        self._packages[package.name] = package
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)  # before finders that would load a compiled file of the folder

    def remove(self, name: str) -> None:
        self._packages.pop(name, None)
        for module in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
            sys.modules.pop(module, None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        head, _, rest = fullname.partition(".")
        package = self._packages.get(head)
        if package is None:
            return None
        spec = package.find_module_spec(fullname)
        if spec is None:  # no other finder may look for it
            raise ModuleNotFoundError(f"there is no module {rest} in {package.folder.name}", name=fullname)
        return spec


_FINDER: Final = _FolderFinder()


def _module_file(place: Path) -> Path:
    return place.with_name(f"{place.name}.py")


def _print_to_stderr(*values: object, file: Any = None, **options: Any) -> None:
    """stdout belongs to the program that runs hookline."""
    print(*values, file=sys.stderr if file is None else file, **options)
