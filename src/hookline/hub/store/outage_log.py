"""Tells of an outage once, and once when it is over, however often the work is tried meanwhile."""

from __future__ import annotations

import logging
from typing import Final

_log: Final = logging.getLogger("hookline.hub")


class OutageLog:
    def __init__(self, failed: str, works_again: str) -> None:
        self._failed = failed
        self._works_again = works_again
        self.reason = ""  # why it does not work now

    def report(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if reason != self.reason:
            _log.warning("%s: %s", self._failed, reason, exc_info=error)
        self.reason = reason

    def report_success(self) -> None:
        if self.reason:
            _log.warning(self._works_again)
        self.reason = ""
