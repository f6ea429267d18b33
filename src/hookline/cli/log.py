"""The one log, on stderr: a level and a line, with the hook's id as the one who logged it gave it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Final

from hookline.config.problem import printable
from hookline.hooks.secrets import mask, secret_values

_NAME: Final = "hookline"
_SWITCHES: Final = ("HOOKLINE_LOG", "DIGITORN_LOGGING__LEVEL")


class _Lines(logging.Formatter):
    """One record is one line: what an agent or a program said can neither begin a line nor move the cursor."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {printable(mask(record.getMessage(), secret_values(os.environ)))}"


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    def emit(self, record: logging.LogRecord) -> None:
        from hookline.cli.output import err_line

        err_line(self.format(record))


class _Shown(logging.Handler):
    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        if not hasattr(record, "notice") and not hasattr(record, "failure"):  # a screen shows them by itself
            self._show(self.format(record))


def start_log(*, debug: bool = False) -> None:
    """From now on the log goes to stderr, and only there."""
    log = logging.getLogger(_NAME)
    handler = _Stderr(sys.stderr)
    handler.setFormatter(_Lines())
    log.handlers = [handler]
    log.propagate = False
    wanted = any(os.environ.get(switch, "").strip().lower() == "debug" for switch in _SWITCHES)
    log.setLevel(logging.DEBUG if debug or wanted else logging.INFO)


def log_to(show: Callable[[str], None]) -> None:
    """From now on a screen shows the log, between its own lines."""
    handler = _Shown(show)
    handler.setFormatter(_Lines())
    logging.getLogger(_NAME).handlers = [handler]


def debugging() -> bool:
    return logging.getLogger(_NAME).isEnabledFor(logging.DEBUG)
