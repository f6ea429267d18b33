"""The dialects, by name. A new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, cast

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity, nearest
from hookline.dialects.dialect import Dialect

_MODULES: Final = {
    "native": "hookline.dialects.native",
    "ai_agents": "hookline.dialects.ai_agents",
    "claude_code": "hookline.dialects.claude_code",
    "digitorn": "hookline.dialects.digitorn",
    "flo": "hookline.dialects.flo",
    "microai": "hookline.dialects.microai",
    "standard_agents": "hookline.dialects.standard_agents",
}
NAMES: Final = tuple(_MODULES)


def dialect(name: str) -> Dialect:
    """Imported when first named. Raises KeyError with words for the user."""
    if name not in _MODULES:
        guess = nearest(name, _MODULES)
        meant = f"Did you mean {guess}?" if guess else f"There are {', '.join(_MODULES)}."
        raise KeyError(f"there is no dialect {name!r}. {meant}")
    return cast(Dialect, import_module(_MODULES[name]).DIALECT)


def dialects() -> Mapping[str, Dialect]:
    return MappingProxyType({name: dialect(name) for name in _MODULES})


def recognise(document: Document) -> Dialect | Problem:
    """The one dialect whose file this can be; a file that could be of two is a problem, never a guess."""
    able = [each for each in dialects().values() if each.recognises(document)]
    able = [each for each in able if _at_home(document, each)] or able
    if len(able) == 1:
        return able[0]
    able = able or [each for each in dialects().values() if _loads(document, each)]
    if not able:
        what = "this is not a hooks file of any dialect."
        return Problem("unknown-dialect", document.file, 1, what, f"Name it: --dialect {'|'.join(NAMES)}.")
    names = " or ".join(each.name for each in able)
    what = f"this could be a file of {names}."
    return Problem("ambiguous-dialect", document.file, 1, what, f"Say which: --dialect {able[0].name}.")


def _loads(document: Document, dialect: Dialect) -> bool:
    """Whether the dialect finds hooks in it and nothing wrong: enough to name it to the user, not to guess."""
    loaded = dialect.load(document)
    return bool(loaded.hooks) and not any(problem.severity is Severity.ERROR for problem in loaded.problems)


def _at_home(document: Document, dialect: Dialect) -> bool:
    """Whether the file stands where files of this dialect are found: that says more than its shape."""
    return any(PurePath(document.file).match(place.pattern) for place in dialect.places)
