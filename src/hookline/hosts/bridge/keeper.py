"""Keeps an engine alive on which HTTP hooks rely: no agent can start one by an HTTP call.

The keeper holds the port, so that a call waits for the next engine instead of being refused: a tool whose hook is
refused would run in some agents.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from typing import Final

OUTDATED: Final = 75
"""The exit code of an engine that makes room for another version of hookline."""
_LONGEST: Final = 30.0  # seconds between two engines that fail
_HEALTHY: Final = 60.0  # seconds after which an engine counts as one that works

log = logging.getLogger("hookline")


def keep(listening: socket.socket, engine: Sequence[str]) -> int:
    """Runs an engine, given the port as its last argument, until one ends by its own will; its exit code."""
    ended = False
    process: subprocess.Popen[bytes] | None = None

    def end(number: int, frame: object) -> None:
        nonlocal ended
        ended = True
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    pause, file = 0.05, listening.fileno()
    while not ended:
        begun = time.monotonic()
        process = subprocess.Popen([*engine, str(file)], stdin=subprocess.DEVNULL, pass_fds=[file])
        code = process.wait()
        if code in (0, OUTDATED) or ended:
            return code
        log.error("the engine ended with %d; another one is started", code)
        pause = 0.05 if time.monotonic() - begun > _HEALTHY else min(pause * 2, _LONGEST)
        time.sleep(pause)
    return 0


def become(command: Sequence[str], listening: socket.socket) -> None:
    """This process goes on as another version of itself, with the port still held."""
    os.set_inheritable(listening.fileno(), True)
    os.execv(command[0], [*command, str(listening.fileno())])
