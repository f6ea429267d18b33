"""Tests of a command's operands: its arguments that are no options.

As for a command itself, an answer is None where only the shell can know.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from hookline.lazy_imports import lazy_pattern
from hookline.shell.expansion import Fields, glob_samples, mark_globs, relative_path, visible_text
from hookline.shell.grammar import HAS_UNKNOWN, TEMPORARY
from hookline.shell.programs import program_name
from hookline.shell.run_text import RunCommand

_DIRECTORY_CHANGES: Final = frozenset(("cd", "pushd", "chdir"))
_KEY_PROGRAMS: Final = frozenset(("scp", "sftp"))
_PLAIN_FLAGS: Final = lazy_pattern("-[346BCOpqrTv]+")
_ENDS: Final = ("", "x", "/x")  # what an unknown value may be
_SPACE: Final = lazy_pattern(r"\s")
_MATCHES_PARENT: Final = lazy_pattern(r"(?:\A|/)\.[^/]*[*?\[]|\*[^/]*/.*\.\.(?:/|\Z)")  # a glob that may match `..`


class _Pattern(Protocol):
    def search(self, text: str, /, deadline: float) -> bool: ...


def operands_of(command: RunCommand) -> list[str]:
    """Values of options are among them: they cannot be told apart without knowing the program."""
    words = command.words
    if words[0] in _KEY_PROGRAMS and "-i" in words:
        words = _without_key(words)
    end = words.index("--", 1) if "--" in words[1:] else len(words)
    return [*[word for word in words[1:end] if not word.startswith("-") or word == "-"], *words[end + 1 :]]


def _without_key(words: Fields) -> Fields:
    """Without the key with which the program signs in: it reads that file, and copies others."""
    at = words.index("-i")
    is_option = "--" not in words[:at] and (not words[at - 1].startswith("-") or _PLAIN_FLAGS.fullmatch(words[at - 1]))
    return (*words[:at], *words[at + 2 :]) if is_option else words


def operand_answer(pattern: _Pattern, command: RunCommand, deadline: float) -> bool | None:
    """Whether the pattern matches one of them."""
    is_known = True
    for word in map(mark_globs, operands_of(command)):
        if not word.isascii() and HAS_UNKNOWN.search(word):
            is_known = False
        elif pattern.search(word, deadline):
            return True
    return False if is_known else None


def likely_operand(pattern: _Pattern, command: RunCommand, deadline: float) -> bool:
    """Whether the pattern matches one of them, the end of a path of which only the beginning is unknown, a beginning
    whatever follows it, or a file name for which a pattern of the shell may stand.
    """
    for operand in operands_of(command):
        word = mark_globs(operand)
        parts = [word] if word.isascii() else HAS_UNKNOWN.split(word)
        known = parts[-1]
        if (len(parts) == 1 or known.startswith("/")) and pattern.search(known, deadline):
            return True
        if len(parts) > 1 and parts[0] and all(pattern.search(parts[0] + end, deadline) for end in _ENDS):
            return True
        if len(parts) > 1 and any(pattern.search(each, deadline) for each in _possible_names(operand)):
            return True
    return False


def _possible_names(word: str) -> Iterable[str]:
    """Names that a word with patterns for file names may stand for."""
    return glob_samples(word) if not HAS_UNKNOWN.search(word) and visible_text(word) != word else ()


def stays_inside(command: RunCommand, commands: Sequence[RunCommand], names: Collection[str], workspace: str) -> bool:
    """Whether each operand is in a directory of one of these names, at any depth below the workspace.

    `*.x` is every name that ends with `.x`, and `/tmp/*` whatever is directly in /tmp.
    A relative path says nothing after a `cd` that may leave the workspace.
    """
    words = _deleted_words(command)
    is_here = not any(map(_may_leave, commands))
    if not words or not all(_is_inside(word, names, workspace, is_here) for word in words):
        return False
    if len(commands) == 1:
        return True
    earlier = commands[: commands.index(command)] if len(command.path) <= _TOP_LEVEL else commands
    return not any(_brings_in(each, earlier, names, workspace) for each in earlier)


def _deleted_words(command: RunCommand) -> list[str]:
    """Where `find` begins, what `git clean` is given, and the operands of any other program."""
    program, words = program_name(command.words[0]), operands_of(command)
    if program == "git" and words[:1] == ["clean"]:
        return words[1:]
    if program not in _FINDERS:
        return words
    arguments = command.words[1:]
    if not _FOLLOWS_LINKS.isdisjoint(arguments):
        return []
    end = next((at for at, word in enumerate(arguments) if word[:1] in ("-", "(", "!", "\\")), len(arguments))
    return list(arguments[:end])


_FINDERS: Final = frozenset(("find", "gfind", "bfs"))
_FOLLOWS_LINKS: Final = frozenset(("-L", "-H", "-follow", "-files0-from"))
_TOP_LEVEL: Final = 2  # the length of the path of a command that is in no loop or group
_MOVERS: Final = frozenset(("mv", "ln", "link", "mount", "rename", "gmv", "gln", "rsync"))


def _brings_in(command: RunCommand, commands: Sequence[RunCommand], names: Collection[str], workspace: str) -> bool:
    """Whether it moves or links something else into such a directory: `mv src dist && rm -r dist`."""
    program, words = program_name(command.words[0]), operands_of(command)
    if program == "git" and words[:1] == ["mv"]:
        program, words = "mv", words[1:]
    if program not in _MOVERS or (
        program == "rsync" and not any(word.startswith("--remove-s") for word in command.words)
    ):
        return False
    named = [TEMPORARY in word or _is_inside(word, names, workspace, is_here=True) for word in words]
    has_target = any(word.startswith(("-t", "--t")) for word in command.words)
    is_within = any(
        program_name(each.words[0]) in _DIRECTORY_CHANGES
        and any(TEMPORARY in word or _is_inside(word, names, workspace, is_here=True) for word in operands_of(each))
        for each in commands
    )
    goes_in = has_target or is_within or any(named[-1:]) or any(HAS_UNKNOWN.search(word) for word in words[-1:])
    return goes_in and not all(named[:-1] if len(named) > 1 and not has_target else named)


def _is_inside(word: str, names: Collection[str], workspace: str, is_here: bool) -> bool:
    if word == TEMPORARY:  # not "$d"/*: if mktemp fails, that is /*
        return True
    if not _SPACE.search(workspace):  # $PWD without quotes would be several words
        word = relative_path(word)
    if HAS_UNKNOWN.search(word) or _MATCHES_PARENT.search(visible_text(word)):
        return False
    parts = posixpath.normpath(mark_globs(word)).split("/")
    if word.startswith("/"):
        root = posixpath.normpath(workspace).split("/")
        if not workspace or parts[: len(root)] != root:
            return _is_below(word, parts, names, workspace)
        parts = parts[len(root) :]
    elif not is_here or parts[0] == ".." or word.startswith("~"):
        return False
    ends = tuple(name[1:] for name in names if name.startswith("*."))
    return any(part in names or (ends and part.endswith(ends)) for part in parts)


def _is_below(word: str, parts: list[str], names: Collection[str], workspace: str) -> bool:
    """Whether it is in a directory of which `/directory/*` is one of the names, and no link leads out of that.

    A `/` at the end follows a link. Where the workspace itself is in that directory, nothing counts.
    """
    path = "/".join(parts)
    parent = next((name[:-2] for name in names if name.endswith("/*") and path.startswith(name[:-1])), "")
    if not parent or word.endswith("/") or workspace.startswith(f"{parent}/"):
        return False
    first, _, rest = path[len(parent) + 1 :].partition("/")
    if not rest:
        return HAS_UNKNOWN.sub("", first) != ""  # more than `*`
    before = posixpath.dirname(word)
    is_known = HAS_UNKNOWN.search(mark_globs(before)) is None
    return is_known and os.path.realpath(before).startswith(f"{os.path.realpath(parent)}/")


def _may_leave(command: RunCommand) -> bool:
    if program_name(command.words[0]) not in _DIRECTORY_CHANGES:
        return False
    words = [relative_path(word) for word in operands_of(command)]
    return not words or any(
        HAS_UNKNOWN.search(word) is not None
        or word.startswith(("/", "~", "-"))
        or posixpath.normpath(word).split("/")[0] == ".."
        for word in words
    )
