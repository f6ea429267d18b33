"""A path leads into the workspace or nowhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.tools.blocking import Deadline
from hookline.runtime.tools.file_content import replace_content
from hookline.runtime.tools.workspace import ToolError, Workspace

LONG = "x" * 300


def read(workspace: Path, path: str) -> str:
    with Workspace(workspace).resolve(path) as spot, spot.open() as file:
        return file.read().decode()


def write(workspace: Path, path: str, text: str = "new", *, make: bool = True) -> str:
    with Workspace(workspace).resolve(path, make=make) as spot:
        replace_content(spot, text.encode(), Deadline(10))
        return spot.path


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "a/../../secret",
        "a/b/../../../secret",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "//etc/passwd",
        "/",
        "..",
        "./../secret",
        "out/secret",
        "absolute",
        "out",
        "chain",
        "proc/etc/passwd",
    ],
)
def test_what_is_outside_is_refused(workspace: Path, path: str) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "out").symlink_to("..")
    (workspace / "absolute").symlink_to(workspace.parent / "secret")
    (workspace / "chain").symlink_to("a/../out/secret")
    (workspace / "proc").symlink_to("/proc/self/root")
    for attempt in (read, write):
        with pytest.raises(ToolError, match="outside the workspace"):
            attempt(workspace, path)
    assert (workspace.parent / "secret").read_text() == "outside"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        (LONG, "too long"),
        ("a/" * 3000, "too long"),
        ("\ud800", "characters"),
        ("missing", "no file"),
        ("missing/deeper", "no such file"),
        ("file/deeper", "not a directory"),
        (".", "a directory"),
        ("pipe", "a pipe"),
        ("loop", "too many links"),
    ],
)
def test_what_is_no_file_is_refused(workspace: Path, path: str, why: str) -> None:
    (workspace / "file").write_text("x")
    os.mkfifo(workspace / "pipe")
    (workspace / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match=why):
        read(workspace, path)


def test_a_device_is_refused(workspace: Path) -> None:
    with pytest.raises(ToolError, match="a device"):
        read(Path("/dev"), "null")
    with pytest.raises(ToolError, match="a device"):
        write(Path("/dev"), "null")


def test_paths_inside_are_found_however_they_are_written(workspace: Path) -> None:
    (workspace / "a").mkdir()
    (workspace / "a" / "ü 中.txt").write_text("here")
    (workspace / "link").symlink_to("a")
    (workspace / "absolute").symlink_to(workspace / "a" / "ü 中.txt")
    same = (
        "a/ü 中.txt",
        "./a//ü 中.txt",
        "a/../a/ü 中.txt",
        "link/ü 中.txt",
        "absolute",
        str(workspace / "a/ü 中.txt"),
    )
    assert {read(workspace, path) for path in same} == {"here"}


def test_a_workspace_may_be_a_link_itself(workspace: Path) -> None:
    (workspace / "f").write_text("here")
    alias = workspace.parent / "alias"
    alias.symlink_to(workspace)
    assert read(alias, str(alias / "f")) == read(alias, str(workspace / "f")) == read(alias, "f") == "here"


def test_writing_through_a_link_inside_writes_what_it_leads_to(workspace: Path) -> None:
    (workspace / "d").mkdir()
    (workspace / "link").symlink_to("d/real")
    assert write(workspace, "link") == "d/real"
    assert (workspace / "link").is_symlink()
    assert (workspace / "d" / "real").read_text() == "new"


def test_a_link_put_in_after_the_look_is_not_followed(workspace: Path) -> None:
    (workspace / "f").write_text("mine")
    with Workspace(workspace).resolve("f") as spot:
        (workspace / "f").unlink()
        (workspace / "f").symlink_to(workspace.parent / "secret")
        with pytest.raises(ToolError, match="a link"):
            spot.open()
    with Workspace(workspace).resolve("new") as spot:
        (workspace / "new").symlink_to(workspace.parent / "secret")
        with pytest.raises(ToolError, match="a link"):
            replace_content(spot, b"evil", Deadline(10))
    assert (workspace.parent / "secret").read_text() == "outside"


def at_the_worst_moment(monkeypatch: pytest.MonkeyPatch, call: str, name: str, swap: Callable[[], None]) -> None:
    """Somebody swaps a thing right after `os.<call>` has looked at it."""
    real = getattr(os, call)

    def looked(path: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return real(path, *args, **kwargs)
        finally:
            if path == name:
                monkeypatch.setattr(os, call, real)
                swap()

    monkeypatch.setattr(os, call, looked)


@pytest.mark.parametrize("attempt", [read, write])
def test_a_directory_swapped_for_a_link_is_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, attempt: Callable[[Path, str], str]
) -> None:
    outside = workspace.parent / "elsewhere"
    outside.mkdir()
    (outside / "f").write_text("outside")
    (workspace / "d").mkdir()
    (workspace / "d" / "f").write_text("inside")

    def swap() -> None:
        (workspace / "d").rename(workspace / "kept")
        (workspace / "d").symlink_to(outside)

    at_the_worst_moment(monkeypatch, "readlink", "d", swap)
    with pytest.raises(ToolError):
        attempt(workspace, "d/f")
    assert (workspace / "d").is_symlink()
    assert (outside / "f").read_text() == "outside"
    assert [each.name for each in outside.iterdir()] == ["f"]


@pytest.mark.parametrize(
    ("call", "attempt"), [("stat", read), ("stat", write), ("readlink", read), ("readlink", write)]
)
def test_a_file_swapped_for_a_link_is_not_followed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, call: str, attempt: Callable[[Path, str], str]
) -> None:
    (workspace / "f").write_text("inside")
    secret = workspace.parent / "secret"

    def swap() -> None:
        (workspace / "f").unlink()
        (workspace / "f").symlink_to(secret)

    at_the_worst_moment(monkeypatch, call, "f", swap)
    with pytest.raises(ToolError):
        attempt(workspace, "f")
    assert secret.read_text() == "outside"
    assert not [each for each in workspace.iterdir() if each.name != "f"]


def test_no_descriptor_is_left_open(workspace: Path) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "link").symlink_to("../../secret")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("a/b/new", "a/b/../../x", "a/link", "a/b", "nowhere/at/all", "../x"):
        with pytest.raises(ToolError):
            read(workspace, path)
    write(workspace, "a/b/c/d")
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_written_keeps_its_permissions(workspace: Path) -> None:
    (workspace / "run.sh").write_text("old")
    (workspace / "run.sh").chmod(0o751)
    write(workspace, "run.sh")
    assert (workspace / "run.sh").stat().st_mode & 0o777 == 0o751
    assert [each.name for each in workspace.iterdir()] == ["run.sh"]


def test_work_that_is_over_writes_nothing(workspace: Path) -> None:
    (workspace / "f").write_text("old")
    over = Deadline(10)
    over.cancel()
    with pytest.raises(ToolError), Workspace(workspace).resolve("f") as spot:
        replace_content(spot, b"new", over)
    assert (workspace / "f").read_text() == "old"
    assert [each.name for each in workspace.iterdir()] == ["f"]


def test_a_workspace_that_is_gone_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no such file"):
        read(tmp_path / "gone", "f")
