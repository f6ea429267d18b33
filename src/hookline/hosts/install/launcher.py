"""The launcher: the program that agents call. Its path is the same for every version of hookline.

It is the bridge's client, compiled from C if there is a compiler, otherwise a Python script.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.agents.agent_event import BLOCKING_PREFIXES
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

UNINSTALLED: Final = (
    "hookline is not installed any more, but %s still calls it. Install it again (pip install hookline), or remove the "
    "entries that name %s from the agent's settings. The files that hookline changed are listed in "
    "~/.local/state/hookline/installed."
)
"""For printf, with the agent and the launcher."""

# Valid in both languages: to a shell the first quotes are the command `:`, to Python they begin a string.
_SCRIPT: Final = """\
#!/bin/sh
''':'
if [ ! -x {python} ] || [ ! -r {client} ]; then
    {{ printf {message} "$1" "$0"; echo; }} >&2
    case "$(printf %s "$2" | tr A-Z a-z)" in {blocking}) exit 2 ;; esac
    exit 1
fi
exec {python} -I -S "$0" "$@"
'''
import sys
sys.path.append({bridge!r})
import client
client.main(sys.argv[1:])
"""

log = logging.getLogger("hookline")


class LauncherKind(StrEnum):
    COMPILED = "compiled"
    PYTHON = "python"
    """A Python script, three times as slow, used if there is no C compiler."""


def python_client() -> list[str]:
    """The command, without its two arguments: the names of the agent and the event."""
    return [sys.executable, "-I", "-S", str(_BRIDGE_DIRECTORY / "client.py")]


def compile_client(target: Path) -> bool:
    """Compiles the client to `target`, in one step. Its arguments are the names of the agent and the event.

    False if there is no compiler, or the result does not run. The program contains the paths of this interpreter and
    of `client.py`, which it executes when it cannot handle a call itself.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform == "win32":
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".hookline-") as directory:
        program = Path(directory) / target.name
        if not any(_compile_with(compiler, flags, program) for flags in (_STATIC_FLAGS, _DYNAMIC_FLAGS)):
            return False
        program.chmod(0o755)
        os.replace(program, target)
    return True


def _compile_with(compiler: str, flags: tuple[str, ...], target: Path) -> bool:
    python, script = python_client()[0], python_client()[-1]
    texts = {"PYTHON": python, "CLIENT": script, "UNINSTALLED": UNINSTALLED}
    paths = [f"-D{name}={_c_string(text)}" for name, text in texts.items()]
    try:
        compiled = subprocess.run(
            [compiler, *flags, *paths, "-o", str(target), str(_CLIENT_SOURCE)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMPILE_TIMEOUT,
        )
        if compiled.returncode:
            log.debug("%s: %s", compiler, compiled.stderr.decode("utf-8", "replace"))
            return False
        started = subprocess.run([str(target)], stdin=subprocess.DEVNULL, capture_output=True, timeout=_COMPILE_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.debug("%s: %s", compiler, error)
        return False
    return started.returncode == 1 and b"usage" in started.stderr


def _c_string(text: str) -> str:
    """The text as a C string literal."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@ "
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'


def install_launcher(launcher: Path) -> LauncherKind:
    """Creates the launcher, unless it is already the one that this version creates."""
    found = installed_kind(launcher)
    if found is not None:
        return found
    make_directories(launcher.parent)
    try:
        kind = LauncherKind.COMPILED if compile_client(launcher) else LauncherKind.PYTHON
    except OSError as error:
        raise HooklineError(f"{launcher} cannot be created: {error.strerror}") from None
    if kind is LauncherKind.PYTHON:
        write_atomically(launcher, launcher_script(python_client()[0]), executable_mode())
    write_atomically(_build_stamp_path(launcher), f"{kind} {_build_fingerprint(kind)} {_launcher_hash(launcher)}\n")
    return kind


def installed_kind(launcher: Path) -> LauncherKind | None:
    """None if there is no launcher that runs, or another program, version or interpreter created it."""
    stamp = (read_file_text(_build_stamp_path(launcher)) or "").split()
    if not stamp or stamp[0] not in tuple(LauncherKind) or not os.access(launcher, os.R_OK | os.X_OK):
        return None
    kind = LauncherKind(stamp[0])
    return kind if stamp[1:] == [_build_fingerprint(kind), _launcher_hash(launcher)] else None


def remove_launcher(launcher: Path) -> None:
    remove_file(launcher)
    remove_file(_build_stamp_path(launcher))


def launcher_script(python: str) -> str:
    """The Python launcher, which starts without importing `site`. A shell checks first that hookline is still there."""
    return _SCRIPT.format(
        python=_shell_word(python),
        client=_shell_word(python_client()[-1]),
        message=_shell_word(UNINSTALLED),
        blocking="|".join(f"{prefix}*" for prefix in BLOCKING_PREFIXES),
        bridge=str(_BRIDGE_DIRECTORY),
    )


def _shell_word(text: str) -> str:
    """In double quotes: three single quotes would end the string in which Python finds it."""
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'


def _build_stamp_path(launcher: Path) -> Path:
    return launcher.with_name(launcher.name + ".made")


def _launcher_hash(launcher: Path) -> str:
    return hashlib.sha256(launcher.read_bytes()).hexdigest()


def _build_fingerprint(kind: LauncherKind) -> str:
    """A hash of everything that goes into a launcher."""
    source = _CLIENT_SOURCE.read_bytes() if kind is LauncherKind.COMPILED else b""
    paths = " ".join(python_client()).encode("utf-8", "surrogateescape")
    return hashlib.sha256(kind.encode() + b"\0" + paths + b"\0" + source + UNINSTALLED.encode()).hexdigest()
