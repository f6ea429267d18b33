"""Hooks as a stored session keeps them: each file's dialect and text, loaded again through its dialect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.read import salvage_text
from hookline.config.shape import Reader
from hookline.dialects.dialect import Loaded
from hookline.dialects.table import NAMES, dialect
from hookline.hooks.hook import EVERYWHERE, Hook, Scope

VERSION: Final = 1
_SCOPE: Final = ("agent", "prompt", "session")


@dataclass(frozen=True, slots=True)
class Part:
    """One file's hooks. `scope` is whom they hold for where that does not stand in the text, as with a skill's."""

    dialect: str
    file: str
    text: str
    scope: Scope = EVERYWHERE


def stored(parts: Iterable[Part]) -> dict[str, Any]:
    """Plain data for JSON: what a session stores as its `dependencies.hooks`."""
    return {"version": VERSION, "files": [_value(part) for part in parts]}


def restored(value: Any, shown_as: str = "stored session") -> Loaded:
    """The hooks of a stored session, and the problems of what cannot be read. Never raises for what was stored."""
    problems: list[Problem] = []
    at = Reader.of(Document(shown_as, "", value), problems)
    at.keys(("version", "files"), "stored hooks")
    version, files = at.get("version"), at.get("files")
    if version is None or version.value != VERSION or isinstance(version.value, bool):
        what = "these hooks were stored by another version of hookline."
        return Loaded((), (*problems, Problem("unknown-version", shown_as, 1, what)))
    hooks = tuple(hook for place in (files.items() if files is not None else ()) for hook in _part(place))
    return Loaded(hooks, tuple(problems))


def _value(part: Part) -> dict[str, Any]:
    value: dict[str, Any] = {"dialect": part.dialect, "file": part.file, "text": part.text}
    scope = {key: named for key in _SCOPE if (named := getattr(part.scope, key)) is not None}
    return {**value, "scope": scope} if scope else value


def _part(at: Reader) -> tuple[Hook, ...]:
    at.keys(("dialect", "file", "text", "scope"), "a stored file")
    name, file, text = (at.get(key) for key in ("dialect", "file", "text"))
    if name is None or file is None or text is None:
        at.problem("missing-key", f"{at.place}: dialect, file and text are needed.")
        return ()
    spoken, shown, source = name.one_of(NAMES), file.text(), text.text(empty=True)
    scope = _scope(at)
    if spoken is None or shown is None or source is None or scope is None:
        return ()
    document, unreadable = salvage_text(source, shown)
    if document is None:
        at.problems.extend(unreadable)
        return ()
    loaded = dialect(spoken).load(document)
    at.problems.extend(problem for problem in dict.fromkeys(loaded.problems) if problem.severity is Severity.ERROR)
    if scope == EVERYWHERE:
        return loaded.hooks
    return tuple(replace(hook, scope=scope) for hook in loaded.hooks)


def _scope(at: Reader) -> Scope | None:
    place = at.get("scope")
    if place is None:
        return EVERYWHERE
    place.keys(_SCOPE, "scope")
    if place.mapping() is None:
        return None
    named = {key: each.text() for key in _SCOPE if (each := place.get(key)) is not None}
    return None if None in named.values() else Scope(**named)  # never wider than it was
