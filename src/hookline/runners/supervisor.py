"""Runs a command on Linux and makes sure that nothing it started is left when it ends.

Called as `supervisor.py PARENT PROGRAM ARGUMENT...`; PARENT is the id of the process that starts it. A process below us
that loses its parent becomes our child, even if it left its group and session, so a walk from us finds all of them. SIGTERM
ends everything at once; the kernel also sends it when the parent dies. No pipe is involved that a child could hold or
close. Our exit code, or the signal that kills us, is the command's.

Standard library only: it starts with each command and must start fast.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these takes as long as all the rest
    from collections.abc import Iterator
    from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_WAITED_SIGNALS = frozenset((signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
_SIGNALS_CHANGED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_GRACE = 0.1  # seconds for what the command left behind to end by itself
_KILL_TIMEOUT = 3.0  # seconds for what cannot be killed: it hangs in the kernel, or belongs to another user


def supervisor_argv() -> tuple[str, ...]:
    """What to write before a command to run it under a supervisor, isolated from the command's directory and environment.

    Empty if there is none.
    """
    name = os.path.basename(sys.executable or "")
    if sys.platform != "linux" or not name.startswith(("python", "pypy")):  # an embedding program is not an interpreter
        return ()
    return (sys.executable, "-I", "-S", os.path.abspath(__file__), str(os.getpid()))


def main(parent: int, command: list[str]) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_SIGNALS)
    _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _call_prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # the parent died before we could be notified
        _die_by_signal(signal.SIGTERM)
    child = os.fork()
    if not child:
        _exec_command(command)
    _detach_streams()
    status = _wait_for_command(child)
    if status is not None:
        _wait_for_descendants()
    _kill_descendants(child)
    _exit_with_status(status)


def _call_prctl(option: int, value: int) -> None:
    """Without prctl the command still runs and ends with its group."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _exec_command(command: list[str]) -> NoReturn:
    try:
        os.setsid()  # signals that the command sends to its group are not for us
        _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in _SIGNALS_CHANGED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED_SIGNALS)
        os.execve(command[0], command, _initial_environment())
    except OSError as error:
        os.write(2, os.fsencode(f"{command[0]}: {error.strerror}\n"))
    finally:
        os._exit(127)


def _initial_environment() -> dict[bytes, bytes]:
    """The environment we were started with: Python adds a locale to its own."""
    try:
        with open("/proc/self/environ", "rb") as file:
            given = file.read()
    except OSError:
        return dict(os.environb)
    pairs = (entry.partition(b"=") for entry in given.split(b"\0"))
    return {name: value for name, is_one, value in pairs if name and is_one}


def _detach_streams() -> None:
    """Readers of the command's output then see its end when the command ends."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _wait_for_command(child: int) -> int | None:
    """How the command ended; None if a signal to end came first."""
    while signal.sigwait(_WAITED_SIGNALS) == signal.SIGCHLD:
        for pid, status in _reap_children():
            if pid == child:
                return status
    return None


def _reap_children() -> Iterator[tuple[int, int]]:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended


def _wait_for_descendants() -> None:
    until = time.monotonic() + _GRACE
    while _has_children() and (left := until - time.monotonic()) > 0:
        received = signal.sigtimedwait(_WAITED_SIGNALS, left)
        if received is not None and received.si_signo != signal.SIGCHLD:
            return


def _has_children() -> bool:
    for _ in _reap_children():
        continue  # only live processes count
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _kill_descendants(child: int) -> None:
    """Kills group by group, which no process escapes by forking, then one by one; repeats for new ones."""
    groups = {child}
    until = time.monotonic() + _KILL_TIMEOUT
    while _has_children() and time.monotonic() < until:
        found = dict(_descendants(os.getpid()))
        for group in (groups | set(found.values())) - {os.getpgrp()}:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        groups = set()
        signal.sigtimedwait((signal.SIGCHLD,), 0.005)


def _descendants(root: int) -> Iterator[tuple[int, int]]:
    """Each process that descends from this one, with its group."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            with suppress(OSError):  # it has just ended
                parent, group = _parent_and_group(name)
                children.setdefault(parent, []).append((int(name), group))
    waiting = children.pop(root, [])
    while waiting:
        pid, group = waiting.pop()
        yield pid, group
        waiting += children.pop(pid, [])


def _parent_and_group(pid: str) -> tuple[int, int]:
    with open(f"/proc/{pid}/stat", "rb") as file:
        after_its_name = file.read().rpartition(b")")[2].split()
    return int(after_its_name[1]), int(after_its_name[2])


def _exit_with_status(status: int | None) -> NoReturn:
    if status is None:
        _die_by_signal(signal.SIGTERM)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        _die_by_signal(-code)
    os._exit(code)


def _die_by_signal(number: int) -> NoReturn:
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has left its own
    with suppress(OSError, ValueError):  # SIGKILL cannot be caught
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    os._exit(128 + number)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
