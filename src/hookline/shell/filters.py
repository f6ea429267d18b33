"""What a program prints of the text that it reads: `tr`, `rev`, `sed s/x/y/`, `base64 -d`, `cut` and the like.

So `echo 'git xush' | tr x p | sh` is read as what it runs. Where a program does more than is understood here, its output is
only as good as a guess: the text itself, or nothing that is known.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Sequence
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.grammar import HAS_UNKNOWN, UNKNOWN, UNREAD
from hookline.shell.programs import program_name

MADE_TEXT: Final = UNKNOWN + UNREAD
"""What a program makes of a text that stands in the line: it may be any command."""
_MAX_TEXT: Final = 20_000
_MAX_LINES: Final = 2_000


class _NotUnderstood(Exception):
    """Only running the program says what it prints."""


def filtered_texts(words: Sequence[str], texts: Sequence[str]) -> list[str]:
    """What the program prints for each of these inputs."""
    found = [each for text in texts for each in _filter(words, text)]
    return list(dict.fromkeys(found))


def is_filter(words: Sequence[str]) -> bool:
    """Whether it reads its input and prints what it makes of it, and nothing else is known about it."""
    return bool(words) and program_name(words[0]) in _FILTERS


def _filter(words: Sequence[str], text: str) -> list[str]:
    if text == "" or not words:
        return [UNKNOWN]
    if UNREAD in text:
        return [MADE_TEXT]
    if HAS_UNKNOWN.search(text):
        return [UNKNOWN]
    name, arguments = program_name(words[0]), [word for word in words[1:] if word != "--"]
    if any(map(HAS_UNKNOWN.search, arguments)):
        return [MADE_TEXT]
    if name in _COPIES:
        return [text, UNKNOWN]
    run = _FILTERS.get(name)
    if run is None or len(text) > _MAX_TEXT or text.count("\n") > _MAX_LINES:
        return [MADE_TEXT]
    try:
        printed = run(arguments, text)
    except (_NotUnderstood, ValueError, re.error):
        return [MADE_TEXT]
    if HAS_UNKNOWN.search(printed):
        return [MADE_TEXT]
    return [printed, UNKNOWN] if name in _DECODERS else [printed]


def _reverse(arguments: Sequence[str], text: str) -> str:
    if arguments:
        raise _NotUnderstood
    return "".join(line.rstrip("\n")[::-1] + "\n" for line in text.splitlines())


def _reverse_lines(arguments: Sequence[str], text: str) -> str:
    if arguments:
        raise _NotUnderstood
    return "".join(line + "\n" for line in reversed(text.splitlines()))


def _sort(arguments: Sequence[str], text: str) -> str:
    lines = text.splitlines()
    if arguments and len(lines) > 1:
        raise _NotUnderstood
    return "".join(line + "\n" for line in sorted(lines))


_COUNT: Final = lazy_pattern(r"-(?:n|-lines=)?(\d+)")


def _line_count(arguments: Sequence[str]) -> int:
    joined = "".join(arguments)
    if not arguments:
        return 10
    found = _COUNT.fullmatch(joined)
    if found is None:
        raise _NotUnderstood
    return int(found[1])


def _head(arguments: Sequence[str], text: str) -> str:
    return "".join(text.splitlines(keepends=True)[: _line_count(arguments)])


def _tail(arguments: Sequence[str], text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[max(0, len(lines) - _line_count(arguments)) :])


_CLASSES: Final = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\f\v",
    "[:blank:]": " \t",
}


def _tr_set(text: str) -> str:
    for name, characters in _CLASSES.items():
        text = text.replace(name, characters)
    if "[:" in text or "[=" in text or re.search(r"\*\d*\]", text):
        raise _NotUnderstood
    text = codecs.decode(text, "unicode_escape") if "\\" in text else text
    ranges = re.compile(r"(.)-(.)", re.DOTALL)
    return ranges.sub(lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1))), text)


def _translate(arguments: Sequence[str], text: str) -> str:
    options = "".join(each[1:] for each in arguments if re.fullmatch("-[ds]+", each))
    sets = [_tr_set(each) for each in arguments if not re.fullmatch("-[ds]+", each)]
    if any(each.startswith("-") and len(each) > 1 for each in arguments if not re.fullmatch("-[ds]+", each)):
        raise _NotUnderstood
    if options == "d" and len(sets) == 1:
        return text.translate(dict.fromkeys(map(ord, sets[0])))
    if "d" in options or not sets or not sets[0]:
        raise _NotUnderstood
    if len(sets) > 1 and sets[1]:
        padded = sets[1] + sets[1][-1] * (len(sets[0]) - len(sets[1]))
        text = text.translate({ord(old): new for old, new in zip(sets[0], padded, strict=False)})
    elif options != "s":
        raise _NotUnderstood
    if "s" in options:
        squeezed = re.escape(sets[-1])
        text = re.sub(rf"([{squeezed}])\1+", r"\1", text)
    return text


def _positions(given: str, length: int) -> list[int]:
    found: set[int] = set()
    for part in given.split(","):
        start, dash, end = part.partition("-")
        last = int(end) if end else (length if dash else int(start))
        found |= set(range(int(start or 1) - 1, min(last, length)))
    return sorted(found)


_CUT_OPTION: Final = lazy_pattern(r"-([dfcb])(.*)|--(?:delimiter|fields|characters)=(.*)", re.DOTALL)


def _cut(arguments: Sequence[str], text: str) -> str:
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        found = _CUT_OPTION.fullmatch(word)
        if found is None:
            raise _NotUnderstood
        key = found[1] or word[2]
        value = found[2] if found[1] else found[3]
        options[key] = value if value else (rest.pop(0) if rest else "")
    lines = text.splitlines()
    if "f" in options:
        separator = options.get("d", "\t")
        parts = [line.split(separator) for line in lines]
        return "".join(separator.join(each[at] for at in _positions(options["f"], len(each))) + "\n" for each in parts)
    given = options.get("c") or options.get("b") or ""
    if not given or len(options) > 1:
        raise _NotUnderstood
    return "".join("".join(line[at] for at in _positions(given, len(line))) + "\n" for line in lines)


def _decode(reader: Callable[[bytes], bytes]) -> Callable[[Sequence[str], str], str]:
    def decode(arguments: Sequence[str], text: str) -> str:
        if not any(
            re.fullmatch(r"-[A-Za-z]*[dDr][A-Za-z]*|--(?:d|decode|revert)\w*|-base64", each) for each in arguments
        ):
            raise _NotUnderstood
        try:
            return reader("".join(text.split()).encode("ascii")).decode("utf-8")
        except (binascii.Error, UnicodeError):
            raise _NotUnderstood from None

    return decode


def _from_hex(data: bytes) -> bytes:
    return bytes.fromhex(data.decode())


def _from_base64(data: bytes) -> bytes:
    return base64.b64decode(data + b"=" * (-len(data) % 4))


_AWK_PRINT: Final = lazy_pattern(r"\s*(?:1|\{\s*print\s*(?:\$(\d+)\s*)?;?\s*\})\s*")


def _awk(arguments: Sequence[str], text: str) -> str:
    found = _AWK_PRINT.fullmatch(arguments[0]) if len(arguments) == 1 else None
    if found is None:
        raise _NotUnderstood
    number = int(found[1] or 0)
    if not number:
        return text
    lines = (line.split() for line in text.splitlines())
    return "".join((each[number - 1] if number <= len(each) else "") + "\n" for each in lines)


_SED_SUBSTITUTE: Final = lazy_pattern(r"s([^\w\s\\;])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1([gpI0-9]*)", re.DOTALL)
_SED_PART: Final = lazy_pattern(r"\.|\\[][/.*^$|,#@!;+?(){} -]|[^][\\.*^$+?(){}|]|\[\^?[^][\\]+\]")
_SED_SEPARATOR: Final = lazy_pattern(r"\s*(?:[;\n]\s*)*")


def _sed(arguments: Sequence[str], text: str) -> str:
    for script in _sed_scripts(arguments):
        at = 0
        while at < len(script):
            found = _SED_SUBSTITUTE.match(script, at)
            if found is None:
                raise _NotUnderstood
            text = _substitute_lines(found, text)
            end = _SED_SEPARATOR.match(script, found.end())
            at = end.end() if end else found.end()
            if at == found.end() and at < len(script):
                raise _NotUnderstood
    return text


def _sed_scripts(arguments: Sequence[str]) -> list[str]:
    scripts, rest = list[str](), list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("-e", "--expression") and rest:
            scripts.append(rest.pop(0))
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word in ("-E", "-r", "-u", "-z"):
            continue
        elif word.startswith("-") or scripts:
            raise _NotUnderstood
        else:
            scripts.append(word)
    return scripts


def _substitute_lines(found: re.Match[str], text: str) -> str:
    lines = text.split("\n")
    last = lines.pop() if lines[-1] == "" else None
    return "\n".join([*(_substitute(found, line) for line in lines), *([] if last is None else [last])])


def _substitute(found: re.Match[str], line: str) -> str:
    pattern, new, flags = _python_pattern(found[2].replace("\\" + found[1], found[1])), found[3], found[4]
    if re.search(r"\\[^\\/&.]", new) or not re.fullmatch("[gpI]*", flags) or (not line and not pattern.strip("^$")):
        raise _NotUnderstood
    compiled = re.compile(pattern, re.IGNORECASE if "I" in flags else 0)

    def replacement(match: re.Match[str]) -> str:
        return re.sub(r"\\(.)|&", lambda each: each[1] or match[0], new)

    return compiled.sub(replacement, line, count=0 if "g" in flags else 1)


def _python_pattern(source: str) -> str:
    """The same pattern for Python. It may have one repetition: matching several can take very long."""
    anchored, source = source.startswith("^"), source.removeprefix("^")
    ends, source = source.endswith("$") and not source.endswith("\\$"), source.removesuffix("$")
    parts, at, repetitions = list[str](), 0, 0
    while at < len(source):
        part = _SED_PART.match(source, at)
        if part is None:
            raise _NotUnderstood
        at = part.end()
        parts.append(part[0] if len(part[0]) > 1 or part[0] == "." else re.escape(part[0]))
        if source[at : at + 1] in ("*", "+"):
            repetitions += 1
            parts.append(source[at])
            at += 1
    if repetitions > 1:
        raise _NotUnderstood
    return ("^" if anchored else "") + "".join(parts) + ("$" if ends else "")


def _join(arguments: Sequence[str], text: str) -> str:
    if arguments not in ([], ["echo"]):
        raise _NotUnderstood
    return " ".join(text.split()) + "\n"


_FILTERS: Final[dict[str, Callable[[Sequence[str], str], str]]] = {
    "rev": _reverse,
    "tac": _reverse_lines,
    "sort": _sort,
    "head": _head,
    "tail": _tail,
    "tr": _translate,
    "cut": _cut,
    **dict.fromkeys(("base64", "gbase64", "basenc", "openssl"), _decode(_from_base64)),
    "base32": _decode(base64.b32decode),
    "xxd": _decode(_from_hex),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    "xargs": _join,
}
_DECODERS: Final = frozenset(("base64", "gbase64", "basenc", "openssl", "base32", "xxd"))
"""What they print stays unknown as well, since nobody who reads the line sees it."""
_COPIES: Final = frozenset(
    (
        *("cat", "tee", "uniq", "grep", "egrep", "fgrep", "rg", "pv", "sponge", "column", "fold", "fmt", "expand"),
        *("unexpand", "iconv", "dos2unix", "envsubst", "dd", "strings", "less", "more", "bat", "buffer", "mbuffer"),
        *("ts", "stdbuf", "shuf"),
    )
)
"""They print what they read, or parts of it."""
