"""The engine's log file. Each test redirects the stderr of a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LARGE = 4 * 1024 * 1024 + 1


def run(directory: Path, *, then: str = "") -> str:
    """Writes one line to stderr after it was redirected. Returns what still came out of the process."""
    source = (
        "import os, sys; from pathlib import Path; from hookline.hosts.bridge.log_file import log_to_file, truncate_log; "
        f"log_to_file(Path(sys.argv[1])); {then or 'pass'}; os.write(2, b'a line\\n')"
    )
    done = subprocess.run([sys.executable, "-c", source, directory], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    return done.stdout + done.stderr


def test_stderr_is_appended_to_a_private_file(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    assert run(directory) + run(directory) == ""
    assert (directory / "bridge.log").read_text() == "a line\na line\n"
    assert (directory / "bridge.log").stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o777 == 0o700


def test_a_large_file_is_set_aside_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "bridge.log").write_bytes(b"x" * LARGE)
    run(tmp_path)
    assert (tmp_path / "bridge.log").read_text() == "a line\n"
    assert (tmp_path / "bridge.old").stat().st_size == LARGE


def test_a_file_that_became_large_starts_over(tmp_path: Path) -> None:
    run(tmp_path, then=f"os.write(2, b'x' * {LARGE}); truncate_log()")
    assert (tmp_path / "bridge.log").read_text() == "a line\n"
    run(tmp_path, then="truncate_log()")
    assert (tmp_path / "bridge.log").read_text() == "a line\na line\n"


def test_a_link_is_not_followed_and_nothing_reaches_the_agent(tmp_path: Path) -> None:
    (tmp_path / "bridge.log").symlink_to(tmp_path / "target")
    assert run(tmp_path) == ""
    assert not (tmp_path / "target").exists()
