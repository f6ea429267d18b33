"""`hookline stats`"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from hookline.cli.context import home, load_book
from hookline.cli.options import Verb, json_option
from hookline.cli.output import (
    Colour,
    out,
    out_json_line,
    out_labelled,
    page_output,
    print_table,
    terminal_width,
    wrap,
)
from hookline.cli.progress import show_progress
from hookline.cli.record_options import local_time, quiet_hooks, require_records, since_option, the_record
from hookline.engine.book import Book
from hookline.hooks.conditions.past_events import is_observer
from hookline.record.events_by_hook import EventsByHook, HookKey
from hookline.record.hook_stats import HookStats, count_hooks
from hookline.record.hooks_then import HookPaths, paths_by_name
from hookline.record.record_reader import first_time, read_records
from hookline.record.segment import RecordDirectory

_HEAD: Final = ("hook", "where", "ran", "of", "spoke", "denied", "asked", "failed", "p50 ms", "p95 ms", "sum ms")
_EVENTS: Final = _HEAD.index("of")
_MIN_PLACE: Final = 16  # characters of a file's name

EventsOf = Callable[[HookStats], int]


@click.command(cls=Verb, short_help="Count how often each hook acted, and how long it took.")
@since_option
@json_option
def verb(since: str, as_json: bool) -> None:
    """Count for each hook how many events it was tested on, how often it ran, spoke (answered in any way), denied, asked
    and failed, and how long it took. List the active hooks that never fired, and those that another hook always overrides.

    \b
    hookline stats --since 7d
    """
    directory = the_record()
    require_records(directory)
    counted, events = _count(directory, since)
    rows = sorted(counted.values(), key=lambda each: (-each.ran, each.hook))
    book = load_book((), None, importing=False)
    idle = _idle_hooks(book, counted)
    observers = {hook.id for hook in book.hooks if is_observer(hook)}
    rows = [each for each in rows if each.hook not in observers]
    if as_json:
        for each in (*rows, *idle):
            about = {**each.as_json(), "events": events(each)}
            out_json_line({**about, "always_overridden": each.is_always_overridden})
        return
    with page_output():
        _show(rows, idle, events, _window(directory, since))


def _count(directory: RecordDirectory, since: str) -> tuple[dict[HookKey, HookStats], EventsOf]:
    asked = EventsByHook(directory, since)

    def has_hooks(line: bytes) -> bool:
        asked.add(line)
        return b'"trace":' in line

    with show_progress(lambda: f"{asked.lines_read:,} records read"), quiet_hooks():
        counted = count_hooks(read_records(directory, has_hooks, since), HookPaths(directory).find)
        by_hook = asked.by_hook()
    return counted, lambda each: max(each.ran, by_hook[each.file, each.hook])


def _idle_hooks(book: Book, counted: dict[HookKey, HookStats]) -> list[HookStats]:
    """The hooks that are active here and took part in no decision."""
    paths = paths_by_name(book.files)
    written = [hook for hook in book.hooks if hook.enabled and not is_observer(hook)]
    active = [(paths.get(hook.origin.file, hook.origin.file), hook) for hook in written]
    return [HookStats(hook.id, path, hook.origin.line) for path, hook in active if (path, hook.id) not in counted]


def _window(directory: RecordDirectory, since: str) -> str:
    """`since 2026-11-09 09:00`, or since the oldest record."""
    begun = max(since, first_time(directory))
    return f"since {local_time(begun, date=True)[:16]}" if begun else "yet"


def _show(rows: Sequence[HookStats], idle: Sequence[HookStats], events: EventsOf, window: str) -> None:
    if rows:
        _show_table(rows, events)
    else:
        out(f"No hook has acted {window}.")
    if idle:
        out(f"\nNever fired {window}:", Colour.YELLOW)
    for each in idle:
        out_labelled(f"  {each.hook}", Colour.YELLOW, f"  {_place(each)}")
    for each in rows:
        if each.is_always_overridden:
            out(wrap(f"{each.hook} ({_place(each)}) was always overridden by another hook", ""), Colour.YELLOW)


def _show_table(rows: Sequence[HookStats], events: EventsOf) -> None:
    """Numbers that are zero are left out, and so are columns of them. Long paths lose their beginning, if that is enough to
    fit the terminal; if it is not, the number of events is left out. If that is not enough either, nothing is.
    """
    full = [_HEAD, *(_row(each, events(each)) for each in rows)]
    least = min(_MIN_PLACE, max(len(row[1]) for row in full))
    for table in (full, [row[:_EVENTS] + row[_EVENTS + 1 :] for row in full]):
        room = _room_for_places(table)
        if room >= least:
            head, *cells = table
            print_table(head, [(row[0], _shorten_start(row[1], room), *row[2:]) for row in cells])
            return
    print_table(full[0], full[1:])


def _room_for_places(table: Sequence[tuple[str, ...]]) -> int:
    """The columns of the terminal that are left for the second one of the table, `where`."""
    head, *cells = table
    kept = [at for at in range(len(head)) if any(row[at] for row in cells)]
    widths = (max(len(row[at]) for row in table) for at in kept if at != 1)
    return terminal_width() - sum(widths) - 2 * (len(kept) - 1)


def _row(each: HookStats, events: int) -> tuple[str, ...]:
    counts = (each.ran, events, each.spoke, each.denied, each.asked, each.failed)
    times = (each.percentile(50), each.percentile(95), sum(each.times))
    shown = [f"{time:.2f}" if time < 1000 else f"{time:.0f}" for time in times]
    return (
        each.hook,
        _place(each),
        *(str(count or "") for count in counts),
        *("" if text == "0.00" else text for text in shown),
    )


def _place(each: HookStats) -> str:
    path = Path(each.file)
    for directory, prefix in ((Path.cwd(), ""), (home(), "~/")):
        if path.is_relative_to(directory):
            return f"{prefix}{path.relative_to(directory)}:{each.line}"
    return f"{each.file}:{each.line}"


def _shorten_start(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[1 - most :]}"
