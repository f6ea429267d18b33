"""The launcher: the program that agents call. Its path is the same for every version of hookline.

It is the bridge's client, compiled from C if there is a compiler, otherwise a Python script. It is bound to one user's
directories: a project can set variables of the agent that calls it, and must not choose whose hooks and trust count.
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
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.agents.agent_event import BLOCKING_PREFIXES
from hookline.hosts.agents.machine import Machine
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
_DIRECTORY_VARIABLES: Final = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
_INTERPRETER_VARIABLES: Final = ("PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__")
"""Python obeys these even with -I: they choose `sys.executable`, and so the program that becomes the engine."""
_DYNAMIC_FLAGS: Final = ("-std=c11", "-O2", "-s")
_STATIC_FLAGS: Final = (*_DYNAMIC_FLAGS, "-static")  # starts in half the time; not every system can

UNINSTALLED: Final = (
    "hookline is not installed any more, but %s still calls it. Install it again, or remove the "
    "entries that name %s from the agent's settings. The files that hookline changed are listed in "
)
"""For printf, with the agent and the launcher; the place of the list follows."""

# Valid in both languages: to a shell the first quotes are the command `:`, to Python they begin a string.
_SCRIPT: Final = """\
#!/bin/sh
''':'
if [ ! -x {python} ] || [ ! -r {client} ]; then
    {{ printf {message} "$1" "$0"; echo; }} >&2
    case "$2" in {blocking}) exit 2 ;; esac
    exit 1
fi
{unset}exec {python} -I -S "$0" "$@"
'''
import os, sys
os.environb.update({variables!r})
sys.path.append({bridge!r})
import client
client.main(sys.argv[1:])
"""

log = logging.getLogger("hookline")


class LauncherKind(StrEnum):
    COMPILED = "compiled"
    PYTHON = "python"
    """A Python script, three times as slow, used if there is no C compiler."""


BoundVariables = Mapping[str, str | None]
"""The environment variables that a launcher sets before anything else. None: it unsets the variable."""


def bound_variables(machine: Machine) -> BoundVariables:
    """Those that decide where the user's hooks, trust and engine are, and which Python runs."""
    directories = {name: machine.environ.get(name, "") for name in _DIRECTORY_VARIABLES}
    return {
        "HOME": str(machine.home),
        **{name: path if os.path.isabs(path) else None for name, path in directories.items()},
        **dict.fromkeys(_INTERPRETER_VARIABLES),
    }


def python_client() -> list[str]:
    """The command, without its two arguments: the names of the agent and the event."""
    return [sys.executable, "-I", "-S", str(_BRIDGE_DIRECTORY / "client.py")]


def compile_client(target: Path, variables: BoundVariables) -> bool:
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
        if not any(_compile_with(compiler, flags, program, variables) for flags in (_STATIC_FLAGS, _DYNAMIC_FLAGS)):
            return False
        program.chmod(0o755)
        os.replace(program, target)
    return True


def _compile_with(compiler: str, flags: tuple[str, ...], target: Path, variables: BoundVariables) -> bool:
    python, script = python_client()[0], python_client()[-1]
    texts = {"PYTHON": python, "CLIENT": script, "UNINSTALLED": _uninstalled_text(variables)}
    pairs = (
        f"{{{_c_string(name)},{'NULL' if text is None else _c_string(text)}}}," for name, text in variables.items()
    )
    defined = [*(f"-D{name}={_c_string(text)}" for name, text in texts.items()), f"-DBOUND={''.join(pairs)}"]
    try:
        compiled = subprocess.run(
            [compiler, *flags, *defined, "-o", str(target), str(_CLIENT_SOURCE)],
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


def _uninstalled_text(variables: BoundVariables) -> str:
    state = variables.get("XDG_STATE_HOME") or "~/.local/state"
    return f"{UNINSTALLED}{state.replace('%', '%%')}/hookline/installed."


def _c_string(text: str) -> str:
    """The text as a C string literal."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@ "
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'


def install_launcher(machine: Machine) -> LauncherKind:
    """Creates the launcher, unless it is already the one that this version creates for this user."""
    found = installed_kind(machine)
    if found is not None:
        return found
    launcher, variables = machine.launcher, bound_variables(machine)
    make_directories(launcher.parent)
    try:
        kind = LauncherKind.COMPILED if compile_client(launcher, variables) else LauncherKind.PYTHON
    except OSError as error:
        raise HooklineError(f"{launcher} cannot be created: {error.strerror}") from None
    if kind is LauncherKind.PYTHON:
        write_atomically(launcher, launcher_script(python_client()[0], variables), executable_mode())
    stamp = f"{kind} {_build_fingerprint(kind, variables)} {_launcher_hash(launcher)}\n"
    write_atomically(_build_stamp_path(launcher), stamp)
    return kind


def installed_kind(machine: Machine) -> LauncherKind | None:
    """None if there is no launcher that runs, or it was created by another version, or for other directories."""
    launcher = machine.launcher
    stamp = (read_file_text(_build_stamp_path(launcher)) or "").split()
    if not stamp or stamp[0] not in tuple(LauncherKind) or not os.access(launcher, os.R_OK | os.X_OK):
        return None
    kind = LauncherKind(stamp[0])
    expected = [_build_fingerprint(kind, bound_variables(machine)), _launcher_hash(launcher)]
    return kind if stamp[1:] == expected else None


def remove_launcher(launcher: Path) -> None:
    remove_file(launcher)
    remove_file(_build_stamp_path(launcher))


def launcher_script(python: str, variables: BoundVariables) -> str:
    """The Python launcher, which starts without importing `site`. A shell checks first that hookline is still there."""
    unset = [name for name, value in variables.items() if value is None]
    return _SCRIPT.format(
        python=_shell_word(python),
        client=_shell_word(python_client()[-1]),
        message=_shell_word(_uninstalled_text(variables)),
        blocking="|".join(f"{_any_case(prefix)}*" for prefix in BLOCKING_PREFIXES),
        unset=f"unset {' '.join(unset)}\n" if unset else "",
        variables={os.fsencode(name): os.fsencode(value) for name, value in variables.items() if value is not None},
        bridge=str(_BRIDGE_DIRECTORY),
    )


def _any_case(text: str) -> str:
    """The text as a shell pattern: a program such as `tr` would be looked up in the agent's PATH."""
    return "".join(f"[{each.upper()}{each}]" if each.isalpha() else each for each in text)


def _shell_word(text: str) -> str:
    """In double quotes: three single quotes would end the string in which Python finds it."""
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'


def _build_stamp_path(launcher: Path) -> Path:
    return launcher.with_name(launcher.name + ".made")


def _launcher_hash(launcher: Path) -> str:
    return hashlib.sha256(launcher.read_bytes()).hexdigest()


def _build_fingerprint(kind: LauncherKind, variables: BoundVariables) -> str:
    """A hash of everything that goes into a launcher."""
    source = _CLIENT_SOURCE.read_bytes() if kind is LauncherKind.COMPILED else _SCRIPT.encode()
    texts = ascii((*python_client(), _uninstalled_text(variables), *variables.items())).encode()
    return hashlib.sha256(kind.encode() + b"\0" + texts + b"\0" + source).hexdigest()
