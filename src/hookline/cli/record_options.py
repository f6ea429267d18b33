"""What the verbs that read the record share: where it is, times, and how a row looks."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click

from hookline.cli.context import load_book
from hookline.cli.output import Colour, format_json
from hookline.cli.progress import show_progress
from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.hooks.tools import find_main_field
from hookline.project.private_file import state_directory
from hookline.record.archive import archive_if_due
from hookline.record.segment import RecordDirectory, record_directory

_AGO: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_MAX_INPUT: Final = 300  # characters
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_BEFORE_ALL_TIMES: Final = "0001-01-01T00:00:00.000000Z"
VERDICT_COLOURS: Final = {"deny": Colour.RED, "ask": Colour.YELLOW, "allow": Colour.GREEN, "silent": Colour.DIM}


class Since(click.ParamType):  # type: ignore[type-arg]
    """`2h` (that long ago) or a date or time in ISO form, as the time of a record."""

    name = "time"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value:
            return value
        ago = _AGO.fullmatch(value)
        if ago is not None:
            try:
                return record_time(datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])}))
            except OverflowError:
                return _BEFORE_ALL_TIMES
        try:
            return record_time(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            self.fail(f"{printable(value)!r} is not a time. Write 2h, 7d, 2026-11-16 or 2026-11-16T09:00.", param, ctx)


since_option = click.option(
    "--since", type=Since(), default="", metavar="TIME", help="Only after this: 2h, 7d, 2026-11-16, 2026-11-16T09:00."
)


@contextmanager
def quiet_hooks() -> Iterator[None]:
    """Hooks that are replayed log nothing: what they said then was said then."""
    log = logging.getLogger("hookline")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def the_record() -> RecordDirectory:
    """The user's record. First, what is due is archived, so that reading it stays quick."""
    directory = record_directory(state_directory())
    if directory.is_archiving_due():
        with quiet_hooks(), show_progress(lambda: "archiving records"):
            archive_if_due(directory, lambda: load_book((), None, importing=False).record.keep)
    return directory


def require_records(directory: RecordDirectory) -> None:
    """Raises HooklineError if nothing was ever recorded."""
    if os.path.lexists(directory.path) and not directory.path.is_dir():
        raise HooklineError(f"{directory.path} is not a directory, so nothing is recorded. Remove it.")
    if not directory.path.is_dir():
        raise HooklineError(
            "nothing is recorded yet. Decisions of agents are recorded once `hookline install` has put the hooks in "
            "place; `record: off` in your own file switches it off."
        )


def record_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def local_time(at: str, *, date: bool = False) -> str:
    """`09:05:12`, in the time zone of the reader."""
    moment = datetime.fromisoformat(at).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M:%S" if date else "%H:%M:%S")


def input_text(input: Any, most: int | None = _MAX_INPUT) -> str:
    """What a call is about, on one line: its main field, the only text in its input, or the input as JSON.

    At most so many characters of it, for a line of a table; `None`: all.
    """
    if input is None:
        return ""
    if isinstance(input, dict):
        texts = [value for value in input.values() if isinstance(value, str)]
        main = find_main_field(input)
        if main is not None:
            return printable(input[main][:most])
        if len(input) == 1 and len(texts) == 1:
            return printable(texts[0][:most])
    return printable(format_json(input, indent=None)[:most])


def short_id(id: str) -> str:
    """Enough of a record's id to name it: `3f9a-12`."""
    writer, _, number = id.partition("-")
    return f"{writer[:4]}-{number}"
