"""What is recorded, and for how long: `record:` in the user's own file."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

from hookline.lazy_dataclasses import dataclass

MAX_RECORDS: Final = 1_000_000
DEFAULT_KEEP: Final = timedelta(days=30)


class RecordedFacts(StrEnum):
    MASKED = "masked"  # secrets are masked
    FULL = "full"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The OpenTelemetry collector that gets each decision."""

    endpoint: str = "http://localhost:4318/v1/traces"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordSettings:
    enabled: bool = True
    facts: RecordedFacts = RecordedFacts.MASKED
    keep: timedelta | None = None  # None: this says nothing about it
    telemetry: Telemetry | None = None

    def restricted_by(self, named: RecordSettings | None) -> RecordSettings:
        """The user's own settings, beside those of a file that was named: such a file may have less recorded, never more."""
        if named is None:
            return self
        facts = min(self.facts, named.facts, key=_FROM_LEAST.index)
        return RecordSettings(self.enabled and named.enabled, facts, self.keep, self.telemetry)


_FROM_LEAST: Final = (RecordedFacts.NONE, RecordedFacts.MASKED, RecordedFacts.FULL)
DEFAULT_SETTINGS: Final = RecordSettings()
