"""The program that agents call: at one place for ever, whatever version of hookline stands behind it."""

from __future__ import annotations

import hashlib
import os
from enum import StrEnum
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.bridge import client
from hookline.hosts.bridge.compiled import compile_client, python_client
from hookline.hosts.install.files import executable, make_directories, remove, text_of, write

_LONGEST: Final = 120  # of a first line that every kernel reads whole
_TEXT: Final = """\
import sys
sys.path.append({bridge!r})
import client
client.main(sys.argv[1:])
"""
_BY_SHELL: Final = """\
#!/bin/sh
'''exec' {python} -I -S "$0" "$@"
' '''
"""


class Kind(StrEnum):
    COMPILED = "compiled"
    PYTHON = "python"
    """A Python program, three times as slow: there is no C compiler here."""


def put(launcher: Path) -> Kind:
    """Made anew only where it is not as this version makes it."""
    found = made_as(launcher)
    if found is not None:
        return found
    make_directories(launcher.parent)
    try:
        kind = Kind.COMPILED if compile_client(launcher) else Kind.PYTHON
    except OSError as error:
        raise HooklineError(f"{launcher} cannot be made: {error.strerror}") from None
    if kind is Kind.PYTHON:
        write(launcher, text_for(python_client()[0]), executable())
    write(_note(launcher), f"{kind} {_print_of(kind)} {_bytes_of(launcher)}\n")
    return kind


def made_as(launcher: Path) -> Kind | None:
    """None where there is none that runs, or one that somebody else, another version or interpreter, has made."""
    noted = (text_of(_note(launcher)) or "").split()
    if not noted or noted[0] not in tuple(Kind) or not os.access(launcher, os.R_OK | os.X_OK):
        return None
    kind = Kind(noted[0])
    return kind if noted[1:] == [_print_of(kind), _bytes_of(launcher)] else None


def take_away(launcher: Path) -> None:
    remove(launcher)
    remove(_note(launcher))


def text_for(python: str) -> str:
    """A Python program, without the time that `site` takes."""
    first = f"#!{python} -IS\n"  # one word: Linux hands over all that follows as one
    if len(first) > _LONGEST or any(char.isspace() for char in python):
        quoted = "'" + python.replace("'", "'\\''") + "'"
        first = _BY_SHELL.format(python=quoted)
    return first + _TEXT.format(bridge=os.path.dirname(os.path.abspath(client.__file__)))


def _note(launcher: Path) -> Path:
    return launcher.with_name(launcher.name + ".made")


def _bytes_of(launcher: Path) -> str:
    return hashlib.sha256(launcher.read_bytes()).hexdigest()


def _print_of(kind: Kind) -> str:
    """Of all that a launcher is made from."""
    source = Path(client.__file__).with_name("client.c").read_bytes() if kind is Kind.COMPILED else b""
    paths = " ".join(python_client()).encode("utf-8", "surrogateescape")
    return hashlib.sha256(kind.encode() + b"\0" + paths + b"\0" + source).hexdigest()
