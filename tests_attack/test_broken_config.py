"""Damaged config files: a guard that was there still holds, or the file is refused. It is never lost unseen.

Each attempt damages one file that has one guard, and fires the call that the guard denies: through `load`, a Python session,
`run` with the file named or found, and the bridge. The attack succeeds if the call proceeds although something started with
the file, if a coding agent's person is not told, or if `check` and a session do not agree about the file. A damage that leaves
a valid file with another meaning is not an attack: config_mutations.py lists for each file the few places where that is so.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attempts import Attempt

from broken_config_trial import Trial
from config_mutations import TARGETS, Target, mutants_of

_PLAYED = 50  # with every fiftieth file, `run` also plays a session in which a model makes the call


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was trusted need not survive a power cut."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_damaged_file_holds_or_is_refused(target: Target, tmp_path: Path, attempt: Attempt) -> None:
    trial = Trial(target, tmp_path)
    for number, (kind, data) in enumerate(mutants_of(target, target.count)):
        failures = list(trial.failures(data, play=number % _PLAYED == 0))
        attempt(
            f"broken config: {kind}", bool(failures), f"{target.name}: {failures} {data.decode('utf-8', 'replace')!r}"
        )
