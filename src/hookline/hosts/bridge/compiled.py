"""The clients that an agent can be told to call."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from hookline.hosts.bridge import client

_SOURCE: Final = Path(__file__).with_name("client.c")
_PATIENCE: Final = 60.0  # seconds
_PLAIN: Final = ("-std=c11", "-O2", "-s")
_STATIC: Final = (*_PLAIN, "-static")  # starts in half the time; not every system can

log = logging.getLogger("hookline")


def python_client() -> list[str]:
    """To be followed by the agent's name and the event's."""
    return [sys.executable, "-I", "-S", os.path.abspath(client.__file__)]


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
        if not any(_made(compiler, flags, made) for flags in (_STATIC, _PLAIN)):
            return False
        made.chmod(0o755)
        os.replace(made, target)
    return True


def _made(compiler: str, flags: tuple[str, ...], to: Path) -> bool:
    python, script = python_client()[0], python_client()[-1]
    paths = (f"-DPYTHON={_c_text(python)}", f"-DCLIENT={_c_text(script)}")
    try:
        done = subprocess.run(
            [compiler, *flags, *paths, "-o", str(to), str(_SOURCE)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
        )
        if done.returncode:
            log.debug("%s: %s", compiler, done.stderr.decode("utf-8", "replace"))
            return False
        ran = subprocess.run([str(to)], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.debug("%s: %s", compiler, error)
        return False
    return ran.returncode == 1 and b"usage" in ran.stderr


def _c_text(text: str) -> str:
    """A C string, whatever the text holds."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@ "
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'
