"""An agent that can write every file of its workspace tries to switch its guards off."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from attempts import Attempt
from hostile_project import CALL, FILE_MANIPULATIONS, SCRIPT, SCRIPT_MANIPULATIONS, TARGETS, HostileProject, attack_each

from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict

_SIMILAR = (
    "native folder",
    "native pack",
    "native local",
    "flo agent",
    "flo script",
    "claude_code local",
    "ai_agents",
    "microai",
)
"""Read in the same way as another target: every fourth manipulation is enough."""


@pytest.mark.parametrize("target", TARGETS)
def test_the_guard_holds_before_it_is_attacked(tmp_path: Path, target: str) -> None:
    assert set(HostileProject(tmp_path, TARGETS[target]).verdicts().values()) == {Verdict.DENY}


@pytest.mark.parametrize("target", TARGETS)
def test_no_change_of_a_hooks_file_lets_a_denied_call_run(tmp_path: Path, target: str, attempt: Attempt) -> None:
    def report(command: str, who: str, ran: bool) -> None:
        attempt("an agent against its hooks files", ran, f"{target}, {who}: {command}")

    attack_each(tmp_path, TARGETS[target], FILE_MANIPULATIONS[:: 4 if target in _SIMILAR else 1], report)


@pytest.mark.parametrize("target", [name for name, target in TARGETS.items() if target.runs_script])
def test_no_change_of_a_script_lets_a_denied_call_run(tmp_path: Path, target: str, attempt: Attempt) -> None:
    def report(command: str, who: str, ran: bool) -> None:
        attempt("an agent against its guards' scripts", ran, f"{target}, {who}: {command}")

    attack_each(tmp_path, TARGETS[target], SCRIPT_MANIPULATIONS[:: 4 if target in _SIMILAR else 1], report)


@pytest.mark.parametrize("target", ["native run", "flo command", "microai"])
def test_no_race_with_a_script_lets_a_denied_call_run(tmp_path: Path, target: str, attempt: Attempt) -> None:
    hostile = HostileProject(tmp_path, TARGETS[target])
    script = hostile.project / SCRIPT
    good, stop = script.read_text(), threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            script.write_text("exit 0\n")
            script.write_text(good)

    thread = threading.Thread(target=exchange)
    thread.start()
    facts = {**CALL.facts, "cwd": str(hostile.project)}
    try:
        for number in range(25):
            decision = asyncio.run(hostile.running.book.decide(Event(CALL.name, facts)))
            attempt("a race with a guard's script", decision.verdict < Verdict.ASK, f"{target}, {number}")
    finally:
        stop.set()
        thread.join()
