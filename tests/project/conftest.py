from pathlib import Path

import pytest

from project.cloned_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home/.config/hookline").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """One that is not a repository."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"
