from __future__ import annotations

from typing import Any

from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.project import load_text
from hookline.record.live_log import LiveLog
from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory

BOOK = load_text("hooks: [{id: no-rm, on: tool.before, when: {input: {command: ^rm}}, then: deny}]", "hookline.yaml")


def event(command: str, **tool: Any) -> Event:
    return Event(
        "tool.before", {"session": {"id": "s"}, "tool": {"name": "Bash", "input": {"command": command}, **tool}}
    )


def commands(log: LiveLog) -> list[str]:
    return [row["input"]["command"] for row in log.rows.values()]


def test_what_is_there_and_what_comes(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(BOOK, event("ls"))
    log = LiveLog(directory)
    assert commands(log) == ["ls"]
    assert log.refresh() == []
    recorder.decide_now(BOOK, event("rm x"))
    (id,) = log.refresh()
    assert (log.rows[id]["verdict"], log.record(id)["hook"]) == ("deny", "no-rm")
    assert commands(log) == ["ls", "rm x"]


def test_a_row_is_told_what_came_of_its_call(directory: RecordDirectory, recorder: Recorder) -> None:
    log = LiveLog(directory)
    for call in ("a", "b"):
        recorder.decide_now(BOOK, event("ls", id=call))
    first, second = log.refresh()
    recorder.write_answer(BOOK, event("ls", id="b"), True)
    assert log.refresh() == [second]
    recorder.write_outcome(BOOK, event("ls", id="b"), ToolResult(None, False, "no"))
    assert log.refresh() == [second]
    assert (log.rows[first]["outcome"], log.rows[second]["outcome"]) == (None, "failed")


def test_only_the_last_ones_are_kept(directory: RecordDirectory, recorder: Recorder) -> None:
    log = LiveLog(directory, most=3)
    for n in range(5):
        recorder.decide_now(BOOK, event(f"ls {n}"))
    assert len(log.refresh()) == 3
    assert commands(log) == ["ls 2", "ls 3", "ls 4"]
    recorder.write_outcome(BOOK, event("ls 0"), ToolResult("a"))
    assert log.refresh() == []
    assert log._by_call.keys() == {("", "s", "Bash", f'{{"command": "ls {n}"}}') for n in (2, 3, 4)}
