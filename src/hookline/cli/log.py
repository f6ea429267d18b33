"""`hookline log`"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable
from typing import Any, Final

import click

from hookline.cli.options import EventName, Verb, complete_hook, json_option
from hookline.cli.output import (
    Colour,
    flush_output,
    out,
    out_as_is,
    out_json_line,
    out_labelled,
    page_output,
    printable_lines,
    shorten_line,
    terminal_width,
)
from hookline.cli.progress import show_progress
from hookline.cli.record_options import (
    VERDICT_COLOURS,
    input_text,
    local_time,
    require_records,
    short_id,
    since_option,
    the_record,
)
from hookline.formatting import printable
from hookline.hooks.events import canonical_event
from hookline.record.record_log import LOG_KEYS, LogFilter, RecordLog

_LOOK_SECONDS: Final = 0.2
_DEFAULT_LIMIT: Final = 50
_FORMULA_STARTS: Final = ("=", "+", "-", "@")
_TOLD_OUTCOMES: Final = ("failed", "refused", "approved")
_VERDICTS: Final = ("allow", "ask", "deny", "silent")


@click.command(cls=Verb, short_help="Show what the hooks decided, newest last.")
@click.option("--follow", is_flag=True, help="Go on showing decisions as they are made.")
@since_option
@click.option("--host", default="", metavar="NAME", help="Only decisions in this host: claude-code, mcp, hookline …")
@click.option("--session", default="", metavar="ID", help="Only decisions of this session.")
@click.option("--event", type=EventName(), default=None, help="Only decisions about this event.")
@click.option("--tool", default="", metavar="NAME", help="Only calls of this tool, in any case.")
@click.option("--verdict", type=click.Choice(_VERDICTS), default=None, help="Only decisions with this verdict.")
@click.option(
    "--hook",
    default="",
    metavar="ID",
    shell_complete=complete_hook,
    help="Only decisions in which this hook took part.",
)
@click.option("--text", default="", metavar="WORD", help="Only records with this text in them.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=None, metavar="N", help="The last N; 50 unless --since is given."
)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for a spreadsheet.")
def verb(follow: bool, limit: int | None, as_json: bool, as_csv: bool, **wanted: Any) -> None:
    """Show what the hooks of every agent on this machine decided, newest last. `hookline why ID` explains one.

    \b
    hookline log
    hookline log --verdict deny --since 7d
    hookline log --follow --host claude-code
    hookline log --since 1h --json
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other.")
    directory = the_record()
    if not follow:
        require_records(directory)
    log = RecordLog(directory, _filter(**wanted))
    if follow:
        log.begin_to_follow()  # before the others are read, so that none is missed in between
    with show_progress(lambda: f"{log.lines_read:,} records read"):
        rows = log.all() if wanted["since"] and limit is None else log.latest(limit or _DEFAULT_LIMIT)
    with page_output(enabled=not (follow or as_json or as_csv)):
        show = _Printer(as_json, as_csv)
        show.print(rows)
        if not (show.printed or follow or as_json or as_csv):
            out("No decision matches.")
    if follow:
        _follow(log, show, {row["id"] for row in rows})


def _filter(event: str | None, verdict: str | None, **texts: str) -> LogFilter:
    return LogFilter(event=canonical_event(event) or "" if event else "", verdict=verdict or "", **texts)


def _follow(log: RecordLog, show: _Printer, shown: set[str]) -> None:
    try:
        for row in log.follow():
            if row is not None:
                show.print([row] if row["id"] not in shown else [])
            elif flush_output():
                time.sleep(_LOOK_SECONDS)
            else:
                return
    except KeyboardInterrupt:
        return


class _Printer:
    def __init__(self, as_json: bool, as_csv: bool) -> None:
        self._as_json = as_json
        self._as_csv = as_csv
        self._day = ""
        self.printed = 0
        if as_csv:
            self._print_csv(LOG_KEYS)

    def print(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self.printed += 1
            if self._as_json:
                out_json_line(row)
            elif self._as_csv:
                self._print_csv([input_text(row[key], None) if key == "input" else row[key] for key in LOG_KEYS])
            else:
                self._print_line(row)

    def _print_csv(self, cells: Iterable[Any]) -> None:
        line = io.StringIO()
        csv.writer(line).writerow([_csv_cell(cell) for cell in cells])
        out_as_is(line.getvalue().removesuffix("\r\n"))

    def _print_line(self, row: dict[str, Any]) -> None:
        """A line of the terminal's width: time, verdict, id, host, tool or event, hook, input."""
        day, at = local_time(row["at"], date=True).split(" ")
        if day != self._day:
            self._day = day
            out(day, Colour.DIM)
        verdict = row["verdict"] or ""
        subject = row["tool"] or ""
        if row["event"] != "tool.before":
            subject = f"{row['event']} {subject}".rstrip()
        is_told = row["outcome"] in _TOLD_OUTCOMES or (row["outcome"] and verdict == "ask")
        outcome = f"[{row['outcome']}] " if is_told else ""
        hook = f"{row['hook']}: " if row["hook"] else ""
        place = f"{short_id(row['id']):<9} {row['host'] or '':<11}"
        text = f" {place} {subject:<11} {outcome}{hook}{input_text(row['input'])}"
        line = shorten_line(printable(text).rstrip(), max(20, terminal_width() - len(at) - 8))
        out_labelled(f"{at} {verdict:<6}", VERDICT_COLOURS.get(verdict, Colour.DIM), line)


def _csv_cell(cell: Any) -> Any:
    """An agent's text must not be a formula for the spreadsheet that opens the table, nor control a terminal."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return cell
    text = printable_lines(cell)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
