from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(workspace: Path) -> Path:
    for path in ("a.py", "src/b.py", "src/deep/c.py", "src/d.txt", ".git/e.py"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("x")
    (workspace / "outside").symlink_to(workspace.parent, target_is_directory=True)
    return workspace


@pytest.mark.parametrize(
    ("input", "found"),
    [
        ({"pattern": "*.py"}, "a.py"),
        ({"pattern": "**/*.py"}, "a.py\nsrc/b.py\nsrc/deep/c.py"),
        ({"pattern": "*.py", "path": "src"}, "src/b.py"),
        ({"pattern": "src/**"}, "src/b.py\nsrc/d.txt\nsrc/deep/c.py"),
        ({"pattern": "**/secret"}, "no file matches"),
        ({"pattern": "../*"}, "no file matches"),
    ],
)
async def test_finds_files(do, tree: Path, input, found: str) -> None:
    assert (await do("glob", **input)).content == found


async def test_an_absolute_pattern_counts_inside_only(do, tree: Path) -> None:
    assert (await do("glob", pattern=f"{tree}/src/*.py")).content == "src/b.py"
    assert "outside" in (await do("glob", pattern="/etc/*")).error
    assert "outside" in (await do("glob", pattern="*", path="outside")).error


async def test_a_glob_that_cannot_be_read_is_an_error(do, tree: Path) -> None:
    assert "invalid glob" in (await do("glob", pattern="{" * 3000)).error


async def test_results_are_bounded(do, workspace: Path) -> None:
    for number in range(1100):
        (workspace / str(number)).touch()
    lines = (await do("glob", pattern="**")).content.split("\n")
    assert lines[-1] == "[only the first 1,000 files are shown]"
    assert len(lines) == 1001


async def test_cancelling_ends_the_walk(do, workspace: Path, eventually) -> None:
    for number in range(300):
        (workspace / f"{number}").mkdir()
        for inner in range(20):
            (workspace / f"{number}" / f"{inner}").touch()
    before = len(os.listdir("/proc/self/fd"))
    task = asyncio.ensure_future(do("glob", pattern="**/nothing"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: len(os.listdir("/proc/self/fd")) <= before)
