"""Starts a program in a session of its own, with the streams, environment and directory that it is given.

`subprocess.Popen` takes longer for its own work than Linux takes to start a program: it encodes the environment anew, and
prepares for every option and platform. So its C function is called directly where it has the arguments that are known here,
which are those of Python 3.11 to 3.13, and `Popen` itself elsewhere. os.posix_spawn is no faster, can neither change the
directory nor close what others left open, and would be a second way to start a program.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from hookline.lazy_imports import subprocess

_MAX_ERROR_BYTES: Final = 50_000
_IN_DIRECTORY: Final = (b"noexec", b"noexec:chdir")  # what the C function says if the program was not even tried


class ProgramStart(NamedTuple):
    argv: Sequence[bytes]
    environment: Mapping[bytes, bytes]
    streams: tuple[int, int, int]
    cwd: str | None = None
    further_files: tuple[int, ...] = ()  # descriptors that it inherits besides its streams


def spawn(start: ProgramStart) -> int:
    """The id of the process, which the caller reaps. Raises OSError with the name of what was missing, or ValueError."""
    if not (3, 11) <= sys.version_info < (3, 14) or sys.platform == "win32":
        return _spawn_by_popen(start)
    sys.audit("subprocess.Popen", start.argv[0], start.argv, start.cwd, start.environment)
    pid, error = _fork_exec_checked(start)
    if error:  # it could not be started; what was forked for it has ended
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        raise _start_error(error, start)
    return pid


def _fork_exec_checked(start: ProgramStart) -> tuple[int, bytes]:
    """The process, and what went wrong in it before the program was loaded."""
    error_reader, error_writer = _open_error_pipe()
    try:
        try:
            pid = _fork_exec(start, error_reader, error_writer)
        finally:
            os.close(error_writer)
        error = b""
        while part := os.read(error_reader, _MAX_ERROR_BYTES):
            error += part
    finally:
        os.close(error_reader)
    return pid, error


def _open_error_pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    if writer > 2:
        return reader, writer
    try:  # this process has closed a standard stream: the program's own would overwrite the pipe
        return reader, fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(writer)


def _fork_exec(start: ProgramStart, error_reader: int, error_writer: int) -> int:
    import _posixsubprocess

    fork_exec: Any = _posixsubprocess.fork_exec  # its stub is that of one version
    stdin, stdout, stderr = start.streams
    pid: int = fork_exec(
        list(start.argv),
        _executables(start),
        True,  # nothing else that is open here is open there
        tuple(sorted((error_writer, *start.further_files))),
        start.cwd,
        [name + b"=" + value for name, value in start.environment.items()],
        *(stdin, -1, -1, stdout, -1, stderr, error_reader, error_writer),
        True,  # SIGPIPE and SIGXFSZ are not ignored there, as they are here
        True,  # a session of its own
        *(-1, None, None, None, -1, None),  # the group follows from the session; our user, groups and umask
        True,  # vfork: this thread waits until the program has been loaded
    )
    return pid


def _executables(start: ProgramStart) -> tuple[bytes, ...]:
    """Where to look for the program: its path, or its name in each directory of its own PATH."""
    name = start.argv[0]
    if b"/" in name:
        return (name,)
    directories = start.environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    return tuple(os.path.join(directory, name) for directory in directories)


def _start_error(said: bytes, start: ProgramStart) -> Exception:
    """The C function says the exception's name, the error's number in hexadecimal digits, and what it was about."""
    kind, _, rest = said.partition(b":")
    number, _, about = rest.partition(b":")
    if kind != b"OSError":
        return OSError(errno.EIO, said.decode(errors="replace"))
    code = int(number, 16)
    if about in _IN_DIRECTORY:
        return OSError(code, os.strerror(code), start.cwd)
    return OSError(code, os.strerror(code), os.fsdecode(start.argv[0]))


def _spawn_by_popen(start: ProgramStart) -> int:
    stdin, stdout, stderr = start.streams
    process = subprocess.Popen(
        list(start.argv),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=start.cwd,
        env=start.environment,
        start_new_session=True,
        pass_fds=start.further_files,
    )
    process.returncode = 0  # the caller reaps it
    return process.pid
