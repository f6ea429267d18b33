"""Questions answered in the terminal."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.hub.store.question_table import QuestionRow, QuestionTable
from hookline.runtime.storage.store import Store, file_url

pytestmark = pytest.mark.slow


def database(project: Path) -> str:
    return file_url(project.parent / "home" / ".local" / "state" / "hookline" / "sessions.db")


def ask(project: Path, id: str, can_edit: bool = True, reason: str = "Really?", tool: str = "Bash") -> None:
    async def work() -> None:
        store = await Store.open(database(project))
        now = time.time()
        words = ("", "key", "codex", "box", "me", "s", "", "c", tool)
        row = QuestionRow(id, *words, {"command": "git push"}, "hash", reason, "h", can_edit, now, now + 600)
        await QuestionTable(store.database).add(row)
        await store.close()

    asyncio.run(work())


def find(project: Path, id: str) -> Any:
    async def work() -> Any:
        store = await Store.open(database(project))
        try:
            return await QuestionTable(store.database).find(id)
        finally:
            await store.close()

    return asyncio.run(work())


def test_what_waits_is_listed_and_answered(hookline, project):
    assert hookline("approvals", "list").stdout == "No call waits for approval.\n"
    ask(project, "question_1")
    ask(project, "question_2", can_edit=False)
    listed = hookline("approvals", "list").stdout
    assert "question_1" in listed
    assert '{"command": "git push"}' in listed
    rows = [json.loads(line) for line in hookline("approvals", "list", "--json").stdout.splitlines()]
    assert [row["id"] for row in rows] == ["question_1", "question_2"]
    approved = hookline("approvals", "approve", "question_1", "--input", '{"command": "git push --dry-run"}')
    assert approved.exit_code == 0
    assert (find(project, "question_1").state, find(project, "question_1").edited) == (
        "approved",
        {"command": "git push --dry-run"},
    )
    assert hookline("approvals", "approve", "question_2", "--input", "{}").exit_code == 1
    assert hookline("approvals", "deny", "question_2", "--reason", "no").exit_code == 0
    assert (find(project, "question_2").state, find(project, "question_2").why) == ("denied", "no")
    late = hookline("approvals", "approve", "question_2")
    assert (late.exit_code, "nothing with this id waits" in late.stderr) == (1, True)


def test_an_id_that_is_not_clear_is_refused(hookline, project):
    ask(project, "question_1")
    ask(project, "question_2")
    assert "write more of it" in hookline("approvals", "deny", "question_").stderr


def test_nothing_is_answered_by_an_id_that_names_no_beginning(hookline, project):
    ask(project, "question_4a59")
    for start in ("", "n", "_", "59"):
        assert "nothing with this id waits" in hookline("approvals", "approve", start).stderr
    assert find(project, "question_4a59").state == "waiting"
    assert hookline("approvals", "approve", "4a").exit_code == 0


def test_a_host_cannot_write_a_line_that_looks_like_another_question(hookline, project):
    imitated = "\nquestion_2  codex box, 9 s left\n  Bash ls"
    ask(project, "question_1", reason=f"why{imitated}", tool=f"Bash{imitated}")
    lines = hookline("approvals", "list").stdout.splitlines()
    assert [line for line in lines if not line.startswith("  ")] == lines[:1]
