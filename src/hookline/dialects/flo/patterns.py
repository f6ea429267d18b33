"""Writes patterns as JavaScript regular expressions without flags."""

from __future__ import annotations

import re
from typing import Final

from hookline.dialects.conversion import NotExpressible
from hookline.hooks.protocols import TextPattern
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand
from hookline.patterns.pattern import Pattern, Syntax

SPECIAL_CHARACTERS: Final = lazy_pattern(r"[\\^$.*+?()\[\]{}|/]")
_BACK_REFERENCE: Final = lazy_pattern(r"\\[1-9k]|\(\?<[^=!]")
_GLOB_TOKENS: Final = {"*": r"[\s\S]*", "?": r"[\s\S]"}

# Tokens that RE2 and JavaScript share, or that have an equivalent. A character outside the basic plane counts as two in
# JavaScript, so "any character but" means the same in both only if it repeats without a bound.
_RE2_TOKEN: Final = lazy_pattern(
    r"""
    (?P<end>\\[Az])
  | (?P<space>\\s)
  | (?P<many>(?:\.|\[\^[ -\[\]\^_-~]*?(?<!\\)\]|\\[DW])(?=[*+]))
  | (?P<same>\\[.^$*+?()\[\]{}|/\-\\]|\\[dwbB]|\[[^\^\[\]\\][ -Z_-~\\^]*?(?<!\\)\]|\(\?:|\((?!\?)|\)|\|
      |[*+?]\??|\{\d{1,3}(?:,\d{0,3})?\}\??|\^|\$|[^\\.^$*+?()\[\]{}|\ud800-\udfff\U00010000-\U0010ffff])
    """,
    re.VERBOSE,
)


def to_javascript(compiled: TextPattern) -> str:
    """Raises NotExpressible."""
    if isinstance(compiled, Shorthand):
        return _shorthand_to_javascript(compiled)
    if not isinstance(compiled, Pattern):
        raise NotExpressible("this kind of pattern")
    if compiled.syntax is Syntax.JAVASCRIPT:
        return f"^(?:{compiled.source})$" if compiled.whole else compiled.source
    if compiled.syntax is not Syntax.NATIVE:
        raise NotExpressible(f"a pattern in another syntax: {compiled.source}")
    source = _re2_to_javascript(compiled.source)
    return f"^(?:{source})$" if compiled.whole else source


def javascript_alternatives(sources: list[str]) -> str:
    if len(sources) == 1:
        return sources[0]
    if any(_BACK_REFERENCE.search(source) for source in sources):
        raise NotExpressible("several patterns with back references")
    return "|".join(f"(?:{source})" for source in sources)


def escape_javascript(text: str) -> str:
    return SPECIAL_CHARACTERS.sub(r"\\\g<0>", text)


def _shorthand_to_javascript(compiled: Shorthand) -> str:
    match compiled.word:
        case "exactly":
            return f"^{escape_javascript(compiled.text)}$"
        case "contains":
            return escape_javascript(compiled.text)
        case "tool" if "[" not in compiled.text:
            return f"^(?:{'|'.join(_glob_to_javascript(part.strip()) for part in compiled.text.split('|'))})$"
        case _:
            return to_javascript(compiled.pattern)


def _glob_to_javascript(text: str) -> str:
    return "".join(_GLOB_TOKENS.get(char) or escape_javascript(char) for char in text)


def _re2_to_javascript(source: str) -> str:
    result, at = "", 0
    while at < len(source):
        found = _RE2_TOKEN.match(source, at)
        if found is None or not found[0]:
            raise NotExpressible(f"the pattern {source}")
        result += _token_to_javascript(found)
        at = found.end()
    return result


def _token_to_javascript(found: re.Match[str]) -> str:
    if found["end"]:
        return "^" if found[0] == r"\A" else "$"
    if found["space"]:
        return r"[\t\n\f\r ]"
    return r"[^\n]" if found[0] == "." else found[0]
