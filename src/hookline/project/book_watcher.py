"""Keeps the book of a long-running process up to date with its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event as Signal
from threading import Lock, Thread
from time import perf_counter
from types import TracebackType
from typing import Final, Self, TypeAlias

from hookline.config.problem import Problem
from hookline.engine.book import Book, Layer
from hookline.hooks.host import Host
from hookline.hooks.record_settings import RecordSettings
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import gc_paused, lazy_logger
from hookline.project.effective_file import EffectiveFile
from hookline.project.holding_hooks import hold_if_unreadable, hold_on_problems, holding_layers
from hookline.project.last_good_version import LastGoodVersions
from hookline.project.loader import describe_files, hooks_by_layer, make_local_host
from hookline.project.parsed_file import ParsedFile, read_source
from hookline.project.referenced_files import TooManyReferencesError
from hookline.project.sources import Source
from hookline.project.trust_store import Trust, log_changes

_log = lazy_logger("hookline")

_POLL_SECONDS: Final = 0.4  # between two checks if no change is reported
_DEBOUNCE_MILLISECONDS: Final = 100  # changes within it count as one

FileStamp: TypeAlias = tuple[object, ...]
"""Differs if a file may have changed."""


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """The active hooks of one file, its stamp when they were read, and its current problems."""

    effective: EffectiveFile
    stamp: FileStamp
    problems: tuple[Problem, ...]


class BookWatcher:
    """`book` is always complete: it is replaced, never changed, and keeps its host and therefore its fire counts.

    Each check calls `sources` again, so it notices new and deleted files. If a file has errors, its last valid version
    stays active. If it is deleted, its hooks go, unless the user trusted them.
    """

    def __init__(
        self,
        sources: Callable[[], Iterable[Source]],
        trust: Trust,
        host: Host | None = None,
        own_record: RecordSettings | None = None,
    ) -> None:
        """`own_record` is what the user's own file says about recording, if it is not one of the sources."""
        self._sources = sources
        self._trust = trust
        self._own_record = own_record
        self._last_good_versions = LastGoodVersions(trust.path.parent)
        self._files: dict[Source, WatchedFile] = {}
        self._refresh_lock = Lock()
        self._stop = Signal()
        self._thread: Thread | None = None
        self.book = Book(host=host or make_local_host())
        self.refresh()

    @property
    def files(self) -> tuple[EffectiveFile, ...]:
        """The files whose hooks are in the book."""
        return tuple(each.effective for each in self._files.values())

    def start(self) -> Self:
        """Starts watching in a separate thread."""
        if self._thread is None:
            self._stop.clear()
            self._thread = Thread(target=self._watch_loop, name="hookline-watch", daemon=True)
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

    def refresh(self) -> bool:
        """True if the book was replaced."""
        with self._refresh_lock, gc_paused():
            before, now = self._files, self._check_files()
            if before == now and list(before) == list(now):
                return False
            self._files = now
            self.book = self._build_book(now)
            return True

    def _check_files(self) -> dict[Source, WatchedFile]:
        return {source: self._check_file(source, self._files.get(source)) for source in self._sources()}

    def _check_file(self, source: Source, known: WatchedFile | None) -> WatchedFile:
        if known is not None and known.stamp == self._current_stamp(source, known.effective):
            return known
        own = _file_stamp(source.path), _file_stamp(self._trust.path)
        parsed = self._last_good_versions.resolve(read_source(source))
        valid = parsed if self._trust.has_accepted(source) else _keep_last_valid(parsed, known)
        names = _reference_stamps(self._trust.effective_file(valid))
        judged = hold_if_unreadable(
            self._trust.effective_file(valid)
        )  # after the stamps: a change in between is noticed next time
        imported = judged.import_folders()
        present = parsed.problems if os.path.lexists(source.path) else ()  # an accepted file may be gone
        new = tuple(problem for problem in imported.problems if problem not in present)
        effective = _keep_last_importable(imported, new, known)
        if known is not None:
            log_changes(problem for problem in new if problem not in known.problems)
        return WatchedFile(effective, (*own, *names), (*present, *new))

    def _current_stamp(self, source: Source, effective: EffectiveFile) -> FileStamp:
        return (_file_stamp(source.path), _file_stamp(self._trust.path), *_reference_stamps(effective))

    def _build_book(self, now: dict[Source, WatchedFile]) -> Book:
        layers_before = {layer.name: layer for layer in self.book.layers}
        effective = [each.effective for each in now.values()]
        layers = []
        for layering, hooks in hooks_by_layer(effective).items():
            before = layers_before.get(layering)
            layers.append(before if before is not None and before.hooks == hooks else Layer(layering, hooks))
        problems = [problem for each in now.values() for problem in each.problems]
        holds = hold_on_problems((each.parsed for each in effective), problems)
        layers += holding_layers(holds)
        return Book(layers, self.book.host, problems, *describe_files(effective, holds, self._own_record))

    def _watch_loop(self) -> None:
        for _ in self._wait_for_changes():
            begun = perf_counter()
            self.refresh()
            self._stop.wait(perf_counter() - begun)  # spend at most half of the time on checks

    def _wait_for_changes(self) -> Iterator[None]:
        """Yields when a file near a source changed, and at intervals, because not every change is reported."""
        from watchfiles import watch

        while not self._stop.is_set():
            directories = self._watched_directories()
            try:
                for _ in watch(
                    *directories,
                    watch_filter=None,
                    debounce=_DEBOUNCE_MILLISECONDS,
                    rust_timeout=int(_POLL_SECONDS * 1000),
                    yield_on_timeout=True,
                    stop_event=self._stop,
                    raise_interrupt=False,
                    recursive=False,
                ):
                    yield
                    if self._watched_directories() != directories:
                        break
            except (OSError, RuntimeError) as error:  # a directory was deleted, or the system cannot watch more
                _log.debug("file watching failed, polling instead: %s", error)
                self._stop.wait(_POLL_SECONDS)
                yield

    def _watched_directories(self) -> list[Path]:
        near = {source.path.parent for source in self._files} | {self._trust.path.parent}
        return sorted(directory for directory in near if directory.is_dir())


def _keep_last_valid(parsed: ParsedFile, known: WatchedFile | None) -> ParsedFile:
    if parsed.is_valid or known is None or not known.effective.parsed.is_valid:
        return parsed
    _log.warning(
        "%s has errors, so its last valid version stays active: %s",
        parsed.source.display_path,
        "; ".join(str(problem) for problem in parsed.problems),
    )
    return known.effective.parsed


def _keep_last_importable(
    imported: EffectiveFile, new: tuple[Problem, ...], known: WatchedFile | None
) -> EffectiveFile:
    """The version imported before, if importing now fails. `new` are the problems that are not logged yet."""
    if imported.is_valid or known is None or not known.effective.is_valid:
        return imported
    if new:
        _log.warning(
            "%s names a folder with errors, so its last valid version stays active: %s",
            imported.parsed.source.display_path,
            "; ".join(map(str, new)),
        )
    return known.effective


def _reference_stamps(effective: EffectiveFile) -> FileStamp:
    try:
        return tuple((path, _file_stamp(path)) for path in effective.watched_files())
    except TooManyReferencesError:
        return ("too many",)


def _file_stamp(path: Path) -> FileStamp:
    try:
        status = os.stat(path)
    except OSError as error:
        return (error.errno,)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
