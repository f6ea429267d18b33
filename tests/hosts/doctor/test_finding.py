"""What doctor reports."""

from __future__ import annotations

from hookline.hosts.doctor.finding import Diagnosis, good_finding, problem_finding, unknown_finding

GOOD, UNKNOWN = good_finding("launcher", "answers"), unknown_finding("agent", "not proved")
PROBLEM = problem_finding("entry", "missing", "hookline install codex")


def test_only_a_problem_makes_a_diagnosis_bad() -> None:
    assert Diagnosis("codex", "Codex", True, (GOOD, UNKNOWN)).is_good
    assert not Diagnosis("codex", "Codex", True, (GOOD, PROBLEM)).is_good


def test_a_diagnosis_as_json() -> None:
    assert Diagnosis("codex", "Codex", False, (GOOD, PROBLEM), ("no-rm",), 1.5, ("redact",)).as_json() == {
        "agent": "codex",
        "title": "Codex",
        "verified_by_running": False,
        "good": False,
        "findings": [
            {"about": "launcher", "mark": "good", "said": "answers"},
            {"about": "entry", "mark": "problem", "said": "missing", "fix": "hookline install codex"},
        ],
        "round_trip_ms": 1.5,
        "hooks": ["no-rm"],
        "silent_hooks": ["redact"],
    }
