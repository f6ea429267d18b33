"""Variables that hooks of session.start leave for the session's later shell commands, as Claude Code has them."""

from __future__ import annotations

import os
import shlex
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

ENV_FILE_VARIABLE: Final = "CLAUDE_ENV_FILE"


class SessionEnvironment:
    """A file for shell text such as `export NAME=value`. It exists only if a program ran when the session started."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._is_starting = False

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Only programs that run within may write to the file."""
        self._is_starting = True
        try:
            yield
        finally:
            self._is_starting = False

    def hook_variables(self) -> dict[bytes, bytes]:
        """The variable that tells a hook's program where the file is."""
        if not self._is_starting:
            return {}
        if self._path is None:
            descriptor, self._path = tempfile.mkstemp(prefix="hookline-env-")
            os.close(descriptor)
            weakref.finalize(self, _remove, self._path)
        return {os.fsencode(ENV_FILE_VARIABLE): os.fsencode(self._path)}

    def shell_prefix(self) -> str:
        """What a shell command starts with; empty if no hook wrote anything."""
        try:
            is_written = self._path is not None and os.path.getsize(self._path) > 0
        except OSError:
            return ""
        return f". {shlex.quote(self._path)}; " if self._path is not None and is_written else ""


def _remove(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)
