"""Makes a forked child look like a new process, before a hook's file runs in it and after."""

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
"""A forked hook has one more frame below it. A file that could notice is spawned."""

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
    """One call of a hook. `status` is set once its file has run, if the exit code is certain."""

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
        thread._native_id = threading.get_native_id()  # Python 3.11 and 3.12 leave the value from before the fork there
        if "__annotations__" in names_of_main:
            self.names["__annotations__"] = {}

    def forget_file(self) -> None:
        """As the interpreter does after the file, before exit functions run."""
        self.names.pop("__file__", None)
        self.names.pop("__cached__", None)
        self.forget()

    def forget(self) -> None:
        """Drops our references to the hook's objects."""
        self.code, self.names = None, {}


def rehearsal_steps(preloaded: Any, names_of_main: dict[str, Any]) -> Any:
    """Does what a call will do, so that shared memory is copied now and not while someone waits.

    Runs in steps; a call may begin after each.
    """
    for module in preloaded.modules.values():
        vars(module)
    yield
    if preloaded.find_spec("json") is not None:  # otherwise importing it might run other code
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
    """Sets the variable everywhere it is kept; None removes it."""
    if value is None:
        os.environ.pop(name, None)
        posix.environ.pop(os.fsencode(name), None)
    else:
        os.environ[name] = value
        posix.environ[os.fsencode(name)] = os.fsencode(value)


def new_stdin() -> Any:
    """Creates stdin as the interpreter does at its start: only then does it check what the stream is connected to."""
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
    """Source with warnings or errors to show is left to a new process."""
    before = sys.modules.get("warnings")
    sys.modules["warnings"] = warnings  # where the compiler looks up how to treat one
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
    """Shows an error without the frame below the hook's file."""

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
    """The last thing that the interpreter destroys that a hook can see. What remains is memory, which takes longest."""

    def __init__(self, call: ForkedCall) -> None:
        self.call = call
        self.streams = (sys.stdout, sys.stderr)

    def __del__(self, leave: Any = os._exit) -> None:
        try:
            for stream in self.streams:
                stream.flush()
            report_end(self.call)
        finally:  # the interpreter ignores an error at this point too
            leave(self.call.status)


def report_end(call: ForkedCall) -> None:
    """Reports the exit code early: files, locks and streams are already released, and freeing memory takes time.

    The hook has no descriptor of ours, so the pipe is opened through the waiting process. A child that the hook forked comes
    here too, and reports nothing.
    """
    if os.getpid() != call.pid:
        return
    path, inode, token = call.request["end"]
    for fd in os.listdir("/proc/self/fd"):
        try:
            os.close(int(fd))
        except OSError:  # the process that listed them
            continue
    end = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    if os.fstat(end).st_ino == inode:
        os.write(end, bytes.fromhex(token) + bytes((call.status or 0,)))


def exit_quickly(call: ForkedCall, preloaded: Any) -> None:
    """Called after all exit functions. Modules that are not the hook's own are not destroyed.

    If the interpreter or a library might still write something at its end, it exits normally.
    """
    call.forget()
    if call.status is None or not is_silent_at_exit(preloaded):
        return
    for name, module in list(sys.modules.items()):
        if name not in ("sys", "builtins") and preloaded.modules.get(name) is module:
            del sys.modules[name]
    sys.hookline = ExitFinalizer(call)  # type: ignore[attr-defined]


def is_silent_at_exit(preloaded: Any) -> bool:
    """True if nothing can write anything at exit any more."""
    own = sys.modules.keys() - preloaded.modules.keys()
    if any(is_extension_module(sys.modules[name]) for name in own) or preloaded.holds_more():
        return False
    if len(os.listdir("/proc/self/task")) > 1 or len(contextvars.copy_context()):
        return False
    return warnings.filters == filters_at_start and flush_output()


def is_extension_module(module: Any) -> bool:
    """Not written in Python: it may buffer something until the process ends."""
    file = getattr(module, "__file__", None)
    return not (isinstance(file, str) and file.endswith((".py", ".pyc"))) and module is not sys.modules["__main__"]


def flush_output() -> bool:
    streams = [vars(sys).get(name) for name in ("stdout", "stderr")]
    if streams != [sys.__stdout__, sys.__stderr__] or None in streams:
        return False
    try:
        for stream in streams:
            stream.flush()
    except (OSError, ValueError):  # the interpreter reports this itself, with its own exit code
        return False
    return True
