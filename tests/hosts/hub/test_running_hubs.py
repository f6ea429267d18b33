"""Hubs on this machine, and which of them hosts ask."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hosts.hub.hub_file import JoinedHub, write_hub_file
from hookline.hosts.hub.running_hubs import announce_hub, find_hub, local_hubs
from hookline.lazy_dataclasses import replace

HUB = JoinedHub("http://127.0.0.1:8765", "secret", "team", started=1.0, store="a")


def test_a_hub_is_found_while_it_runs_and_known_after_it(tmp_path: Path) -> None:
    assert find_hub(tmp_path) is None
    with announce_hub(tmp_path, "1", HUB):
        assert find_hub(tmp_path) == HUB
    assert find_hub(tmp_path) == replace(HUB, runs=False)


def test_a_hub_that_was_killed_does_not_run(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from hookline.hosts.hub.hub_file import JoinedHub\n"
        "from hookline.hosts.hub.running_hubs import announce_hub\n"
        "with announce_hub(Path(sys.argv[1]), '1', JoinedHub('http://127.0.0.1:8765', 'k')):\n"
        "    print('up', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert [each.runs for each in local_hubs(tmp_path)] == [True]
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert [each.runs for each in local_hubs(tmp_path)] == [False]


def test_the_joined_hub_comes_before_those_on_this_machine(tmp_path: Path) -> None:
    joined = JoinedHub("https://hub.example", "key", reports=True)
    with announce_hub(tmp_path, "1", HUB):
        write_hub_file(tmp_path, joined)
        assert find_hub(tmp_path) == joined


def test_a_start_removes_the_file_of_an_ended_hub_on_the_same_database_only(tmp_path: Path) -> None:
    for id, store in (("1", "a"), ("2", "b")):
        with announce_hub(tmp_path, id, replace(HUB, store=store)):
            pass
    with announce_hub(tmp_path, "3", replace(HUB, started=2.0)):
        assert [(each.store, each.runs) for each in local_hubs(tmp_path)] == [("b", False), ("a", True)]


def test_hubs_that_run_keep_their_files_and_few_others_stay(tmp_path: Path) -> None:
    with ExitStack() as running:
        for number in range(3):
            running.enter_context(announce_hub(tmp_path, f"r{number}", replace(HUB, started=float(number))))
        for number in range(15):
            with announce_hub(tmp_path, f"e{number}", replace(HUB, started=10.0 + number, store=str(number))):
                pass
        with announce_hub(tmp_path, "last", replace(HUB, started=99.0)):
            known = local_hubs(tmp_path)
    assert [each.started for each in known if each.runs] == [0.0, 1.0, 2.0, 99.0]
    assert [each.started for each in known if not each.runs] == [float(number) for number in range(15, 25)]


def test_a_start_removes_what_a_killed_start_left(tmp_path: Path) -> None:
    directory = tmp_path / "hubs"
    directory.mkdir()
    hour_ago = time.time() - 3600
    for name in ("killed.new", "damaged.json"):
        (directory / name).write_text("{")
        os.utime(directory / name, (hour_ago, hour_ago))
    (directory / "starting.new").write_text("{")
    with announce_hub(tmp_path, "1", HUB):
        assert sorted(path.name for path in directory.iterdir()) == ["1.json", "starting.new"]


def test_a_file_that_others_can_read_is_no_hub(tmp_path: Path) -> None:
    with announce_hub(tmp_path, "1", HUB):
        (file,) = (tmp_path / "hubs").iterdir()
        os.chmod(file, 0o644)
        assert find_hub(tmp_path) is None


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "hubs").write_text("")
    with pytest.raises(HooklineError, match="hubs"), announce_hub(tmp_path, "1", HUB):
        pass
