"""Files → book."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hookline.config.problem import Problem
from hookline.config.read import salvage_text
from hookline.engine.book import Book, Layer, garbage_kept
from hookline.errors import ConfigError
from hookline.hooks.host import Host
from hookline.project.held import Held, read, said_in
from hookline.project.sources import Layering, Source, find, named
from hookline.project.trust import InForce, Trust, state_file


def load(path: str | os.PathLike[str], dialect: str | None = None, *, importing: bool = True) -> Book:
    """One file, or a folder of code, trusted. What is wrong in a part of it stands in `book.problems`.

    Not `importing` runs nothing of it: the hooks of folders are missing, and a problem says so. Raises ConfigError if it cannot be read, or if it is a file of no dialect or could be of several.
    """
    with garbage_kept():
        return _book_of(read(named(os.fspath(path), dialect)), importing)


def load_text(text: str, file: str, dialect: str | None = None) -> Book:
    """The text as if it stood in that file, trusted. Raises ConfigError as `load` does."""
    source = named(file, dialect)
    with garbage_kept():
        document, problems = salvage_text(text, file)
        return _book_of(Held(source, problems=problems) if document is None else said_in(document, source), True)


def load_all(sources: Iterable[Source], trust: Trust, *, importing: bool = True) -> Book:
    """One layer for each Layering. A bad file is a problem and leaves the others in force."""
    with garbage_kept():
        in_force = [_with_folders(trust.in_force(read(source)), importing) for source in sources]
        layers = [
            Layer(layering, [hook for each in of_layer for hook in each.hooks])
            for layering in Layering
            if (of_layer := [each for each in in_force if each.held.source.layer is layering])
        ]
        return Book(layers, this_machine(), _problems(in_force))


def load_here(directory: Path, home: Path, trust: Trust | None = None) -> Book:
    """The hooks in force for a session in this directory; without `trust`, what the user accepted in this home."""
    return load_all(find(directory, home), trust or Trust(state_file(home)))


def this_machine() -> Host:
    """A host that runs programs here and keeps the counts in memory."""
    from hookline.engine.limits import Counts
    from hookline.runners.here import Here

    return Here(Counts())


def _book_of(held: Held, importing: bool) -> Book:
    if held.dialect is None:
        raise ConfigError(held.problems)
    in_force = _with_folders(InForce(held, held.hooks, folders=held.folders), importing)
    return Book([Layer(held.source.layer, in_force.hooks)], this_machine(), _problems([in_force]))


def _with_folders(in_force: InForce, importing: bool) -> InForce:
    return in_force.imported() if importing else in_force.not_imported()


def _problems(of_files: Iterable[InForce]) -> tuple[Problem, ...]:
    return tuple(problem for each in of_files for problem in (*each.held.problems, *each.problems))
