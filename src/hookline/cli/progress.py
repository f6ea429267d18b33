"""Tells a terminal what is being done, if it takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from hookline.cli.output import err_line

_FIRST_SECONDS: Final = 1.0
_NEXT_SECONDS: Final = 5.0


@contextmanager
def show_progress(describe: Callable[[], str], limit: str = "") -> Iterator[None]:
    """Prints on stderr, now and then, for how long the body runs and what `describe` says meanwhile.

    `limit` follows the seconds: `of 30`.
    """
    begun, ended = time.monotonic(), Event()

    def report() -> None:
        pause = _FIRST_SECONDS
        while not ended.wait(pause):
            passed = " ".join(filter(None, (f"{time.monotonic() - begun:.0f}", limit)))
            err_line(f"{passed} s: {describe()}")
            pause = _NEXT_SECONDS

    reporter = Thread(target=report, name="hookline-progress", daemon=True)
    if sys.stderr is not None and sys.stderr.isatty():
        reporter.start()
    try:
        yield
    finally:
        ended.set()
        if reporter.is_alive():
            reporter.join()
