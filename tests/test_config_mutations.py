"""A part of the mutated config files; `make attack` tries all of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from broken_config_trial import Trial, guards
from config_mutations import TARGETS, Target, mutants_of
from hookline.cli.main import cli
from hookline.project import load_file

COUNT = 40


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was trusted need not survive a power cut."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.dialect)
def test_the_guard_holds_and_its_file_has_no_problems(target: Target, tmp_path: Path) -> None:
    trial = Trial(target, tmp_path)
    assert not list(trial.failures(target.text.encode()))
    book = load_file(trial.file, target.dialect)
    assert guards(book)
    assert not book.problems


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.dialect)
@pytest.mark.slow
def test_a_damaged_file_holds_or_is_refused(target: Target, tmp_path: Path) -> None:
    trial = Trial(target, tmp_path)
    wrong = [
        (kind, data, found)
        for number, (kind, data) in enumerate(mutants_of(target, COUNT))
        for found in trial.failures(data, play=number % 20 == 0)
    ]
    assert not wrong


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.dialect)
def test_check_exits_1_for_a_file_that_a_session_refuses(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(target, tmp_path)
    monkeypatch.chdir(trial.project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    damaged = re.sub(r"\bhooks(?=\"?:)", "hoks", target.text, count=1)  # the key, not a value such as hooks/0.1
    assert not list(trial.failures(damaged.encode()))
    for arguments in (("check",), ("check", target.name, "--dialect", target.dialect)):
        assert CliRunner().invoke(cli, arguments).exit_code == 1


@pytest.mark.slow
def test_mutants_are_many_different_and_always_the_same() -> None:
    for target in TARGETS:
        mutants = list(mutants_of(target, target.count))
        assert len({data for _, data in mutants}) == len(mutants) == target.count
        assert mutants == list(mutants_of(target, target.count))
        assert len({kind for kind, _ in mutants}) > 15
