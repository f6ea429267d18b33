"""The shell commands in the code of another language: `python -c "os.system('rm -r x')"`, `perl -e`, `awk`.

It finds the calls that start programs, and reads the texts in quotes that they are given. Code that puts its text together
is not understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.wrappers import InnerCommand

INTERPRETERS: Final = frozenset(
    (
        *("python", "pypy", "ipython", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "Rscript"),
        *("awk", "gawk", "mawk", "nawk", "osascript"),
    )
)
_MAX_CALLS: Final = 32
_CALL: Final = lazy_pattern(
    r"\b(?:system2?|popen[234]?|Popen|exec\w{0,8}|spawn\w{0,6}|run|call|check_call|check_output|getoutput|getstatusoutput"
    r"|shell_exec|passthru|proc_open|capture2e?|capture3|do shell script|qx|create_subprocess_(?:shell|exec))"
    r"\s*[({]?\s*(?=[\[\"'`])|%x[({\[]|\bqx[({\[/|]"
)
_LITERAL: Final = lazy_pattern(r"\"((?:[^\"\\]|\\.){0,4000})\"|'((?:[^'\\]|\\.){0,4000})'|`((?:[^`\\]|\\.){0,4000})`")
_ARGUMENTS: Final = lazy_pattern(r"[\s,\[(]*(?:\w+\s*=\s*(?![\"'`]))?[\s,\[(]*")
_PERCENT: Final = lazy_pattern(r"(?:%x|\bqx)[({\[/|]([^)}\]/|]{1,4000})")
_BACKTICKS: Final = lazy_pattern(r"`([^`]{1,4000})`")
_ESCAPE: Final = lazy_pattern(r"\\([\"'`\\$])")
_MAX_LITERALS: Final = 16


def embedded_commands(texts: Sequence[str]) -> Iterator[InnerCommand]:
    """What the code in these texts, arguments or input of an interpreter, gives to a shell or starts."""
    for text in texts:
        for number, call in enumerate(_CALL.finditer(text)):
            if number >= _MAX_CALLS:
                break
            words = tuple(_literals_from(text, call.end()))
            if words:
                yield InnerCommand(code=words[0])
            if len(words) > 1:
                yield InnerCommand(words)
        for pattern in (_PERCENT, _BACKTICKS):
            for number, found in enumerate(pattern.finditer(text)):
                if number >= _MAX_CALLS:
                    break
                yield InnerCommand(code=found[1])


def has_call(words: Sequence[str]) -> bool:
    """Whether one of the words may be code that starts a program."""
    text = " ".join(words)
    if "'" not in text and '"' not in text and "`" not in text and "%x" not in text and "qx" not in text:
        return False  # nothing is quoted
    return "`" in text or _CALL.search(text) is not None


def _literals_from(text: str, at: int) -> Iterator[str]:
    """The texts in quotes that follow each other: `'rm', ['-r', 'x']`."""
    for _ in range(_MAX_LITERALS):
        between = _ARGUMENTS.match(text, at)
        found = _LITERAL.match(text, between.end() if between else at)
        if found is None:
            return
        yield _ESCAPE.sub(r"\1", next(each for each in found.groups() if each is not None))
        at = found.end()
