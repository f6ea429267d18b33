"""The program that agents call: at one place for ever, whatever version of hookline stands behind it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from hookline.hosts.bridge import client
from hookline.hosts.install.files import executable, make_directories, text_of, write

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


def put(launcher: Path, python: str) -> None:
    """Written anew only where it is not as it should be. `python` is the interpreter that has hookline."""
    make_directories(launcher.parent)
    text = text_for(python)
    if text_of(launcher) != text or not os.access(launcher, os.X_OK):
        write(launcher, text, executable())


def text_for(python: str) -> str:
    """A Python program, without the time that the standard library's `site` takes."""
    first = f"#!{python} -IS\n"  # one word: Linux hands over all that follows as one
    if len(first) > _LONGEST or any(char.isspace() for char in python):
        quoted = "'" + python.replace("'", "'\\''") + "'"
        first = _BY_SHELL.format(python=quoted)
    return first + _TEXT.format(bridge=os.path.dirname(os.path.abspath(client.__file__)))
