"""What a forked child does to be as a new process would be, before a hook's file runs in it and after."""

import contextvars
import os
import posix
import re
import stat
import sys
import threading
import warnings
from importlib.machinery import SourceFileLoader
from typing import Any

LARGEST_SOURCE = 1 << 18

STACK_INSPECTION = re.compile(
    rb"_getframe|currentframe|outerframes|innerframes|\bstack\s*\(|(?:extract|print|format|walk)_stack|stacklevel"
    rb"|f_back|excepthook|recursion|settrace|setprofile|faulthandler|monitoring"
)
"""There is one frame more below a forked hook. A file that could notice is spawned."""

CODING_COMMENT = re.compile(rb"[ \t\f]*#.*?coding[:=]")

REHEARSAL_SOURCE = b"""import json, sys
sys.stdout.write(json.dumps(json.loads('{"a": [1, true]}'))[:0])
"""
"""What most hooks do."""

REHEARSAL_REQUEST = {"name": "python3", "script": __file__, "file": __file__, "arguments": (), "cwd": "/", "env": {}}

path_at_start = list(sys.path[1:])
filters_at_start = list(warnings.filters)


class NotForkableError(Exception):
    """Nothing of the hook has run; it must be spawned."""


class ForkedCall:
    """One call of a hook. `status` is set once its file has run, if the exit code is beyond doubt."""

    def __init__(self, asked: dict[str, Any], code: Any) -> None:
        self.request = asked
        self.code = code
        self.names: dict[str, Any] = {}
        self.status: int | None = None
        self.pid = os.getpid()

    def begin(self, names_of_main: dict[str, Any]) -> None:
        file, script = self.request["file"], self.request["script"]
        os.chdir(self.request["cwd"])
        if file not in (script, f"{os.getcwd()}/{script}"):
            raise NotForkableError
        for name, value in self.request["env"].items():
            set_variable(name, value)
        sys.stdin = sys.__stdin__ = new_stdin()  # type: ignore[misc]
        sys.argv = [script, *self.request["arguments"]]
        sys.orig_argv = [self.request["name"], *sys.argv]
        sys.path[:] = [os.path.dirname(os.path.realpath(script)), *path_at_start]
        main = sys.modules["__main__"] = type(sys)("__main__")
        self.names = vars(main)
        self.names.update(names_of_main, __doc__=None, __file__=file, __loader__=SourceFileLoader("__main__", file))
        thread: Any = threading.main_thread()
        thread._native_id = threading.get_native_id()  # Python 3.11 and 3.12 leave there what it was before the fork
        if "__annotations__" in names_of_main:
            self.names["__annotations__"] = {}

    def forget_file(self) -> None:
        """As the interpreter does after the file, and before the exit functions."""
        self.names.pop("__file__", None)
        self.names.pop("__cached__", None)
        self.forget()

    def forget(self) -> None:
        """What is the hook's own must not outlive it through us."""
        self.code, self.names = None, {}


def rehearsal_steps(preloaded: Any, names_of_main: dict[str, Any]) -> Any:
    """Does what a call will do: memory that was shared is copied now, and not while somebody waits.

    In steps, after each of which a call may begin.
    """
    for module in preloaded.modules.values():
        vars(module)
    yield
    if preloaded.find_spec("json") is not None:  # else importing it might run somebody's code
        yield
        call = ForkedCall(REHEARSAL_REQUEST, compile_source(check_source(REHEARSAL_SOURCE), __file__))
        yield
        call.begin(names_of_main)
        yield
        exec(call.code, call.names)
        call.forget_file()
        sys.modules.clear()
        sys.modules.update(preloaded.at_start)
    yield
    is_silent_at_exit(preloaded)


def set_variable(name: str, value: str | None) -> None:
    """In all the places that hold it; None takes it away."""
    if value is None:
        os.environ.pop(name, None)
        posix.environ.pop(os.fsencode(name), None)
    else:
        os.environ[name] = value
        posix.environ[os.fsencode(name)] = os.fsencode(value)


def new_stdin() -> Any:
    """As the interpreter makes it at its start: only then it asks what the stream is connected to."""
    before: Any = sys.stdin
    binary: Any = open(0, "rb", closefd=False)  # noqa: SIM115
    binary.raw.name = "<stdin>"
    text = type(before)(binary, before.encoding, before.errors, "\n", before.line_buffering, before.write_through)
    text.mode = "r"
    return text


def read_hook_source(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise NotForkableError
        source = file.read(LARGEST_SOURCE + 1)
    return check_source(source)


def check_source(source: bytes) -> bytes:
    if len(source) > LARGEST_SOURCE or b"\0" in source or STACK_INSPECTION.search(source):
        raise NotForkableError
    if any(CODING_COMMENT.match(line) for line in source.splitlines()[:2]):
        raise NotForkableError
    return source


def compile_source(source: bytes, file: str) -> Any:
    """A text that has warnings or errors to show is left to a new process."""
    before = sys.modules.get("warnings")
    sys.modules["warnings"] = warnings  # where the compiler looks for what to do with one
    try:
        with warnings.catch_warnings(record=True) as said:
            code = compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotForkableError from None
    finally:
        if before is None:
            del sys.modules["warnings"]
    if said:
        raise NotForkableError
    return code


def hide_own_frame(hook: Any, call: ForkedCall, below: dict[str, Any]) -> Any:
    """Shows an error without the frame that is below the hook's file."""

    def show(kind: Any, error: Any, trace: Any) -> None:
        while trace is not None and trace.tb_frame.f_globals is below:
            trace = trace.tb_next
        sys.excepthook = hook
        sys.last_traceback = error.__traceback__ = trace
        hook(kind, error, trace)
        call.forget_file()

    return show


def exit_status(code: Any) -> int | None:
    if code is None or type(code) is str:
        return 0 if code is None else 1
    return code if type(code) is int and 0 <= code <= 255 else None


class ExitFinalizer:
    """The last thing that the interpreter takes apart of what a hook can see. The rest is memory, and takes longest."""

    def __init__(self, call: ForkedCall) -> None:
        self.call = call
        self.streams = (sys.stdout, sys.stderr)

    def __del__(self, leave: Any = os._exit) -> None:
        try:
            for stream in self.streams:
                stream.flush()
            report_end(self.call)
        finally:  # the interpreter does not speak of an error at this point either
            leave(self.call.status)


def report_end(call: ForkedCall) -> None:
    """Nobody need wait for the system to take the memory apart: files, locks and streams are let go of here.

    A hook has no file of ours, so the pipe is opened by its place in the process that waits. A child that the hook forked
    comes here too, and says nothing.
    """
    if os.getpid() != call.pid:
        return
    path, inode, token = call.request["end"]
    for fd in os.listdir("/proc/self/fd"):
        try:
            os.close(int(fd))
        except OSError:  # the one that listed them
            continue
    end = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    if os.fstat(end).st_ino == inode:
        os.write(end, bytes.fromhex(token) + bytes((call.status or 0,)))


def exit_quickly(call: ForkedCall, preloaded: Any) -> None:
    """Called after all exit functions. Modules that are not the hook's own need not be taken apart.

    Where the interpreter or a library might still have something to say at its end, it takes its time.
    """
    call.forget()
    if call.status is None or not is_silent_at_exit(preloaded):
        return
    for name, module in list(sys.modules.items()):
        if name not in ("sys", "builtins") and preloaded.modules.get(name) is module:
            del sys.modules[name]
    sys.hookline = ExitFinalizer(call)  # type: ignore[attr-defined]


def is_silent_at_exit(preloaded: Any) -> bool:
    """Whether nobody can have anything to say at the end any more."""
    own = sys.modules.keys() - preloaded.modules.keys()
    if any(is_extension_module(sys.modules[name]) for name in own) or preloaded.holds_more():
        return False
    if len(os.listdir("/proc/self/task")) > 1 or len(contextvars.copy_context()):
        return False
    return warnings.filters == filters_at_start and flush_output()


def is_extension_module(module: Any) -> bool:
    """Not written in Python: it may hold something back until the process ends."""
    file = getattr(module, "__file__", None)
    return not (isinstance(file, str) and file.endswith((".py", ".pyc"))) and module is not sys.modules["__main__"]


def flush_output() -> bool:
    streams = [vars(sys).get(name) for name in ("stdout", "stderr")]
    if streams != [sys.__stdout__, sys.__stderr__] or None in streams:
        return False
    try:
        for stream in streams:
            stream.flush()
    except (OSError, ValueError):  # the interpreter says so itself, with an exit code of its own
        return False
    return True
