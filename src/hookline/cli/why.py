"""`hookline why`"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from hookline.cli.async_runner import run_async
from hookline.cli.decision_text import answer_text, show_decision
from hookline.cli.options import Verb, json_option
from hookline.cli.output import Colour, out, out_json_line, out_labelled, page_output, wrap
from hookline.cli.problem_text import show_problems
from hookline.cli.progress import show_progress
from hookline.cli.record_options import input_text, local_time, quiet_hooks, require_records, short_id, the_record
from hookline.cli.recorded_hooks import RecordedHooks
from hookline.config.problem import Problem
from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.lazy_dataclasses import dataclass
from hookline.record.record_log import find_records, last_spoken
from hookline.record.record_reader import Record, read_records
from hookline.record.replayer import (
    ReplayBook,
    ReplayDifference,
    compare,
    has_facts,
    is_uncertain,
    missing_hooks,
    restore_trace,
)
from hookline.record.segment import RecordDirectory

_UNCERTAIN: Final = (
    "Its facts were shortened or masked when they were recorded, so this may differ from what hooks saw."
)
_UNDECIDED: Final = (
    "Its facts were masked or cut when they were recorded, so it cannot be decided again: the recorded answer stands."
)
_DIFFERS: Final = (
    "This is not what was decided then: something that the record does not keep, such as a Python hook, made the "
    "difference."
)


@click.command(cls=Verb, short_help="Explain a recorded decision: every hook, and why it did or did not act.")
@click.argument("id", default="", metavar="[ID]")
@click.option(
    "--now", "under_today", is_flag=True, help="Decide it under today's hooks instead of the hooks in force then."
)
@json_option
def verb(id: str, under_today: bool, as_json: bool) -> None:
    """Explain the last decision in which a hook answered, or the one with this ID, as `hookline log` shows it: the call,
    and for every hook its answer, or the part of its condition that was not true. It runs nothing: what programs
    answered is in the record.

    \b
    hookline why
    hookline why 3f9a-12 --now
    """
    directory = the_record()
    require_records(directory)
    with show_progress(lambda: "reading the record"):
        explained = run_async(explain_record(directory, _find(directory, id), under_today=under_today))
    show_problems(explained.problems)
    if as_json:
        out_json_line(explained.as_json())
    else:
        with page_output():
            explained.show()


async def explain_record(directory: RecordDirectory, record: Record, *, under_today: bool = False) -> Explanation:
    """Raises HooklineError if the facts of the event were not recorded."""
    facts = record.get("facts")
    if not isinstance(facts, dict):
        raise HooklineError(f"the facts of {short_id(record['id'])} were not recorded, so it cannot be explained")
    hooks = RecordedHooks(directory)
    then = ReplayBook(hooks.then(record))
    chosen = ReplayBook(hooks.now(record)) if under_today else then
    with quiet_hooks():
        for earlier in _earlier_in_session(directory, record) if chosen.remembers else ():
            await chosen.decide(earlier, then.hooks)
        decision = await chosen.decide(record, then.hooks, explain=True)
    restore_trace(decision, record)
    return Explanation(record, decision, under_today, missing_hooks(record, then.hooks), hooks.problems())


def _earlier_in_session(directory: RecordDirectory, record: Record) -> Iterator[Record]:
    """The decisions of the same session before this one: hooks may count them, or ask what happened."""
    session = record.get("session")
    mark = json.dumps(session).encode()
    for each in read_records(directory, lambda line: mark in line):
        if each["id"] == record["id"]:
            return
        if each.get("session") == session and each["kind"] == "decision" and not each.get("again") and has_facts(each):
            yield each


def _find(directory: RecordDirectory, id: str) -> Record:
    if not id:
        last = last_spoken(directory)
        if last is None:
            raise HooklineError(
                "no hook has answered yet. `hookline log` shows all decisions, `hookline why ID` explains one."
            )
        return last
    found = find_records(directory, id)
    if len(found) > 1:
        raise HooklineError(
            f"{id} is the beginning of {', '.join(each['id'] for each in found[:5])}. Write more of it."
        )
    if not found or found[0].get("kind") != "decision":
        raise HooklineError(f"there is no decision {id}. `hookline log` shows their ids.")
    return found[0]


@dataclass(frozen=True, slots=True)
class Explanation:
    record: Record
    decision: Decision
    under_today: bool
    missing: list[dict[str, Any]]  # the answers of hooks whose texts are not kept
    problems: list[Problem]  # of today's hooks, if they were asked

    def show(self) -> None:
        record, facts = self.record, self.record["facts"]
        about = [local_time(record["at"], date=True), *(record.get(key, "") for key in ("host", "event", "tool"))]
        out(f"{short_id(record['id'])}  " + "  ".join(part for part in about if part), Colour.BOLD)
        asked = input_text((facts.get("tool") or {}).get("input") or facts.get("prompt"), None)
        if asked:
            out(f"  {asked}")
        word = "halt" if record.get("halt") else record.get("verdict", "")
        decided = wrap(f"decided: {word}{_reason(record)}", "  ", hanging="  ")
        out_labelled("  decided", Colour.DIM, decided.removeprefix("  decided"))
        if self._difference is ReplayDifference.UNDECIDED:
            out(wrap(_UNDECIDED, "  "))
            out()
            self._show_recorded(record.get("trace", ()), "it took part")
            return
        if is_uncertain(record):
            out(wrap(_UNCERTAIN, "  "))
        out()
        out("Under today's hooks:" if self.under_today else "Under the hooks that were in force:", Colour.DIM)
        show_decision(self.decision, Event(record["event"], facts), explain=True)
        self._show_recorded(self.missing, "it took part, but its text is not kept")
        if not self.under_today and self._difference is not ReplayDifference.SAME:
            out(wrap(_DIFFERS, ""), Colour.YELLOW)

    @property
    def _difference(self) -> ReplayDifference:
        return compare(self.record, self.decision)

    def _show_recorded(self, entries: Iterable[dict[str, Any]], comment: str) -> None:
        for entry in entries:
            outcome = entry.get("outcome")
            answer = answer_text(outcome) if outcome else "no answer"
            if "failure" in entry:
                answer = f"failed: {entry['failure']['kind']}"
            out_labelled(str(entry.get("hook")), Colour.BOLD, f"  {entry.get('file')}:{entry.get('line')}  {answer}")
            out(f"    {comment}", Colour.DIM)

    def as_json(self) -> dict[str, Any]:
        under = "now" if self.under_today else "then"
        missing = [{key: entry.get(key) for key in ("hook", "file", "line", "outcome")} for entry in self.missing]
        return {
            "record": self.record,
            "under": under,
            "decision": self.decision.as_json(),
            "difference": str(self._difference),
            "missing": missing,
        }


def _reason(record: Record) -> str:
    place = f" (hook {record['hook']}, {record.get('file')}:{record.get('line')})" if record.get("hook") else ""
    return f": {record['reason']}{place}" if record.get("reason") else place
