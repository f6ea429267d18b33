"""Each hook of each pack stops what it is for, in every spelling, and nothing of everyday work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.outcome import Verdict
from hookline.project.packs import own_pack_names
from hookline.testing import load_cases, run_case
from packs.pack_trials import (
    EVERYDAY,
    Trial,
    all_trials,
    decide,
    is_case_file,
    load_alone,
    load_pack,
    trial_files,
    trials,
)

CASE_FILES = [file for pack in own_pack_names() for file in trial_files(pack) if is_case_file(file)]


def _each(part: str) -> list[Any]:
    return [
        pytest.param(trial, call, id=f"{trial.pack}-{trial.hook}-{call}"[:90])
        for trial in all_trials()
        for call in getattr(trial, part)
    ]


@pytest.mark.parametrize("pack", own_pack_names())
def test_every_hook_of_a_pack_has_a_trial_file(pack: str) -> None:
    hooks = [hook for layer in load_pack(pack).layers for hook in layer.hooks]
    own = {hook.id for hook in hooks if hook.origin.file == f"hookline:{pack}" and ".after" not in hook.id}
    assert {file.stem for file in trial_files(pack)} == own
    assert all(trial.stops or trial.changes for trial in trials(pack))


@pytest.mark.parametrize("path", CASE_FILES, ids=[f"{path.parent.name}-{path.stem}" for path in CASE_FILES])
def test_case(path: Path) -> None:
    failed = [str(result) for case in load_cases(path) if not (result := run_case(case)).ok]
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize(("trial", "call"), _each("stops"))
def test_a_hook_stops_every_spelling(trial: Trial, call: Any) -> None:
    decision = decide(load_alone(trial.pack, trial.hook), call)
    assert decision.verdict >= Verdict.ASK, decision


@pytest.mark.parametrize(("trial", "call"), _each("changes"))
def test_a_hook_changes_what_it_is_for(trial: Trial, call: Any) -> None:
    decision = decide(load_alone(trial.pack, trial.hook), call)
    assert decision.event.facts["tool"] != call["tool"]


@pytest.mark.parametrize(("trial", "call"), _each("lets"))
def test_a_pack_lets_what_is_harmless(trial: Trial, call: Any) -> None:
    decision = decide(load_pack(trial.pack), call)
    assert decision.verdict < Verdict.ASK, decision
    assert isinstance(call, str) or "event" not in call or decision.event.facts["tool"] == call["tool"]


@pytest.mark.parametrize("pack", own_pack_names())
def test_no_everyday_command_is_stopped(pack: str) -> None:
    assert len(set(EVERYDAY)) >= 200
    book = load_pack(pack)
    stopped = {
        command: decision.by for command in EVERYDAY if (decision := decide(book, command)).verdict >= Verdict.ASK
    }
    assert stopped == {}
