from pathlib import Path

import pytest

from hookline.project import Trust, find_sources
from hookline.runtime.apps.app import App
from hookline.runtime.apps.app_loader import load_app, skill_folders
from hookline.runtime.skills import skill_sources
from runtime.storage.conftest import new_database, postgres  # noqa: F401


class Project:
    """A directory with files, and a user who has not looked at them yet."""

    def __init__(self, path: Path) -> None:
        self.root, self.home = path / "app", path / "home"
        (self.root / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.trust = Trust(path / "state" / "trust.json")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def accept(self) -> None:
        found = find_sources(self.root, self.home)
        self.trust.accept((*found, *skill_sources(skill_folders(found), self.root, self.home)))

    def load(self, file: Path | None = None) -> App:
        return load_app(self.root, self.home, self.trust, file)

    def load_trusted(self, text: str, file: str = "hookline.yaml") -> App:
        """The app of a file that says this, once it was looked at."""
        self.write(file, text)
        self.accept()
        return self.load()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
