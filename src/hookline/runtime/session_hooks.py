"""Hooks and fire counts in a stored session.

Hooks are stored as the dialect and text of their file, and loaded again through the dialect.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.config.reader import salvage_text
from hookline.dialects.dialect import CONFIG_LOCATIONS, DIALECT_NAMES, LoadResult, get_dialect
from hookline.engine.limits import FireCounts, shift_times
from hookline.hooks.hook import GLOBAL_SCOPE, Hook, Scope
from hookline.hooks.hook_files import HookFile
from hookline.hooks.host import Clock
from hookline.lazy_dataclasses import dataclass, replace

FORMAT_VERSION: Final = 1
_SCOPE_KEYS: Final = ("agent", "prompt", "session")


@dataclass(frozen=True, slots=True)
class StoredHooksFile:
    """The hooks of one file. `scope` limits them if the text itself does not, as for a skill."""

    dialect: str
    file: str
    text: str
    scope: Scope = GLOBAL_SCOPE

    def as_hook_file(self, layer: str, workspace: Path) -> HookFile:
        return HookFile(str(workspace / self.file), self.file, self.dialect, layer, self.text, scope=self.scope)


def is_agent_file(path: str | PurePath) -> bool:
    """True if the hooks of a file at this place belong to an agent, so that its stored sessions have them."""
    places = (place for places in CONFIG_LOCATIONS.values() for place in places if place.in_session)
    return any(PurePath(path).match(place.pattern) for place in places)


def dump_session_hooks(parts: Iterable[StoredHooksFile]) -> dict[str, Any]:
    """Plain data for JSON: what a session stores as its `dependencies.hooks`."""
    return {"version": FORMAT_VERSION, "files": [_dump_file(part) for part in parts]}


def load_session_hooks(value: Any, shown_as: str = "stored session") -> LoadResult:
    """The hooks of a stored session, and the problems of unreadable parts. Never raises for stored data."""
    problems: list[Problem] = []
    at = Node.of(Document(shown_as, "", value), problems)
    at.check_keys(("version", "files"), "stored hooks")
    version, files = at.get("version"), at.get("files")
    if version is None or version.value != FORMAT_VERSION or isinstance(version.value, bool):
        what = "these hooks were stored by another version of hookline."
        return LoadResult((), (*problems, Problem("unknown-version", shown_as, 1, what)))
    hooks = tuple(hook for place in (files.items() if files is not None else ()) for hook in _load_file(place))
    return LoadResult(hooks, tuple(problems))


def parse_stored_files(value: dict[str, Any] | None) -> list[StoredHooksFile]:
    """The inverse of `dump_session_hooks`, for data that this version stored."""
    files = value.get("files", ()) if value is not None else ()
    return [
        StoredHooksFile(each["dialect"], each["file"], each["text"], Scope(**each.get("scope", {}))) for each in files
    ]


def _dump_file(part: StoredHooksFile) -> dict[str, Any]:
    value: dict[str, Any] = {"dialect": part.dialect, "file": part.file, "text": part.text}
    scope = {key: named for key in _SCOPE_KEYS if (named := getattr(part.scope, key)) is not None}
    return {**value, "scope": scope} if scope else value


def _load_file(at: Node) -> tuple[Hook, ...]:
    at.check_keys(("dialect", "file", "text", "scope"), "a stored file")
    name, file, text = (at.get(key) for key in ("dialect", "file", "text"))
    if name is None or file is None or text is None:
        at.add_problem("missing-key", f"{at.location}: dialect, file and text are needed.")
        return ()
    spoken, shown, source = name.one_of(DIALECT_NAMES), file.text(), text.text(empty=True)
    scope = _parse_scope(at)
    if spoken is None or shown is None or source is None or scope is None:
        return ()
    document, unreadable = salvage_text(source, shown)
    if document is None:
        at.problems.extend(unreadable)
        return ()
    loaded = get_dialect(spoken).load(document)
    at.problems.extend(problem for problem in dict.fromkeys(loaded.problems) if problem.severity is Severity.ERROR)
    if scope == GLOBAL_SCOPE:
        return loaded.hooks
    return tuple(replace(hook, scope=scope) for hook in loaded.hooks)


def _parse_scope(at: Node) -> Scope | None:
    place = at.get("scope")
    if place is None:
        return GLOBAL_SCOPE
    place.check_keys(_SCOPE_KEYS, "scope")
    if place.mapping() is None:
        return None
    named = {key: each.text() for key in _SCOPE_KEYS if (each := place.get(key)) is not None}
    return None if None in named.values() else Scope(**named)  # never wider than it was


class StoredCounts(FireCounts):
    """Cooldowns use a monotonic clock, which differs between machines; the store has wall-clock time."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._ahead = clock.wall() - clock.now()

    def snapshot(self, session: str) -> list[dict[str, Any]]:
        return [shift_times(row, lambda time: time + self._ahead) for row in super().snapshot(session)]

    def restore(self, session: str, saved: list[dict[str, Any]]) -> None:
        """A time in the future, from a clock that is ahead, counts as now."""
        now = self._clock.now()
        super().restore(session, [shift_times(row, lambda time: min(time - self._ahead, now)) for row in saved])
