"""The program that a coding agent calls: sends the payload on stdin to the user's engine and prints the answer.

Run by path, `python -I -S client.py AGENT EVENT`. The agent waits for it, so it imports almost nothing. It starts the
engine if none is running; if that fails, or the engine does, it replaces itself with a process that decides alone.

A request is MAGIC, then 4-byte big-endian numbers (protocol version, milliseconds spent so far, lengths of six parts),
then the parts: release, agent, event, working directory, environment (NAME=value, separated by NUL), payload. The engine
sends one or two answers: MAGIC, version, status, a number, two lengths, stdout and stderr. ANSWERED has the exit code as
its number. WORKING comes first if the decision takes a while; its number is the time limit in milliseconds. DECLINED
means that this engine cannot answer.
"""

from __future__ import annotations

import _socket
import os
import sys
import time

TYPE_CHECKING = False  # importing typing takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any, NoReturn

MAGIC = b"HOOKLINE"
PROTOCOL_VERSION = 1
RELEASE = "0.1.0"  # of the package; an engine of another release ends when it sees this one
MAX_PAYLOAD = 32 * 1024 * 1024  # bytes of a payload
MAX_ENVIRONMENT = 4 * 1024 * 1024
REQUEST_HEADER_SIZE = len(MAGIC) + 8 * 4
ANSWER_HEADER_SIZE = len(MAGIC) + 5 * 4
STATUS_ANSWERED, STATUS_WORKING, STATUS_DECLINED = 0, 1, 2

SOCKET_NAME = "engine.sock"
START_LOCK_NAME = "starting.lock"
_MAX_ATTEMPTS = 3
_START_TIMEOUT = 10.0  # seconds for a new engine to start listening
_MAX_DIRECTORY_LENGTH = 90
_PAUSE = 0.1  # seconds without a byte of the payload, after which it may be whole
_SILENCE = 10.0  # seconds without a byte, after which no more is expected
_RESPONSE_TIMEOUT = 2.0  # seconds for an engine to say that it is working
_PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_MAIN_CODE = "import sys; sys.path.append(sys.argv.pop(1)); from hookline.cli.main import main; main()"
_BRIDGE_CODE = (
    "import sys; sys.path.append(sys.argv.pop(1)); from hookline.cli import bridge_process; bridge_process.run()"
)
BLOCKING_PREFIXES = (
    "pretool",
    "beforetool",
    "beforeshell",
    "beforemcp",
    "beforeread",
    "pre_",
    "tool.execute",
    "permission",
)
_ENGINE_VARIABLES = (
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "HOOKLINE_LOG",
)


class EngineLostError(Exception):
    """The engine closed the connection before it answered."""


class EngineSilentError(OSError):
    """Something is listening but does not answer."""


class EngineOverdueError(Exception):
    """The engine is working, did not answer in time, and no time is left."""


def run_directory(environment: Any) -> str:
    """The directory of the user's engine socket; "" if there is none, or its path is too long for a socket."""
    places = (
        ("XDG_RUNTIME_DIR", "hookline"),
        ("XDG_STATE_HOME", "hookline/run"),
        ("HOME", ".local/state/hookline/run"),
    )
    for name, below in places:
        if environment.get(name, "").startswith("/"):
            directory = os.path.join(environment[name], below)
            return directory if len(os.fsencode(directory)) <= _MAX_DIRECTORY_LENGTH else ""
    return ""


def is_private(directory: str) -> bool:
    """True if only this user can enter the directory."""
    try:
        status = os.lstat(directory)
    except OSError:
        return False
    return status.st_mode & 0o170077 == 0o040000 and status.st_uid == os.geteuid()


def hookline_command(*arguments: str) -> list[str]:
    """The command line of `hookline` with these arguments, independent of the working directory and the environment."""
    return [sys.executable, "-I", "-c", _MAIN_CODE, _PACKAGE_PARENT, *arguments]


def encode_request(agent: str, event: str, payload: bytes, spent: int, release: str = RELEASE) -> bytes:
    try:
        cwd = os.getcwdb()
    except OSError:
        cwd = b""
    environment = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    parts = (release.encode(), os.fsencode(agent), os.fsencode(event), cwd, environment, payload)
    numbers = (PROTOCOL_VERSION, spent, *map(len, parts))
    return MAGIC + b"".join(number.to_bytes(4, "big") for number in numbers) + b"".join(parts)


def connect_to_engine(path: str) -> Any:
    """None if no engine is listening."""
    socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        socket.settimeout(_RESPONSE_TIMEOUT)
        socket.connect(path)
    except (OSError, ValueError):
        socket.close()
        return None
    return socket


def start_and_connect(directory: str) -> Any:
    """Starts an engine, or finds one that another client has just started, and connects. None if none comes up."""
    import fcntl

    os.makedirs(directory, 0o700, exist_ok=True)
    if not is_private(directory):
        return None
    until = time.monotonic() + _START_TIMEOUT
    lock = os.open(
        os.path.join(directory, START_LOCK_NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    mine, alive, pause = False, -1, 0.01
    try:
        while time.monotonic() < until:
            if not mine:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    mine = True
                except OSError:
                    pass
                else:
                    socket = connect_to_engine(os.path.join(directory, SOCKET_NAME))
                    if socket is not None:
                        return socket
                    alive = _start_engine()
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
            over = alive >= 0 and _is_at_end(alive)
            socket = connect_to_engine(os.path.join(directory, SOCKET_NAME))
            if socket is not None or over:
                return socket
    finally:
        os.close(lock)
    return None


def _is_at_end(alive: int) -> bool:
    try:
        return os.read(alive, 1) == b""
    except BlockingIOError:
        return False


def _start_engine() -> int:
    """Starts the engine as a daemon that outlives the agent (two forks, its own session).

    Returns a descriptor that reaches its end when the engine exits.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child:
        os.close(write_end)
        os.waitpid(child, 0)
        os.set_blocking(read_end, False)
        return read_end
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.dup2(write_end, 3)
        os.closerange(4, 1024)
        kept = {
            name: value for name, value in os.environ.items() if name in _ENGINE_VARIABLES or name.startswith("LC_")
        }
        arguments = hookline_command("serve", "--detached")
        os.execve(arguments[0], arguments, kept)
    finally:
        os._exit(1)


def send_request(socket: Any, message: bytes) -> tuple[int, bytes, bytes] | None:
    """Returns exit code, stdout and stderr, or None if the engine declines.

    Raises EngineLostError, EngineSilentError or EngineOverdueError.
    """
    at_work = False
    try:
        socket.sendall(message)
        while True:
            version, status, number, out, err = _parse_header(_receive(socket, ANSWER_HEADER_SIZE))
            if version != PROTOCOL_VERSION or status == STATUS_DECLINED:
                return None
            if status == STATUS_ANSWERED:
                return number, _receive(socket, out), _receive(socket, err)
            at_work = True
            socket.settimeout(number / 1000)
    except TimeoutError:
        if at_work:
            raise EngineOverdueError from None
        raise EngineSilentError from None
    except OSError:
        raise EngineLostError from None
    finally:
        socket.close()


def _parse_header(head: bytes) -> list[int]:
    if not head.startswith(MAGIC):
        raise EngineLostError
    return [int.from_bytes(head[at : at + 4], "big") for at in range(len(MAGIC), len(head), 4)]


def _receive(socket: Any, size: int) -> bytes:
    parts = []
    while size:
        part = socket.recv(min(size, 1 << 20))
        if not part:
            raise EngineLostError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def exit_code_without_answer(event: str) -> int:
    """Most agents block a tool if its hook exits with 2 and a reason; for a stop, 2 would mean "go on"."""
    return 2 if event.lower().startswith(BLOCKING_PREFIXES) else 1


def main(arguments: list[str]) -> NoReturn:
    begun = time.monotonic()
    *options, agent, event = arguments
    try:
        if "--overdue" in options:
            _exec_hookline(_read_stdin(), "bridge", "--overdue", agent, event)
        before = sum(int(each.removeprefix("--spent=")) for each in options if each.startswith("--spent="))
        _handle_call(agent, event, begun - before / 1000, "--direct" in options)
    except Exception as error:  # whatever happened, the agent gets an answer instead of a traceback
        exit_without_answer(event, error)


def _handle_call(agent: str, event: str, begun: float, direct: bool) -> NoReturn:
    payload = _read_stdin()
    directory = "" if direct else run_directory(os.environ)
    try:
        message = encode_request(agent, event, payload, _milliseconds_since(begun))
        fits = len(payload) <= MAX_PAYLOAD and len(message) - len(payload) <= MAX_ENVIRONMENT
        for _ in range(_MAX_ATTEMPTS if fits and directory else 0):
            socket = connect_to_engine(os.path.join(directory, SOCKET_NAME)) if is_private(directory) else None
            try:
                answer = _try_engine(socket or start_and_connect(directory), message)
            except EngineLostError:
                continue
            if answer is not None:
                _write_all(1, answer[1])
                _write_all(2, answer[2])
                os._exit(answer[0])
    except EngineOverdueError:
        _exec_hookline(payload, "bridge", "--overdue", agent, event)
    except OSError:
        pass  # no directory for the socket, or no process to spare: decide in this process
    _exec_hookline(payload, "bridge", "--direct", f"--spent={_milliseconds_since(begun)}", agent, event)


def _try_engine(socket: Any, message: bytes) -> tuple[int, bytes, bytes] | None:
    if socket is None:
        raise OSError("no engine")
    answer = send_request(socket, message)
    if answer is None:
        time.sleep(0.05)  # the old engine is about to exit
    return answer


def _milliseconds_since(begun: float) -> int:
    return max(0, min(int((time.monotonic() - begun) * 1000), 1 << 31))


def _read_stdin() -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= MAX_PAYLOAD and not _is_over(parts):
        part = os.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _is_over(parts: list[bytes]) -> bool:
    """Some agents leave stdin open: the payload is complete if it is a whole object, or if nothing more comes."""
    import select

    for _ in range(round(_SILENCE / _PAUSE)):
        if select.select([0], [], [], _PAUSE)[0]:
            return False
        if parts and _is_whole(b"".join(parts)):
            return True
    return True


def _is_whole(payload: bytes) -> bool:
    import json

    try:
        json.loads(payload.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def _exec_hookline(payload: bytes, *arguments: str) -> NoReturn:
    """Replaces this process with `hookline`, which reads the same payload from stdin."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("payload")
    else:
        import tempfile

        file, name = tempfile.mkstemp()
        os.unlink(name)
    _write_all(file, payload)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, 0)
    os.execv(sys.executable, [sys.executable, "-I", "-c", _BRIDGE_CODE, _PACKAGE_PARENT, *arguments])


def exit_without_answer(event: str, error: Exception, stderr: int = 2) -> NoReturn:
    text = f"hookline could not decide: {type(error).__name__}: {error}\n"
    _write_all(stderr, text.encode("utf-8", "replace"))
    os._exit(exit_code_without_answer(event))


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except BrokenPipeError:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
