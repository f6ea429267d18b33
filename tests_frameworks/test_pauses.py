"""A run that pauses for a person, and goes on in another process, which has only what the framework has stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from trial import CONFIG, FRAMEWORK, HERE, driver

from hookline.frameworks.question_id import question_id
from hookline.hosts.python.session import Question

DRIVER: Any = driver()
pytestmark = pytest.mark.skipif(not hasattr(DRIVER, "run_until_pause"), reason=f"{FRAMEWORK} has no pause")
ASKS_AGAIN = getattr(DRIVER, "ASKS_AGAIN", True)
ASK = "{id: push, on: tool.before, when: {input: {command: {command: git push}}}, then: {ask: This pushes.}}"
CHANGE = "{id: change, on: tool.before, then: {replace: {in: input.command, pattern: push a, with: push b}}}"


@dataclass
class Told:
    """What one process says."""

    asked: dict[str, str]  # the command of each open question
    ran: list[str]
    read: str
    halted: str


@dataclass
class PausedRun:
    """Each part is a process of its own."""

    place: Path
    config: Path = CONFIG
    shares_ids: bool = False

    def begin(self, *commands: str) -> Told:
        return self._part([list(commands)], None)

    def answer(self, asked: dict[str, str], says: Callable[[str], bool]) -> Told:
        return self._part([], {id: says(command) for id, command in asked.items()})

    def _part(self, steps: list[list[str]], answers: dict[str, bool] | None) -> Told:
        given = {"steps": steps, "answers": answers, "config": str(self.config), "shares_ids": self.shares_ids}
        done = subprocess.run(
            [sys.executable, str(HERE / "run_until_pause.py"), str(self.place)],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(HERE)},
        )
        assert done.returncode == 0, done.stderr
        return Told(**json.loads(done.stdout.splitlines()[-1]))

    def has(self, text: str) -> bool:
        return any(text.encode() in file.read_bytes() for file in self.place.rglob("*") if file.is_file())

    def edit(self, old: str, new: str) -> None:
        """Somebody changes what the framework has stored, wherever it is."""
        assert len(old) == len(new)
        before = {file: file.read_bytes() for file in self.place.rglob("*") if file.is_file()}
        after = {file: data.replace(old.encode(), new.encode()) for file, data in before.items()}
        assert before != after
        for file, data in after.items():
            file.write_bytes(data)


@pytest.fixture
def paused(tmp_path: Path) -> PausedRun:
    place = tmp_path / "stored"
    place.mkdir()
    return PausedRun(place)


def yes(command: str) -> bool:
    return True


def no(command: str) -> bool:
    return False


def test_a_call_that_is_the_same_runs_after_one_question(paused: PausedRun) -> None:
    first = paused.begin("git push a")
    assert list(first.asked.values()) == ["git push a"]
    assert first.ran == []
    then = paused.answer(first.asked, yes)
    assert then.ran == ["git push a"]
    assert then.asked == {}
    assert "ran git push a ***" in then.read


def test_a_no_stays_a_no(paused: PausedRun) -> None:
    then = paused.answer(paused.begin("git push a").asked, no)
    assert then.ran == []
    assert then.asked == {}


def assert_decided_anew(paused: PausedRun, then: Told) -> None:
    """The changed call did not run. Where the framework can ask twice, one more yes is enough."""
    assert then.ran == []
    if not ASKS_AGAIN:
        assert then.asked == {}
        assert "This pushes." in then.read or then.halted
    elif not then.halted:
        assert list(then.asked.values()) == ["git push b"]
        last = paused.answer(then.asked, yes)
        assert last.ran == ["git push b"]
        assert last.asked == {}


def test_a_call_that_was_changed_in_the_store_does_not_run_unasked(paused: PausedRun) -> None:
    asked = paused.begin("git push a").asked
    paused.edit("git push a", "git push b")
    assert_decided_anew(paused, paused.answer(asked, yes))


def test_a_question_that_nobody_knows_any_more_is_asked_once_again(paused: PausedRun) -> None:
    """Another version of hookline may have asked it, for example."""
    asked = paused.begin("git push a").asked
    known = question_id(Question("", getattr(DRIVER, "TOOL", "bash"), {"command": "git push a", "mode": "own"}, None))
    if not paused.has(known):
        pytest.skip(f"{FRAMEWORK} stores it in the id of its own question")
    paused.edit(known, "0" * len(known))
    then = paused.answer({id.replace(known, "0" * len(known)): command for id, command in asked.items()}, yes)
    assert then.ran == []
    assert not then.halted
    if ASKS_AGAIN:
        assert list(then.asked.values()) == ["git push a"]
        last = paused.answer(then.asked, yes)
        assert last.ran == ["git push a"]
        assert last.asked == {}
    else:
        assert then.asked == {}
        assert "This pushes." in then.read


def test_an_input_that_hooks_leave_differently_does_not_run_unasked(paused: PausedRun) -> None:
    """As do hooks that depend on the time, or on what is in a file."""
    paused.config = paused.place.parent / "hooks.yaml"
    paused.config.write_text(f"hooks: [{ASK}]")
    asked = paused.begin("git push a").asked
    paused.config.write_text(f"hooks: [{CHANGE}, {ASK}]")
    then = paused.answer(asked, yes)
    assert not then.halted
    assert_decided_anew(paused, then)


def test_the_input_that_a_person_reads_is_the_one_that_hooks_left(paused: PausedRun) -> None:
    paused.config = paused.place.parent / "hooks.yaml"
    paused.config.write_text(f"hooks: [{CHANGE}, {ASK}]")
    then = paused.answer(paused.begin("git push a").asked, yes)
    assert then.ran == ["git push b"]
    assert then.asked == {}


@pytest.mark.parametrize(
    ("approved", "shares_ids"), [("git push a", True), ("git push b", True), ("git push b", False)]
)
def test_each_of_two_questions_gets_its_own_answer(paused: PausedRun, approved: str, shares_ids: bool) -> None:
    """Models may give several calls the same id. A framework may refuse it."""
    paused.shares_ids = shares_ids
    first = paused.begin("git push a", "git push b")
    if shares_ids and len(first.asked) < 2:
        assert paused.answer(first.asked, lambda command: command == approved).ran in ([], [approved])
        return
    assert sorted(first.asked.values()) == ["git push a", "git push b"]
    then = paused.answer(first.asked, lambda command: command == approved)
    assert then.ran == [approved]
    assert then.asked == {}
