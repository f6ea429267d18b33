from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.project import load_text
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.record_log import LogFilter, RecordLog, call_key, find_records, last_spoken, outcome_of
from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory

BOOK = load_text("hooks: [{id: no-rm, on: tool.before, when: {input: {command: ^rm}}, then: deny}]", "hookline.yaml")


def event(command: str, call: str = "", name: str = "tool.before", **tool: Any) -> Event:
    known = {"id": call} if call else {}
    facts = {"name": "Bash", "input": {"command": command}, **known, **tool}
    return Event(name, {"session": {"id": "s"}, "tool": facts})


def outcomes(directory: RecordDirectory) -> list[str | None]:
    return [row["outcome"] for row in RecordLog(directory, LogFilter(event="tool.before")).latest(10)]


def test_two_calls_with_the_same_input_have_each_its_outcome(directory: RecordDirectory, recorder: Recorder) -> None:
    for call, name, ok in (("a", "tool.after", True), ("b", "tool.failed", False)):
        recorder.decide_now(BOOK, event("ls", call))
        recorder.decide_now(BOOK, event("ls", call, name, ok=ok))
    assert outcomes(directory) == ["ok", "failed"]


def test_a_host_without_ids_for_calls_is_linked_by_the_input(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("ls"))
    recorder.decide_now(BOOK, event("cat"))
    recorder.write_outcome(BOOK, event("cat"), ToolResult(None, False, "no such file"))
    assert outcomes(directory) == [None, "failed"]


def test_the_same_call_again_has_its_own_outcome_even_without_ids(
    directory: RecordDirectory, recorder: Recorder
) -> None:
    for result in (ToolResult("a"), ToolResult(None, False, "no")):
        recorder.decide_now(BOOK, event("ls"))
        recorder.write_outcome(BOOK, event("ls"), result)
    recorder.decide_now(BOOK, event("rm x"))  # denied
    recorder.write_answer(BOOK, event("ls"), True)
    assert outcomes(directory) == ["ok", "failed", None]


def test_the_same_ids_in_another_host_are_another_call(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("ls", "c1"))
    other = event("cat x", "c1", "tool.failed", ok=False)
    recorder.decide_now(BOOK, Event(other.name, {**other.facts, "host": {"name": "codex"}}))
    assert outcomes(directory) == [None]


def test_a_denied_call_has_no_outcome(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("rm x"))
    recorder.write_outcome(BOOK, event("rm x"), ToolResult("gone"))  # of a later call, under other hooks
    assert outcomes(directory) == [None]


def test_a_question_that_was_asked_twice(directory: RecordDirectory, recorder: Recorder) -> None:
    for approved in (False, True):
        recorder.decide_now(BOOK, event("ls"))
        recorder.write_answer(BOOK, event("ls"), approved)
    recorder.write_outcome(BOOK, event("ls"), ToolResult("a"))
    assert outcomes(directory) == ["refused", "ok"]


@pytest.mark.parametrize(
    ("approved", "ran", "outcome"), [(True, False, "approved"), (True, True, "ok"), (False, False, "refused")]
)
def test_answers(directory: RecordDirectory, recorder: Recorder, approved: bool, ran: bool, outcome: str) -> None:
    recorder.decide_now(BOOK, event("ls", "a"))
    recorder.write_answer(BOOK, event("ls", "a"), approved)
    if ran:
        recorder.decide_now(BOOK, event("ls", "a", "tool.after"))
    assert outcomes(directory) == [outcome]


def test_a_call_whose_edited_input_hooks_denied_is_refused(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("ls", "a"))
    recorder.write_answer(BOOK, event("ls", "a"), True, "ann", edit_denied=True)
    assert outcomes(directory) == ["refused"]


def test_a_line_that_cannot_match_is_not_parsed() -> None:
    wanted = LogFilter(verdict="deny", tool="Bash")
    assert wanted.may_match(b'{"kind":"decision","tool":"Bash","verdict":"deny"}')
    assert not wanted.may_match(b'{"kind":"decision","tool":"Bash","verdict":"silent"}')
    assert wanted.may_match(b'{"kind":"decision","event":"tool.after","tool":"Read"}')  # it may be what came of one


def test_all_rows_since_a_time(directory: RecordDirectory, recorder: Recorder) -> None:
    for command in ("rm a", "rm b"):
        recorder.decide_now(BOOK, event(command))
    first, second = RecordLog(directory, LogFilter()).all()
    assert [row["input"] for row in RecordLog(directory, LogFilter(since=second["at"])).all()] == [{"command": "rm b"}]
    assert first["verdict"] == "deny"


def test_following_misses_nothing_of_a_file_that_is_archived(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("rm before"))
    log = RecordLog(directory, LogFilter())
    log.begin_to_follow()
    rows = log.follow()
    assert next(rows) is None
    recorder.decide_now(BOOK, event("rm now"))
    recorder.close()
    archive_records_of_ended_writers(directory, None, settle=0)
    row = next(rows)
    assert row is not None
    assert row["input"] == {"command": "rm now"}
    assert next(rows) is None


def test_following_begins_before_the_rest_is_read(directory: RecordDirectory, recorder: Recorder) -> None:
    log = RecordLog(directory, LogFilter())
    log.begin_to_follow()
    recorder.decide_now(BOOK, event("rm between"))
    assert [row["verdict"] for row in log.latest(10)] == ["deny"]
    row = next(log.follow())
    assert row is not None
    assert row["input"] == {"command": "rm between"}


def test_a_line_is_shown_once_it_is_whole(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("rm x"))
    (path,) = directory.live.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    log = RecordLog(directory, LogFilter())
    log.begin_to_follow()
    rows = log.follow()
    assert next(rows) is None
    with path.open("ab") as file:
        file.write(lines[1][:20])
        file.flush()
        assert next(rows) is None
        file.write(lines[1][20:])
    row = next(rows)
    assert row is not None
    assert row["hook"] == "no-rm"


def test_records_by_id(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("rm x"))
    last = last_spoken(directory)
    assert last is not None
    assert find_records(directory, last["id"]) == [last]
    assert find_records(directory, last["id"][:3] + "-2") == [last]
    assert find_records(directory, last["id"][:3]) == []


def test_a_hook_that_ran_and_had_nothing_to_do_did_not_speak(directory: RecordDirectory, recorder: Recorder) -> None:
    text = """
hooks:
  - {on: tool.before, when: {tool: bash}, then: {deny: No.}}
  - {on: tool.after, then: {replace: {in: result, pattern: SECRET, with: X}}}
"""
    book = load_text(text, "hookline.yaml")
    recorder.decide_now(book, event("rm x"))
    recorder.decide_now(book, Event("tool.after", {"tool": {"name": "bash", "input": {}, "result": "fine"}}))
    last = last_spoken(directory)
    assert last is not None
    assert last["verdict"] == "deny"
    recorder.decide_now(book, Event("tool.after", {"tool": {"name": "bash", "input": {}, "result": "SECRET"}}))
    last = last_spoken(directory)
    assert last is not None
    assert last["event"] == "tool.after"


def test_outcomes_and_keys() -> None:
    assert outcome_of({"event": "tool.after", "facts": {"tool": {"ok": False}}}) == "failed"
    assert outcome_of({"event": "tool.after"}) == "ok"
    assert outcome_of({"event": "tool.before"}) == ""
    assert outcome_of({"kind": "answer", "event": "tool.before", "approved": True}) == "approved"
    assert call_key({"session": "s", "call": "c"}) == ("", "s", "c", "")
    assert call_key({"facts": None}) == ("", "", "", "null")
