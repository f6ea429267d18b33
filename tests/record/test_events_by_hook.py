from __future__ import annotations

import asyncio

from hookline.hooks.event import Event
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.project import load_text
from hookline.record.events_by_hook import EventsByHook
from hookline.record.record_reader import line_time, read_lines
from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory

HOOKS = """hooks:
  - {id: both, on: [tool.before, prompt.submit], then: {log: hi}}
  - {id: never, on: tool.before, when: {tool: none}, then: deny}
  - {id: switched-off, on: tool.before, enabled: false, then: deny}
"""
ONE = "hooks: [{id: one, on: prompt.submit, then: {log: hi}}]"


def lines(directory: RecordDirectory) -> list[bytes]:
    return [line for path in directory.live_segments() for line in read_lines(path)]


def counts(directory: RecordDirectory, since: str = "") -> dict[str, int]:
    asked = EventsByHook(directory, since)
    for line in lines(directory):
        asked.add(line)
    return {id: count for (_, id), count in asked.by_hook().items()}


def decide(recorder: Recorder, text: str, *events: Event) -> None:
    for event in events:
        asyncio.run(recorder.decide(load_text(text, "hookline.yaml"), event))


def tool_call(**input: object) -> Event:
    return Event("tool.before", {"tool": {"name": "x", "input": input}})


def test_events_that_a_hook_is_on_while_it_is_in_force(directory: RecordDirectory, recorder: Recorder) -> None:
    decide(recorder, HOOKS, tool_call(), tool_call(), Event("prompt.submit", {"prompt": "a"}))
    decide(recorder, ONE, tool_call(), Event("prompt.submit", {"prompt": "a"}))
    assert counts(directory) == {"both": 3, "never": 2, "one": 1}


def test_only_since_a_time(directory: RecordDirectory, recorder: Recorder) -> None:
    decide(recorder, HOOKS, tool_call(), tool_call())
    last = max(map(line_time, lines(directory))).decode()
    assert counts(directory, last)["never"] == 1


def test_facts_that_look_like_a_record(directory: RecordDirectory, recorder: Recorder) -> None:
    decide(recorder, HOOKS, tool_call(kind="decision", event="prompt.submit", hooks="0" * 64))
    assert counts(directory) == {"both": 1, "never": 1}


def test_texts_that_are_not_kept_count_nothing(directory: RecordDirectory, recorder: Recorder) -> None:
    decide(recorder, HOOKS, tool_call())
    for path in directory.hooks.iterdir():
        path.unlink()
    assert counts(directory) == {}


def test_of_a_changed_file_only_the_guards_that_are_new_are_in_force(directory: RecordDirectory) -> None:
    old = HookFile("/p/h.yaml", "h.yaml", "native", "project", ONE, "accepted")
    new = "hooks: [{id: two, on: prompt.submit, then: {log: hi}}, {id: guard, on: prompt.submit, then: {deny: no}}]"
    files = HookFiles((old, HookFile("/p/h.yaml", "h.yaml", "native", "project", new, "added")))
    directory.create()
    (directory.hooks / f"{files.hash}.json").write_bytes(files.data)
    asked = EventsByHook(directory)
    asked.add(f'{{"id":"a-1","kind":"decision","event":"prompt.submit","hooks":"{files.hash}"}}'.encode())
    assert {id for (_, id), count in asked.by_hook().items() if count} == {"one", "guard (not trusted yet)"}
