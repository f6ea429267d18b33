r"""Short forms for matching a tool, path, command or host. Each becomes a Pattern.

URLs are read as browsers and JavaScript's fetch read them (WHATWG), not as they look: `\` counts as `/`, tabs and
newlines are dropped anywhere, `%65` is decoded, and `ｅ` or `ⓔ` counts as `e`.
"""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern, unicodedata
from hookline.patterns.emitter import escape_character, write_set
from hookline.patterns.pattern import BadPattern, Pattern, pattern
from hookline.patterns.required_words import WordSet
from hookline.patterns.syntax_tree import NO_CHARACTERS, CharacterSet, Ranges, complement, union

_ANY_TEXT: Final = r"(?s:.*)"
_MAX_COMMAND_LENGTH: Final = 2_000
_WORD_END: Final = r"(?:\s|\z)"
_OPTIONS: Final = r"(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?"  # each may take the word after it


def starts_command(text: str) -> Pattern:
    """A command that starts with this text: `rm *`, `npm test`, `git:*`.

    `*` stands for any text; a final ` *` also stands for none. It is matched against the texts of
    hookline.shell.command_readings, one command at a time.
    """
    if len(text) > _MAX_COMMAND_LENGTH:
        raise BadPattern(f"it is longer than {_MAX_COMMAND_LENGTH} characters")
    text = f"{text[:-2]} *" if text.endswith(":*") else text
    if text.strip() in ("", "*"):
        return pattern("")
    begins = text.endswith(" *")
    body = (text[:-2] if begins else text.removesuffix("*")).strip()
    end = _WORD_END if begins else "" if text.endswith("*") else r"\s*\z"
    return _command_pattern(body.split("*"), end)


def command_prefix(prefix: str) -> Pattern:
    """A command that starts with these words: `git` matches `git` and `git status`, but not `gitk`."""
    return _command_pattern([" ".join(prefix.split())], _WORD_END) if prefix.strip() else pattern("")


def _command_pattern(parts: list[str], end: str) -> Pattern:
    from hookline.shell.command_readings import OPTIONS_SKIPPED, TOO_LONG  # few hooks match commands

    def join(between: str) -> str:
        words = (between.join(_escape_text(word) for word in part.split(" ") if word or part) for part in parts)
        return _ANY_TEXT.join(words) + end

    too_long = _escape_text(TOO_LONG)
    plain, spaced = join(r"\s+"), join(_OPTIONS + r"\s+")
    return pattern(rf"\A(?:{plain}|{_escape_text(OPTIONS_SKIPPED)}{spaced}|{too_long})")


_IGNORED_CHARACTERS = r"[\t\n\r\x{AD}\x{200B}\x{2060}\x{FE00}-\x{FE0F}\x{FEFF}]*"
_DOMAIN = lazy_pattern(r"(\*\.)?([^\s/\\?#@:*\[\]%]+|\[[0-9A-Fa-f:.]+\])")
_SCHEME = (
    r"(?:(?:h[\t\n\r]*t[\t\n\r]*t[\t\n\r]*p(?:[\t\n\r]*s)?|w[\t\n\r]*s(?:[\t\n\r]*s)?|f[\t\n\r]*t[\t\n\r]*p)"
    r"[\t\n\r]*:[/\\\t\n\r]*"
    r"|[a-z][a-z0-9+.\-\t\n\r]*:[\t\n\r]*[/\\][\t\n\r]*[/\\]|[\t\n\r]*[/\\][\t\n\r]*[/\\]|)"
)
_USER_INFO = r"(?:[^/\\?#]*@)?"
_HOST_END = r"(?::[0-9\t\n\r]*)?(?:[/\\?#]|[\x00-\x20]*\z)"
_COMPATIBILITY_RANGES = ((0xAA, 0x33FF), (0xFB00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1FF))


def url_host(domain: str) -> Pattern:
    """A URL of this host, with or without a scheme, ignoring case.

    `*.example.com` is the host itself and its subdomains; `*` is any text. Raises BadPattern for anything but a host
    name.
    """
    if domain == "*":
        return pattern("")
    found = _DOMAIN.fullmatch(domain)
    if not found or not found[2].strip("."):
        raise BadPattern("this is not a host name: write example.com or *.example.com")
    names = {_any_spelling_regex(name) for name in _host_names(found[2].rstrip("."))}
    below = rf"(?:[^/\\?#@: ]*{_any_spelling_regex('.')})?" if found[1] else ""
    name = "|".join(sorted(names))
    dot = _any_spelling_regex(".")
    return pattern(
        rf"(?i)\A[\x00-\x20]*{_SCHEME}{_USER_INFO}{_IGNORED_CHARACTERS}{below}(?:{name})(?:{dot})?{_HOST_END}"
    )


def _host_names(host: str) -> set[str]:
    """A name that is not ASCII is also sent in its xn-- form."""
    if host.isascii():
        return {host.lower()}
    try:
        return {unicodedata.normalize("NFKC", host).lower(), host.encode("idna").decode()}
    except UnicodeError:
        raise BadPattern("this host name cannot be written in ASCII") from None


def _any_spelling_regex(text: str) -> str:
    return "".join(_character_regex(character) + _IGNORED_CHARACTERS for character in text)


@cache
def _character_regex(character: str) -> str:
    alike = "".join(escape_character(ord(other)) for other in sorted(_compatible_characters()[character] | {character}))
    if not character.isascii():
        return f"[{alike}]"
    codes = {f"%{ord(case):02x}" for case in (character.lower(), character.upper())}
    return f"(?:[{alike}]|{'|'.join(sorted(codes))})"


@cache
def _compatible_characters() -> defaultdict[str, set[str]]:
    """The characters that count as the same, ignoring compatibility forms and case."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for low, high in _COMPATIBILITY_RANGES:
        for code in range(low, high + 1):
            plain = unicodedata.normalize("NFKC", chr(code)).lower()
            if len(plain) == 1 and plain != chr(code):
                found[plain].add(chr(code))
    found["."] |= set("\u3002\uff0e\uff61")
    return found


_SLASH: Ranges = ((0x2F, 0x2F),)
_CHARACTER_SET = lazy_pattern(r"\[(!|(?!!))(\][^\]]*|[^\]]+)\]")
_MAX_BRACE_DEPTH = 20
_MAX_GLOB_LENGTH = 2_000


def tool_glob(text: str) -> Pattern:
    """fnmatch on a whole name, case-sensitive. `|` separates alternatives; spaces around it are ignored."""
    return pattern("|".join(_tool_glob_regex(part.strip()) for part in text.split("|")), whole=True)


def _tool_glob_regex(glob: str) -> str:
    _check_length(glob)
    out: list[str] = []
    at = 0
    while at < len(glob):
        if glob[at] == "[" and (found := _CHARACTER_SET.match(glob, at)):
            out.append(_character_set_regex(found, NO_CHARACTERS))
            at = found.end()
            continue
        out.append({"*": _ANY_TEXT, "?": "(?s:.)"}.get(glob[at]) or escape_character(ord(glob[at])))
        at += 1
    return "".join(out)


def path_glob(text: str) -> Pattern:
    """A whole path. `*` and `?` stay within a segment, `**/` may be empty, a final `**` is everything below.

    A leading `./` is ignored in the glob and in the path. Hidden files match like others. `\\` escapes nothing. `~/` at the
    start is the user's home, in whichever way the path is written.
    """
    _check_length(text)
    while text.startswith("./"):
        text = text[2:]
    start = "" if text.startswith("/") else r"(?:\./)*"
    return pattern(start + _path_glob_regex(text), whole=True)


def _check_length(glob: str) -> None:
    if len(glob) > _MAX_GLOB_LENGTH:
        raise BadPattern(f"it is longer than {_MAX_GLOB_LENGTH} characters")


def _path_glob_regex(glob: str, depth: int = 0) -> str:
    out: list[str] = []
    at = 0
    while at < len(glob):
        piece, at = _next_path_piece(glob, at, depth)
        out.append(piece)
    return "".join(out)


def _next_path_piece(glob: str, at: int, depth: int) -> tuple[str, int]:
    segment_starts = at == 0 or glob[at - 1] == "/"
    if at == 0 and re.match(r"~(?:/|\Z)", glob):
        return f"(?:~|{re.escape(os.path.expanduser('~').rstrip('/'))})", 1
    if segment_starts and glob.startswith("**/", at):
        return r"(?:(?s:.*)/)?", at + 3
    if glob[at:] == "**":
        return _ANY_TEXT, len(glob)
    if glob[at] == "[" and (found := _CHARACTER_SET.match(glob, at)):
        return _character_set_regex(found, _SLASH), found.end()
    if glob[at] == "{" and (options := _brace_options(glob, at)):
        if depth > _MAX_BRACE_DEPTH:
            raise BadPattern("braces are nested too deeply", at)
        return "(?:" + "|".join(_path_glob_regex(option, depth + 1) for option in options[0]) + ")", options[1]
    return {"*": "[^/]*", "?": "[^/]"}.get(glob[at]) or escape_character(ord(glob[at])), at + 1


def _brace_options(glob: str, start: int) -> tuple[list[str], int] | None:
    """The alternatives of the braces that open at `start`, and where they end; None if the braces are plain text."""
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


def _character_set_regex(found: re.Match[str], never: Ranges) -> str:
    """As in fnmatch, a range in the wrong order is empty."""
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
    return write_set(CharacterSet(complement(union(complement(members), never))))


def literal(text: str, *, whole: bool = True) -> Pattern:
    return pattern(_escape_text(text), whole=whole)


def word_prefix(prefix: str) -> Pattern:
    """A text that starts with these whole words: `src` matches `src` and `src/a.go`, but not `srcs`."""
    ends_inside_a_word = prefix[-1:].isalnum() or prefix.endswith("_")
    return pattern(r"\A" + _escape_text(prefix) + (r"(?:[^\pL\pN_]|\z)" if ends_inside_a_word else ""))


def wildcard(text: str) -> Pattern:
    """A whole text. `*` stands for any text, and everything else for itself."""
    return pattern(_ANY_TEXT.join(map(_escape_text, text.split("*"))), whole=True)


def _escape_text(text: str) -> str:
    return "".join(escape_character(ord(character)) for character in text)


MATCHERS: Final[Mapping[str, Callable[[str], Pattern]]] = {
    "exactly": literal,
    "contains": lambda text: literal(text, whole=False),
    "begins": word_prefix,
    "like": wildcard,
    "glob": path_glob,
    "command": command_prefix,
    "starts": starts_command,
    "host": url_host,
    "tool": tool_glob,
}


@dataclass(frozen=True, slots=True)
class Shorthand:
    """A pattern with the short form it was written in, so that a file can be written back unchanged."""

    word: str
    text: str
    pattern: Pattern = field(compare=False)
    search: Callable[..., bool] = field(
        compare=False, init=False, repr=False
    )  # the pattern's own method: one call less

    def __post_init__(self) -> None:
        object.__setattr__(self, "search", self.pattern.search)

    @property
    def source(self) -> str:
        return self.text

    @property
    def words(self) -> tuple[WordSet, ...]:
        return self.pattern.words

    @property
    def required_text(self) -> str | None:
        return self.pattern.required_text

    def replace(self, text: str, new: str, deadline: float = math.inf) -> str:
        return self.pattern.replace(text, new, deadline)


@lru_cache(maxsize=1024)
def shorthand(word: str, text: str) -> Shorthand:
    """`word` is a key of MATCHERS. Raises BadPattern. Most rules of a file name the same few tools: they share one."""
    return Shorthand(word, text, MATCHERS[word](text))
