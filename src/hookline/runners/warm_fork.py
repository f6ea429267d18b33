"""Forks a child for each call, a moment before it is asked for, and says how it ended.

Messages are packets on sockets. A request brings the hook's three streams and a channel of its own, on which `refused`,
`ready` and `ended` go back. A child is ready when all is as in a new process; then it waits for `go`, and from that
moment on the hook may have run. Until the other side closes the channel, a child that has ended is not buried: so nobody
else gets its number, and the other side can kill what is left of its group.
"""

import atexit
import gc
import json
import os
import select
import signal
import site
import socket
import struct
import sys
from typing import Any, NoReturn

from warm_child import Call, Refused, be_quick, compiled, read, rehearsal  # type: ignore[import-not-found]

LARGEST_REQUEST = 1 << 18
TEXTS_KEPT = 32
REST = 2  # milliseconds after a call: whoever waited for it has the processors first, then the next child is made
FDS = struct.Struct("4i")


class Spare:
    """A child that waits for a call to come."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self.pid = pid
        self.end = end
        self.pidfd = os.pidfd_open(pid)

    def hand(self, request: bytes, fds: list[int]) -> bool:
        try:
            self.end.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, FDS.pack(*fds))])
        except OSError:  # somebody killed it
            return False
        finally:
            self.end.close()
        return True


class Server:
    def __init__(self, fd: int, idle: float, preloaded: Any, names_of_main: dict[str, Any]) -> None:
        self.idle = idle  # seconds after which nobody is coming any more
        self.preloaded = preloaded
        self.names_of_main = names_of_main
        self.requests = socket.socket(fileno=fd)
        self.spare: Spare | None = None
        self.due = False  # whether the next one is to be made soon
        self.awaited = False  # whether a call has come before it
        self.calls: dict[int, int] = {}  # the child of each channel
        self.running: dict[int, int] = {}  # the channel of each pidfd
        self.let_go_of: dict[int, int] = {}  # the child of each pidfd whose channel is closed
        self.codes: dict[tuple[str, bytes], Any] = {}
        self.poll = select.poll()
        self.poll.register(fd, select.POLLIN)

    def serve(self) -> Call:
        """Returns in a child only."""
        call = self.prepare()
        while call is None:
            events = self.poll.poll(REST if self.due else None if self.calls else self.idle * 1000)
            if not events and not self.due:
                self.leave()
            if not events:
                call = self.prepare()
            for fd, _ in events:
                call = call or self.attend(fd)
        return call

    def attend(self, fd: int) -> Call | None:
        if fd in self.calls:
            self.let_go(fd)
            self.due = self.spare is None
            return None
        if fd != self.requests.fileno():
            self.notice(fd)
            return None
        self.awaited = True
        call = self.prepare()
        if call is None:
            self.awaited = False
            self.take()
        return call

    def prepare(self) -> Call | None:
        """Has a spare child, if it can; in that child, returns when its call has come."""
        self.due = False
        if self.spare is not None:
            return None
        try:
            ours, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with end:
                pid = os.fork()
                if pid == 0:
                    return self.become(end, ours)
            self.spare = Spare(pid, ours)
        except OSError:  # no process or no file to be had: calls are refused until there is
            return None
        return None

    def take(self) -> None:
        request, fds = received(self.requests)
        if not request:
            self.leave()
        if not fds:
            return
        *streams, channel = fds
        spare, self.spare = self.spare, None
        if spare is None:
            tell(channel, b"refused")
            close(fds)
            return
        if not spare.hand(request, fds):
            tell(channel, b"refused")
        self.watch(spare, channel)
        close(streams)
        self.remember(json.loads(request))

    def watch(self, spare: Spare, channel: int) -> None:
        self.calls[channel] = spare.pid
        self.running[spare.pidfd] = channel
        self.poll.register(channel, 0)  # only that its other end was closed
        self.poll.register(spare.pidfd, select.POLLIN)

    def become(self, end: socket.socket, other: socket.socket) -> Call:
        try:
            os.setsid()
            for fd in (self.requests.detach(), other.detach(), *self.calls, *self.running, *self.let_go_of):
                os.close(fd)
            steps = rehearsal(self.preloaded, self.names_of_main)
            while not self.awaited and not is_there(end) and next(steps, steps) is None:
                pass
            request, fds = received(end)
            end.close()
            *streams, channel = fds
            asked = json.loads(request)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return self.begun(asked, channel)
        except BaseException:  # whatever it is, the hook has not begun
            os._exit(1)

    def begun(self, asked: dict[str, Any], channel: int) -> Call:
        try:
            call = Call(asked, self.code(asked))
            call.begin(self.names_of_main)
            atexit.register(be_quick, call, self.preloaded)
        except (Refused, OSError):
            tell(channel, b"refused")
            os._exit(0)
        tell(channel, b"ready %d" % os.getpid())
        if os.read(channel, 16) != b"go":
            os._exit(0)
        os.close(channel)
        return call

    def notice(self, pidfd: int) -> None:
        """A child has ended."""
        self.poll.unregister(pidfd)
        os.close(pidfd)
        if pidfd in self.let_go_of:
            os.waitpid(self.let_go_of.pop(pidfd), 0)
            return
        channel = self.running.pop(pidfd)
        ended = os.waitid(os.P_PID, self.calls[channel], os.WEXITED | os.WNOWAIT)
        assert ended is not None
        tell(channel, b"ended %d" % (ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status))

    def let_go(self, channel: int) -> None:
        """The other side has closed it: what is still there of this call is killed."""
        pid = self.calls.pop(channel)
        self.poll.unregister(channel)
        os.close(channel)
        kill(pid)
        for pidfd, its in self.running.items():
            if its == channel:
                del self.running[pidfd]
                self.let_go_of[pidfd] = pid
                return
        os.waitpid(pid, 0)

    def leave(self) -> NoReturn:
        pids = [*self.calls.values(), *self.let_go_of.values()]
        if self.spare is not None:
            pids.append(self.spare.pid)
        for pid in pids:
            kill(pid)
        for pid in pids:
            os.waitpid(pid, 0)
        os._exit(0)

    def remember(self, asked: dict[str, Any]) -> None:
        """The children to come find the file compiled already."""
        try:
            self.code(asked)
        except (Refused, OSError):
            return

    def code(self, asked: dict[str, Any]) -> Any:
        source = read(os.path.join(asked["cwd"], asked["script"]))
        key = (asked["file"], source)
        if key not in self.codes:
            if len(self.codes) >= TEXTS_KEPT:
                self.codes.clear()
            self.codes[key] = compiled(source, asked["file"])
        return self.codes[key]


def received(end: socket.socket) -> tuple[bytes, list[int]]:
    """No bytes once the other end is closed; no files if they could not all be had."""
    message, brought, _, _ = end.recvmsg(LARGEST_REQUEST, socket.CMSG_SPACE(FDS.size))
    data = b"".join(each for _, _, each in brought)
    fds = list(struct.unpack(f"{len(data) // 4}i", data))
    if len(data) == FDS.size:
        return message, fds
    close(fds)
    return message, []


def is_there(end: socket.socket) -> bool:
    """Whether something can be read."""
    return bool(select.select([end], (), (), 0)[0])


def close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def tell(channel: int, what: bytes) -> None:
    try:
        os.write(channel, what)
    except OSError:  # the other side has gone, as poll will say too
        return


def kill(pid: int) -> None:
    """The group, or the process if it has none of its own yet. It is not buried, so the number is its own."""
    for how in (os.killpg, os.kill):
        try:
            how(pid, signal.SIGKILL)
        except OSError:
            continue


def about() -> dict[str, Any]:
    return {
        "version": [sys.implementation.name, *sys.version_info[:2]],
        "encoding": sys.getfilesystemencoding(),
        "pid": os.getpid(),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len([fd for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")]),
        "env": dict(os.environ),
        "marks": sorted(marks()),
    }


def marks() -> set[str]:
    """The files that decide how this Python starts: once one of them has changed, a new process may start otherwise."""
    root = os.path.dirname(os.path.dirname(sys.executable))
    found = {sys.executable, os.path.realpath(sys.executable), "/etc/localtime", *sys.path[1:]}
    found.update(os.path.join(place, "pyvenv.cfg") for place in (root, os.path.dirname(sys.executable)))
    found.update([*site.getsitepackages(), site.getusersitepackages()])
    for place in [each for each in found if os.path.isdir(each)]:
        found.update(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".pth"))
    custom = [sys.modules.get(name) for name in ("sitecustomize", "usercustomize")]
    found.update(module.__file__ for module in custom if module is not None and module.__file__)
    return found


def call_of_a_child(preloaded: Any, names_of_main: dict[str, Any]) -> Call:
    """Returns in a child only, when the hook is to run."""
    server = Server(int(sys.argv[1]), float(sys.argv[2]), preloaded, names_of_main)
    os.close(os.pidfd_open(os.getpid()))  # a system without them is no place for this
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        raise SystemExit("nobody can know how a child ended")
    server.requests.send(json.dumps(about()).encode())
    sys.path_importer_cache.clear()
    sys.modules.clear()
    sys.modules.update(preloaded.at_start)
    sys.meta_path.insert(0, preloaded)
    gc.collect()
    gc.freeze()
    return server.serve()
