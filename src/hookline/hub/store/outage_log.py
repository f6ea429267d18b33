"""Tells of an outage once, and once when it is over, however often the work is tried meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

_log: Final = logging.getLogger("hookline.hub")


class OutageLog:
    def __init__(self, failed: str, works_again: str) -> None:
        self._failed = failed
        self._works_again = works_again
        self.reason = ""  # why it does not work now
        self.on_change: Callable[[str], None] | None = None
        """Called with what does not work, and with "" when it works again."""

    def report(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if reason != self.reason:
            _log.warning("%s: %s", self._failed, reason, exc_info=error)
            self._set(reason, f"{self._failed}: {reason}")

    def report_success(self) -> None:
        if self.reason:
            _log.warning(self._works_again)
            self._set("", "")

    def _set(self, reason: str, told: str) -> None:
        self.reason = reason
        if self.on_change is not None:
            self.on_change(told)
