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


DEFAULT_SETTINGS: Final = RecordSettings()
