"""`hookline replay`"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import click

from hookline.cli.async_runner import run_async
from hookline.cli.options import Verb, json_option
from hookline.cli.output import (
    Colour,
    out,
    out_json_line,
    out_labelled,
    page_output,
    shorten_line,
    terminal_width,
    wrap,
)
from hookline.cli.problem_text import show_problems
from hookline.cli.progress import show_progress
from hookline.cli.record_options import (
    input_text,
    local_time,
    quiet_hooks,
    require_records,
    short_id,
    since_option,
    the_record,
)
from hookline.cli.recorded_hooks import RecordedHooks
from hookline.lazy_dataclasses import dataclass, field
from hookline.record.record_reader import read_records
from hookline.record.replayer import ReplayDifference, Replayed, Replayer, changed_parts, is_uncertain
from hookline.record.segment import RecordDirectory

_FOUND: Final = 2
_COLOURS: Final = {
    ReplayDifference.LOOSENED: Colour.RED,
    ReplayDifference.TIGHTENED: Colour.YELLOW,
    ReplayDifference.CHANGED: Colour.DIM,
    ReplayDifference.UNDECIDED: Colour.DIM,
}
_SUMMED_UP: Final = [each for each in ReplayDifference if each is not ReplayDifference.UNDECIDED]


@dataclass(slots=True)
class _Report:
    counts: Counter[ReplayDifference] = field(default_factory=Counter)
    different: list[Replayed] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    skipped: int = 0

    def count(self, kind: str) -> int:
        """What `--fail-on` finds. What cannot be decided again is listed, but nobody knows whether it differs."""
        if kind == "loosened":
            return self.counts[ReplayDifference.LOOSENED]
        return len(self.different) - self.counts[ReplayDifference.UNDECIDED]

    def sorted_differences(self) -> list[Replayed]:
        """Loosened ones first, each kind by time."""
        order = list(ReplayDifference)
        return sorted(self.different, key=lambda each: (order.index(each.difference), each.record["at"]))


@click.command(cls=Verb, short_help="Decide recorded events anew, and show what would change.")
@click.option("--with", "files", multiple=True, metavar="FILE", help="Under this hooks file; can be repeated.")
@since_option
@click.option(
    "--fail-on",
    type=click.Choice(["loosened", "changed"]),
    default=None,
    help="Exit with 2 if a decision is loosened, or changed in any way.",
)
@json_option
def verb(files: tuple[str, ...], since: str, fail_on: str | None, as_json: bool) -> int:
    """Decide every recorded event anew, under today's hooks or under these files, and show each decision that would be
    different; those that are not stopped any more come first. Nothing is run: what programs answered is taken from the
    record, and a hook whose answer is not there is named.

    \b
    hookline replay
    hookline replay --with hookline.yaml --since 7d --fail-on loosened

    Exit codes: 0, or 2 if --fail-on finds any.
    """
    directory = the_record()
    require_records(directory)
    hooks = RecordedHooks(directory, files)
    with quiet_hooks():
        report = run_async(_replay(directory, hooks, since))
    show_problems(hooks.problems())
    if as_json:
        _show_json(report)
    else:
        with page_output():
            _show(report)
    return _FOUND if fail_on and report.count(fail_on) else 0


async def _replay(directory: RecordDirectory, hooks: RecordedHooks, since: str) -> _Report:
    report, replay = _Report(), Replayer(hooks.now, hooks.then)
    with show_progress(lambda: f"{report.counts.total():,} decisions replayed"):
        for record in read_records(directory, lambda line: b'"kind":"decision"' in line, since):
            replayed = await replay.decide(record)
            if replayed is None:
                continue
            report.counts[replayed.difference] += 1
            report.unknown.update(replayed.unknown)
            if replayed.difference is not ReplayDifference.SAME:
                report.different.append(replayed)
    report.skipped = replay.skipped
    return report


def _show(report: _Report) -> None:
    for replayed in report.sorted_differences():
        _show_difference(replayed)
    counts = ", ".join(f"{report.counts[each]} {each}" for each in _SUMMED_UP)
    total = report.counts.total()
    out(f"{total} {'decision' if total == 1 else 'decisions'}: {counts}")
    if report.skipped:
        out(f"  {report.skipped} could not be replayed: their facts were not recorded")
    undecided = report.counts[ReplayDifference.UNDECIDED]
    if undecided:
        out(f"  {undecided} cannot be decided again: facts were masked or cut when they were recorded")
    for hook, count in report.unknown.most_common():
        events = "1 event" if count == 1 else f"{count} events"
        out(wrap(f"{hook}: its answer to {events} is not in the record, so it counts as silent", "  "))


def _show_difference(replayed: Replayed) -> None:
    record, decision = replayed.record, replayed.decision
    before = _verdict(record.get("verdict", ""), bool(record.get("halt")), record.get("hook"))
    after = _verdict(decision.verdict.word, decision.halt, decision.by)
    about = f"{local_time(record['at'], date=True)}  {short_id(record['id'])}  {record.get('tool') or record['event']}"
    label, change = f"{replayed.difference:<10}", f"{before} → {after}"
    if len(f"{label}{change}  {about}") > terminal_width():  # names of hooks may be long
        about = f"\n{' ' * len(label)}{about}"
    else:
        about = f"  {about}"
    change = wrap(change, " " * len(label), split_words=True).lstrip()
    out_labelled(label, _COLOURS[replayed.difference], change + about)
    facts = record["facts"]
    asked = input_text((facts.get("tool") or {}).get("input") or facts.get("prompt"))
    if asked:
        out(shorten_line(f"          {asked}", terminal_width()))
    if replayed.difference is ReplayDifference.CHANGED:
        out(wrap(f"differs in {', '.join(changed_parts(record, decision))}", " " * len(label)))


def _verdict(word: str, halt: bool, hook: str | None) -> str:
    return f"{'halt' if halt else word}{f' ({hook})' if hook else ''}"


def _show_json(report: _Report) -> None:
    for replayed in report.sorted_differences():
        out_json_line(_difference_json(replayed))
    counts = {str(each): report.counts[each] for each in ReplayDifference}
    out_json_line({"decisions": report.counts.total(), **counts, "skipped": report.skipped, "unknown": report.unknown})


def _difference_json(replayed: Replayed) -> dict[str, Any]:
    record, decision = replayed.record, replayed.decision
    return {
        "id": record["id"],
        "difference": str(replayed.difference),
        "event": record["event"],
        "tool": record.get("tool"),
        "before": {
            "verdict": record.get("verdict", ""),
            "halt": bool(record.get("halt")),
            "reason": record.get("reason", ""),
            "hook": record.get("hook"),
        },
        "after": {
            "verdict": decision.verdict.word,
            "halt": decision.halt,
            "reason": decision.reason,
            "hook": decision.by,
        },
        "parts": changed_parts(record, decision),
        "unknown": list(replayed.unknown),
        "uncertain": is_uncertain(record),
    }
