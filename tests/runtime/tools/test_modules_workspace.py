from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.anyio


def git(workspace: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(("git", *identity, *arguments), cwd=workspace, check=True, capture_output=True)


async def test_tells_about_the_workspace(do, workspace: Path) -> None:
    (workspace / "a" / "b" / "c").mkdir(parents=True)
    (workspace / "a" / "b" / "f").write_text("x")
    (workspace / "out").symlink_to("/")
    assert (await do("workspace.info")).content == {"path": str(workspace), "files": 2, "all_counted": True}
    assert (await do("workspace.tree")).content == "a/\n  b/\n    c/\n    f  1 bytes\nout -> /"
    assert (await do("workspace.tree", path="a", depth=1)).content == "b/"
    assert "outside" in (await do("workspace.tree", path="out")).error


async def test_a_large_tree_is_cut(do, workspace: Path) -> None:
    for number in range(1100):
        (workspace / f"{number:04d}").touch()
    lines = (await do("workspace.tree")).content.split("\n")
    assert lines[-1] == "[there is more]"
    assert len(lines) == 1001


async def test_tells_what_changed(do, workspace: Path) -> None:
    assert (await do("workspace.changes")).error == "the workspace is not in a git repository"
    git(workspace, "init", "-b", "main")
    (workspace / "a").write_text("1")
    git(workspace, "add", "a")
    git(workspace, "commit", "-m", "one")
    (workspace / "a").write_text("2")
    (workspace / "b").write_text("3")
    assert (await do("workspace.changes")).content == "## main\n M a\n?? b"


async def test_a_repository_names_no_program_that_is_run(do, workspace: Path) -> None:
    git(workspace, "init")
    (workspace / "a").write_text("1")
    git(workspace, "add", "a")
    git(workspace, "commit", "-m", "one")
    ran = workspace.parent / "ran"
    for setting in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.process",
        "filter.Odd.Name.clean",
        "core.pager",
    ):
        git(workspace, "config", setting, f"touch {ran}; cat")
    (workspace / ".git" / "info" / "attributes").write_text("a filter=evil\nb filter=Odd.Name\n")
    (workspace / "a").write_text("22")
    result = await do("workspace.changes")
    assert result.ok, result.error
    assert " M a" in result.content
    assert not ran.exists()


async def test_a_filter_that_cannot_be_turned_off_ends_it(do, workspace: Path) -> None:
    git(workspace, "init")
    with (workspace / ".git" / "config").open("a") as file:
        file.write('[filter "e=v"]\n\tclean = touch ../ran\n')
    assert "cannot be disabled" in (await do("workspace.changes")).error
