"""Recognises commands that only run a Python file, and how that file would be started."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Final

from hookline.hooks.host import Command
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

Environment = Mapping[bytes, bytes]

_WORD: Final = r"""(?:[A-Za-z0-9_@%+:,./=-]|'[^']*'|"[^"$`\\]*")+"""
_SIMPLE_COMMAND: Final = lazy_pattern(rf"[ \t]*{_WORD}(?:[ \t]+{_WORD})*[ \t]*")
_WORDS: Final = lazy_pattern(_WORD)
_WORD_PIECES: Final = lazy_pattern(r"""'([^']*)'|"([^"]*)"|([^'"]+)""")
_CONTROLS: Final = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_PYTHON: Final = lazy_pattern(r"python(?:3(?:\.\d+)?)?")
_SHEBANG: Final = lazy_pattern(
    rb"#! ?(?:/usr/bin/env +(python(?:3(?:\.[0-9]+)?)?)|(/[!-~]*/python(?:3(?:\.[0-9]+)?)?))\n"
)
_MAX_SHEBANG_BYTES: Final = 127  # Linux cuts a longer one

_SUPPORTED_PYTHON_VARIABLES: Final = frozenset(
    b"PYTHON" + name
    for name in (
        *(b"DONTWRITEBYTECODE", b"UNBUFFERED", b"UTF8", b"IOENCODING", b"HASHSEED", b"NOUSERSITE", b"STARTUP"),
        b"PYCACHEPREFIX",
    )
)
"""These mean the same to an interpreter started with them once as to one started for each call."""

_BASH_VARIABLES: Final = frozenset(
    b"ENV SHELLOPTS POSIXLY_CORRECT IFS OPTIND OPTARG OPTERR PPID UID EUID GROUPS DIRSTACK EPOCHREALTIME EPOCHSECONDS "
    b"FUNCNAME HISTCMD LINENO PIPESTATUS RANDOM SRANDOM SECONDS REPLY EXECIGNORE GLOBIGNORE".split()
)

_STARTUP_VARIABLES: Final = lazy_pattern(
    rb"(?:PYTHON|LC_|LD_|GLIBC_|MALLOC_|COV|SETUPTOOLS_|OPENSSL_|SSL_).*|LANG|LANGUAGE|LOCPATH|TZ|TZDIR|HOME|PATH|SHLVL"
)
"""Read while Python starts: a warm interpreter must have been started with the same values."""


@dataclass(frozen=True, slots=True)
class PythonFile:
    """`name executable's script arguments…`, as a new process would see itself."""

    name: str  # the interpreter's name in argv
    executable: str
    script: str  # as written
    arguments: tuple[str, ...]
    cwd: str
    shell: bool  # whether bash is between us and it
    env: dict[bytes, bytes]
    at_start: frozenset[tuple[bytes, bytes]]  # the part of `env` that the interpreter must have been started with

    @property
    def file(self) -> str:
        """The value of `__file__`: absolute, but not normalised."""
        return self.script if os.path.isabs(self.script) else f"{os.path.realpath(self.cwd)}/{self.script}"


def parse_python_command(command: Command, env: Environment) -> PythonFile | None:
    """None if there is any doubt about what the command does, or what its environment does to Python."""
    words = command.argv or _split_words(command.text)
    if not words or not _is_plain_environment(env, shell=not command.argv):
        return None
    cwd = command.cwd if command.cwd is not None else os.getcwd()
    if not os.path.isabs(cwd):
        return None
    found = _find_interpreter(words, cwd, env)
    if found is None:
        return None
    name, executable, script, arguments = found
    held = dict(env)
    if not command.argv and not _apply_bash_variables(held, cwd, words[0], executable):
        return None
    brought = {encode_for_process(each) for each in (*command.env, "HOOKLINE_HOOK", "HOOKLINE_ASKED_AGAIN")}
    at_start = frozenset(
        item for item in env.items() if item[0] not in brought or _STARTUP_VARIABLES.fullmatch(item[0])
    )
    return PythonFile(name, executable, script, arguments, cwd, not command.argv, held, at_start)


def _split_words(text: str) -> tuple[str, ...]:
    """The words of a simple command without expansions; empty for anything else."""
    if _CONTROLS.search(text) or not _SIMPLE_COMMAND.fullmatch(text):
        return ()
    return tuple("".join(map("".join, _WORD_PIECES.findall(word))) for word in _WORDS.findall(text))


def _is_plain_environment(env: Environment, *, shell: bool) -> bool:
    if any(name.startswith(b"PYTHON") and name not in _SUPPORTED_PYTHON_VARIABLES for name in env):
        return False
    return not shell or not any(name.startswith(b"BASH") or name in _BASH_VARIABLES for name in env)


def _find_interpreter(
    words: tuple[str, ...], cwd: str, env: Environment
) -> tuple[str, str, str, tuple[str, ...]] | None:
    if "=" in words[0] or any("\0" in word for word in words):
        return None
    name, script, arguments = words[0], *(words[1:2] or ("",)), words[2:]
    if not _PYTHON.fullmatch(os.path.basename(name)):
        script, arguments = words[0], words[1:]
        name = _read_shebang(os.path.join(cwd, script)) if "/" in script else ""
    if not name or not script or script.startswith("-") or script.endswith(".pyc"):
        return None
    executable = _find_executable(name, cwd, env)
    if executable is None or not os.path.isfile(os.path.join(cwd, script)):
        return None
    return name, executable, script, arguments


def _read_shebang(path: str) -> str:
    """The interpreter in a file's shebang line, if that is Python without options."""
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return ""
    try:
        with open(path, "rb") as file:
            line = file.readline(_MAX_SHEBANG_BYTES)
    except OSError:
        return ""
    matched = _SHEBANG.fullmatch(line)
    return (matched[1] or matched[2]).decode() if matched else ""


def _find_executable(name: str, cwd: str, env: Environment) -> str | None:
    """The absolute path of a program that is not a script: a wrapper may do anything for each call."""
    if "/" in name:
        path = os.path.join(cwd, name)
        return path if _is_elf_program(path) else None
    for place in env.get(b"PATH", b"").split(b":"):
        if not place.startswith(b"/") or place.endswith(b"/"):
            return None
        path = os.fsdecode(place) + "/" + name
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path if _is_elf_program(path) else None
    return None


def _is_elf_program(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False


def _apply_bash_variables(env: dict[bytes, bytes], cwd: str, first: str, executable: str) -> bool:
    """Sets PWD, OLDPWD and _ as bash does. False if that cannot be predicted."""
    env[b"_"] = encode_for_process(first) if "/" in first else os.fsencode(executable)
    before = env.get(b"OLDPWD")
    if before is not None and not os.path.isdir(before):
        return False
    given = env.get(b"PWD", b"")
    if not _is_same_directory(given, cwd):
        env[b"PWD"] = os.path.realpath(os.fsencode(cwd))
        return True
    return os.path.normpath(given) == given


def _is_same_directory(given: bytes, cwd: str) -> bool:
    if not given.startswith(b"/"):
        return False
    try:
        there, here = os.stat(given), os.stat(cwd)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(there.st_mode) and os.path.samestat(there, here)


def encode_for_process(text: str) -> bytes:
    """UTF-8 without NUL; a lone surrogate becomes a question mark."""
    return text.replace("\0", "").encode("utf-8", "replace")
