"""Processes that left their program's group and session still belong to it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookline.runners.descendants import Descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no subreapers")


def start_shell(text: str) -> tuple[subprocess.Popen[bytes], Descendants]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> int:
        started.append(subprocess.Popen(["bash", "-c", text], start_new_session=True))
        return started[0].pid

    descendants = Descendants.of_started(start)
    return started[0], descendants


def wait_for_orphans(descendants: Descendants, most: float = 5) -> list[int]:
    until = time.monotonic() + most
    while not (found := descendants.orphans()) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def end_orphans(*families: Descendants) -> None:
    for each in families:
        for pid in each.orphans():
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        each.release()


@pytest.mark.parametrize(
    "text", ["setsid sleep 60 &", "(setsid sleep 60 &)", "env -i setsid -f sleep 60", "sleep 60 &"]
)
def test_an_orphan_belongs_to_the_program_that_left_it(text: str) -> None:
    process, mine = start_shell(text)
    process.wait()
    other, others = start_shell("setsid -f sleep 60")
    other.wait()
    try:
        (found,) = wait_for_orphans(mine)
        (stranger,) = wait_for_orphans(others)
        assert found != stranger
    finally:
        end_orphans(mine, others)
    assert mine.orphans() == []


def test_a_child_of_another_part_of_this_process_is_left_alone() -> None:
    process, mine = start_shell("true")
    own = subprocess.Popen(["sleep", "60"])
    detached = subprocess.Popen(["sleep", "60"], start_new_session=True)
    process.wait()
    try:
        assert mine.orphans() == []
    finally:
        mine.release()
        for each in (own, detached):
            each.kill()
            each.wait()


def test_our_own_limit_stays_as_it_was() -> None:
    before = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
    process, mine = start_shell("true")
    process.wait()
    mine.release()
    assert resource.getrlimit(resource.RLIMIT_MSGQUEUE) == before


def test_orphans_come_to_us_only_while_a_program_runs(tmp_path: Path) -> None:
    process, mine = start_shell("true")
    process.wait()
    mine.release()
    mine.release()  # twice is once
    script = "(sleep 60 & echo $! > pid)"
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    pid = int((tmp_path / "pid").read_text())
    try:
        assert int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) != os.getpid()
    finally:
        os.kill(pid, 9)


def test_a_program_that_cannot_be_started_is_not_waited_for() -> None:
    with pytest.raises(FileNotFoundError):
        Descendants.of_started(lambda: subprocess.Popen(["/no/such/program"], start_new_session=True).pid)
    process, mine = start_shell("setsid -f sleep 60")
    process.wait()
    assert wait_for_orphans(mine)
    end_orphans(mine)


def test_a_process_with_another_parent_may_come_to_us_until_it_is_reaped() -> None:
    process, own = start_shell("exit 0")
    forked = Descendants.of_waiting(process.pid)
    try:
        assert forked.may_become_orphan()  # it has ended or not, but nobody has reaped it
        assert not own.may_become_orphan()  # ours to reap anyway
        process.wait()
        assert not forked.may_become_orphan()
    finally:
        forked.release()
        own.release()
