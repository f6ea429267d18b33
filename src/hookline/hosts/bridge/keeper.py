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
import threading
import time
from collections.abc import Sequence
from typing import Final

OUTDATED: Final = 75
"""The exit code of an engine that makes room for another version of hookline."""
_SHORTEST: Final = 0.05  # seconds between two engines that fail
_LONGEST: Final = 30.0
_HEALTHY: Final = 60.0  # seconds after which an engine counts as one that works

log = logging.getLogger("hookline")


def keep(listening: socket.socket, engine: Sequence[str]) -> int:
    """Runs an engine, given the port as its last argument, until one ends by its own will; its exit code."""
    ended = threading.Event()
    process: subprocess.Popen[bytes] | None = None

    def end(number: int, frame: object) -> None:
        ended.set()
        if process is not None:
            process.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    pause, file = _SHORTEST, listening.fileno()
    while not ended.is_set():
        begun = time.monotonic()
        process = subprocess.Popen([*engine, str(file)], stdin=subprocess.DEVNULL, pass_fds=[file])
        if ended.is_set():  # it was told to end before there was a process to tell
            process.terminate()
        code = process.wait()
        if code in (0, OUTDATED):
            return code
        log.error("the engine ended with %d; another one is started", code)
        pause = _SHORTEST if time.monotonic() - begun > _HEALTHY else min(pause * 2, _LONGEST)
        ended.wait(pause)
    return 0


def become(command: Sequence[str], listening: socket.socket) -> None:
    """This process goes on as another version of itself, with the port still held."""
    os.set_inheritable(listening.fileno(), True)
    os.execv(command[0], [*command, str(listening.fileno())])
