import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.triggers.file_changes import FileWatch
from hookline.runtime.triggers.trigger import Activation, ActivationResult, Trigger, TriggerKind
from hookline.runtime.triggers.triggers import Triggers

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
DEADLINE = 20.0


def trigger(glob: str, id: str = "t") -> Trigger:
    return Trigger(id, TriggerKind.FILE, glob, "look at {{trigger.path}}")


class Heard:
    def __init__(self) -> None:
        self.fired: list[Activation] = []
        self.more = asyncio.Event()

    async def __call__(self, fired: Activation) -> ActivationResult:
        self.fired.append(fired)
        self.more.set()
        return ActivationResult("s")

    async def next(self) -> Activation:
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

    async def fire(fired: Activation) -> ActivationResult:
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

    async def fire(fired: Activation) -> ActivationResult:
        await heard(fired)
        raise HooklineError("the model is away")

    async with Triggers([trigger("*.txt")], tmp_path, fire):
        (tmp_path / "a.txt").write_text("x")
        await heard.next()
        await asyncio.sleep(1.5)
        (tmp_path / "b.txt").write_text("x")
        assert (await heard.next()).facts["path"] == "b.txt"


def many(folder: Path) -> Path:
    for number in range(100):
        file = folder / f"d{number // 10}" / "deeper" / f"{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return folder


@pytest.mark.parametrize("copied", [True, False])
async def test_a_directory_that_comes_as_a_whole_comes_with_all_its_files(tmp_path: Path, copied: bool) -> None:
    heard, workspace = Heard(), tmp_path / "work"
    workspace.mkdir()
    folder = many(tmp_path / "folder")
    async with Triggers([trigger("**/*.py")], workspace, heard):
        if copied:
            await asyncio.to_thread(shutil.copytree, folder, workspace / "new")
        else:
            folder.rename(workspace / "new")
        fired = await heard.next()
        assert (fired.facts["count"], fired.facts["change"]) == (100, "added")
        await asyncio.sleep(1.5)
        (workspace / "new" / "d3" / "deeper" / "later.py").write_text("x")
        assert (await heard.next()).facts["paths"] == ["new/d3/deeper/later.py"]
    assert len(heard.fired) == 2


async def test_a_change_is_told_as_what_it_was(tmp_path: Path) -> None:
    heard = Heard()
    for name in ("kept.txt", "gone.txt", "other.txt"):
        (tmp_path / name).write_text("x")
    async with Triggers(
        [trigger("kept.txt", "k"), trigger("gone.txt", "g"), trigger("other.txt", "o")], tmp_path, heard
    ):
        (tmp_path / "other.txt").chmod(0o600)
        (tmp_path / "new").write_text("y")
        (tmp_path / "new").replace(tmp_path / "kept.txt")
        (tmp_path / "gone.txt").unlink()
        while len(heard.fired) < 2:
            await heard.next()
    assert {fired.trigger.id: fired.facts["change"] for fired in heard.fired} == {"k": "modified", "g": "deleted"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
async def test_a_name_that_is_no_text_does_not_end_the_trigger(tmp_path: Path) -> None:
    heard = Heard()
    async with Triggers([trigger("**/*.txt")], tmp_path, heard):
        Path(os.fsdecode(bytes(tmp_path) + b"/\xff.txt")).write_text("x")
        Path(os.fsdecode(bytes(tmp_path) + b"/\xfe")).mkdir()
        (tmp_path / "a.txt").write_text("x")
        assert (await heard.next()).facts["paths"] == ["a.txt"]
        await asyncio.sleep(1.5)
        (tmp_path / "b.txt").write_text("x")
        assert (await heard.next()).facts["paths"] == ["b.txt"]


async def test_links_are_not_followed(tmp_path: Path) -> None:
    heard = Heard()
    (tmp_path / "everything").symlink_to("/")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "loop").symlink_to("..")
    async with asyncio.timeout(DEADLINE), Triggers([trigger("**/*.txt")], tmp_path, heard):
        (tmp_path / "inside" / "loop" / "a.txt").write_text("x")
        assert (await heard.next()).facts["paths"] == ["a.txt"]


async def test_directories_that_are_nobodys_business_are_not_looked_into(tmp_path: Path) -> None:
    heard = Heard()
    (tmp_path / ".git").mkdir()
    async with Triggers([trigger("**")], tmp_path, heard):
        (tmp_path / ".git" / "index").write_text("x")
        for name in ("node_modules", ".venv", "src"):
            (tmp_path / name / "deep").mkdir(parents=True)
            (tmp_path / name / "deep" / "file").write_text("x")
        assert (await heard.next()).facts["paths"] == ["src/deep/file"]


async def test_a_workspace_that_is_gone_is_told_in_one_line(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    watch = FileWatch([trigger("**")], workspace, Heard())
    running = asyncio.ensure_future(watch.run())
    await watch.watching.wait()
    workspace.rmdir()
    with pytest.raises(ExceptionGroup) as stopped:
        await asyncio.wait_for(running, DEADLINE)
    [error] = stopped.value.exceptions
    assert isinstance(error, HooklineError)
    assert str(error) == f"cannot watch the workspace: {workspace} is gone"
