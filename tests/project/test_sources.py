import os
from pathlib import Path

import pytest

from hookline.project import SourceLayer, find_sources, project_directories


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def write_file(path: Path, text: str = "hooks: []\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def native_sources(directory: Path, home: Path, config_home: Path | None = None) -> list[tuple[str, str]]:
    found = find_sources(directory, home, config_home)
    return [(source.layer.value, source.display_path) for source in found if source.dialect == "native"]


def test_users_then_project_from_its_root_then_local(home: Path) -> None:
    root = home / "work" / "app"
    (root / ".git").mkdir(parents=True)
    write_file(home / ".config/hookline/hookline.yaml")
    write_file(root / "hookline.yaml")
    write_file(root / "hookline.local.yaml")
    write_file(root / "sub/hookline.yaml")
    write_file(root / "sub/.hookline/b.yaml")
    write_file(root / "sub/.hookline/a.yaml")
    write_file(home / "work/hookline.yaml")
    assert native_sources(root / "sub", home) == [
        ("user", "~/.config/hookline/hookline.yaml"),
        ("project", "../hookline.yaml"),
        ("project", "hookline.yaml"),
        ("project", ".hookline/a.yaml"),
        ("project", ".hookline/b.yaml"),
        ("local", "../hookline.local.yaml"),
    ]


def test_only_project_and_local_files_came_with_the_project(home: Path) -> None:
    root = home / "app"
    (root / ".git").mkdir(parents=True)
    write_file(home / ".config/hookline/hookline.yaml")
    write_file(root / "hookline.yaml")
    write_file(root / "hookline.local.yaml")
    roots = {source.layer: source.project for source in find_sources(root, home)}
    assert roots == {SourceLayer.USER: None, SourceLayer.PROJECT: root.resolve(), SourceLayer.LOCAL: root.resolve()}


def test_the_callers_config_home_takes_the_place_of_the_usual_one(home: Path, tmp_path: Path) -> None:
    write_file(home / ".config/hookline/hookline.yaml")
    write_file(tmp_path / "xdg/hookline/hookline.yaml")
    found = native_sources(home / "app", home, tmp_path / "xdg")
    assert found == [("user", str(tmp_path.resolve() / "xdg/hookline/hookline.yaml"))]


def test_without_a_repository_only_the_directory_itself(home: Path) -> None:
    write_file(home / "a/hookline.yaml")
    write_file(home / "a/b/hookline.yaml")
    assert native_sources(home / "a/b", home) == [("project", "hookline.yaml")]


def test_a_repository_above_the_home_is_not_looked_at(home: Path) -> None:
    (home.parent / ".git").mkdir()
    write_file(home.parent / "hookline.yaml")
    write_file(home / "hookline.yaml")
    assert native_sources(home / "a", home) == []
    assert project_directories(home / "a", home) == ((home / "a").resolve(),)


def test_a_worktrees_git_file_marks_a_root_too(home: Path) -> None:
    write_file(home / "tree/.git", "gitdir: elsewhere\n")
    write_file(home / "tree/hookline.yaml")
    assert native_sources(home / "tree/x", home) == [("project", "../hookline.yaml")]


def test_a_file_found_twice_counts_where_it_was_found_first(home: Path) -> None:
    user = write_file(home / ".config/hookline/hookline.yaml")
    root = home / "dotfiles"
    root.mkdir()
    (root / "hookline.yaml").symlink_to(user)
    assert native_sources(root, home) == [("user", "~/.config/hookline/hookline.yaml")]


def test_links_that_lead_nowhere_or_round_are_harmless(home: Path) -> None:
    root = home / "app"
    root.mkdir()
    (root / "hookline.yaml").symlink_to("hookline.yaml")
    (root / ".hookline").symlink_to(".hookline")
    (root / "hookline.local.yaml").symlink_to("gone.yaml")
    assert native_sources(root, home) == [("project", "hookline.yaml"), ("local", "hookline.local.yaml")]
    (home / "loop").symlink_to("loop")
    assert native_sources(home / "loop", home) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_directory_holds_nothing(home: Path) -> None:
    write_file(home / "app/.hookline/a.yaml")
    write_file(home / "app/hookline.yaml")
    (home / "app/.hookline").chmod(0)
    try:
        assert native_sources(home / "app", home) == [("project", "hookline.yaml")]
    finally:
        (home / "app/.hookline").chmod(0o700)
