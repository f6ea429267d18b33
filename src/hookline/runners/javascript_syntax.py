"""Whether a script can be read at all, without running any of it."""

from __future__ import annotations

import re
from typing import Final

from hookline.runners.javascript import MEMORY

_SECONDS: Final = 1.0
_PARSED: Final = "parsed"
_PLACE: Final = re.compile(r"^\s+at <input>:(\d+)", re.MULTILINE)


def syntax_error(source: str) -> tuple[int, str] | None:
    """The script's own line, from 1, and what is wrong there; None where it can be read."""
    import quickjs

    if "\0" in source or not _encodable(source):
        return None
    context = quickjs.Context()
    context.set_memory_limit(MEMORY)
    context.set_time_limit(_SECONDS)
    try:  # all of it is read before its first statement ends it, so that even a script that closes our function runs nothing
        context.eval(f"throw {_PARSED!r}; (async function () {{\n{source}\n}})")
    except quickjs.JSException as error:
        what, _, places = str(error).partition("\n")
        found = _PLACE.search(places)
        if what.startswith("SyntaxError: ") and found:
            line, last = int(found[1]) - 1, source.count("\n") + 1
            return (line, what.removeprefix("SyntaxError: ")) if line <= last else (last, "something is left open")
    return None


def _encodable(source: str) -> bool:
    try:
        source.encode()
    except UnicodeEncodeError:
        return False
    return True
