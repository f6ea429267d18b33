"""The hooks in force now, in a process that lives longer than its files stay the same."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Signal
from threading import Lock, Thread
from time import perf_counter
from types import TracebackType
from typing import Final, Self, TypeAlias

from hookline.config.problem import Problem
from hookline.engine.book import Book, Layer, garbage_kept
from hookline.hooks.host import Host
from hookline.project.held import Held, read
from hookline.project.loading import this_machine
from hookline.project.named_words import TooManyNames
from hookline.project.sources import Layering, Source
from hookline.project.trust import InForce, Trust

_log = logging.getLogger("hookline")

_LOOK: Final = 0.4  # seconds between two looks where nothing tells of a change
_GATHER: Final = 100  # milliseconds within which changes are one

Mark: TypeAlias = tuple[object, ...]
"""Differs if a file may have changed."""


@dataclass(frozen=True, slots=True)
class Watching:
    """One file: what is in force of it, how it looked on the disk then, and what is wrong with it now."""

    in_force: InForce
    mark: Mark
    problems: tuple[Problem, ...]


class Watched:
    """`book` is always whole: it is replaced, never changed, and keeps its host and so its counts.

    `sources` is asked again at each look, so files that come and go are noticed. A file with an error keeps its last
    good version in force, and a deleted one takes its hooks with it.
    """

    def __init__(self, sources: Callable[[], Iterable[Source]], trust: Trust, host: Host | None = None) -> None:
        self._sources = sources
        self._trust = trust
        self._files: dict[Source, Watching] = {}
        self._looking = Lock()
        self._stop = Signal()
        self._thread: Thread | None = None
        self.book = Book(host=host or this_machine())
        self.look()

    def start(self) -> Self:
        """Looks for changes from now on, in a thread of its own."""
        if self._thread is None:
            self._stop.clear()
            self._thread = Thread(target=self._keep_looking, name="hookline-watch", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def look(self) -> bool:
        """True if the book was replaced."""
        with self._looking, garbage_kept():
            before, now = self._files, self._looked()
            if before == now and list(before) == list(now):
                return False
            self._files = now
            self.book = self._book(before, now)
            return True

    def _looked(self) -> dict[Source, Watching]:
        return {source: self._one(source, self._files.get(source)) for source in self._sources()}

    def _one(self, source: Source, known: Watching | None) -> Watching:
        if known is not None and known.mark == self._mark(source, known.in_force):
            return known
        own = _mark_of(source.path), _mark_of(self._trust.path)
        held = read(source)
        kept = _last_good(held, known)
        names = _marks_of_names(self._trust.in_force(kept))
        judged = self._trust.in_force(kept)  # after the marks were taken: a change in between is seen next time
        imported = judged.imported()
        new = tuple(problem for problem in imported.problems if problem not in held.problems)
        in_force = _last_importable(imported, new, known)
        return Watching(in_force, (*own, *names), (*held.problems, *new))

    def _mark(self, source: Source, in_force: InForce) -> Mark:
        return (_mark_of(source.path), _mark_of(self._trust.path), *_marks_of_names(in_force))

    def _book(self, before: dict[Source, Watching], now: dict[Source, Watching]) -> Book:
        held = {layer.name: layer for layer in self.book.layers}
        layers = []
        for layering in Layering:
            old, new = _of_layer(before, layering), _of_layer(now, layering)
            if new:
                unchanged = old == new and layering in held
                layers.append(held[layering] if unchanged else Layer(layering, [h for each in new for h in each.hooks]))
        problems = [problem for each in now.values() for problem in each.problems]
        return Book(layers, self.book.host, problems)

    def _keep_looking(self) -> None:
        for _ in self._wakes():
            begun = perf_counter()
            self.look()
            self._stop.wait(perf_counter() - begun)  # however many files there are, half of the time is not ours

    def _wakes(self) -> Iterator[None]:
        """Comes when a file near ours changed, and now and then, because not every change can be told of."""
        from watchfiles import watch

        while not self._stop.is_set():
            directories = self._directories()
            try:
                for _ in watch(
                    *directories,
                    watch_filter=None,
                    debounce=_GATHER,
                    rust_timeout=int(_LOOK * 1000),
                    yield_on_timeout=True,
                    stop_event=self._stop,
                    raise_interrupt=False,
                    recursive=False,
                ):
                    yield
                    if self._directories() != directories:
                        break
            except (OSError, RuntimeError) as error:  # a directory went away, or the system cannot watch any more
                _log.debug("cannot be told of changes: %s", error)
                self._stop.wait(_LOOK)
                yield

    def _directories(self) -> list[Path]:
        near = {source.path.parent for source in self._files} | {self._trust.path.parent}
        return sorted(directory for directory in near if directory.is_dir())


def _last_good(held: Held, known: Watching | None) -> Held:
    if held.good or known is None or not known.in_force.held.good:
        return held
    _log.warning(
        "%s has errors, so its last good version stays in force: %s",
        held.source.shown,
        "; ".join(str(problem) for problem in held.problems),
    )
    return known.in_force.held


def _last_importable(imported: InForce, new: tuple[Problem, ...], known: Watching | None) -> InForce:
    """What was imported before, where importing it now does not go well; `new` is what nobody was told yet."""
    if imported.good or known is None or not known.in_force.good:
        return imported
    if new:
        _log.warning(
            "%s names a folder with errors, so its last good version stays in force: %s",
            imported.held.source.shown,
            "; ".join(map(str, new)),
        )
    return known.in_force


def _of_layer(files: dict[Source, Watching], layering: Layering) -> list[InForce]:
    return [each.in_force for source, each in files.items() if source.layer is layering]


def _marks_of_names(in_force: InForce) -> Mark:
    try:
        return tuple((path, _mark_of(path)) for path in in_force.named_files())
    except TooManyNames:
        return ("too many",)


def _mark_of(path: Path) -> Mark:
    try:
        status = os.stat(path)
    except OSError as error:
        return (error.errno,)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
