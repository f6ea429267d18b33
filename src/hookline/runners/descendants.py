"""Finds what a program has started, also what left its group and session, so that nothing outlives the program.

On Linux, a process whose parent has ended becomes a child of ours while a program runs. To tell the processes of one
program from those of another, and from those of whoever uses this library, each program gets its own limit for message
queues a little below the usual one, and one for file locks, which Linux does not enforce: processes inherit them, whatever
they do with their environment, session and files. A process that changes one of the two is still found by the other.

Elsewhere nothing is found; a program then ends with its group.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Final

if sys.platform == "linux":
    import resource

_PR_SET_CHILD_SUBREAPER: Final = 36
_RLIMIT_LOCKS: Final = 10
_MAX_MARKS: Final = 200_000  # bytes below the usual limit, of 819,200 on most systems
_marks: Final = itertools.count(os.getpid() % _MAX_MARKS)
_lock: Final = threading.Lock()
_running_programs = 0


class Descendants:
    """The processes of one running program. Orphans come to us until `release` is called."""

    def __init__(self, pid: int, mark: int | None, *, has_other_parent: bool = False) -> None:
        self.pid = pid
        self._mark = mark
        self._has_other_parent = has_other_parent  # it is ours to reap only if that parent has ended
        self._is_released = False

    @classmethod
    def of_waiting(cls, pid: int) -> Descendants:
        """Of a process that has not started anything yet, and waits for us."""
        found = cls(pid, _next_mark(), has_other_parent=True)
        if sys.platform == "linux" and found._mark is not None:
            with suppress(OSError):
                resource.prlimit(pid, resource.RLIMIT_MSGQUEUE, (found._mark, _hard_limit()))
                resource.prlimit(pid, _RLIMIT_LOCKS, (found._mark, resource.getrlimit(_RLIMIT_LOCKS)[1]))
        with _lock:
            _change_running_programs(1)
        return found

    @classmethod
    def of_started(cls, start: Callable[[], int]) -> Descendants:
        """Starts a process in its own session, whose id `start` returns. It inherits its mark from us, as it may start others at once."""
        with _lock:
            _change_running_programs(1)
            try:
                mark = _next_mark()
                with _own_limit(mark):
                    pid = start()
            except BaseException:
                _change_running_programs(-1)
                raise
        return cls(pid, mark)

    def orphans(self) -> list[int]:
        """Children of ours that the program, or one of its processes, has left behind. They may have ended."""
        excluded = None if self._has_other_parent else self.pid
        return [pid for pid in _children() if pid != excluded and self._is_descendant(pid)]

    def may_become_orphan(self) -> bool:
        """Whether its other parent has not reaped it: if that has died, the process comes to us a moment later."""
        return self._has_other_parent and os.path.exists(f"/proc/{self.pid}")

    def release(self) -> None:
        with _lock:
            if not self._is_released:
                self._is_released = True
                _change_running_programs(-1)

    def _is_descendant(self, pid: int) -> bool:
        try:
            session = os.getsid(pid)
            if session == self.pid:
                return True
            return self._mark is not None and session != os.getsid(0) and self._mark in _soft_limits(pid)
        except OSError:  # it belongs to another user, or has ended
            return False


def _next_mark() -> int | None:
    """None if processes cannot be marked."""
    if sys.platform != "linux":
        return None
    hard = _hard_limit()
    highest = 819_200 if hard == resource.RLIM_INFINITY else hard
    return highest - 1 - next(_marks) % _MAX_MARKS if highest > _MAX_MARKS else None


@contextmanager
def _own_limit(mark: int | None) -> Iterator[None]:
    if sys.platform != "linux" or mark is None:
        yield
        return
    before = [(limit, resource.getrlimit(limit)) for limit in (resource.RLIMIT_MSGQUEUE, _RLIMIT_LOCKS)]
    for limit, (_, hard) in before:
        if hard == resource.RLIM_INFINITY or hard >= mark:
            resource.setrlimit(limit, (mark, hard))
    try:
        yield
    finally:
        for limit, values in before:
            resource.setrlimit(limit, values)


def _hard_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1] if sys.platform == "linux" else 0


def _soft_limits(pid: int) -> tuple[int, ...]:
    if sys.platform != "linux":
        raise OSError
    return tuple(resource.prlimit(pid, limit)[0] for limit in (resource.RLIMIT_MSGQUEUE, _RLIMIT_LOCKS))


def _children() -> list[int]:
    """Of our main thread: orphans come to that one."""
    try:  # most often there is none at all, and to be told so costs a twentieth of reading the list
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (ChildProcessError, AttributeError):
        return []
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as file:
            return [int(each) for each in file.read().split()]
    except OSError:
        return []


def _change_running_programs(by: int) -> None:
    """Orphans come to us only while programs run: those of others are not ours to reap. Call it with the lock."""
    global _running_programs
    before, _running_programs = _running_programs, _running_programs + by
    if bool(before) != bool(_running_programs):
        _adopt_orphans(bool(_running_programs))


def _adopt_orphans(adopt: bool) -> None:
    prctl = _find_prctl() if sys.platform == "linux" else None
    if prctl is not None:
        prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


@cache
def _find_prctl() -> Callable[..., object] | None:
    try:
        import _ctypes  # ctypes itself takes longer to import than a program to start

        address = _ctypes.dlsym(_ctypes.dlopen(None, os.RTLD_NOW), "prctl")  # type: ignore[arg-type]
    except (ImportError, AttributeError, OSError):
        return None
    return lambda *arguments: _ctypes.call_function(address, arguments)
