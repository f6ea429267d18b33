"""Prints text, tables and JSON. A reader that closes the pipe is not an error."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Final, TextIO

from hookline.formatting import printable

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MAX_NESTING: Final = 200


def out(text: str = "") -> None:
    _write(sys.stdout, printable_lines(text))


def err(text: str) -> None:
    _write(sys.stderr, printable_lines(text))


def out_as_is(text: str) -> None:
    """For the content of files: escapes only what the terminal's encoding lacks."""
    _write(sys.stdout, text)


def write_now(text: str) -> None:
    """Without a newline at the end, and flushed."""
    _write(sys.stdout, printable_lines(text), end="")
    _flush()


def err_line(line: str) -> None:
    _write(sys.stderr, line)


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
    """Drawn by rich on a terminal, if it is installed; otherwise in plain aligned columns."""
    shown = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty() and importlib.util.find_spec("rich"):
        _print_rich_table(head, shown)
        return
    widths = [max(len(row[at]) for row in (head, *shown)) for at in range(len(head))]
    for row in (head, *shown):
        out("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_rich_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in head:
        drawn.add_column(title, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(drawn)


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


def silence(stream: TextIO) -> None:
    """Discards what is buffered and what follows: the reader has closed the pipe."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _supports_unicode(stream: TextIO | None) -> bool:
    return stream is None or (stream.encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")
