"""Programs that delete what is under a directory without being named for it, read as the command `rm -r`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.grammar import UNKNOWN_WORDS

_WINDOWS: Final = frozenset(("remove-item", "ri", "rd", "rmdir", "del", "erase"))
DELETERS: Final = frozenset(("rsync", "tar", "gtar", "bsdtar", "zip", "7z", "7za", "7zz", "robocopy", *_WINDOWS))
"""Programs that delete files with one of their options."""

_RSYNC_DELETE: Final = lazy_pattern(r"--del(?:ete(?:-\w+)*)?|--remove-s\w*-files")
_RSYNC_VALUES: Final = frozenset(("-e", "--rsh", "--exclude", "--include", "--exclude-from", "--include-from", "-f", "--filter", "--files-from", "--rsync-path", "--out-format", "--log-file", "--port", "-B", "--bwlimit", "--timeout", "--chmod", "--chown", "--backup-dir", "-T", "--temp-dir", "--partial-dir", "--max-size", "--min-size"))  # fmt: skip
_REMOTE: Final = lazy_pattern(r"(?:[\w.@%+-]+|\[[\w:]+\]):.*|rsync://.*")
_DRY: Final = lazy_pattern(r"--dry-run|--list-only|-[a-zA-Z]*n[a-zA-Z]*")


def deletion_command(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """`rm -r` with what the command deletes; nothing if it deletes nothing."""
    found: Sequence[str] = ()
    if name == "rsync":
        found = _rsync_deletes(words)
    elif name in ("tar", "gtar", "bsdtar"):
        if any(word.startswith("--remove-f") for word in words):
            found = _operands(words, ("-f", "-C", "--file", "--directory", "-T", "--exclude"), is_tar=True)
    elif name == "zip":
        if any(word == "--move" or (word.startswith("-") and word[1:2] != "-" and "m" in word) for word in words[1:]):
            found = _operands(words, ("-x", "-i", "-b", "-t", "-P"))[1:]
    elif name in ("7z", "7za", "7zz") and "-sdel" in words:
        found = _operands(words, ())[2:]
    elif name == "robocopy":
        found = _robocopy_deletes(words[1:])
    elif name in _WINDOWS:
        found = _windows_deletes(words[1:])
    return ("rm", "-r", *found) if found else ()


_WINDOWS_RECURSES: Final = lazy_pattern(r"(?i)//?s|-r|-rec\w*(?::\$true)?")
_WINDOWS_OPTION: Final = lazy_pattern(r"(?i)//?[a-z](?::[\w-]*)?|-.*")  # Git Bash takes one slash of `//s` away


def _windows_deletes(arguments: Sequence[str]) -> Sequence[str]:
    """`rd /s x` of cmd, `Remove-Item -Recurse x` of PowerShell. Without a name it deletes what a pipe gives it."""
    if not any(map(_WINDOWS_RECURSES.fullmatch, arguments)) or _is_what_if(arguments):
        return ()
    names = [word for word in arguments if not _WINDOWS_OPTION.fullmatch(word)]
    return [each for word in names for each in word.split(",") if each] or [UNKNOWN_WORDS]


_ROBOCOPY_DELETES: Final = lazy_pattern(r"(?i)//?(?:mir|purge)")
_ROBOCOPY_LISTS: Final = lazy_pattern(r"(?i)//?l")


def _robocopy_deletes(arguments: Sequence[str]) -> Sequence[str]:
    """`robocopy a b /mir` deletes what is in b and not in a."""
    if not any(map(_ROBOCOPY_DELETES.fullmatch, arguments)) or any(map(_ROBOCOPY_LISTS.fullmatch, arguments)):
        return ()
    return arguments[1:2]


def _is_what_if(arguments: Sequence[str]) -> bool:
    return any(word.lower() in ("-whatif", "-wi") for word in arguments)


def _rsync_deletes(words: Sequence[str]) -> Sequence[str]:
    options = [word for word in words[1:] if _RSYNC_DELETE.fullmatch(word)]
    if not options or any(map(_DRY.fullmatch, words[1:])):
        return ()
    operands = _operands(words, _RSYNC_VALUES)
    deleted = list[str]()
    if any(option.startswith("--del") for option in options):
        deleted += operands[-1:]
    if any(option.startswith("--remove") for option in options):
        deleted += operands[:-1]
    return [word for word in deleted if not _REMOTE.fullmatch(word)]


def _operands(
    words: Sequence[str], value_options: Sequence[str] | frozenset[str], *, is_tar: bool = False
) -> list[str]:
    found, skips = list[str](), False
    for at, word in enumerate(words[1:]):
        if skips:
            skips = False
        elif word.startswith("-") and len(word) > 1:
            skips = word in value_options or (is_tar and not word.startswith("--") and word.endswith("f"))
        elif is_tar and at == 0:  # `tar cf x.tar src`
            skips = "f" in word
        else:
            found.append(word)
    return found
