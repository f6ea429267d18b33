from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, Note, NotePlace
from hookline.project import load_text
from hookline.runtime.notes import inject_notes
from runtime.scripted_runtime import open_runtime, run_async


def decision_with(*notes: Note) -> Decision:
    decision = load_text("hooks: []", "hookline.yaml").decide_now(Event("tool.before", {}))
    decision.notes = notes
    return decision


STORED = [{"role": "user", "content": "question"}, {"role": "assistant", "content": "answer"}]


def anchors(
    tmp_path: Path, *notes: Note, result: str | None = None, stored: Sequence[dict[str, str]] = STORED
) -> list[str | None]:
    """The content of the message that each stored note belongs to; `result` stays an id."""

    async def work() -> list[str | None]:
        async with open_runtime(tmp_path) as (runtime, _):
            thread = (await runtime.start()).main
            ids = {(await thread.inject_message(each))["id"]: each["content"] for each in stored}
            await inject_notes(thread, decision_with(*notes), result)
            return [ids.get(str(each.anchor), each.anchor) for each in await thread.injections()]

    found: list[str | None] = run_async(work)
    return found


def test_a_note_for_the_user_is_not_stored(tmp_path: Path) -> None:
    assert anchors(tmp_path, Note("x", Audience.USER)) == []


def test_a_note_in_the_system_prompt_belongs_to_no_message(tmp_path: Path) -> None:
    assert anchors(tmp_path, Note("x", place=NotePlace.SYSTEM)) == [None]


def test_a_note_stands_after_the_last_message_or_the_last_prompt(tmp_path: Path) -> None:
    notes = Note("x", place=NotePlace.CONTEXT), Note("y", place=NotePlace.LAST_USER)
    assert anchors(tmp_path, *notes) == ["answer", "question"]


def test_a_note_about_a_result_stands_with_it_unless_it_is_a_message(tmp_path: Path) -> None:
    notes = Note("x", place=NotePlace.RESULT), Note("y", place=NotePlace.MESSAGE)
    assert anchors(tmp_path, *notes, result="message_r") == ["message_r", "answer"]


def test_without_messages_there_is_nothing_to_stand_at(tmp_path: Path) -> None:
    assert anchors(tmp_path, Note("x"), Note("y", place=NotePlace.LAST_USER), stored=()) == [None, None]


def test_a_note_for_the_last_prompt_is_in_the_system_prompt_if_there_is_none(tmp_path: Path) -> None:
    assert anchors(tmp_path, Note("y", place=NotePlace.LAST_USER), stored=STORED[1:]) == [None]
