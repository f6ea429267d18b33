from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.engine.book import Book
from hookline.hooks.event import REMOVED, Event
from hookline.hooks.outcome import Audience, Compact, Note, Outcome, Verdict
from hookline.project import load_text
from hookline.record.record_reader import read_records
from hookline.record.recorder import Recorder
from hookline.record.replayer import (
    ReplayDifference,
    Replayed,
    Replayer,
    changed_parts,
    compare,
    is_uncertain,
    parse_outcome,
    restore_trace,
)
from hookline.record.segment import RecordDirectory


def book(text: str) -> Book:
    return load_text(text, "hookline.yaml")


def event(command: str = "ls") -> Event:
    return Event("tool.before", {"tool": {"name": "bash", "input": {"command": command}}})


def replay(directory: RecordDirectory, now: Book, then: Book) -> list[Replayed]:
    async def each() -> list[Replayed]:
        replayer = Replayer(lambda record: now, lambda record: then)
        found = [await replayer.decide(record) for record in read_records(directory)]
        return [one for one in found if one is not None]

    return asyncio.run(each())


def test_a_programs_answer_is_taken_from_the_record(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {run: 'echo no >&2; exit 2'}, on_error: closed}]")
    decided = asyncio.run(recorder.decide(hooks, event()))
    (one,) = replay(directory, hooks, hooks)
    assert (one.difference, one.decision.reason, one.unknown) == (ReplayDifference.SAME, decided.reason, ())


@pytest.mark.parametrize("stops", ["", "grep -q secret && exit 2; "])
def test_a_program_that_was_asked_about_two_names_of_a_field(
    directory: RecordDirectory, recorder: Recorder, stops: str
) -> None:
    """The record has its strictest answer, once."""
    hooks = book(f"hooks: [{{id: a, on: tool.before, then: {{run: '{stops}true'}}, on_error: closed}}]")
    tool = {"name": "mcp__s__t", "input": {"path": "a", "file_path": "secret", "content": "x"}}
    decided = asyncio.run(recorder.decide(hooks, Event("tool.before", {"tool": tool})))
    assert decided.denied is bool(stops)
    (one,) = replay(directory, hooks, hooks)
    assert (one.difference, one.unknown) == (ReplayDifference.SAME, ())


def test_a_failure_is_replayed_as_a_failure(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {run: [/no/such/program]}, on_error: closed}]")
    assert asyncio.run(recorder.decide(hooks, event())).denied
    (one,) = replay(directory, hooks, hooks)
    assert one.difference is ReplayDifference.SAME
    restore_trace(one.decision, one.record)
    assert one.decision.trace[0].failure is not None


def test_a_failure_under_another_on_error(directory: RecordDirectory, recorder: Recorder) -> None:
    text = "hooks: [{id: a, on: tool.before, then: {run: [/no/such/program]}, on_error: closed}]"
    asyncio.run(recorder.decide(book(text), event()))
    (one,) = replay(directory, book(text.replace("closed", "open")), book(text))
    assert (one.difference, one.decision.failures[0].text) == (
        ReplayDifference.LOOSENED,
        "hook a could not be started: /no/such/program: No such file or directory",
    )


def test_limits_count_by_the_records_time(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, max_fires: 2, then: {deny: no}}]")
    verdicts = [recorder.decide_now(hooks, event()).verdict for _ in range(4)]
    assert verdicts[1:3] == [Verdict.DENY, Verdict.SILENT]
    assert {one.difference for one in replay(directory, hooks, hooks)} == {ReplayDifference.SAME}


def test_a_change_of_the_input_is_compared(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {set: {input.timeout: 60}}}]")
    recorder.decide_now(hooks, event())
    other = book("hooks: [{id: a, on: tool.before, then: {set: {input.timeout: 61}}}]")
    assert replay(directory, hooks, hooks)[0].difference is ReplayDifference.SAME
    assert replay(directory, other, hooks)[0].difference is ReplayDifference.CHANGED


def test_a_decision_that_followed_from_another_is_left_out(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {deny: no}}]")
    recorder.write_repeated(hooks, event(), recorder.decide_now(hooks, event()))
    assert len(replay(directory, hooks, hooks)) == 1


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (None, Outcome()),
        ({"verdict": "deny", "reason": "no", "halt": True}, Outcome(Verdict.DENY, "no", halt=True)),
        (
            {"verdict": "silent", "changes": {"tool.input.a": 1, "tool.input.b": None}},
            Outcome(changes=((("tool", "input", "a"), 1), (("tool", "input", "b"), REMOVED))),
        ),
        ({"verdict": "allow", "final": True}, Outcome(Verdict.ALLOW, final=True)),
        ({"verdict": "silent", "notes": [{"for": "user", "text": "x"}]}, Outcome(notes=(Note("x", Audience.USER),))),
        ({"verdict": "silent", "requests": ["compact"]}, Outcome(requests=(Compact(),))),
    ],
)
def test_outcomes_of_a_trace(value: Any, outcome: Outcome) -> None:
    assert parse_outcome(value) == outcome


def test_masked_and_cut_facts_are_uncertain() -> None:
    assert is_uncertain({"facts": {"a": ["x ***"]}})
    assert is_uncertain({"facts": {}, "cut": 1})
    assert not is_uncertain({"facts": {"a": 1}})


def test_a_halt_is_the_strongest() -> None:
    decision = asyncio.run(book("hooks: [{on: tool.before, then: {deny: no}}]").decide(event()))
    record = {"event": "tool.before", "verdict": "deny", "halt": True, "facts": {}}
    assert compare(record, decision) is ReplayDifference.LOOSENED


def test_recorded_times(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {run: 'true'}}]")
    asyncio.run(recorder.decide(hooks, event()))
    (one,) = replay(directory, hooks, hooks)
    restore_trace(one.decision, {"trace": [{"hook": "a", "file": "hookline.yaml", "ms": 1500.0}]})
    assert one.decision.trace[0].seconds == 1.5


@pytest.mark.parametrize(
    ("action", "parts"),
    [
        ("{set: {input.timeout: 61}}", ["tool.input.timeout"]),
        ("{tell: other}", ["notes", "tool.input.timeout"]),
        ("{deny: no}", ["hook", "reason", "tool.input.timeout"]),
    ],
)
def test_the_parts_that_differ_are_named(
    directory: RecordDirectory, recorder: Recorder, action: str, parts: list[str]
) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {set: {input.timeout: 60}}}]")
    recorder.decide_now(hooks, event())
    (one,) = replay(directory, book(f"hooks: [{{id: a, on: tool.before, then: {action}}}]"), hooks)
    assert changed_parts(one.record, one.decision) == parts


def test_another_note_is_a_change(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {tell: first}}]")
    recorder.decide_now(hooks, event())
    (one,) = replay(directory, book("hooks: [{id: a, on: tool.before, then: {tell: second}}]"), hooks)
    assert (one.difference, changed_parts(one.record, one.decision)) == (ReplayDifference.CHANGED, ["notes"])


def test_two_hooks_that_change_what_one_did_change_nothing(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = book("hooks: [{id: a, on: tool.before, then: {set: {input.timeout: 60, input.shell: sh}}}]")
    recorder.decide_now(hooks, event())
    two = book(
        "hooks: [{id: a, on: tool.before, then: {set: {input.timeout: 60}}},"
        " {id: b, on: tool.before, then: {set: {input.shell: sh}}}]"
    )
    assert replay(directory, two, hooks)[0].difference is ReplayDifference.SAME
