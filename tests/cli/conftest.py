from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hookline.cli.main import cli
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory

Hookline = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[str]"]

CLAUDE_SETTINGS = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory where the command is called, and an empty home beside it."""
    directory, home = tmp_path / "project", tmp_path / "home"
    directory.mkdir()
    home.mkdir()
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOOKLINE_LOG", "DIGITORN_LOGGING__LEVEL", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return directory


@pytest.fixture
def claude_settings(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings of Claude Code, the only agent in this home; no engine runs."""
    for name in ("CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/dev/null")
    path = project.parent / "home/.claude/settings.json"
    path.parent.mkdir()
    path.write_text(CLAUDE_SETTINGS)
    return path


@pytest.fixture
def hookline(project: Path) -> Hookline:
    def call(*arguments: str, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=input)

    return call


@pytest.fixture
def command(project: Path) -> list[str]:
    return [sys.executable, "-c", "from hookline.cli.main import main; main()"]


@pytest.fixture
def process(command: list[str]) -> Process:
    def call(*arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], input=input, capture_output=True, text=True, timeout=60, env=dict(os.environ)
        )

    return call


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    log = logging.getLogger("hookline")
    handlers, level, propagate = log.handlers, log.level, log.propagate
    yield
    log.handlers, log.propagate = handlers, propagate
    log.setLevel(level)


@pytest.fixture
def recorder(project: Path) -> Iterator[Recorder]:
    """Records decisions of the user of these tests."""
    recorder = Recorder(record_directory(project.parent / "home/.local/state/hookline"))
    yield recorder
    recorder.close()
