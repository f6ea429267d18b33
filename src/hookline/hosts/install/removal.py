"""Pieces out of a JSON text again. Whatever else stands there stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookline.hosts.install.edit import Path, Splice, read
from hookline.hosts.install.layout import Container, comma_after, comments, container


def taken_out(text: str, file: str, path: Path) -> str:
    """The text without one element of a list or one key, and without one of the commas beside it."""
    document = read(text, file)
    body, around = document.text, container(document, path[:-1])
    step, value = path[-1], document.at(path[:-1])
    index = step if isinstance(step, int) else list(value).index(step)
    for start, end in sorted(_cuts(body, around, index), reverse=True):
        body = body[:start] + body[end:]
    return text[: len(text) - len(document.text)] + body


def _cuts(text: str, around: Container, index: int) -> Iterator[tuple[int, int]]:
    item = around.items[index]
    before = around.items[index - 1].end if index else around.start + 1
    comma = comma_after(text, item.end)
    if comma is None and index:
        comma = comma_after(text, before)
    if comma is not None:
        yield comma, comma + 1
    start = len(text[: item.start].rstrip(" \t\r\n"))
    behind = item.end if comma is None or comma < item.end else comma + 1
    commented = "//" in text[before : item.start]  # what follows must not come to stand in that comment
    yield (item.start if commented and _line(text, behind).strip() else start), item.end


def _line(text: str, position: int) -> str:
    """The rest of the line."""
    ends = [end for end in (text.find("\n", position), text.find("\r", position)) if end >= 0]
    return text[position : min(ends, default=len(text))]


def cut_back(installed: str, current: str, splices: Sequence[Splice]) -> str | None:
    """The current text without what was spliced into the installed one; None where an edit since touched any of it."""
    same = _alike(installed, current)
    most = min(len(installed), len(current)) - same
    same_end = len(installed) - min(_alike(installed[::-1], current[::-1]), most)
    shift = len(current) - len(installed)
    for start, end in reversed(_places(splices)):
        if end <= same:
            current = current[:start] + current[end:]
        elif start >= same_end:
            current = current[: start + shift] + current[end + shift :]
        else:
            return None
    return current


def differs_in_ours(original: str, current: str, splices: Sequence[Splice]) -> bool:
    """True if all of the original stands there, with something where we had put ours, and with no comment more."""
    first, *middle, last = _between(original, splices)
    at = len(first)
    for piece in middle:
        found = current.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    framed = current.startswith(first) and current.endswith(last) and at + len(last) <= len(current)
    return framed and comments(current) == comments(original)


def _between(original: str, splices: Sequence[Splice]) -> list[str]:
    ends = sorted(splice.at for splice in splices)
    return [original[start:end] for start, end in zip([0, *ends], [*ends, len(original)], strict=True)]


def _places(splices: Sequence[Splice]) -> list[tuple[int, int]]:
    """Where each splice stands in the text that has them all."""
    found, moved = [], 0
    for splice in sorted(splices, key=lambda each: each.at):
        found.append((splice.at + moved, splice.at + moved + len(splice.text)))
        moved += len(splice.text)
    return found


def _alike(text: str, other: str) -> int:
    """How many characters at their beginning are the same."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))
