"""What the tests of the bridge and of the open protocols share: a desk at which an agent works, and its engine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bridge_sandbox import BridgeSandbox, wait_for
from hookline.hosts.bridge import client


@pytest.fixture
def desk() -> Iterator[BridgeSandbox]:
    made = BridgeSandbox(Path(tempfile.mkdtemp(prefix="hl")))
    for directory in (made.home, made.project, made.root / "run"):
        directory.mkdir()
    yield made
    engine = made.engine_pid()
    if engine is not None:
        for number in (signal.SIGCONT, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(engine, number)
    shutil.rmtree(made.root)


@pytest.fixture
def engine(desk: BridgeSandbox) -> Iterator[subprocess.Popen[bytes]]:
    """One that is ours to end, and listens."""
    process = desk.start_client(client.hookline_command("serve"))
    wait_for(desk.engine_pid)
    yield process
    process.kill()
    process.communicate()
