"""Any pattern of ours as a JavaScript regular expression without flags."""

from __future__ import annotations

import re
from typing import Final

from hookline.dialects.unsaid import Unsaid
from hookline.hooks.condition import TextPattern
from hookline.patterns.pattern import Pattern, Syntax
from hookline.patterns.spelt import Spelt

SPECIAL: Final = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_REFERS: Final = re.compile(r"\\[1-9k]|\(\?<[^=!]")
_GLOB: Final = {"*": r"[\s\S]*", "?": r"[\s\S]"}

# What RE2 and JavaScript write in the same way, or each in its own. A character outside of the basic plane is two for
# JavaScript, so what stands for "any but" must be repeated without a bound for both to mean the same.
_SAME: Final = re.compile(
    r"""
    (?P<end>\\[Az])
  | (?P<space>\\s)
  | (?P<many>(?:\.|\[\^[ -\[\]\^_-~]*?(?<!\\)\]|\\[DW])(?=[*+]))
  | (?P<same>\\[.^$*+?()\[\]{}|/\-\\]|\\[dwbB]|\[[^\^\[\]\\][ -Z_-~\\^]*?(?<!\\)\]|\(\?:|\((?!\?)|\)|\|
      |[*+?]\??|\{\d{1,3}(?:,\d{0,3})?\}\??|\^|\$|[^\\.^$*+?()\[\]{}|\ud800-\udfff\U00010000-\U0010ffff])
    """,
    re.VERBOSE,
)


def javascript(compiled: TextPattern) -> str:
    """Raises Unsaid."""
    if isinstance(compiled, Spelt):
        return _spelt(compiled)
    if not isinstance(compiled, Pattern):
        raise Unsaid("a pattern that is not one of ours")
    if compiled.syntax is Syntax.JAVASCRIPT:
        return f"^(?:{compiled.source})$" if compiled.whole else compiled.source
    if compiled.syntax is not Syntax.NATIVE:
        raise Unsaid(f"a pattern in another syntax: {compiled.source}")
    source = _from_re2(compiled.source)
    return f"^(?:{source})$" if compiled.whole else source


def any_of(sources: list[str]) -> str:
    if len(sources) == 1:
        return sources[0]
    if any(_REFERS.search(source) for source in sources):
        raise Unsaid("several patterns with groups that are referred to")
    return "|".join(f"(?:{source})" for source in sources)


def escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", text)


def _spelt(compiled: Spelt) -> str:
    match compiled.word:
        case "exactly":
            return f"^{escaped(compiled.text)}$"
        case "contains":
            return escaped(compiled.text)
        case "tool" if "[" not in compiled.text:
            return f"^(?:{'|'.join(_glob(part.strip()) for part in compiled.text.split('|'))})$"
        case _:
            return javascript(compiled.pattern)


def _glob(text: str) -> str:
    return "".join(_GLOB.get(char) or escaped(char) for char in text)


def _from_re2(source: str) -> str:
    said, at = "", 0
    while at < len(source):
        found = _SAME.match(source, at)
        if found is None or not found[0]:
            raise Unsaid(f"the pattern {source}")
        said += _said(found)
        at = found.end()
    return said


def _said(found: re.Match[str]) -> str:
    if found["end"]:
        return "^" if found[0] == r"\A" else "$"
    if found["space"]:
        return r"[\t\n\f\r ]"
    return r"[^\n]" if found[0] == "." else found[0]
