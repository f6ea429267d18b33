"""Where agents and hookline keep their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.hosts.agents.machine import Machine

HOME, PROJECT = Path("/home/me"), Path("/home/me/project")


def test_without_variables_everything_is_below_the_home_directory() -> None:
    machine = Machine(HOME, PROJECT)
    assert machine.config == HOME / ".config"
    assert machine.launcher == HOME / ".local/share/hookline/bridge"
    assert machine.records_directory == HOME / ".local/state/hookline/installed"


def test_variables_move_each_directory_but_not_to_a_relative_path() -> None:
    machine = Machine(HOME, PROJECT, {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s"})
    assert machine.config == HOME / ".config"
    assert machine.launcher == Path("/d/hookline/bridge")
    assert machine.records_directory == Path("/s/hookline/installed")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/me/project/a/b", "a/b"),
        ("/home/me/other", "~/other"),
        ("/home/me/project2/x", "~/project2/x"),
        ("/etc/x", "/etc/x"),
    ],
)
def test_a_path_is_shown_relative_to_the_project_or_the_home(path: str, shown: str) -> None:
    assert Machine(HOME, PROJECT).display_path(Path(path)) == shown
