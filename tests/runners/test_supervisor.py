"""Nothing that a supervised program started outlives it, nor the process that started it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.hooks.host import Command
from hookline.hooks.outcome import ActionError
from hookline.runners import supervisor
from hookline.runners.process import ProcessLimit, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a supervisor needs")

AWAY = "setsid -f sleep {0}; sleep {0} & setsid bash -c '(sleep {0} &) ; sleep {0}' & "
STARTER = """
import asyncio, sys
from hookline.hooks.host import Command
from hookline.runners.process import ProcessLimit, run_program
asyncio.run(run_program(Command(sys.argv[1]), slots=ProcessLimit(), supervised=True))
"""


def there(marker: str) -> list[str]:
    """Processes with exactly this command line; one that is killed and not buried yet has none."""
    wanted = marker.replace(" ", "\0").encode() + b"\0"
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            found += [place.name] if (place / "cmdline").read_bytes() == wanted else []
        except OSError:  # it has just ended
            continue
    return found


def wait_for(marker: str, *, count: int) -> None:
    until = time.monotonic() + 10
    while len(there(marker)) != count:
        assert time.monotonic() < until, there(marker)
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_all_ends_with_the_process_that_started_it(how: signal.Signals) -> None:
    marker = f"sleep 200.{how:d}"
    command = AWAY.format(marker.split()[1]) + "sleep 100"
    starter = subprocess.Popen([sys.executable, "-c", STARTER, command])
    wait_for(marker, count=4)
    starter.send_signal(how)
    starter.wait()
    wait_for(marker, count=0)


def test_at_its_deadline_nothing_is_left_when_the_call_returns() -> None:
    command = Command(AWAY.format("200.3") + "sleep 100", timeout=timedelta(seconds=0.5))
    with pytest.raises(ActionError, match=r"did not end within 500 ms"):
        asyncio.run(run_program(command, slots=ProcessLimit(), supervised=True))
    assert there("sleep 200.3") == []


def test_what_forks_for_ever_ends(tmp_path: Path) -> None:
    """Each process lives for a moment only, and has left a child by then."""
    ring = tmp_path / "ring.sh"
    ring.write_text(f"touch {tmp_path}/began; sleep 0.001; exec setsid -f sh {ring} 200.4\n")
    command = f"for n in 1 2 3 4; do setsid -f sh {ring} 200.4; done; while ! test -e {tmp_path}/began; do :; done"
    assert asyncio.run(run_program(Command(command), slots=ProcessLimit(), supervised=True)).exit_code == 0
    for _ in range(20):
        assert there(f"sh {ring} 200.4") == []
        time.sleep(0.005)


@pytest.mark.parametrize("stopped", ["kill -STOP $PPID; sleep 100", "kill -TERM $PPID; sleep 100"])
def test_a_program_that_disturbs_its_supervisor_ends(stopped: str) -> None:
    command = Command(f"setsid -f sleep 200.5; {stopped}", timeout=timedelta(seconds=0.5))
    with pytest.raises(ActionError):
        asyncio.run(run_program(command, slots=ProcessLimit(), supervised=True))
    assert there("sleep 200.5") == []


def test_a_program_that_kills_its_supervisor_ends_too() -> None:
    with pytest.raises(ActionError, match="SIGKILL"):
        asyncio.run(run_program(Command("kill -KILL $PPID; exec sleep 200.6"), slots=ProcessLimit(), supervised=True))
    wait_for("sleep 200.6", count=0)


def test_the_dead_are_buried_while_it_runs() -> None:
    waits = "while ps -o stat= --ppid $PPID | grep -q Z; do sleep 0.02; done"
    command = Command(f"for n in 1 2 3 4 5; do (true &); done; sleep 0.2; {waits}", timeout=timedelta(seconds=20))
    assert asyncio.run(run_program(command, slots=ProcessLimit(), supervised=True)).exit_code == 0


def test_nothing_is_run_for_a_parent_that_has_gone(tmp_path: Path) -> None:
    made = tmp_path / "made"
    argv = [sys.executable, "-I", "-S", supervisor.__file__, str(os.getpid() + 1), "/usr/bin/touch", str(made)]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGTERM
    assert not made.exists()


def test_a_program_that_is_not_there_is_an_exit_code() -> None:
    argv = [sys.executable, "-I", "-S", supervisor.__file__, str(os.getpid()), "/nowhere/at/all"]
    ended = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (127, "/nowhere/at/all: No such file or directory\n")


@pytest.mark.parametrize("executable", ["", "/usr/bin/true", None])
def test_a_program_that_embeds_python_runs_commands_without_one(
    monkeypatch: pytest.MonkeyPatch, executable: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert asyncio.run(run_program(Command("echo here"), slots=ProcessLimit(), supervised=True)).stdout == "here\n"
