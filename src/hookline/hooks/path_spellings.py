"""The texts by which a tool's path can be written.

`.env`, `./.env`, `.env/.`, `/project/.env` and a link to it are one file. A condition on a path gets all of these texts, so
that another way to write a path does not change what a guard says.
"""

from __future__ import annotations

import os
import posixpath
import re
from contextvars import ContextVar
from functools import lru_cache
from stat import S_ISLNK
from typing import Any, Final
from urllib.parse import unquote

from hookline.errors import UndecidedError
from hookline.hooks.event import Event
from hookline.hooks.protocols import Readings
from hookline.lazy_imports import lazy_pattern

_LONGEST_PATH: Final = 4096  # the system opens none that is longer, but a tool may shorten it first
ResolvedPaths = dict[str, str | None]
"""A path, not normalized, and where its links led."""
_resolved_paths: Final[ContextVar[ResolvedPaths | None]] = ContextVar("resolved_paths", default=None)
_PROCESS_LINK: Final = lazy_pattern(r"/proc/(?:self|thread-self|\d+)/(?:task/\d+/)?(cwd|root)(?=/|\Z)")


def path_readings(given: str, event: Event) -> Readings:
    """What the path may mean, each meaning with its texts. The first text is the path as given.

    There is more than one meaning if `..` or a link is involved: the tool may resolve them or not. The absolute form
    of a relative path is in a meaning of its own too: the name of a parent directory must not make an allow match.
    """
    if not given:
        return ((given,),)
    project = directory_fact(event, "workspace") or directory_fact(event, "cwd")
    base = directory_fact(event, "cwd") or project
    readings = _readings_of(given, given, base, project)
    if _may_be_changed(given):
        for other in other_forms(given, base):
            shown = other if "\0" in given else given  # who opens `.env\0.md` as `.env` reads no `.md`
            readings += _readings_of(shown, other, base, project)
    return tuple(dict.fromkeys(readings)) if len(readings) > 1 else readings


def _may_be_changed(given: str) -> bool:
    """By the tool that opens the path: `other_forms` says into what."""
    is_short_form = given[0] in "~@" or given[:5].lower() == "file:"
    return is_short_form or "/proc/" in given or "\0" in given or given != given.strip(" \t")


def _readings_of(given: str, form: str, base: str, project: str) -> Readings:
    joined = posixpath.join(base, form)
    place = normalize_path(joined)
    if not place.startswith("/"):  # the directory is unknown
        return ((place,), (given,)) if _has_detour(given) else ((given,) if place == given else (given, place),)
    inside = relative_to(place, project)
    real = resolve_links(joined, place, project)
    real_inside = relative_to(real, real_directory(project)) if real and project else None
    core = (inside,) if inside is not None else (place,)
    full: tuple[str, ...] = (*core, place)
    if real and real_inside is not None and real_inside == inside:
        full = (*full, real)  # only the project itself is behind a link
    behind_link: Readings = ()
    if real and (real_inside != inside or (inside is None and real != place)):
        behind_link = ((real_inside, real), (real_inside,)) if real_inside is not None else ((real,),)
    if _has_detour(given):
        return (_distinct(full), core, *behind_link, (given,))
    if given.startswith("/"):
        return ((given,) if full == (given, given) else _distinct((given, *full)), *behind_link)
    return (_distinct((given, *full)), _distinct((given, *core)), *behind_link)


def _distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def other_forms(given: str, base: str) -> list[str]:
    """What a tool may turn the path into before it opens it."""
    forms: list[str] = []
    if "\0" in given:  # the system's own functions end there; others leave it out
        for form in (given.partition("\0")[0], given.replace("\0", "")):
            forms += [form, *other_forms(form, base)] if form else []
    bare = given.strip(" \t").removeprefix("@")  # as people mention a file; some agents remove it
    if bare != given and bare:
        forms += [bare, *other_forms(bare, base)]
    if given.startswith("~"):
        forms.append(os.path.expanduser(given))
    if given[:5].lower() == "file:":
        forms.append(unquote(re.sub(r"(?i)\Afile:(?://[^/]*)?", "", given)))
    link = _PROCESS_LINK.match(normalize_path(given)) if "/proc/" in given else None
    if link is not None:
        forms.append((base if link[1] == "cwd" else "") + (normalize_path(given)[link.end() :] or "/"))
    return [form for form in forms if form != given]


def normalize_path(path: str) -> str:
    path = posixpath.normpath(path)
    return path[1:] if path.startswith("//") else path


def _has_detour(given: str) -> bool:
    """True if `..` comes after a name. At the start of a relative path it is not a detour."""
    if ".." not in given:
        return False
    steps = [step for step in given.split("/") if step not in ("", ".")]
    below = [step != ".." for step in steps]
    return (given.startswith("/") and ".." in steps) or any(
        not name and any(below[:at]) for at, name in enumerate(below)
    )


def relative_to(path: str, directory: str) -> str | None:
    """None if it is not inside."""
    if not directory:
        return None
    if path == directory:
        return "."
    inside = directory if directory.endswith("/") else directory + "/"
    return path[len(inside) :] if path.startswith(inside) else None


class ResolvingOnce:
    """A context in which a path's links are resolved once, so that all hooks judge the same file.

    `with` gives what was resolved. Not a generator, which takes three times as long: every event of a session is here.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> ResolvedPaths:
        resolved: ResolvedPaths = {}
        self._token = _resolved_paths.set(resolved)
        return resolved

    def __exit__(self, *raised: object) -> None:
        _resolved_paths.reset(self._token)


def resolve_links(joined: str, place: str, project: str) -> str | None:
    """The path with its links resolved, as far as it exists. None if the path cannot exist."""
    resolved = _resolved_paths.get()
    if resolved is None:
        return _resolve_links(joined, place, project)
    if joined not in resolved:
        resolved[joined] = _resolve_links(joined, place, project)
    return resolved[joined]


def _resolve_links(joined: str, place: str, project: str) -> str | None:
    try:
        if ".." in joined and ".." in joined.split("/"):
            if len(joined) > _LONGEST_PATH:
                raise UndecidedError("the path is too long to follow its links")
            return os.path.realpath(joined)
        below = relative_to(place, project)
        start = place if below is None else below
        prefix = "" if below is None else project.rstrip("/")
        return os.path.realpath(place) if _has_link(prefix, start) else under_real_project(place, project, below)
    except (OSError, ValueError):  # a link to itself, a NUL byte
        return None


def _has_link(prefix: str, path: str) -> bool:
    for step in path.split("/"):
        if not step or step == ".":
            continue
        prefix = f"{prefix}/{step}"
        try:
            if S_ISLNK(os.lstat(prefix).st_mode):
                return True
        except (FileNotFoundError, NotADirectoryError):
            return False
    return False


def under_real_project(place: str, project: str, below: str | None) -> str:
    if below is None:
        return place
    real = real_directory(project)
    return real if below == "." else posixpath.join(real, below)


@lru_cache(maxsize=64)
def real_directory(directory: str) -> str:
    try:
        return os.path.realpath(directory) if directory else ""
    except (OSError, ValueError):
        return directory


def directory_fact(event: Event, fact: str) -> str:
    value: Any = event.facts.get(fact)
    return normalize_path(value) if isinstance(value, str) and value.startswith("/") else ""
