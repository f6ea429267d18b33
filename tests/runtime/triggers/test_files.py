import asyncio
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.app import Trigger, TriggerKind
from hookline.runtime.triggers.fired import Answer, Fired
from hookline.runtime.triggers.run import Triggers

pytestmark = pytest.mark.anyio
DEADLINE = 20.0


def trigger(glob: str, id: str = "t") -> Trigger:
    return Trigger(id, TriggerKind.FILE, glob, "look at {{trigger.path}}")


class Heard:
    def __init__(self) -> None:
        self.fired: list[Fired] = []
        self.more = asyncio.Event()

    async def __call__(self, fired: Fired) -> Answer:
        self.fired.append(fired)
        self.more.set()
        return Answer("s")

    async def next(self) -> Fired:
        await asyncio.wait_for(self.more.wait(), DEADLINE)
        self.more.clear()
        return self.fired[-1]


async def test_a_change_fires_with_its_path(tmp_path: Path) -> None:
    heard = Heard()
    (tmp_path / "src").mkdir()
    async with Triggers([trigger("src/**/*.py")], tmp_path, heard):
        (tmp_path / "src" / "notes.txt").write_text("no")
        (tmp_path / "src" / "a.py").write_text("1")
        fired = await heard.next()
    assert fired.facts.keys() == {"id", "kind", "at", "time", "path", "change", "paths", "count"}
    assert (fired.facts["kind"], fired.facts["path"], fired.facts["change"]) == ("file", "src/a.py", "added")
    assert fired.prompt == "look at src/a.py"


async def test_changes_close_together_fire_once(tmp_path: Path) -> None:
    heard = Heard()
    async with Triggers([trigger("*.txt")], tmp_path, heard):
        for number in range(20):
            (tmp_path / f"{number}.txt").write_text("x")
        fired = await heard.next()
    assert fired.facts["count"] == 20
    assert len(heard.fired) == 1


async def test_what_changes_during_the_turn_starts_none(tmp_path: Path) -> None:
    heard = Heard()

    async def fire(fired: Fired) -> Answer:
        (tmp_path / f"made{len(heard.fired)}.txt").write_text("by the agent")
        return await heard(fired)

    async with Triggers([trigger("*.txt")], tmp_path, fire):
        (tmp_path / "a.txt").write_text("x")
        await heard.next()
        await asyncio.sleep(2)
        assert len(heard.fired) == 1
        (tmp_path / "b.txt").write_text("x")
        assert (await heard.next()).facts["path"] == "b.txt"


async def test_nothing_outside_of_the_workspace_counts(tmp_path: Path) -> None:
    heard = Heard()
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    (workspace / ".hookline").mkdir()
    async with Triggers([trigger("**")], workspace, heard):
        (outside / "secret.txt").write_text("x")
        (workspace / "link" / "more.txt").write_text("x")
        (workspace / ".hookline" / "state.db").write_text("x")
        (workspace / "inside.txt").write_text("x")
        fired = await heard.next()
        assert fired.facts["paths"] == ["inside.txt"]


async def test_a_turn_that_fails_does_not_end_the_trigger(tmp_path: Path) -> None:
    heard = Heard()

    async def fire(fired: Fired) -> Answer:
        await heard(fired)
        raise HooklineError("the model is away")

    async with Triggers([trigger("*.txt")], tmp_path, fire):
        (tmp_path / "a.txt").write_text("x")
        await heard.next()
        await asyncio.sleep(1.5)
        (tmp_path / "b.txt").write_text("x")
        assert (await heard.next()).facts["path"] == "b.txt"
