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
from hookline.hosts.install.launcher import compile_client, python_client


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


@pytest.fixture(scope="session")
def c_client(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Not bound to a user's directories, because each test has its own."""
    target = tmp_path_factory.mktemp("client") / "hookline bridge"
    if not compile_client(target, {}):
        pytest.skip("there is no C compiler")
    return [str(target)]


@pytest.fixture(params=["python", "c"])
def argv(request: pytest.FixtureRequest) -> list[str]:
    """What an agent is told to call."""
    if request.param == "python":
        return python_client()
    compiled: list[str] = request.getfixturevalue("c_client")
    return compiled


@pytest.fixture
def engine(desk: BridgeSandbox) -> Iterator[subprocess.Popen[bytes]]:
    """One that is ours to end, and listens."""
    process = desk.start_client(client.hookline_command("serve"))
    wait_for(desk.engine_pid)
    yield process
    process.kill()
    process.communicate()
