"""A project's file is trusted only if the user accepted this very text, and what the files that it names hold."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.errors import HooklineError
from hookline.hooks.hook import Hook
from hookline.project.accepted import Accepted
from hookline.project.held import Held, HeldFolder, read
from hookline.project.named_files import files_named
from hookline.project.named_words import NO_NAMES, Names, TooManyNames, names_in
from hookline.project.review import Review, import_of, part_of, wish_of
from hookline.project.sources import Source
from hookline.project.untrusted import needs_trust, restricted

_log = logging.getLogger("hookline")

_MOST_READ: Final = 64_000_000  # bytes of named files; what is larger is known by its place on the disk and its times
_WARNING: Final = Severity.WARNING
_UNSEEN: Final = "the Python files in {} were not imported, so their hooks are not seen here."
_told: set[tuple[Path, str]] = set()
_telling = Lock()


def state_file(home: Path, state_home: Path | None = None) -> Path:
    """Where a user's acceptances are kept."""
    return (state_home or home / ".local" / "state") / "hookline" / "trust.json"


@dataclass(frozen=True, slots=True)
class InForce:
    """A file's hooks as they may act now."""

    held: Held
    hooks: tuple[Hook, ...]
    names: Names = NO_NAMES  # of which one may become that of a file, and so change what is trusted
    folders: tuple[HeldFolder, ...] = ()  # whose code may be imported now
    problems: tuple[Problem, ...] = ()  # beside those that the file has
    trusted: bool = True  # whether what it wants beside its hooks may be

    @property
    def good(self) -> bool:
        return self.held.good and all(problem.severity is not Severity.ERROR for problem in self.problems)

    def named_files(self) -> tuple[Path, ...]:
        return (*_named(self.held.source, self.names), *_code_of(self.held))

    def imported(self) -> InForce:
        """With the hooks of its folders: this runs their code."""
        if not self.folders:
            return self
        loaded = [folder.imported() for folder in self.folders]
        hooks = [hook for each in loaded for hook in each.hooks]
        known = set(self.held.problems)
        problems = [problem for each in loaded for problem in each.problems if problem not in known]
        return replace(self, hooks=(*self.hooks, *hooks), problems=(*self.problems, *problems), folders=())

    def not_imported(self) -> InForce:
        """Without those hooks, and saying so."""
        hint = "Only a session, fire and test import it."
        notes = [
            Problem("not-imported", self.held.source.shown, folder.line, _UNSEEN.format(folder.shown), hint, _WARNING)
            for folder in self.held.folders
        ]
        return replace(self, problems=(*self.problems, *notes), folders=())


class Trust:
    """`path` is the file that remembers what was accepted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._accepted = Accepted(path)

    def in_force(self, held: Held) -> InForce:
        """Without trust, the file's hooks in their restricted form; the user is told once for each version of it."""
        wishes = _wishing(held)
        if not held.source.foreign:
            return InForce(held, held.hooks, folders=held.folders)
        if not wishes and not held.folders and not held.wants:
            return InForce(held, _all_restricted(held))
        about_hooks = bool(wishes or held.folders)
        try:
            names = _names(held, wishes)
            hash = _hash(held, (*_named(held.source, names), *_code_of(held)))
        except TooManyNames as too_many:
            if about_hooks:
                _tell(held, str(too_many), too_many)
            return InForce(held, _all_restricted(held), trusted=False)
        if self._accepted.hash_of(held.source.path) == hash:
            return InForce(held, held.hooks, names, held.folders)
        if about_hooks:
            _tell(held, hash)
        return InForce(held, _all_restricted(held), names, trusted=False)

    def trusts(self, source: Source) -> bool:
        """True for the user's own files, and for a file with nothing in it that needs trust."""
        return not self.unaccepted((source,))

    def unaccepted(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """Those in which something waits for the user's trust."""
        return tuple(source for source in sources if not self._is_accepted(read(source)))

    def review(self, source: Source) -> Review:
        """Raises TooManyNames where a file names more than can be watched."""
        held = read(source)
        wishes = _wishing(held)
        names = (*_named(source, _names(held, wishes)), *_code_of(held))
        root = source.project or source.path.parent
        shown = tuple(os.path.relpath(name, root) for name in names)
        asked = (*map(wish_of, wishes), *map(import_of, held.folders), *map(part_of, held.wants))
        return Review(source, _hash(held, names), self._is_accepted(held), asked, shown)

    def accept(self, what: Iterable[Source | Review]) -> None:
        """Of a review, exactly what it showed, even if the files are different by now; of a source, what it says now."""
        reviews = [each if isinstance(each, Review) else self.review(each) for each in what]
        foreign = {review.source.path: review.hash for review in reviews if review.source.foreign}
        if foreign:
            self._accepted.add(foreign)

    def _is_accepted(self, held: Held) -> bool:
        wishes = _wishing(held)
        if not wishes and not (held.source.foreign and (held.folders or held.wants)):
            return True
        try:
            hash = _hash(held, (*_named(held.source, _names(held, wishes)), *_code_of(held)))
        except TooManyNames:
            return False
        return self._accepted.hash_of(held.source.path) == hash


def _wishing(held: Held) -> list[Hook]:
    """The hooks of a project's file that need trust; one that is switched off needs none."""
    if not held.source.foreign:
        return []
    return [hook for hook in held.hooks if hook.enabled and needs_trust(hook)]


def _names(held: Held, wishes: Iterable[Hook]) -> Names:
    return names_in(wishes, (wanted.naming for wanted in held.wants), (wanted.prose for wanted in held.wants))


def _all_restricted(held: Held) -> tuple[Hook, ...]:
    return tuple(restricted(hook) for hook in held.hooks)


def _named(source: Source, names: Names) -> tuple[Path, ...]:
    if source.project is None:
        return ()
    return tuple(file for file in files_named(names, source.project, source.path.parent) if file != source.path)


def _code_of(held: Held) -> tuple[Path, ...]:
    """Every file that importing its folders could run. Raises TooManyNames."""
    try:
        return tuple(dict.fromkeys(file for folder in held.folders for file in folder.files()))
    except HooklineError as too_many:
        raise TooManyNames(str(too_many)) from None


def _tell(held: Held, version: str, too_many: TooManyNames | None = None) -> None:
    with _telling:
        if (held.source.path, version) in _told:
            return
        _told.add((held.source.path, version))
    _log.warning(
        "%s %s its hooks may only deny, ask, log and notify, and only with constant text%s. %s",
        held.source.shown,
        f"cannot be trusted, because {too_many}:" if too_many else "is not trusted yet: until then",
        ", and its Python files are not imported" if held.folders else "",
        "Name fewer, and run `hookline trust`." if too_many else "Look at it and run `hookline trust`.",
    )


def _hash(held: Held, names: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    pieces = ["hookline trust 1", held.dialect or "", held.text]
    left = _MOST_READ
    for name in names:
        content, size = _content(name, left)
        left -= size
        pieces += [os.path.relpath(name, held.source.project), content]
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _content(path: Path, most: int) -> tuple[str, int]:
    """What stands for a file's content, and how many bytes were read for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            data = file.read(most + 1) if stat.S_ISREG(status.st_mode) and status.st_size <= most else None
    except OSError as error:
        return f"cannot be read: {error.errno}", 0
    if data is not None and len(data) <= most:
        return hashlib.sha256(data).hexdigest(), len(data)
    place = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, place)), 0
