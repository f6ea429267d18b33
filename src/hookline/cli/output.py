"""Prints text, tables and JSON. A reader that closes the pipe is not an error."""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final, TextIO

from hookline.formatting import printable
from hookline.lazy_imports import shutil

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MAX_NESTING: Final = 200


class Colour(StrEnum):
    """What a text is, as a terminal shows it."""

    BOLD = "1"
    DIM = "2"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"


def out(text: str = "", colour: Colour | None = None) -> None:
    _write(sys.stdout, _paint(printable_lines(text), colour, sys.stdout))


def out_labelled(label: str, colour: Colour, text: str) -> None:
    """The coloured label, then the text."""
    _write(sys.stdout, _paint(printable(label), colour, sys.stdout) + printable_lines(text))


def err(text: str, colour: Colour | None = None) -> None:
    _write(sys.stderr, _paint(fit_terminal(printable_lines(text), sys.stderr), colour, sys.stderr))


def fit_terminal(text: str, stream: TextIO | None) -> str:
    """The text with its long lines wrapped, if it is for a terminal; programs read each message as one line."""
    if stream is None or not stream.isatty():
        return text
    width = terminal_width()
    return "\n".join(wrap(line, "", hanging="  ") if len(line) > width else line for line in text.split("\n"))


def _paint(text: str, colour: Colour | None, stream: TextIO | None) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if colour and text and shows_colours(stream) else text


def shows_colours(stream: TextIO | None) -> bool:
    """On a terminal. NO_COLOR and FORCE_COLOR have the last word."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def out_as_is(text: str) -> None:
    """For the content of files: escapes only what the terminal's encoding lacks."""
    _write(sys.stdout, text)


def write_now(text: str) -> None:
    """Without a newline at the end, and flushed."""
    _write(sys.stdout, printable_lines(text), end="")
    _flush()


def err_line(line: str) -> None:
    _write(sys.stderr, fit_terminal(line, sys.stderr))


def printable_lines(text: str) -> str:
    """Escapes characters that could move the cursor or hide text; keeps line breaks."""
    return "\n".join(printable(line) for line in text.split("\n"))


def out_json(value: Any) -> None:
    _write(sys.stdout, format_json(value))


def out_json_line(value: Any) -> None:
    """On one line, and flushed."""
    _write(sys.stdout, format_json(value, indent=None))
    _flush()


def format_json(value: Any, indent: int | None = 2) -> str:
    """Always valid JSON: values of a hook or host that JSON cannot express are converted."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(_to_plain(value, 0), ensure_ascii=False, indent=indent)
    if not _supports_unicode(sys.stdout):
        return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in text)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _to_plain(value: Any, depth: int) -> Any:
    if depth > _MAX_NESTING:
        return "…"
    if isinstance(value, dict):
        return {str(key): _to_plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_plain(each, depth + 1) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Aligned columns without the empty ones. Rows that are too long for the terminal become blocks of lines."""
    shown = [[printable(cell) for cell in row] for row in rows]
    kept = [at for at in range(len(head)) if any(row[at] for row in shown)]
    head, shown = [head[at] for at in kept], [[row[at] for at in kept] for row in shown]
    widths = [max(len(row[at]) for row in (head, *shown)) for at in range(len(head))]
    if sum(widths) + 2 * len(widths) - 2 > terminal_width():
        _print_blocks(head, shown)
        return
    for number, row in enumerate((head, *shown)):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        out(line, Colour.DIM if number == 0 else None)


def _print_blocks(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first cell on a line of its own, which never splits it, and the others below it."""
    for row in rows:
        out(row[0], Colour.BOLD)
        for title, cell in zip(head[1:], row[1:], strict=True):
            if cell:
                out(wrap(f"{title}: {cell}" if title else cell, "  "))


def wrap(text: str, indent: str, *, hanging: str = "", split_words: bool = False) -> str:
    """Lines that fit the terminal, all but the first with the `hanging` indent too.

    Words, and so paths and ids, are never split, unless `split_words` says so.
    """
    import textwrap

    wrapper = textwrap.TextWrapper(
        terminal_width(),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=split_words,
        break_on_hyphens=False,
    )
    return "\n".join(wrapper.fill(line) or indent.rstrip() for line in text.split("\n"))


def shorten_line(line: str, width: int) -> str:
    """Cuts it to this many columns. A Chinese, Japanese or Korean character takes two."""
    import unicodedata  # few commands need it

    columns = 0
    for index, character in enumerate(line):
        before = columns
        columns += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
        if columns > width:
            has_room_for_ellipsis = before < width
            return f"{line[: index if has_room_for_ellipsis else index - 1]}…"
    return line


def terminal_width() -> int:
    """80 if the output is not a terminal, unless COLUMNS says otherwise."""
    if isinstance(sys.stdout, _TerminalText) and sys.stdout.columns is not None:
        return sys.stdout.columns
    return shutil.get_terminal_size((80, 24)).columns


@contextmanager
def page_output(*, enabled: bool = True) -> Iterator[None]:
    """On a terminal, what is printed inside and does not fit on the screen is shown by the user's pager."""
    terminal = sys.stdout
    if not enabled or terminal is None or not terminal.isatty():
        yield
        return
    collected = _TerminalText(terminal.encoding)
    sys.stdout = collected
    try:
        yield
    finally:
        sys.stdout = terminal
        text = collected.text()
        if text.count("\n") < shutil.get_terminal_size((80, 24)).lines:
            _write(terminal, text, end="")
        else:
            _flush()
            import click

            click.echo_via_pager(text)


@contextmanager
def collect_output(columns: int) -> Iterator[Callable[[], str]]:
    """Yields a function that returns what was printed inside, with the colours of a terminal, in lines of this width."""
    shown, sys.stdout = sys.stdout, (collected := _TerminalText("utf-8", columns))
    try:
        yield collected.text
    finally:
        sys.stdout = shown


class _TerminalText(io.TextIOWrapper):
    """Collects text for a terminal with this encoding, and of this width, if it is not that of the terminal itself."""

    def __init__(self, encoding: str, columns: int | None = None) -> None:
        self.columns = columns
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding, newline="\n", write_through=True)

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        return self._bytes.getvalue().decode(self.encoding)


def _write(stream: TextIO | None, text: str, end: str = "\n") -> None:
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + end)
    except BrokenPipeError:
        silence(stream)


def _flush() -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)


def flush_output() -> bool:
    """For a verb that prints now and then. False if nobody reads it any more, so that it can end."""
    _flush()
    return not _silenced


_silenced: Final[list[bool]] = []


def silence(stream: TextIO) -> None:
    """Discards what is buffered and what follows: the reader has closed the pipe."""
    _silenced.append(True)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _supports_unicode(stream: TextIO | None) -> bool:
    encoding = getattr(stream, "encoding", None)  # a stream that only collects text has none
    return not encoding or encoding.lower().replace("_", "-") in ("utf-8", "utf8")
