"""Simple ways to say which tool, path, command or host: each becomes a Pattern for a whole text."""

from __future__ import annotations

import re

from hookline.patterns.charset import NOTHING, Ranges, complement, union
from hookline.patterns.emit import escaped, written
from hookline.patterns.hosts import host_of
from hookline.patterns.pattern import BadPattern, Pattern, pattern
from hookline.patterns.tree import Chars

__all__ = ["command_prefix", "host_of", "like", "literal", "path_glob", "tool_glob", "word_prefix"]

_ANY = r"(?s:.*)"
_SLASH: Ranges = ((0x2F, 0x2F),)
_SET = re.compile(r"\[(!|(?!!))(\][^\]]*|[^\]]+)\]")
_DEEPEST_BRACES = 20
_LONGEST_GLOB = 2_000


def tool_glob(text: str) -> Pattern:
    """fnmatch on a whole name, case-sensitive; `|` separates alternatives, and spaces around it mean nothing."""
    return pattern("|".join(_tool_alternative(part.strip()) for part in text.split("|")), whole=True)


def _tool_alternative(glob: str) -> str:
    _check_length(glob)
    out: list[str] = []
    at = 0
    while at < len(glob):
        if glob[at] == "[" and (found := _SET.match(glob, at)):
            out.append(_set(found, NOTHING))
            at = found.end()
            continue
        out.append({"*": _ANY, "?": "(?s:.)"}.get(glob[at]) or escaped(ord(glob[at])))
        at += 1
    return "".join(out)


def path_glob(text: str) -> Pattern:
    """A whole path. `*` and `?` stay within a segment, `**/` may be empty, a final `**` is everything below.

    A leading `./` is ignored, in the glob and in the path. Hidden files are like others. Nothing is escaped by `\\`.
    """
    _check_length(text)
    while text.startswith("./"):
        text = text[2:]
    start = "" if text.startswith("/") else r"(?:\./)*"
    return pattern(start + _path(text), whole=True)


def _check_length(glob: str) -> None:
    if len(glob) > _LONGEST_GLOB:
        raise BadPattern(f"it is longer than {_LONGEST_GLOB} characters")


def _path(glob: str, depth: int = 0) -> str:
    out: list[str] = []
    at = 0
    while at < len(glob):
        piece, at = _path_piece(glob, at, depth)
        out.append(piece)
    return "".join(out)


def _path_piece(glob: str, at: int, depth: int) -> tuple[str, int]:
    segment_starts = at == 0 or glob[at - 1] == "/"
    if segment_starts and glob.startswith("**/", at):
        return r"(?:(?s:.*)/)?", at + 3
    if glob[at:] == "**":
        return _ANY, len(glob)
    if glob[at] == "[" and (found := _SET.match(glob, at)):
        return _set(found, _SLASH), found.end()
    if glob[at] == "{" and (options := _braced(glob, at)):
        if depth > _DEEPEST_BRACES:
            raise BadPattern("braces are nested too deeply", at)
        return "(?:" + "|".join(_path(option, depth + 1) for option in options[0]) + ")", options[1]
    return {"*": "[^/]*", "?": "[^/]"}.get(glob[at]) or escaped(ord(glob[at])), at + 1


def _braced(glob: str, start: int) -> tuple[list[str], int] | None:
    """The alternatives of the braces that open at `start`, and where they end; None where they are plain text."""
    depth, begin, options = 0, start + 1, []
    for at in range(start, len(glob)):
        if glob[at] == "{":
            depth += 1
        elif glob[at] == "}":
            depth -= 1
        if depth == 0 or (depth == 1 and glob[at] == ","):
            options.append(glob[begin:at])
            begin = at + 1
        if depth == 0:
            return (options, at + 1) if len(options) > 1 else None
    return None


def _set(found: re.Match[str], never: Ranges) -> str:
    """A range whose ends are out of order is empty, as in fnmatch."""
    text, ranges, at = found[2], list[tuple[int, int]](), 0
    while at < len(text):
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            low, high = ord(text[at]), ord(text[at + 2])
            ranges += [(low, high)] if low <= high else []
            at += 3
        else:
            ranges.append((ord(text[at]), ord(text[at])))
            at += 1
    members = complement(union(ranges)) if found[1] else union(ranges)
    return written(Chars(complement(union(complement(members), never))))


def literal(text: str, *, whole: bool = True) -> Pattern:
    return pattern(_quoted(text), whole=whole)


def command_prefix(prefix: str) -> Pattern:
    """A command that begins with these words: `git` hears `git`, `git status` and `git;ls`, not `gitk`.

    Spaces before the command mean nothing, and between its words one is as good as several.
    """
    words = prefix.split()
    if not words:
        return pattern("")
    return pattern(r"\A\s*" + r"\s+".join(map(_quoted, words)) + r"(?:[\s;&|()<>]|\z)")


def word_prefix(prefix: str) -> Pattern:
    """A text that begins with this, up to a word's end: `src` hears `src` and `src/a.go`, not `srcs`."""
    ends_inside_a_word = prefix[-1:].isalnum() or prefix.endswith("_")
    return pattern(r"\A" + _quoted(prefix) + (r"(?:[^\pL\pN_]|\z)" if ends_inside_a_word else ""))


def like(text: str) -> Pattern:
    """A whole text in which `*` stands for any text, and everything else for itself."""
    return pattern(_ANY.join(map(_quoted, text.split("*"))), whole=True)


def _quoted(text: str) -> str:
    return "".join(escaped(ord(character)) for character in text)
