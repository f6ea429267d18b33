from pathlib import Path

import pytest

from project.cloned_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
