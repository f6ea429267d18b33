"""Loads hook files into a book."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookline.config.problem import OnProblem, Problem, refuse_errors
from hookline.config.reader import salvage_text
from hookline.engine.book import Book, Layer
from hookline.errors import ConfigError
from hookline.hooks.hook import Hook
from hookline.hooks.hook_files import HoldReason, HookFiles
from hookline.hooks.host import Host
from hookline.hooks.record_settings import DEFAULT_KEEP, DEFAULT_SETTINGS, RecordSettings
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import gc_paused
from hookline.project.effective_file import EffectiveFile
from hookline.project.parsed_file import ParsedFile, parse_document, read_source
from hookline.project.sources import Source, SourceLayer, named_source, own_file_source

if TYPE_CHECKING:
    from hookline.project.trust_store import Trust


def load(
    path: str | os.PathLike[str],
    dialect: str | None = None,
    *,
    importing: bool = True,
    host: Host | None = None,
    on_problem: OnProblem = "raise",
) -> Book:
    """Loads one file or folder of code as trusted. Raises ConfigError with every error in it.

    With `on_problem="warn"` errors in parts of the file are logged, and the rest is loaded. With `importing=False` no code
    runs: the hooks of folders are missing, and a warning in `book.problems` says so.
    """
    book = load_file(path, dialect, importing=importing, host=host)
    refuse_errors((*book.problems, *_script_problems(book)), on_problem)
    return book


def _script_problems(book: Book) -> Iterable[Problem]:
    if "hookline.hooks.actions.script" not in sys.modules:  # then no hook can have a script
        return ()
    from hookline.project.script_lint import script_problems

    return script_problems(book.hooks)


def load_file(
    path: str | os.PathLike[str],
    dialect: str | None = None,
    *,
    importing: bool = True,
    host: Host | None = None,
    own_record: RecordSettings | None = None,
) -> Book:
    """Like `load`, for callers that show the problems: those in parts of the file are in `book.problems`.

    A host that records gives what `own_record_settings` says: it holds whatever file is named. Raises ConfigError if the file
    cannot be read, or if no dialect or more than one recognises it.
    """
    with gc_paused():
        return _build_book(read_source(named_source(os.fspath(path), dialect)), importing, host, own_record)


def own_record_settings(home: Path, config_home: Path | None, state: Path) -> RecordSettings | None:
    """What the user's own file says about recording, or its last good version; None if it says nothing."""
    from hookline.project.last_good_version import LastGoodVersions

    source = own_file_source(home, config_home)
    return None if source is None else LastGoodVersions(state).resolve(read_source(source)).record


def load_text(text: str, file: str, dialect: str | None = None) -> Book:
    """Loads the text as if it were in that file, as trusted. Raises ConfigError like `load_file`."""
    source = named_source(file, dialect)
    with gc_paused():
        return _build_book(_parse_text(text, source, file), True)


def _parse_text(text: str, source: Source, file: str) -> ParsedFile:
    """A function of its own, so that the document is gone before the index is built: it is as large as the hooks."""
    document, problems = salvage_text(text, file)
    return ParsedFile(source, problems=problems) if document is None else parse_document(document, source)


def load_all(sources: Iterable[Source], trust: Trust, *, importing: bool = True, host: Host | None = None) -> Book:
    """Builds one layer for each SourceLayer. A file with errors becomes a problem; the others stay active.

    Instead of a file that cannot be read, its last good version counts; if there is none, every tool call is held.
    """
    from hookline.project.holding_hooks import hold_if_unreadable, hold_on_problems, holding_layers
    from hookline.project.last_good_version import LastGoodVersions

    with gc_paused():
        copies = LastGoodVersions(trust.path.parent)
        in_force = [hold_if_unreadable(trust.effective_file(copies.resolve(read_source(each)))) for each in sources]
        effective = [_resolve_folders(each, importing) for each in in_force]
        layers = [Layer(layering, hooks) for layering, hooks in hooks_by_layer(effective).items()]
        problems = _collect_problems(effective)
        holds = hold_on_problems((each.parsed for each in effective), problems)
        layers += holding_layers(holds)
        return Book(layers, host or make_local_host(), problems, *describe_files(effective, holds))


def hooks_by_layer(files: Sequence[EffectiveFile]) -> dict[SourceLayer, tuple[Hook, ...]]:
    """The hooks of every layer that has a file."""
    found: dict[SourceLayer, tuple[Hook, ...]] = {}
    for each, hooks in zip(files, _hooks_of_each(files), strict=True):
        found[each.parsed.source.layer] = (*found.get(each.parsed.source.layer, ()), *hooks)
    return {layering: found[layering] for layering in SourceLayer if layering in found}


def _hooks_of_each(files: Sequence[EffectiveFile]) -> list[tuple[Hook, ...]]:
    if sum(bool(each.parsed.packs) for each in files) < 2:
        return [each.hooks for each in files]
    from hookline.project.repeated_hooks import HooksOfFile, drop_repeated_hooks  # few projects extend a pack twice

    return drop_repeated_hooks(
        HooksOfFile(each.parsed.source.display_path, each.hooks, bool(each.parsed.packs)) for each in files
    )


def load_for_directory(
    directory: Path, home: Path, trust: Trust | None = None, config_home: Path | None = None
) -> Book:
    """The active hooks for a session in this directory; without `trust`, with what the user trusts in this home."""
    from hookline.project.trust_store import Trust, log_changes, trust_file_path

    known = trust or Trust(trust_file_path(home))
    book = load_all(known.sources(directory, home, config_home), known)
    log_changes(book.problems)
    return book


def make_local_host() -> Host:
    """A host that runs programs on this machine and keeps fire counts in memory."""
    from hookline.engine.limits import FireCounts
    from hookline.runners.local_host import LocalHost

    return LocalHost(FireCounts())


def _build_book(
    parsed: ParsedFile, importing: bool, host: Host | None = None, own_record: RecordSettings | None = None
) -> Book:
    if parsed.dialect is None:
        raise ConfigError(parsed.problems)
    effective = _resolve_folders(EffectiveFile(parsed, parsed.hooks, folders=parsed.folders), importing)
    problems = _collect_problems([effective])
    layers = [Layer(parsed.source.layer, effective.hooks)]
    files, settings = describe_files([effective], own_record=own_record)
    if own_record is None:
        settings = replace(settings, keep=None)  # how long records are kept is for the user's own file to say
    return Book(layers, host or make_local_host(), problems, files, settings)


def describe_files(
    files: Iterable[EffectiveFile], holds: tuple[HoldReason, ...] = (), own_record: RecordSettings | None = None
) -> tuple[HookFiles, RecordSettings]:
    """The texts of the files, and what the user's own ones say about recording.

    `own_record` is what the user's own file says if it is not among them, because others were named.
    """
    files = tuple(files)
    own = [each.parsed for each in files if each.parsed.source.project is None]
    said = next((parsed.record for parsed in own if parsed.record is not None), None)
    settings = (said or DEFAULT_SETTINGS) if own_record is None else own_record.restricted_by(said)
    settings = replace(settings, keep=settings.keep or DEFAULT_KEEP)
    texts = tuple(file for each in files for file in each.hook_files)
    return HookFiles(texts, (*(hold for each in files for hold in each.holds), *holds)), settings


def _resolve_folders(effective: EffectiveFile, importing: bool) -> EffectiveFile:
    return effective.import_folders() if importing else effective.without_folders()


def _collect_problems(of_files: Iterable[EffectiveFile]) -> tuple[Problem, ...]:
    return tuple(problem for each in of_files for problem in (*each.parsed.problems, *each.problems))
