"""A text without our entries: to the byte as it was before us, if nobody has touched it since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hookline.config.document import MISSING, Document
from hookline.config.read import Kind, read_text
from hookline.hosts.install.command import Calling
from hookline.hosts.install.edit import Path, read
from hookline.hosts.install.records import Record
from hookline.hosts.install.removal import cut_back, differs_in_ours, taken_out

_HOOKS: Final = "hooks"


def restored(text: str, file: str, calling: Calling, record: Record | None) -> str | None:
    """None where the file is not to be there at all."""
    if record is not None and text == record.installed:
        return record.original
    bare = _bare(text, file, calling, record)
    if record is None:
        return bare
    unused = _only_ours(bare, file, record)
    if record.original is None:
        return None if unused else bare
    exact = cut_back(record.installed, text, record.splices)
    if exact is None and differs_in_ours(record.original, text, record.splices):
        exact = record.original
    return exact if exact is not None and (unused or _same(exact, bare, file)) else bare


def ours_in(document: Document, calling: Calling) -> Iterator[Path]:
    """Where each of our entries stands; one that somebody has put among others of his own is found there."""
    hooks = document.at((_HOOKS,))
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for index, entry in enumerate(entries) if isinstance(entries, list) else ():
            if calling.is_ours(entry):
                yield _HOOKS, event, index
            elif isinstance(entry, dict) and isinstance(entry.get(_HOOKS), list):
                group = enumerate(entry[_HOOKS])
                yield from ((_HOOKS, event, index, _HOOKS, at) for at, each in group if calling.is_ours(each))


def _bare(text: str, file: str, calling: Calling, record: Record | None) -> str:
    """Without our entries, and without the lists that we have made and nobody else uses."""
    document = read(text, file)
    original = read(record.original or "", file) if record is not None else None
    emptied: dict[Path, None] = {path[:2]: None for path in ours_in(document, calling)}
    while (ours := next(ours_in(document, calling), None)) is not None:
        text = taken_out(text, file, ours)
        document = read(text, file)
    for path in (*emptied, (_HOOKS,)) if emptied else ():
        made = original is None or original.at(path) is MISSING
        if made and document.at(path) in ([], {}):
            text = taken_out(text, file, path)
            document = read(text, file)
    return text


def _only_ours(text: str, file: str, record: Record) -> bool:
    """True if the file said nothing before us, and nothing is left but what ours says beside its hooks."""
    ours = read(record.installed, file).value
    return not read(record.original or "", file).value and all(
        key != _HOOKS and ours.get(key, MISSING) == value for key, value in read(text, file).value.items()
    )


def _same(text: str, other: str, file: str) -> bool:
    document, _ = read_text(text, file, Kind.JSON)
    return document is not None and document.value == read(other, file).value
