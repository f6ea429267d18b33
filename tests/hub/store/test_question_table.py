"""The first answer to a question counts, and only in time."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from hookline.hub.context.running_hub import Hub
from hookline.hub.store.question_table import QuestionRow, QuestionTable
from hookline.lazy_dataclasses import replace
from hookline.runtime.gate import fingerprint
from hub.hub_sandbox import async_test, open_hub

LATER = 4_000_000_000.0  # a running hub expires what is over


def row(id: str, created: float = LATER + 100, expires: float = LATER + 200, **more: object) -> QuestionRow:
    fixed = ("origin", "key", "host", "box", "me", "s", "agent", "call", "Bash")
    return QuestionRow(id, *fixed, {"command": "ls"}, "hash", "Really?", "hook", True, created, expires, **more)  # type: ignore[arg-type]


@async_test
async def test_a_question_is_read_as_it_was_stored(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        await table.add(row("q1"))
        assert await table.find("q1") == row("q1")
        assert await table.find("q2") is None


@async_test
async def test_the_first_answer_counts_and_only_in_time(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        for id in ("q1", "q2"):
            await table.add(row(id))
        assert await table.close("q1", "approved", LATER + 150, by="maria", edited={"command": "pwd"})
        assert not await table.close("q1", "denied", LATER + 150, by="otto")
        assert not await table.close("q2", "approved", LATER + 200, by="late")
        found = await table.find("q1")
        assert found is not None
        assert (found.state, found.by, found.edited) == ("approved", "maria", {"command": "pwd"})


@async_test
async def test_waiting_ones_come_oldest_first_and_expire(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        await table.add(row("new", created=LATER + 120, expires=LATER + 300))
        await table.add(row("old", created=LATER + 100, expires=LATER + 130))
        assert [each.id for each in await table.waiting()] == ["old", "new"]
        assert await table.expire(LATER + 140) == ["old"]
        assert [each.id for each in await table.waiting()] == ["new"]
        assert [(each.id, each.state) for each in await table.recent(10)] == [("old", "expired")]


@async_test
async def test_a_yes_is_remembered_for_the_same_hook_and_call_of_the_session(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        await table.add(row("q1"))
        assert await table.find_remembered(row("q2")) is None
        await table.close("q1", "approved", LATER + 150, by="maria", remember="session")
        found = await table.find_remembered(row("q2"))
        assert found is not None
        assert found.by == "maria"


@async_test
async def test_a_yes_to_a_changed_input_is_remembered_for_the_changed_one_alone(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        await table.add(row("q1"))
        await table.close("q1", "approved", LATER + 150, by="maria", remember="session", edited={"command": "pwd"})
        assert await table.find_remembered(row("q2")) is None
        changed = replace(row("q3"), input={"command": "pwd"}, input_hash=fingerprint("Bash", {"command": "pwd"}))
        found = await table.find_remembered(changed)
        assert found is not None
        assert found.id == "q1"


SECRET = {"command": "mysql -phunter2zz"}
MASKED = {"command": "mysql -p***"}


async def _stored(hub: Hub) -> str:
    """Every value of the table, as the database has it."""
    return await hub.database.read(lambda connection: str(connection.execute(text("SELECT * FROM questions")).all()))


@async_test
async def test_an_answered_question_is_kept_masked(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        asked = replace(row("q"), input=SECRET, reason="May mysql -phunter2zz run?")
        for state, id in (("approved", "q1"), ("denied", "q2"), ("withdrawn", "q3")):
            await table.add(replace(asked, id=id))
            assert (await table.find(id)) == replace(asked, id=id)
            assert await table.close(id, state, LATER + 150, by="maria")
            found = await table.find(id)
            assert found is not None
            assert (found.input, found.reason, found.state) == (MASKED, "May mysql -p*** run?", state)
        await table.add(asked)
        await table.expire(LATER + 250)
        assert "hunter2zz" not in await _stored(hub)


@async_test
async def test_the_host_gets_the_answer_as_it_was_given_until_its_time_is_over(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        await table.add(replace(row("q1"), input=SECRET))
        why = "the password is wrong: mysql -phunter3zz"
        await table.close(
            "q1", "approved", LATER + 150, by="maria", edited=SECRET | {"n": 1}, why=why, remember="session"
        )
        await table.mask_answers(LATER + 199)
        found = await table.find("q1")
        assert found is not None
        assert (found.input, found.edited, found.why) == (MASKED, SECRET | {"n": 1}, why)
        await table.mask_answers(LATER + 201)
        found = await table.find("q1")
        assert found is not None
        assert (found.edited, found.why) == (MASKED | {"n": 1}, "the password is wrong: mysql -p***")
        assert "hunter" not in await _stored(hub)
        changed = replace(row("q2"), input_hash=fingerprint("Bash", SECRET | {"n": 1}))
        assert (remembered := await table.find_remembered(changed)) is not None
        assert remembered.id == "q1"
        assert await QuestionTable(hub.database).find_remembered(row("q3")) is None


@async_test
async def test_a_host_without_sessions_has_none_to_remember_a_yes_for(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        table = QuestionTable(hub.database)
        await table.add(replace(row("q1"), session=""))
        await table.close("q1", "approved", LATER + 150, by="maria", remember="session")
        assert await table.find_remembered(replace(row("q2"), session="")) is None
