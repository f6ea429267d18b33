from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import MustWait
from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult, inherited_environment
from hookline.project import load_for_directory, load_text
from hookline.record.record_reader import read_records
from hookline.record.recorder import RecordedBook, Recorder, archive_all, recorder_of
from hookline.record.segment import RecordDirectory, record_directory

HOOKS = """\
hooks:
  - id: no-rm
    on: tool.before
    when: {tool: bash, input: {command: {starts: "rm *"}}}
    then: {deny: "Do not remove."}
"""


def event(command: Any = "ls") -> Event:
    return Event("tool.before", {"tool": {"name": "Bash", "input": {"command": command}}})


def recorded(directory: RecordDirectory) -> list[dict[str, Any]]:
    return [record for record in read_records(directory) if record["kind"] != "start"]


def test_a_decision_is_recorded_before_the_caller_has_it(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text(HOOKS, "hookline.yaml")
    assert recorder.decide_now(book, event("rm x")).denied
    assert asyncio.run(recorder.decide(book, event("ls"))).verdict.word == "silent"
    assert asyncio.run(RecordedBook(book, recorder).decide(event("rm y"))).denied
    assert [record["verdict"] for record in recorded(directory)] == ["deny", "silent", "deny"]


def test_the_texts_of_the_hooks_in_force_are_kept_once(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text(HOOKS, "hookline.yaml")
    for _ in range(3):
        recorder.decide_now(book, event())
    recorder.decide_now(load_text(HOOKS.replace("no-rm", "other"), "hookline.yaml"), event())
    hashes = [record["hooks"] for record in recorded(directory)]
    assert len(set(hashes[:3])) == 1
    assert hashes[3] != hashes[0]
    data = (directory.hooks / f"{hashes[0]}.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == hashes[0]
    assert json.loads(data)["files"][0]["text"] == HOOKS


def test_events_on_which_no_hook_spoke(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text(HOOKS, "hookline.yaml")
    recorder.decide_now(book, Event("message.create", {"message": {}}))
    assert recorded(directory) == []


@pytest.mark.parametrize("how", ["off", "false"])
def test_recording_can_be_switched_off(directory: RecordDirectory, recorder: Recorder, how: str) -> None:
    recorder.decide_now(load_text(f"record: {how}\n{HOOKS}", "hookline.yaml"), event("rm x"))
    assert not directory.path.exists()


@pytest.mark.parametrize(("how", "kept"), [("masked", "--token=***"), ("full", "--token=abcdef123456")])
def test_secrets(directory: RecordDirectory, recorder: Recorder, how: str, kept: str) -> None:
    book = load_text(f"record: {{facts: {how}}}\n{HOOKS}", "hookline.yaml")
    for command in ("ls", "ls", "run --token=abcdef123456"):
        recorder.decide_now(book, event(command))
    assert recorded(directory)[-1]["facts"]["tool"]["input"]["command"] == f"run {kept}"


def test_no_facts(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(load_text(f"record: {{facts: none}}\n{HOOKS}", "hookline.yaml"), event("rm --token=abcdef123"))
    (record,) = recorded(directory)
    assert "facts" not in record
    assert record["verdict"] == "deny"


def test_each_book_has_settings_of_its_own(directory: RecordDirectory, recorder: Recorder) -> None:
    books = [load_text(f"record: {how}\n{HOOKS}", "hookline.yaml") for how in ("{facts: none}", "off", "{}")]
    for _ in range(2):
        for book in books:
            recorder.decide_now(book, event())
    assert ["facts" in record for record in recorded(directory)] == [False, True, False, True]


def test_more_books_than_are_remembered(directory: RecordDirectory, recorder: Recorder) -> None:
    books = [load_text(HOOKS.replace("no-rm", f"no-{n}"), "hookline.yaml") for n in range(9)]
    for book in books * 2:
        recorder.decide_now(book, event())
    assert [record["hooks"] for record in recorded(directory)] == [book.files.hash for book in books * 2]


def test_long_texts_are_cut(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(load_text(HOOKS, "hookline.yaml"), event("x" * 100_000))
    (record,) = recorded(directory)
    assert record["cut"] == 1
    assert "more characters" in record["facts"]["tool"]["input"]["command"]


def test_a_record_that_is_still_too_long_keeps_the_decision(directory: RecordDirectory, recorder: Recorder) -> None:
    tool = {"name": "Bash", "input": {"command": "rm x", **{f"f{n}": "y" * 4000 for n in range(50)}}}
    recorder.decide_now(load_text(HOOKS, "hookline.yaml"), Event("tool.before", {"tool": tool}))
    (record,) = recorded(directory)
    assert (record["verdict"], record["hook"], record["cut"]) == ("deny", "no-rm", 1)
    assert "facts" not in record


def test_values_that_are_not_json(directory: RecordDirectory, recorder: Recorder) -> None:
    tool = {"name": "Bash", "input": {"command": "ls", "odd": {1, 2}, "number": float("nan")}}
    recorder.decide_now(load_text(HOOKS, "hookline.yaml"), Event("tool.before", {"tool": tool}))
    (record,) = recorded(directory)
    assert record["facts"]["tool"]["input"] == {"command": "ls", "odd": "<set>", "number": "nan"}


def test_a_bug_in_recording_costs_no_decision(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(recorder, "_keep_files", broken)
    with caplog.at_level(logging.WARNING):
        assert recorder.decide_now(load_text(HOOKS, "hookline.yaml"), event("rm x")).denied
    assert "could not be recorded" in caplog.text


def test_outcomes_and_answers(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text(HOOKS, "hookline.yaml")
    recorder.write_answer(book, event("rm x"), True, "ann")
    recorder.write_outcome(book, event("ls"), ToolResult("a.txt"))
    recorder.write_outcome(book, event("ls"), ToolResult(None, False, "no"))
    answer, outcome, failed = recorded(directory)
    assert (answer["kind"], answer["approved"], answer["by"]) == ("answer", True, "ann")
    assert (outcome["kind"], outcome["event"], outcome["facts"]["tool"]["result"]) == ("outcome", "tool.after", "a.txt")
    assert (failed["event"], failed["facts"]["tool"]["error"]) == ("tool.failed", "no")


def test_one_recorder_for_each_directory(tmp_path: Path) -> None:
    assert recorder_of(tmp_path / "a") is recorder_of(tmp_path / "a")
    assert recorder_of(tmp_path / "a") is not recorder_of(tmp_path / "b")


def leave_files(directory: RecordDirectory, count: int) -> None:
    for _ in range(count):
        left = Recorder(directory)
        left.decide_now(load_text(HOOKS, "hookline.yaml"), event("rm x"))
        left.close()
    for path in directory.live.iterdir():
        os.utime(path, (0, 0))


def wait_for_archivers() -> None:
    for thread in threading.enumerate():
        if thread.name == "hookline-archive":
            thread.join(60)


def test_a_writer_that_finds_many_files_archives_them(directory: RecordDirectory, recorder: Recorder) -> None:
    leave_files(directory, 64)  # one more, and the last of them would archive those that are just being made older
    assert not directory.archive_lock.exists()
    recorder.decide_now(load_text(HOOKS, "hookline.yaml"), event("rm y"))
    wait_for_archivers()
    assert len(list(directory.live.iterdir())) == 1
    assert len(recorded(directory)) == 65


def test_the_recorders_of_a_process_archive_together(tmp_path: Path) -> None:
    recorder_of(tmp_path).decide_now(load_text(HOOKS, "hookline.yaml"), event("rm x"))
    directory = record_directory(tmp_path)
    leave_files(directory, 2)
    archive_all()
    assert len(list(directory.live.iterdir())) == 1
    assert len(directory.archives()) == 1


def test_how_long_records_are_kept_is_for_the_users_own_file_to_say(tmp_path: Path) -> None:
    text = f"record: {{keep: 1h}}\n{HOOKS}"
    assert load_text(text, "hookline.yaml").record.keep is None
    own = tmp_path / ".config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(text)
    assert load_for_directory(tmp_path, tmp_path).record.keep == timedelta(hours=1)
    own.write_text(HOOKS)
    assert load_for_directory(tmp_path, tmp_path).record.keep == timedelta(days=30)


def test_a_hook_on_decision_made_is_told_each_verdict_and_never_awaited(tmp_path: Path, recorder: Recorder) -> None:
    told = tmp_path / "audit.jsonl"
    text = f"""
    hooks:
      - {{id: no-rm, on: tool.before, when: {{runs: rm}}, then: {{deny: no}}}}
      - {{id: audit, on: decision.made, then: {{run: 'cat >> {told}'}}}}
      - {{id: denies, on: decision.made, when: {{fact: {{decision.verdict: {{exactly: deny}}}}}}, then: {{run: 'echo denied > {tmp_path}/denied'}}}}
    """
    book = load_text(text, "hookline.yaml")
    assert book.problems == ()

    async def decide() -> None:
        for command in ("ls", "rm x"):
            await recorder.decide(book, event(command))
        await recorder.decide(book, Event("turn.start", {}))  # nobody speaks about it
        await book.host.drain(timedelta(seconds=30))

    asyncio.run(decide())
    lines = [json.loads(line) for line in told.read_text().splitlines()]
    made = sorted(
        (line["decision"]["verdict"], line["decision"]["hook"], line["tool"]["input"]["command"]) for line in lines
    )
    assert made == [("deny", "no-rm", "rm x"), ("silent", "", "ls")]
    assert (tmp_path / "denied").exists()


def test_a_hook_on_decision_made_needs_an_event_loop(recorder: Recorder) -> None:
    book = load_text("hooks: [{id: audit, on: decision.made, then: {log: '{{decision.verdict}}'}}]", "hookline.yaml")
    with pytest.raises(MustWait):
        recorder.decide_now(book, event())


def test_secrets_in_names_are_masked(directory: RecordDirectory, recorder: Recorder) -> None:
    token = "ghp_" + "a1" * 18
    names = {"host": {"name": token}, "session": {"id": token}, "agent": {"id": token}, "user": {"name": token}}
    for _ in range(3):
        recorder.decide_now(
            load_text(HOOKS, "hookline.yaml"),
            Event("tool.before", {**names, "tool": {"name": "bash", "input": {token: 1}}}),
        )
    recorder.close()
    assert token not in "".join(path.read_text() for path in directory.live_segments())


def test_what_is_secret_for_one_agent_is_masked_in_its_calls_only(
    directory: RecordDirectory, recorder: Recorder
) -> None:
    book, agents = load_text(HOOKS, "hookline.yaml"), ({b"A_TOKEN": b"correct-horse"}, {b"HOME": b"/home/ann"})
    facts = {"cwd": "/correct-horse", "time": "2026-11-16T20:01:35Z", "tool": {"name": "Bash", "input": {}}}
    for agent in (1, 1, 1, 0, 0, 1):
        token = inherited_environment.set(agents[agent])
        recorder.decide_now(book, Event("tool.before", dict(facts)))
        inherited_environment.reset(token)
    told, masked = "/correct-horse", "/***"
    assert [record["facts"]["cwd"] for record in recorded(directory)] == [told, told, told, masked, masked, told]


REDACTS = """\
hooks:
  - {id: remind, on: tool.after, then: {append: {result: Run the tests.}}}
  - {id: redact, on: tool.after, then: {replace: {in: result, pattern: 'ZEBRA-\\d+', with: gone}}}
"""


def finished(name: str = "tool.after", result: Any = "see ZEBRA-42") -> Event:
    return Event(name, {"tool": {"name": "Bash", "input": {"command": "ls"}, "ok": True, "result": result}})


@pytest.mark.parametrize("result", ["see ZEBRA-42", {"stdout": "ZEBRA-42", "stderr": ""}])
def test_what_hooks_remove_from_a_result_is_not_recorded(
    directory: RecordDirectory, recorder: Recorder, result: Any
) -> None:
    recorder.decide_now(load_text(REDACTS, "hookline.yaml"), finished(result=result))
    record = recorded(directory)[0]
    assert "ZEBRA" not in json.dumps(record)
    assert record["facts"]["tool"]["input"] == {"command": "ls"}
    assert "gone" in record["trace"][-1]["outcome"]["changes"]["tool.result"]


def test_a_result_that_is_withheld_is_not_recorded(directory: RecordDirectory, recorder: Recorder) -> None:
    hooks = "hooks:\n  - {id: check, on: tool.after, on_error: closed, then: {run: exit 1, reads: nonzero}}\n"
    asyncio.run(recorder.decide(load_text(hooks, "hookline.yaml"), finished()))
    assert "ZEBRA" not in json.dumps(recorded(directory))


def test_a_result_is_not_recorded_before_the_hooks_on_storing_it_have_answered(
    directory: RecordDirectory, recorder: Recorder
) -> None:
    hooks = "hooks:\n  - {on: tool.store, then: {replace: {in: result, pattern: 'ZEBRA-\\d+', with: gone}}}\n"
    book = load_text(hooks, "hookline.yaml")
    for _ in range(2):  # the second is recorded in a shorter way
        assert recorder.decide_now(book, finished()).event.read(("tool", "result")) == "see ZEBRA-42"
    recorder.decide_now(book, finished("tool.store"))
    assert "ZEBRA" not in json.dumps(recorded(directory))
    assert len(recorded(directory)) == 3


def test_an_error_is_not_recorded_before_the_hooks_after_the_tool_have_answered(
    directory: RecordDirectory, recorder: Recorder
) -> None:
    tool = {"name": "Bash", "input": {"command": "ls"}, "ok": False, "error": "no ZEBRA-42"}
    book = load_text(REDACTS, "hookline.yaml")
    for _ in range(2):
        recorder.decide_now(book, Event("tool.failed", {"tool": tool}))
    assert "ZEBRA" not in json.dumps(recorded(directory))


def test_what_hooks_remove_from_a_message_is_not_recorded(directory: RecordDirectory, recorder: Recorder) -> None:
    redact = "then: {replace: {in: message.%s, pattern: 'ZEBRA-\\d+', with: gone}}"
    hooks = (
        f"hooks:\n  - {{on: message.create, {redact % 'content'}}}\n  - {{on: message.update, {redact % 'updates'}}}\n"
    )
    book = load_text(hooks, "hookline.yaml")
    recorder.decide_now(book, Event("message.create", {"message": {"role": "tool", "content": "ZEBRA-1"}}))
    recorder.decide_now(book, Event("message.update", {"message": {"id": "m", "updates": {"content": "ZEBRA-1"}}}))
    text = json.dumps(recorded(directory))
    assert ("ZEBRA" in text, text.count("gone")) == (False, 2)


def test_what_came_of_a_call_is_not_recorded_if_hooks_remove_parts_of_results(
    directory: RecordDirectory, recorder: Recorder
) -> None:
    for text, ok in (("ZEBRA-1", True), ("ZEBRA-2", False)):
        recorder.write_outcome(load_text(REDACTS, "hookline.yaml"), event(), ToolResult(text, ok, "" if ok else text))
    assert "ZEBRA" not in json.dumps(recorded(directory))
    assert [record["facts"]["tool"]["ok"] for record in recorded(directory)] == [True, False]


def test_everything_is_recorded_if_the_user_wants_it(directory: RecordDirectory, recorder: Recorder) -> None:
    recorder.decide_now(load_text(f"record: {{facts: full}}\n{REDACTS}", "hookline.yaml"), finished())
    assert recorded(directory)[0]["facts"]["tool"]["result"] == "see ZEBRA-42"


def test_hooks_that_tell_others_of_a_decision_do_not_see_what_was_removed(recorder: Recorder, tmp_path: Path) -> None:
    told = tmp_path / "told"
    book = load_text(f"{REDACTS}  - {{on: decision.made, then: {{run: 'cat > {told}'}}}}\n", "hookline.yaml")

    async def decide() -> None:
        await recorder.decide(book, finished())
        await book.host.drain(timedelta(seconds=30))

    asyncio.run(decide())
    assert json.loads(told.read_text())["tool"]["input"] == {"command": "ls"}
    assert "ZEBRA" not in told.read_text()
