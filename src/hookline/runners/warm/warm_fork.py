"""Forks a child for each call, a moment before it is needed, and reports how it ended.

Messages are packets on sockets. A request brings the hook's three streams and a channel on which `refused`, `ready` and
`ended` are sent back. A child is ready when everything is as in a new process; then it waits for `go`, and from that moment
the hook may have run. A child that has ended is not reaped until the other side closes the channel, so that its id is not
reused and the other side can kill what is left of its group.
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

from warm_child import ForkedCall, NotForkableError, compile_source, exit_quickly, read_hook_source, rehearsal_steps  # type: ignore[import-not-found]

MAX_REQUEST_BYTES = 1 << 18
MAX_CACHED_CODES = 32
SPARE_DELAY = 2  # milliseconds after a call: its caller gets the processors first, then the next child is made
FDS_FORMAT = struct.Struct("4i")


class SpareChild:
    """A child that waits for a call."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self.pid = pid
        self.end = end
        self.pidfd = os.pidfd_open(pid)

    def send_request(self, request: bytes, fds: list[int]) -> bool:
        try:
            self.end.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, FDS_FORMAT.pack(*fds))])
        except OSError:  # it was killed
            return False
        finally:
            self.end.close()
        return True


class ForkServer:
    def __init__(self, fd: int, idle: float, preloaded: Any, names_of_main: dict[str, Any]) -> None:
        self.idle = idle  # seconds after which no call is expected
        self.preloaded = preloaded
        self.names_of_main = names_of_main
        self.requests = socket.socket(fileno=fd)
        self.spare: SpareChild | None = None
        self.due = False  # whether the next one is to be made soon
        self.awaited = False  # whether a call has come before
        self.calls: dict[int, int] = {}  # the child of each channel
        self.running: dict[int, int] = {}  # the channel of each pidfd
        self.released: dict[int, int] = {}  # the child of each pidfd whose channel is closed
        self.codes: dict[tuple[str, bytes], Any] = {}
        self.poll = select.poll()
        self.poll.register(fd, select.POLLIN)

    def serve(self) -> ForkedCall:
        """Returns only in a child."""
        call = self.ensure_spare()
        while call is None:
            events = self.poll.poll(SPARE_DELAY if self.due else None if self.calls else self.idle * 1000)
            if not events and not self.due:
                self.shut_down()
            if not events:
                call = self.ensure_spare()
            for fd, _ in events:
                call = call or self.handle_readable(fd)
        return call

    def handle_readable(self, fd: int) -> ForkedCall | None:
        if fd in self.calls:
            self.release_channel(fd)
            self.due = self.spare is None
            return None
        if fd != self.requests.fileno():
            self.handle_child_end(fd)
            return None
        self.awaited = True
        call = self.ensure_spare()
        if call is None:
            self.awaited = False
            self.accept_request()
        return call

    def ensure_spare(self) -> ForkedCall | None:
        """Creates a spare child if possible; in that child, returns when its call has come."""
        self.due = False
        if self.spare is not None:
            return None
        try:
            ours, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with end:
                pid = os.fork()
                if pid == 0:
                    return self.run_spare(end, ours)
            self.spare = SpareChild(pid, ours)
        except OSError:  # no process or file available: calls are refused until there is
            return None
        return None

    def accept_request(self) -> None:
        request, fds = receive_with_fds(self.requests)
        if not request:
            self.shut_down()
        if not fds:
            return
        *streams, channel = fds
        spare, self.spare = self.spare, None
        if spare is None:
            send_status(channel, b"refused")
            close_fds(fds)
            return
        if not spare.send_request(request, fds):
            send_status(channel, b"refused")
        self.watch_child(spare, channel)
        close_fds(streams)
        self.precompile(json.loads(request))

    def watch_child(self, spare: SpareChild, channel: int) -> None:
        self.calls[channel] = spare.pid
        self.running[spare.pidfd] = channel
        self.poll.register(channel, 0)  # only the other end was closed
        self.poll.register(spare.pidfd, select.POLLIN)

    def run_spare(self, end: socket.socket, other: socket.socket) -> ForkedCall:
        try:
            os.setsid()
            for fd in (self.requests.detach(), other.detach(), *self.calls, *self.running, *self.released):
                os.close(fd)
            steps = rehearsal_steps(self.preloaded, self.names_of_main)
            while not self.awaited and not is_readable(end) and next(steps, steps) is None:
                pass
            request, fds = receive_with_fds(end)
            end.close()
            *streams, channel = fds
            asked = json.loads(request)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return self.begin_call(asked, channel)
        except BaseException:  # whatever it is, the hook has not started
            os._exit(1)

    def begin_call(self, asked: dict[str, Any], channel: int) -> ForkedCall:
        try:
            call = ForkedCall(asked, self.compiled_code(asked))
            call.begin(self.names_of_main)
            atexit.register(exit_quickly, call, self.preloaded)
        except (NotForkableError, OSError):
            send_status(channel, b"refused")
            os._exit(0)
        send_status(channel, b"ready %d" % os.getpid())
        if os.read(channel, 16) != b"go":
            os._exit(0)
        os.close(channel)
        return call

    def handle_child_end(self, pidfd: int) -> None:
        """Handles the end of a child."""
        self.poll.unregister(pidfd)
        os.close(pidfd)
        if pidfd in self.released:
            os.waitpid(self.released.pop(pidfd), 0)
            return
        channel = self.running.pop(pidfd)
        ended = os.waitid(os.P_PID, self.calls[channel], os.WEXITED | os.WNOWAIT)
        assert ended is not None
        send_status(channel, b"ended %d" % (ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status))

    def release_channel(self, channel: int) -> None:
        """The other side closed the channel: kills what is left of this call."""
        pid = self.calls.pop(channel)
        self.poll.unregister(channel)
        os.close(channel)
        kill_group(pid)
        for pidfd, its in self.running.items():
            if its == channel:
                del self.running[pidfd]
                self.released[pidfd] = pid
                return
        os.waitpid(pid, 0)

    def shut_down(self) -> NoReturn:
        pids = [*self.calls.values(), *self.released.values()]
        if self.spare is not None:
            pids.append(self.spare.pid)
        for pid in pids:
            kill_group(pid)
        for pid in pids:
            os.waitpid(pid, 0)
        os._exit(0)

    def precompile(self, asked: dict[str, Any]) -> None:
        """Compiles the file for the children to come."""
        try:
            self.compiled_code(asked)
        except (NotForkableError, OSError):
            return

    def compiled_code(self, asked: dict[str, Any]) -> Any:
        source = read_hook_source(os.path.join(asked["cwd"], asked["script"]))
        key = (asked["file"], source)
        if key not in self.codes:
            if len(self.codes) >= MAX_CACHED_CODES:
                self.codes.clear()
            self.codes[key] = compile_source(source, asked["file"])
        return self.codes[key]


def receive_with_fds(end: socket.socket) -> tuple[bytes, list[int]]:
    """No bytes if the other end is closed; no descriptors if not all could be received."""
    message, brought, _, _ = end.recvmsg(MAX_REQUEST_BYTES, socket.CMSG_SPACE(FDS_FORMAT.size))
    data = b"".join(each for _, _, each in brought)
    fds = list(struct.unpack(f"{len(data) // 4}i", data))
    if len(data) == FDS_FORMAT.size:
        return message, fds
    close_fds(fds)
    return message, []


def is_readable(end: socket.socket) -> bool:
    """True if something can be read."""
    return bool(select.select([end], (), (), 0)[0])


def close_fds(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def send_status(channel: int, what: bytes) -> None:
    try:
        os.write(channel, what)
    except OSError:  # the other side is gone, which poll reports too
        return


def kill_group(pid: int) -> None:
    """Kills the group, or the process if it has no group yet. It is not reaped, so its id is its own."""
    for how in (os.killpg, os.kill):
        try:
            how(pid, signal.SIGKILL)
        except OSError:
            continue


def describe_interpreter() -> dict[str, Any]:
    return {
        "version": [sys.implementation.name, *sys.version_info[:2]],
        "encoding": sys.getfilesystemencoding(),
        "pid": os.getpid(),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len([fd for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")]),
        "env": dict(os.environ),
        "marks": sorted(startup_files()),
    }


def startup_files() -> set[str]:
    """The files that decide how this Python starts. Once one has changed, a new process may start differently."""
    root = os.path.dirname(os.path.dirname(sys.executable))
    found = {sys.executable, os.path.realpath(sys.executable), "/etc/localtime", *sys.path[1:]}
    found.update(os.path.join(place, "pyvenv.cfg") for place in (root, os.path.dirname(sys.executable)))
    found.update([*site.getsitepackages(), site.getusersitepackages()])
    for place in [each for each in found if os.path.isdir(each)]:
        found.update(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".pth"))
    custom = [sys.modules.get(name) for name in ("sitecustomize", "usercustomize")]
    found.update(module.__file__ for module in custom if module is not None and module.__file__)
    return found


def serve_until_call(preloaded: Any, names_of_main: dict[str, Any]) -> ForkedCall:
    """Returns only in a child, when the hook is to run."""
    server = ForkServer(int(sys.argv[1]), float(sys.argv[2]), preloaded, names_of_main)
    os.close(os.pidfd_open(os.getpid()))  # not supported without them
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        raise SystemExit("the exit code of a child cannot be determined")
    server.requests.send(json.dumps(describe_interpreter()).encode())
    sys.path_importer_cache.clear()
    sys.modules.clear()
    sys.modules.update(preloaded.at_start)
    sys.meta_path.insert(0, preloaded)
    gc.collect()
    gc.freeze()
    return server.serve()
