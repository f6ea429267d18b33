"""Files → book."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hookline.config.problem import Problem
from hookline.config.read import read_text
from hookline.engine.book import Book, Layer, garbage_kept
from hookline.errors import ConfigError
from hookline.hooks.host import Host
from hookline.project.held import Held, read, said_in
from hookline.project.sources import Layering, Source, find, named
from hookline.project.trust import Trust, state_file


def load(path: str | os.PathLike[str], dialect: str | None = None) -> Book:
    """One file, trusted. What is wrong in a part of it stands in `book.problems`.

    Raises ConfigError if it cannot be read, or if it is a file of no dialect or could be of several.
    """
    with garbage_kept():
        return _book_of(read(named(os.fspath(path), dialect)))


def load_text(text: str, file: str, dialect: str | None = None) -> Book:
    """The text as if it stood in that file, trusted. Raises ConfigError as `load` does."""
    source = named(file, dialect)
    with garbage_kept():
        document, problems = read_text(text, file)
        return _book_of(Held(source, problems=problems) if document is None else said_in(document, source))


def load_all(sources: Iterable[Source], trust: Trust) -> Book:
    """One layer for each Layering. A bad file is a problem and leaves the others in force."""
    with garbage_kept():
        in_force = [trust.in_force(read(source)) for source in sources]
        layers = [
            Layer(layering, [hook for each in of_layer for hook in each.hooks])
            for layering in Layering
            if (of_layer := [each for each in in_force if each.held.source.layer is layering])
        ]
        return Book(layers, this_machine(), _problems(each.held for each in in_force))


def load_here(directory: Path, home: Path, trust: Trust | None = None) -> Book:
    """The hooks in force for a session in this directory; without `trust`, what the user accepted in this home."""
    return load_all(find(directory, home), trust or Trust(state_file(home)))


def this_machine() -> Host:
    """A host that runs programs here and keeps the counts in memory."""
    from hookline.engine.limits import Counts
    from hookline.runners.here import Here

    return Here(Counts())


def _book_of(held: Held) -> Book:
    if held.dialect is None:
        raise ConfigError(held.problems)
    return Book([Layer(held.source.layer, held.hooks)], this_machine(), held.problems)


def _problems(of_files: Iterable[Held]) -> tuple[Problem, ...]:
    return tuple(problem for held in of_files for problem in held.problems)
