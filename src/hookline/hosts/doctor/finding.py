"""What `doctor` found out, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mark(StrEnum):
    GOOD = "good"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    """Nothing is wrong that can be seen, but it was not proved."""


@dataclass(frozen=True, slots=True)
class Finding:
    about: str
    mark: Mark
    said: str
    fix: str = ""  # of a problem: what to do

    def as_json(self) -> dict[str, str]:
        said = {"about": self.about, "mark": self.mark.value, "said": self.said}
        return {**said, "fix": self.fix} if self.fix else said


@dataclass(frozen=True, slots=True)
class Diagnosis:
    agent: str
    title: str
    verified: bool
    findings: tuple[Finding, ...]
    hooks: tuple[str, ...] = ()  # those that would act here
    round_trip: float | None = None  # milliseconds, the median of some

    @property
    def is_good(self) -> bool:
        return all(finding.mark is not Mark.PROBLEM for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "title": self.title,
            "verified_by_running": self.verified,
            "good": self.is_good,
            "findings": [finding.as_json() for finding in self.findings],
            "round_trip_ms": self.round_trip,
            "hooks": list(self.hooks),
        }


def good_finding(about: str, said: str) -> Finding:
    return Finding(about, Mark.GOOD, said)


def problem_finding(about: str, said: str, fix: str) -> Finding:
    return Finding(about, Mark.PROBLEM, said, fix)


def unknown_finding(about: str, said: str) -> Finding:
    return Finding(about, Mark.UNKNOWN, said)
