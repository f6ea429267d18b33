"""The program that agents call: at one place for ever, whatever version of hookline stands behind it.

The clients that an agent can be told to call.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.install.text_files import (
    executable_mode,
    make_directories,
    read_file_text,
    remove_file,
    write_atomically,
)

_BRIDGE_DIRECTORY: Final = Path(os.path.abspath(__file__)).parents[1] / "bridge"
_CLIENT_SOURCE: Final = _BRIDGE_DIRECTORY / "client.c"
_COMPILE_TIMEOUT: Final = 60.0  # seconds
_DYNAMIC_FLAGS: Final = ("-std=c11", "-O2", "-s")
_STATIC_FLAGS: Final = (*_DYNAMIC_FLAGS, "-static")  # starts in half the time; not every system can

log = logging.getLogger("hookline")


def python_client() -> list[str]:
    """To be followed by the agent's name and the event's."""
    return [sys.executable, "-I", "-S", str(_BRIDGE_DIRECTORY / "client.py")]


def compile_client(target: Path) -> bool:
    """Puts the compiled client there, in one step, to be called with the agent's name and the event's.

    False where there is no compiler, or what it made does not run. It holds the paths of this interpreter and of
    `client.py`, which it becomes when it does not know what to do.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform == "win32":
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".hookline-") as made_in:
        made = Path(made_in) / target.name
        if not any(_compile_with(compiler, flags, made) for flags in (_STATIC_FLAGS, _DYNAMIC_FLAGS)):
            return False
        made.chmod(0o755)
        os.replace(made, target)
    return True


def _compile_with(compiler: str, flags: tuple[str, ...], to: Path) -> bool:
    python, script = python_client()[0], python_client()[-1]
    paths = (f"-DPYTHON={_c_string(python)}", f"-DCLIENT={_c_string(script)}")
    try:
        done = subprocess.run(
            [compiler, *flags, *paths, "-o", str(to), str(_CLIENT_SOURCE)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMPILE_TIMEOUT,
        )
        if done.returncode:
            log.debug("%s: %s", compiler, done.stderr.decode("utf-8", "replace"))
            return False
        ran = subprocess.run([str(to)], stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMPILE_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.debug("%s: %s", compiler, error)
        return False
    return ran.returncode == 1 and b"usage" in ran.stderr


def _c_string(text: str) -> str:
    """A C string, whatever the text holds."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@ "
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'


_MAX_SHEBANG: Final = 120  # of a first line that every kernel reads whole
_SCRIPT: Final = """\
import sys
sys.path.append({bridge!r})
import client
client.main(sys.argv[1:])
"""
_SHELL_PREAMBLE: Final = """\
#!/bin/sh
'''exec' {python} -I -S "$0" "$@"
' '''
"""


class LauncherKind(StrEnum):
    COMPILED = "compiled"
    PYTHON = "python"
    """A Python program, three times as slow: there is no C compiler here."""


def install_launcher(launcher: Path) -> LauncherKind:
    """Made anew only where it is not as this version makes it."""
    found = installed_kind(launcher)
    if found is not None:
        return found
    make_directories(launcher.parent)
    try:
        kind = LauncherKind.COMPILED if compile_client(launcher) else LauncherKind.PYTHON
    except OSError as error:
        raise HooklineError(f"{launcher} cannot be made: {error.strerror}") from None
    if kind is LauncherKind.PYTHON:
        write_atomically(launcher, launcher_script(python_client()[0]), executable_mode())
    write_atomically(_build_stamp_path(launcher), f"{kind} {_build_fingerprint(kind)} {_launcher_hash(launcher)}\n")
    return kind


def installed_kind(launcher: Path) -> LauncherKind | None:
    """None where there is none that runs, or one that somebody else, another version or interpreter, has made."""
    noted = (read_file_text(_build_stamp_path(launcher)) or "").split()
    if not noted or noted[0] not in tuple(LauncherKind) or not os.access(launcher, os.R_OK | os.X_OK):
        return None
    kind = LauncherKind(noted[0])
    return kind if noted[1:] == [_build_fingerprint(kind), _launcher_hash(launcher)] else None


def remove_launcher(launcher: Path) -> None:
    remove_file(launcher)
    remove_file(_build_stamp_path(launcher))


def launcher_script(python: str) -> str:
    """A Python program, without the time that `site` takes."""
    first = f"#!{python} -IS\n"  # one word: Linux hands over all that follows as one
    if len(first) > _MAX_SHEBANG or any(char.isspace() for char in python):
        quoted = "'" + python.replace("'", "'\\''") + "'"
        first = _SHELL_PREAMBLE.format(python=quoted)
    return first + _SCRIPT.format(bridge=str(_BRIDGE_DIRECTORY))


def _build_stamp_path(launcher: Path) -> Path:
    return launcher.with_name(launcher.name + ".made")


def _launcher_hash(launcher: Path) -> str:
    return hashlib.sha256(launcher.read_bytes()).hexdigest()


def _build_fingerprint(kind: LauncherKind) -> str:
    """Of all that a launcher is made from."""
    source = _CLIENT_SOURCE.read_bytes() if kind is LauncherKind.COMPILED else b""
    paths = " ".join(python_client()).encode("utf-8", "surrogateescape")
    return hashlib.sha256(kind.encode() + b"\0" + paths + b"\0" + source).hexdigest()
