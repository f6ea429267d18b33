"""A PostgreSQL of the tests' own, on a socket in a directory of its own; one for all of pytest's processes."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The directory of initdb and pg_ctl."""
    found = shutil.which("pg_ctl")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


@contextmanager
def running(programs: Path, shared: Path, options: str = "-F") -> Iterator[Path]:
    """The directory of its socket. The first user starts it and the last one stops it; `shared` is how they know.

    `options` are more of the server's own: -F does not wait for the disk.
    """
    with _locked(shared):
        users = _count_users(shared)
        if not users:
            (shared / "postgres_at").write_text(str(_started(programs, options)))
        directory = Path((shared / "postgres_at").read_text())
        (shared / "postgres_users").write_text(str(users + 1))
    try:
        yield directory
    finally:
        with _locked(shared):
            (shared / "postgres_users").write_text(str(_count_users(shared) - 1))
            if not _count_users(shared):
                stop(programs, directory)
                shutil.rmtree(directory)


def _started(programs: Path, options: str) -> Path:
    directory = Path(tempfile.mkdtemp(prefix="hookline-pg-", dir="/tmp"))  # a socket's path has 107 bytes at most
    if os.geteuid() == 0:
        os.chown(directory, _unprivileged_user().pw_uid, _unprivileged_user().pw_gid)
    data = directory / "data"
    _run(
        directory,
        programs / "initdb",
        "-D",
        data,
        "-A",
        "trust",
        "-U",
        "tests",
        "-E",
        "UTF8",
        "--no-sync",
        "--no-locale",
    )
    start(programs, directory, options)
    return directory


def start(programs: Path, directory: Path, options: str = "-F") -> None:
    settings = f"-c listen_addresses='' -c max_connections=60 -k {directory} {options}"
    data, log = directory / "data", directory / "log"
    _run(directory, programs / "pg_ctl", "start", "-D", data, "-w", "-s", "-l", log, "-o", settings)


def stop(programs: Path, directory: Path) -> None:
    """Without a word to whoever is connected."""
    _run(directory, programs / "pg_ctl", "stop", "-D", directory / "data", "-m", "immediate", "-s")


def _run(directory: Path, *command: str | Path) -> None:
    """PostgreSQL does not run for root."""
    root = os.geteuid() == 0
    user = (
        {"user": _unprivileged_user().pw_uid, "group": _unprivileged_user().pw_gid, "extra_groups": []} if root else {}
    )
    with (directory / "programs.log").open("ab") as log:
        subprocess.run(command, cwd=directory, stdout=log, stderr=log, check=True, timeout=60, **user)  # type: ignore[call-overload]


def _unprivileged_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _count_users(shared: Path) -> int:
    counted = shared / "postgres_users"
    return int(counted.read_text()) if counted.exists() else 0


@contextmanager
def _locked(shared: Path) -> Iterator[None]:
    with (shared / "postgres_lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
