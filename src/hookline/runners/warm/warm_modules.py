"""Standard-library modules that the warm interpreter imports before it forks.

In a child, `sys.modules` starts as in a new process, and a module from here comes with everything that importing it anew
would have loaded. If that would load something else, because a file on `sys.path` shadows a module or someone replaced one,
it is imported anew. Run by the hook's own Python, so this file imports nothing of hookline.
"""

import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

MODULE_NAMES = (
    *(
        "argparse",
        "array",
        "ast",
        "base64",
        "collections",
        "collections.abc",
        "contextlib",
        "contextvars",
        "copy",
        "csv",
    ),
    *("dataclasses", "datetime", "decimal", "difflib", "enum", "errno", "fnmatch", "functools", "gc", "glob"),
    *("hashlib", "html", "importlib.machinery", "importlib.util", "inspect", "itertools", "json", "locale", "math"),
    *("operator", "os", "pathlib", "platform", "pprint", "random", "re", "select", "shlex", "shutil", "signal", "site"),
    *("socket", "stat", "string", "struct", "subprocess", "tempfile", "textwrap", "threading", "time", "tomllib"),
    *("traceback", "types", "typing", "unicodedata", "urllib.parse", "uuid", "warnings"),
)
"""None that keeps its import time, registers an exit function or reads the environment on import."""

STDLIB_PATHS = (os.path.dirname(os.__file__), os.path.join(os.path.dirname(os.__file__), "lib-dynload"))


class PreloadedModules:
    """First in a child's `sys.meta_path`."""

    def __init__(self, at_start: "dict[str, ModuleType]") -> None:
        """Imports them all. `at_start` is what a new process has before it runs its file."""
        self.at_start = at_start
        self.modules: dict[str, Any] = {}
        self.needs: dict[str, list[str]] = {}
        self.itself = self  # a cycle, and frozen: no child destroys these modules at exit
        needs: dict[str, set[str]] = {}
        real = builtins.__import__
        builtins.__import__ = _recording_import(real, needs)
        try:
            for name in MODULE_NAMES:
                __import__(name)
        finally:
            builtins.__import__ = real
        self.modules = {name: sys.modules[name] for name in sys.modules if not name.startswith(("__main__", "warm_"))}
        self.needs = {name: self._dependencies_of(name, needs) for name in self.modules if name not in at_start}
        self.tops = {
            name: {each.partition(".")[0] for each in needed if each not in at_start}
            for name, needed in self.needs.items()
        }
        self.later: dict[str, list[str]] = {}
        self._unbind_submodules()
        self.sizes = {name: len(vars(module)) for name, module in self.modules.items() if hasattr(module, "__dict__")}

    def holds_more(self) -> bool:
        """True if something was attached to one of these modules."""
        for name in sys.modules.keys() & self.sizes.keys():
            bound = sum(each in sys.modules for each in self.later.get(name, ()))
            if len(vars(self.modules[name])) != self.sizes[name] + bound and name not in ("sys", "builtins"):
                return True
        return False

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if target is not None or name not in self.needs or not self._imports_as_new(name):
            return None
        there = getattr(self.modules[name], "__spec__", None)
        if there is None:
            return None
        spec = type(there)(name, self, origin=there.origin, loader_state=there)
        spec.submodule_search_locations = there.submodule_search_locations
        return spec

    def create_module(self, spec: "Any") -> "ModuleType":
        module: ModuleType = self.modules[spec.name]
        return module

    def exec_module(self, module: "ModuleType") -> None:
        spec: Any = module.__spec__
        module.__spec__ = spec.loader_state
        for each in self.needs[spec.name]:
            if each not in sys.modules:
                sys.modules[each] = self.modules[each]
                parent, _, child = each.rpartition(".")
                if parent:
                    setattr(self.modules[parent], child, self.modules[each])

    def _dependencies_of(self, name: str, needs: "Mapping[str, set[str]]") -> "list[str]":
        """The module's dependencies and itself, in load order."""
        found: set[str] = set()
        ahead = {name}
        while ahead:
            each = ahead.pop()
            found.add(each)
            ahead |= {other for other in {*needs.get(each, ()), each.rpartition(".")[0]} if other in self.modules}
            ahead -= found
        return [each for each in self.modules if each in found]

    def _unbind_submodules(self) -> None:
        """Removes submodules from a package that importing the package alone would not have loaded."""
        for name in self.needs:
            parent, _, child = name.rpartition(".")
            if parent and name not in self.needs.get(parent, ()) and child in vars(self.modules[parent]):
                del vars(self.modules[parent])[child]
                self.later.setdefault(parent, []).append(name)

    def _imports_as_new(self, name: str) -> bool:
        held, modules = sys.modules, self.modules
        for each in self.needs[name]:
            if held.get(each) is not modules[each] and (each in held or each in self.at_start):
                return False
        return not _is_shadowed(self.tops[name])


def _recording_import(real: "Any", needs: "dict[str, set[str]]") -> "Any":
    """`__import__` that also records which modules an import needs, loaded or not."""

    def import_(
        name: str,
        globals: "Mapping[str, Any] | None" = None,
        locals: "Mapping[str, Any] | None" = None,
        fromlist: "Sequence[str]" = (),
        level: int = 0,
    ) -> "Any":
        before = set(sys.modules)
        module = real(name, globals, locals, fromlist, level)
        new = sys.modules.keys() - before
        full = _full_name(name, globals or {}, level)
        needs.setdefault(full, set()).update(new)
        submodules = {f"{full}.{each}" for each in fromlist or ()}
        needs.setdefault((globals or {}).get("__name__", ""), set()).update(new, {full}, submodules)
        return module

    return import_


def _full_name(name: str, globals: "Mapping[str, Any]", level: int) -> str:
    if not level:
        return name
    package = (globals.get("__package__") or "").rsplit(".", level - 1)[0]
    return f"{package}.{name}" if name else package


def _is_shadowed(tops: "set[str]") -> bool:
    """True if one of these names is found on the path before the standard library."""
    if STDLIB_PATHS[0] not in sys.path:
        return True
    last = max(index for index, entry in enumerate(sys.path) if entry in STDLIB_PATHS)
    return any(_contains_any(entry, tops) for entry in sys.path[:last] if entry not in STDLIB_PATHS)


def _contains_any(entry: "Any", tops: "set[str]") -> bool:
    try:
        return any(name.partition(".")[0] in tops for name in os.listdir(entry or "."))
    except FileNotFoundError:
        return False
    except (OSError, TypeError, ValueError):  # a zip file; a directory that cannot be listed; not a path
        return True
