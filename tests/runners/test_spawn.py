"""What a started program gets, and what is raised if it cannot be started: the direct way and subprocess do the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.runners import spawn as spawn_module
from hookline.runners.spawn import ProgramStart, spawn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

Spawn = Callable[[ProgramStart], int]
ENVIRONMENT = {b"PATH": b"/usr/bin:/bin", b"WORD": b"a=b \xff"}


@pytest.fixture(params=[spawn, spawn_module._spawn_by_popen], ids=["direct", "subprocess"])
def started_by(request: pytest.FixtureRequest) -> Spawn:
    way: Spawn = request.param
    return way


def output(way: Spawn, *argv: bytes, **options: Any) -> str:
    reader, writer = os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    with open(reader, "rb") as file:
        try:
            pid = way(ProgramStart(argv, ENVIRONMENT, (nothing, writer, writer), **options))
        finally:
            os.close(writer)
            os.close(nothing)
        said = file.read()
    os.waitpid(pid, 0)
    return said.decode(errors="surrogateescape")


@contextmanager
def inheritable_file() -> Iterator[int]:
    number = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(number, True)
    try:
        yield number
    finally:
        os.close(number)


def test_it_is_looked_for_in_its_own_path(started_by: Spawn) -> None:
    assert output(started_by, b"printf", b"%s", b"\xff ok") == "\udcff ok"


def test_it_gets_exactly_the_environment(started_by: Spawn) -> None:
    assert sorted(output(started_by, b"/usr/bin/env").splitlines()) == ["PATH=/usr/bin:/bin", "WORD=a=b \udcff"]


def test_it_runs_in_the_directory(started_by: Spawn, tmp_path: Path) -> None:
    assert output(started_by, b"/bin/pwd", cwd=str(tmp_path)) == f"{tmp_path}\n"


def test_it_leads_a_session_of_its_own(started_by: Spawn) -> None:
    said = output(started_by, b"/bin/sh", b"-c", b'echo $$; cut -d" " -f5,6 /proc/$$/stat')
    pid, group_and_session = said.splitlines()
    assert group_and_session == f"{pid} {pid}"


def test_files_that_are_open_here_are_not_open_there(started_by: Spawn) -> None:
    with inheritable_file() as number:
        listed = output(started_by, b"/bin/ls", b"/proc/self/fd").split()
        assert str(number) not in listed


def test_a_file_that_it_is_given_is_open_there(started_by: Spawn) -> None:
    with inheritable_file() as number:
        listed = output(started_by, b"/bin/ls", b"/proc/self/fd", further_files=(number,)).split()
        assert str(number) in listed


def test_signals_that_python_ignores_end_it(started_by: Spawn) -> None:
    ignored = output(started_by, b"/bin/grep", b"SigIgn", b"/proc/self/status").split()[1]
    assert int(ignored, 16) & (1 << 12) == 0  # SIGPIPE


@pytest.mark.parametrize(
    ("argv", "options", "error", "named"),
    [
        ([b"/no/such/program"], {}, FileNotFoundError, "/no/such/program"),
        ([b"no-such-program"], {}, FileNotFoundError, "no-such-program"),
        ([b"/etc/passwd"], {}, PermissionError, "/etc/passwd"),
        ([b"/bin/true"], {"cwd": "/no/such/directory"}, FileNotFoundError, "/no/such/directory"),
        ([b"/bin/true"], {"cwd": "/etc/passwd"}, NotADirectoryError, "/etc/passwd"),
    ],
)
def test_what_is_missing_is_named(
    started_by: Spawn, argv: list[bytes], options: dict[str, Any], error: type[OSError], named: str
) -> None:
    with pytest.raises(error) as raised:
        output(started_by, *argv, **options)
    assert os.fsdecode(raised.value.filename) == named


def test_too_long_an_argument_is_an_error_of_the_system(started_by: Spawn) -> None:
    with pytest.raises(OSError, match="too long"):
        output(started_by, b"/bin/true", b"x" * (1 << 18))


def test_nothing_stays_open_and_nothing_is_left_to_reap() -> None:
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        output(spawn, b"/bin/true")
        with pytest.raises(FileNotFoundError):
            output(spawn, b"/no/such/program")
    assert os.listdir("/proc/self/fd") == before
    assert b"defunct" not in subprocess.run(["ps", "--ppid", str(os.getpid())], capture_output=True, check=False).stdout


CLOSED_STREAMS = """
import os
from hookline.runners.spawn import ProgramStart, spawn
for stream in range(3):
    os.close(stream)
into = [os.open(os.devnull, os.O_RDWR) for _ in range(4)]  # as 0, 1, 2 and 3
for stream in range(3):
    os.close(stream)
pid = spawn(ProgramStart([b"/bin/sh", b"-c", b"exit 7"], {}, (into[3], into[3], into[3])))
try:
    spawn(ProgramStart([b"/no/such/program"], {}, (into[3], into[3], into[3])))
except FileNotFoundError:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_it_starts_where_the_standard_streams_are_closed() -> None:
    assert subprocess.run([sys.executable, "-c", CLOSED_STREAMS], check=False).returncode == 7


def test_programs_that_audit_this_process_see_it() -> None:
    code = (
        "import sys\n"
        "from hookline.runners.spawn import ProgramStart, spawn\n"
        "def audit(event, given):\n"
        "    if event == 'subprocess.Popen':\n"
        "        raise PermissionError(given[0].decode())\n"
        "sys.addaudithook(audit)\n"
        "spawn(ProgramStart([b'/bin/true'], {}, (0, 1, 2)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("PermissionError: /bin/true\n")
