from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import Hookline, Process, command, project

__all__ = ["command", "project"]

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>]|\r")
_WITHIN = 60.0


class Terminal:
    """A program in a terminal of its own, with a simulated user."""

    def __init__(self, command: list[str]) -> None:
        env = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
        self._process, self._end = pty.fork()
        if self._process == 0:
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self._output = b""
        self._read = 0

    @property
    def text(self) -> str:
        return _CODES.sub("", self._output.decode("utf-8", "replace"))

    def wait_for_output(self, pattern: str) -> str:
        """Waits until it comes, behind what was seen before; returns what came until then."""
        deadline = time.monotonic() + _WITHIN
        while time.monotonic() < deadline:
            found = re.search(pattern, self.text[self._read :])
            if found is not None:
                before = self.text[self._read : self._read + found.end()]
                self._read += found.end()
                return before
            if not self._more():
                break
        raise AssertionError(f"{pattern!r} did not come:\n{self.text}")

    def type_keys(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def wait_for_exit(self) -> int:
        """Its exit code."""
        deadline = time.monotonic() + _WITHIN
        while self._more():
            assert time.monotonic() < deadline, f"it did not end:\n{self.text}"
        while (ended := os.waitpid(self._process, os.WNOHANG))[0] == 0:
            assert time.monotonic() < deadline, f"it did not end:\n{self.text}"
            time.sleep(0.02)
        self._process = 0
        return os.waitstatus_to_exitcode(ended[1])

    def close(self) -> None:
        if self._process:
            os.kill(self._process, 9)
            os.waitpid(self._process, 0)
        os.close(self._end)

    def _more(self) -> bool:
        readable, _, _ = select.select([self._end], [], [], _WITHIN)
        if not readable:
            return False
        try:
            piece = os.read(self._end, 65536)
        except OSError:  # Linux says so when the other side has gone
            return False
        self._output += piece
        return bool(piece)


@pytest.fixture
def terminal(command: list[str], project: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal([*command, *arguments]))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


@pytest.fixture
def here(hookline: Hookline) -> Process:
    """Runs the command in this process: quicker than `process`, where it makes no difference."""

    def call(*arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        ended = hookline(*arguments, input=input)
        return subprocess.CompletedProcess(arguments, ended.exit_code, ended.stdout, ended.stderr)

    return call
