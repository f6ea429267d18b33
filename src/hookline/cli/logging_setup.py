"""The log on stderr: one line per record, with its level. Secrets are masked."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from hookline.formatting import printable

_LOGGER_NAME: Final = "hookline"
_LEVEL_VARIABLES: Final = ("HOOKLINE_LOG", "DIGITORN_LOGGING__LEVEL")


class _LineFormatter(logging.Formatter):
    """Text of an agent or a program can neither start a new line nor move the cursor."""

    def format(self, record: logging.LogRecord) -> str:
        from hookline.hooks.masking import mask, secret_values  # most processes log nothing

        lines = [f"{record.levelname.lower()}: {record.getMessage()}"]
        if record.exc_info and is_debugging():
            lines += [f"  {line}" for line in self.formatException(record.exc_info).splitlines()]
        secrets = secret_values(os.environ)
        return "\n".join(printable(mask(line, secrets)) for line in lines)


class _StderrHandler(logging.StreamHandler):  # type: ignore[type-arg]
    def emit(self, record: logging.LogRecord) -> None:
        from hookline.cli.output import err_line

        with suppress(OSError):  # the log file is on a full disk; what is logged goes on
            err_line(self.format(record))


class _ScreenHandler(logging.Handler):
    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        if not hasattr(record, "notice") and not hasattr(record, "failure"):  # the screen shows these itself
            self._show(self.format(record))


def start_log(*, debug: bool = False) -> None:
    """Sends the log to stderr, and only there."""
    log = logging.getLogger(_LOGGER_NAME)
    handler = _StderrHandler(sys.stderr)
    handler.setFormatter(_LineFormatter())
    log.handlers = [handler]
    log.propagate = False
    wanted = any(os.environ.get(switch, "").strip().lower() == "debug" for switch in _LEVEL_VARIABLES)
    log.setLevel(logging.DEBUG if debug or wanted else logging.INFO)


def log_to(show: Callable[[str], None]) -> None:
    """Shows the log on a screen, between its own lines, instead of on stderr."""
    handler = _ScreenHandler(show)
    handler.setFormatter(_LineFormatter())
    logging.getLogger(_LOGGER_NAME).handlers = [handler]


def is_debugging() -> bool:
    return logging.getLogger(_LOGGER_NAME).isEnabledFor(logging.DEBUG)
