from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_hub_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "hookline", "hub", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as hub:
        assert hub.stdout is not None
        lines = [hub.stdout.readline() for _ in range(3)]
        assert lines[0].startswith("hookline hub: http://127.0.0.1:")
        assert "/#enter=" in lines[1]
        hub.send_signal(signal.SIGINT)
        assert hub.wait(20) == 0
