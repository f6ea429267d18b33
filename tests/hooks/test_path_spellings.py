"""The ways to write a tool's path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.event import Event
from hookline.hooks.path_spellings import path_readings


def readings(given: str, cwd: Any = "/nowhere/src", workspace: Any = "/nowhere") -> tuple[tuple[str, ...], ...]:
    return path_readings(given, Event("tool.before", {"cwd": cwd, "workspace": workspace}))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a.py", {("a.py", "src/a.py", "/nowhere/src/a.py"), ("a.py", "src/a.py")}),
        ("./a.py", {("./a.py", "src/a.py", "/nowhere/src/a.py"), ("./a.py", "src/a.py")}),
        ("a.py/.", {("a.py/.", "src/a.py", "/nowhere/src/a.py"), ("a.py/.", "src/a.py")}),
        ("../b/a.py", {("../b/a.py", "b/a.py", "/nowhere/b/a.py"), ("../b/a.py", "b/a.py")}),
        ("/nowhere/b/a.py", {("/nowhere/b/a.py", "b/a.py")}),
        ("//nowhere//b/a.py/", {("//nowhere//b/a.py/", "b/a.py", "/nowhere/b/a.py")}),
        ("/nowhere/../etc/x", {("/etc/x",), ("/nowhere/../etc/x",)}),
        ("b/../a.py", {("src/a.py", "/nowhere/src/a.py"), ("src/a.py",), ("b/../a.py",)}),
        ("/nowhere", {("/nowhere", ".")}),
        ("file:///nowhere/a%20b", {("file:///nowhere/a%20b", "a b", "/nowhere/a b")}),
        ("/proc/self/cwd/a", {("/proc/self/cwd/a", "src/a", "/nowhere/src/a")}),
        ("/proc/1/root/nowhere/a", {("/proc/1/root/nowhere/a", "a", "/nowhere/a")}),
        ("", {("",)}),
    ],
)
def test_a_path_is_read_as_given_from_the_project_and_from_the_root(given: str, expected: set[Any]) -> None:
    assert expected <= set(readings(given))


def test_a_path_outside_of_the_project_is_absolute() -> None:
    assert readings("/elsewhere/x") == (("/elsewhere/x",),)
    assert readings("../../elsewhere/x") == (("../../elsewhere/x", "/elsewhere/x"),)


@pytest.mark.parametrize("unknown", [None, "", "relative", 5])
def test_a_detour_is_resolved_without_a_known_directory(unknown: Any) -> None:
    assert set(readings("a/../b", unknown, unknown)) == {("b",), ("a/../b",)}
    assert readings("./b", unknown, unknown) == (("./b", "b"),)


def test_a_home_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nobody")
    assert ("~/.ssh/id", "/nobody/.ssh/id") in readings("~/.ssh/id")


def test_links_are_resolved(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / ".env").touch()
    (project / "src/link").symlink_to("../.env")
    (project / "folder").symlink_to("/etc")
    found = readings("src/link", str(project), str(project))
    assert found[0] == ("src/link", f"{project}/src/link")
    assert (".env", f"{project}/.env") in found
    assert ("/etc/new/file",) in readings("folder/new/file", str(project), str(project))
    assert ("/",) in readings("folder/..", str(project), str(project))


def test_a_link_in_front_of_the_project_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "real/src").mkdir(parents=True)
    project = tmp_path / "link"
    project.symlink_to("real")
    assert readings("src/a", str(project), str(project)) == (
        ("src/a", f"{project}/src/a", f"{tmp_path}/real/src/a"),
        ("src/a",),
    )
    assert "src/a" in readings(f"{tmp_path}/real/src/a", str(project), str(project))[-1]


@pytest.mark.parametrize("odd", ["\0", "a\0b", "\ud800", "x" * 10_000, "a/" * 3_000])
def test_a_path_that_cannot_exist_is_read_as_text(odd: str, tmp_path: Path) -> None:
    assert any(odd in texts for texts in readings(odd, str(tmp_path), str(tmp_path)))


def test_a_link_to_itself_is_read_as_given(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert readings("loop", str(tmp_path), str(tmp_path))[0][0] == "loop"
