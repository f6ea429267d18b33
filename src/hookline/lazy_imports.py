"""Modules, patterns and the log, made when they are first used, and imports without garbage collection.

A process that decides about one event needs neither an event loop nor a log, and a tenth of the regular expressions that
the modules it imports define. Import the name from here and use it as usual: `from hookline.lazy_imports import asyncio`.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast
    import asyncio
    import copy
    import dataclasses
    import decimal
    import difflib
    import hashlib
    import inspect
    import json
    import logging
    import shlex
    import shutil
    import subprocess
    import tempfile
    import threading
    import unicodedata
    from logging import getLogger as lazy_logger
    from re import compile as lazy_pattern
    from types import ModuleType

    def lazy_module(name: str) -> ModuleType: ...
    def lazy_class(module: str, name: str) -> type: ...

else:

    class _LazyModule:
        def __init__(self, name):
            self.__name__ = name

        def __getattr__(self, attribute):
            module = import_module(self.__name__)
            self.__dict__ = module.__dict__  # the same namespace, so what somebody patches there holds here
            return getattr(module, attribute)

    lazy_module = _LazyModule

    class _LazyClass:
        """A class for `isinstance` and to make objects of. Until its module is imported, it has no objects."""

        __slots__ = ("_class", "_module", "_name")

        def __init__(self, module, name):
            self._module = module
            self._name = name
            self._class = None

        def __call__(self, *args, **keywords):
            if self._class is None:
                self._class = getattr(import_module(self._module), self._name)
            return self._class(*args, **keywords)

        def __instancecheck__(self, value):
            module = sys.modules.get(self._module)
            return module is not None and isinstance(value, getattr(module, self._name, ()))

    lazy_class = _LazyClass
    ast = _LazyModule("ast")
    asyncio = _LazyModule("asyncio")
    copy = _LazyModule("copy")
    dataclasses = _LazyModule("dataclasses")
    decimal = _LazyModule("decimal")
    difflib = _LazyModule("difflib")
    hashlib = _LazyModule("hashlib")
    inspect = _LazyModule("inspect")
    json = _LazyModule("json")
    logging = _LazyModule("logging")
    shutil = _LazyModule("shutil")
    shlex = _LazyModule("shlex")
    subprocess = _LazyModule("subprocess")
    tempfile = _LazyModule("tempfile")
    threading = _LazyModule("threading")
    unicodedata = _LazyModule("unicodedata")

    class _LazyLogger:
        def __init__(self, name):
            self._name = name

        def __getattr__(self, attribute):
            found = getattr(logging.getLogger(self._name), attribute)
            if callable(found):
                setattr(self, attribute, found)
            return found

    lazy_logger = _LazyLogger

    class _LazyPattern:
        """A compiled pattern's methods, each fetched once."""

        __slots__ = (
            "_flags",
            "findall",
            "finditer",
            "flags",
            "fullmatch",
            "groupindex",
            "groups",
            "match",
            "pattern",
            "scanner",
            "search",
            "split",
            "sub",
            "subn",
        )

        def __init__(self, pattern, flags=0):
            self.pattern = pattern
            self._flags = flags

        def __getattr__(self, attribute):
            value = getattr(re.compile(self.pattern, self._flags), attribute)
            setattr(self, attribute, value)
            return value

    lazy_pattern = _LazyPattern


class _FreezeDetector:
    """Whether the program has used `gc.freeze`. Counting frozen objects takes longer than loading most hooks."""

    has_found = False

    def has_frozen_objects(self) -> bool:
        self.has_found = self.has_found or gc.get_freeze_count() > 0
        return self.has_found


_freeze_detector = _FreezeDetector()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pauses the garbage collector while many small objects are created: it would take most of the time and free nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not _freeze_detector.has_frozen_objects():  # what the program froze stays frozen
                gc.freeze()  # together, these move all objects to the oldest generation without scanning them
                gc.unfreeze()
            gc.enable()


def import_without_gc(module: str) -> ModuleType:
    """What an import creates stays: searching it for garbage takes a twentieth of the time of a short process."""
    with gc_paused():
        return import_module(module)


__all__ = [
    "ast",
    "asyncio",
    "copy",
    "dataclasses",
    "decimal",
    "difflib",
    "gc_paused",
    "hashlib",
    "import_without_gc",
    "inspect",
    "json",
    "lazy_class",
    "lazy_logger",
    "lazy_module",
    "lazy_pattern",
    "logging",
    "shlex",
    "shutil",
    "subprocess",
    "tempfile",
    "threading",
    "unicodedata",
]
