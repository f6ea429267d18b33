"""What `doctor` found, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from hookline.lazy_dataclasses import dataclass


class Mark(StrEnum):
    GOOD = "good"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    """No problem was found, but it is not proved either."""


@dataclass(frozen=True, slots=True)
class Finding:
    about: str
    mark: Mark
    message: str
    fix: str = ""  # what to do about a problem

    def as_json(self) -> dict[str, str]:
        values = {"about": self.about, "mark": self.mark.value, "said": self.message}
        return {**values, "fix": self.fix} if self.fix else values


@dataclass(frozen=True, slots=True)
class Diagnosis:
    agent: str
    title: str
    verified: bool
    findings: tuple[Finding, ...]
    hooks: tuple[str, ...] = ()  # that would act here
    round_trip: float | None = None  # milliseconds, the median of several
    silent_hooks: tuple[str, ...] = ()  # whose events the agent does not have

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
            "silent_hooks": list(self.silent_hooks),
        }


def good_finding(about: str, message: str) -> Finding:
    return Finding(about, Mark.GOOD, message)


def problem_finding(about: str, message: str, fix: str) -> Finding:
    return Finding(about, Mark.PROBLEM, message, fix)


def unknown_finding(about: str, message: str) -> Finding:
    return Finding(about, Mark.UNKNOWN, message)
