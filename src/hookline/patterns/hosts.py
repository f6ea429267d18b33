"""Which host a URL goes to, read as browsers and JavaScript's fetch read it (WHATWG), not as it looks.

They take `\\` for `/`, drop tabs and newlines anywhere, decode `%65`, and read `ｅ` or `ⓔ` as `e`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache

from hookline.patterns.emit import escaped
from hookline.patterns.pattern import BadPattern, Pattern, pattern

_DROPPED = r"[\t\n\r\x{AD}\x{200B}\x{2060}\x{FE00}-\x{FE0F}\x{FEFF}]*"
_DOMAIN = re.compile(r"(\*\.)?([^\s/\\?#@:*\[\]%]+|\[[0-9A-Fa-f:.]+\])")
_SCHEME = (
    r"(?:(?:h[\t\n\r]*t[\t\n\r]*t[\t\n\r]*p(?:[\t\n\r]*s)?|w[\t\n\r]*s(?:[\t\n\r]*s)?|f[\t\n\r]*t[\t\n\r]*p)"
    r"[\t\n\r]*:[/\\\t\n\r]*"
    r"|[a-z][a-z0-9+.\-\t\n\r]*:[\t\n\r]*[/\\][\t\n\r]*[/\\]|[\t\n\r]*[/\\][\t\n\r]*[/\\]|)"
)
_USER = r"(?:[^/\\?#]*@)?"
_END = r"(?::[0-9\t\n\r]*)?(?:[/\\?#]|[\x00-\x20]*\z)"
_COMPATIBLE = ((0xAA, 0x33FF), (0xFB00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1FF))


def host_of(domain: str) -> Pattern:
    """A URL of this host, in any case. `*.example.com` is the host itself and its subdomains; `*` is any text.

    A URL without a scheme counts as one with it. Raises BadPattern for more or less than a host's name.
    """
    if domain == "*":
        return pattern("")
    found = _DOMAIN.fullmatch(domain)
    if not found or not found[2].strip("."):
        raise BadPattern("this is not a host's name: write example.com or *.example.com")
    names = {_in_any_spelling(name) for name in _names(found[2].rstrip("."))}
    below = rf"(?:[^/\\?#@: ]*{_in_any_spelling('.')})?" if found[1] else _DROPPED
    name = "|".join(sorted(names))
    dot = _in_any_spelling(".")
    return pattern(rf"(?i)\A[\x00-\x20]*{_SCHEME}{_USER}{below}(?:{name})(?:{dot})?{_END}")


def _names(host: str) -> set[str]:
    """A name beyond ASCII travels in its xn-- form too."""
    if host.isascii():
        return {host.lower()}
    try:
        return {unicodedata.normalize("NFKC", host).lower(), host.encode("idna").decode()}
    except UnicodeError:
        raise BadPattern("this host's name cannot be written in ASCII") from None


def _in_any_spelling(text: str) -> str:
    return "".join(_spellings(character) + _DROPPED for character in text)


@cache
def _spellings(character: str) -> str:
    alike = "".join(escaped(ord(other)) for other in sorted(_compatible()[character] | {character}))
    if not character.isascii():
        return f"[{alike}]"
    codes = {f"%{ord(case):02x}" for case in (character.lower(), character.upper())}
    return f"(?:[{alike}]|{'|'.join(sorted(codes))})"


@cache
def _compatible() -> defaultdict[str, set[str]]:
    """What else is read as a character, once compatible forms and case are put aside."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for low, high in _COMPATIBLE:
        for code in range(low, high + 1):
            plain = unicodedata.normalize("NFKC", chr(code)).lower()
            if len(plain) == 1 and plain != chr(code):
                found[plain].add(chr(code))
    found["."] |= set("\u3002\uff0e\uff61")
    return found
