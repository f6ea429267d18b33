"""Files → book."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hookline.config.problem import Problem
from hookline.config.reader import salvage_text
from hookline.engine.book import Book, Layer, gc_paused
from hookline.errors import ConfigError
from hookline.hooks.host import Host
from hookline.project.parsed_file import ParsedFile, parse_document, read_source
from hookline.project.sources import Source, SourceLayer, find_sources, named_source
from hookline.project.trust_store import EffectiveFile, Trust, trust_file_path


def load(path: str | os.PathLike[str], dialect: str | None = None, *, importing: bool = True) -> Book:
    """One file, or a folder of code, trusted. What is wrong in a part of it stands in `book.problems`.

    Not `importing` runs nothing of it: the hooks of folders are missing, and a problem says so. Raises ConfigError if it cannot be read, or if it is a file of no dialect or could be of several.
    """
    with gc_paused():
        return _build_book(read_source(named_source(os.fspath(path), dialect)), importing)


def load_text(text: str, file: str, dialect: str | None = None) -> Book:
    """The text as if it stood in that file, trusted. Raises ConfigError as `load` does."""
    source = named_source(file, dialect)
    with gc_paused():
        document, problems = salvage_text(text, file)
        return _build_book(
            ParsedFile(source, problems=problems) if document is None else parse_document(document, source), True
        )


def load_all(sources: Iterable[Source], trust: Trust, *, importing: bool = True) -> Book:
    """One layer for each Layering. A bad file is a problem and leaves the others in force."""
    with gc_paused():
        in_force = [_resolve_folders(trust.effective_file(read_source(source)), importing) for source in sources]
        layers = [
            Layer(layering, [hook for each in of_layer for hook in each.hooks])
            for layering in SourceLayer
            if (of_layer := [each for each in in_force if each.parsed.source.layer is layering])
        ]
        return Book(layers, make_local_host(), _collect_problems(in_force))


def load_for_directory(directory: Path, home: Path, trust: Trust | None = None) -> Book:
    """The hooks in force for a session in this directory; without `trust`, what the user accepted in this home."""
    return load_all(find_sources(directory, home), trust or Trust(trust_file_path(home)))


def make_local_host() -> Host:
    """A host that runs programs here and keeps the counts in memory."""
    from hookline.engine.limits import FireCounts
    from hookline.runners.local_host import LocalHost

    return LocalHost(FireCounts())


def _build_book(held: ParsedFile, importing: bool) -> Book:
    if held.dialect is None:
        raise ConfigError(held.problems)
    in_force = _resolve_folders(EffectiveFile(held, held.hooks, folders=held.folders), importing)
    return Book([Layer(held.source.layer, in_force.hooks)], make_local_host(), _collect_problems([in_force]))


def _resolve_folders(in_force: EffectiveFile, importing: bool) -> EffectiveFile:
    return in_force.import_folders() if importing else in_force.without_folders()


def _collect_problems(of_files: Iterable[EffectiveFile]) -> tuple[Problem, ...]:
    return tuple(problem for each in of_files for problem in (*each.parsed.problems, *each.problems))
