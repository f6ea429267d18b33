"""The commands and files in the languages of editors, debuggers, databases and stream editors.

`vim -c '!rm x'`, `gdb -ex 'shell rm x'`, `psql -c '\\! rm x'`, `sed '1e rm x'`, `make -f -`. What a program writes itself, as
`sed 'w file'` does, is read as the command `tee file`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.filters import MADE_TEXT
from hookline.shell.programs import CODE_VARIABLES
from hookline.shell.wrappers import InnerCommand, limit_commands

_MAX_FOUND: Final = 200  # different ones

# A text is as long as its writer wants, so no pattern may count what it skips, and none goes over the same part again from
# every place where it may begin: it skips no newline behind one, and stops where it could begin anew.
_VI: Final = (
    lazy_pattern(r"(?:\A|[|\n\"'+:])[ \t]*+(?:sil\w*!?[ \t]++|[\d,%$.])*(?:r|w|read|write)?[ \t]*!+([^\n]+)"),
)
_GDB: Final = (
    lazy_pattern(r"(?:\A|\n|=)[ \t]*(?:platform\s+)?(?:shell|!|make)\s*([^\n]+)"),
    lazy_pattern(r"(?:\A|\n|=)[ \t]*pipe\b(?:(?!=[ \t]*pipe\b)[^|\n])*\|([^\n]+)"),
)
_SQL: Final = (
    lazy_pattern(r"\\!\s*([^\n]+)"),
    lazy_pattern(r"\\(?:o|g|gx|w|copy\b[^\n|\\]*program)\s*[|']\s*([^\n']+)"),
    lazy_pattern(r"(?i)(?:\A|[\n;])[ \t]*(?:\.?system|\.?shell)\s+([^\n;]+)"),
    lazy_pattern(r"(?i)\bprogram\s+'([^'\n]+)'"),
    lazy_pattern(r"(?:\A|\n)[ \t]*\.(?:once|output|import|read)\s+[\"']?\|([^\n]+)"),
)
_TCL: Final = (lazy_pattern(r"(?:\A|[\n;\[{])[ \t]*(?:spawn|exec|system)\s+(?:-\w+\s+)*([^\n;\]}]+)"),)
_BANG: Final = (lazy_pattern(r"(?:\A|\n|;)[ \t]*!([^\n]+)"),)
_MAKE: Final = (
    lazy_pattern(r"\n\t[@+\t -]*([^\n]+)"),
    lazy_pattern(r"(?:\A(?:--?\w+=)?|\n)[^\n:=;#]+::?(?!=)[^\n;]*;[@+\t -]*([^\n]+)"),
    lazy_pattern(r"\$[({]shell\s+([^)}\n]+)"),
)
_CRON: Final = (lazy_pattern(r"(?:\A|\n)[ \t]*(?:@\w+|(?:[\d*,/A-Za-z-]+[ \t]+){4}[\d*,/A-Za-z-]+)[ \t]+([^\n]+)"),)
_M4: Final = (lazy_pattern(r"\b(?:e?syscmd)\([`'\"]?([^)'\n]+)"),)
_LESS: Final = (lazy_pattern(r"\A\+[^!|]*[!|]([^\n]+)"),)

LANGUAGES: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "vimdiff", "gvim", "rvim", "ed", "red"), _VI),
    **dict.fromkeys(("gdb", "lldb", "cgdb", "rr"), _GDB),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "duckdb", "pgcli", "mycli", "litecli"), _SQL),
    **dict.fromkeys(("expect", "tclsh", "wish", "autoexpect"), _TCL),
    **dict.fromkeys(("bc", "dc", "gnuplot", "octave", "ftp", "mail", "mutt"), _BANG),
    **dict.fromkeys(("make", "gmake", "bmake"), _MAKE),
    "just": _MAKE,
    "crontab": _CRON,
    "m4": _M4,
    **dict.fromkeys(("less", "more"), _LESS),
    **dict.fromkeys(("sed", "gsed", "ssed"), ()),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), ()),
    **dict.fromkeys(("ssh", "scp", "sftp", "autossh", "slogin", "sshfs", "mosh"), ()),
}
CODE_FILES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("make", "gmake", "bmake"), ("Makefile", "makefile", "GNUmakefile", "BSDmakefile")),
    "just": ("justfile", "Justfile", ".justfile"),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
}
"""Files that a program runs without being told."""
PACKAGE_PROGRAMS: Final = frozenset(("npm", "pnpm", "yarn", "bun", "npx"))
_PACKAGE_SCRIPT: Final = lazy_pattern(r"\"[\w:.-]+\"\s*:\s*\"((?:[^\"\\]|\\.)+)\"")
_SET_SCRIPT: Final = lazy_pattern(r"scripts\.[\w:.-]+=(.+)", re.DOTALL)


def package_commands(words: Sequence[str], packages: Iterable[str]) -> Iterator[InnerCommand]:
    """`npm pkg set scripts.x='rm y'`, and the scripts of a package.json that the same line writes."""
    yield from (InnerCommand(code=found[1]) for word in words if (found := _SET_SCRIPT.fullmatch(word)))
    for text in packages:
        codes = _groups(_PACKAGE_SCRIPT, text)
        commands = (InnerCommand(code=code.replace('\\"', '"')) for code in codes if " " in code)
        yield from limit_commands(commands, _MAX_FOUND)


_SQL_FILES: Final = lazy_pattern(
    r"(?i)\\(?:o|i|ir|w|g)\s+[\"']?([^\s|\"';]+)"
    r"|(?:\A|\n|;)[ \t]*\.(?:output|once|backup|save|restore|read|open|import|log|dump|clone|excel)\s+[\"']?([^\s|\"';]+)"
    r"|\b(?:outfile|dumpfile|infile|attach(?:\s+database)?|backup\s+to|vacuum\s+into)\s+[\"']([^\"'\n]+)"
    r"|\bcopy\b(?:(?!\bcopy\b)[^;\n])*?\b(?:to|from)\s+[\"']([^\"'\n]+)"
)
_VI_FILES: Final = lazy_pattern(
    r"(?:\A|[|\n+:])[ \t]*[\d,%$.]*(?:w|wq|write|sav|saveas|r|read|so|source|e|edit|up|x)!?\s+(?:>>\s*)?([~/.\w$][^\s|!]*)"
)
FILES: Final[Mapping[str, re.Pattern[str]]] = {
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "duckdb", "pgcli", "mycli", "litecli"), _SQL_FILES),
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "vimdiff", "gvim", "rvim", "ed", "red"), _VI_FILES),
}
"""Files that such a program reads or writes because of its own language."""
_LANGUAGE_SIGNS: Final = lazy_pattern(
    r"[!;|>=]|\b(?:shell|system|exec|spawn|syscmd|program)\b|(?<![A-Za-z])(?:[ewWrR]|wq|sav\w*|write|read)\b|[rR]\s*/|\\[oiwg]\b|\A\.\w|(?i:file|copy|attach|vacuum)"
    r"|[^\w\s][gpimIM0-9]*[ew][gpimIM0-9]*(?:\s|\Z)|(?i:command)|\A-S"
)


def has_commands(words: Sequence[str]) -> bool:
    """Whether the arguments of such a program may hold a command, at a quick look."""
    return any(map(_LANGUAGE_SIGNS.search, words[1:]))


_EMPTY_LINES: Final = lazy_pattern(r"\n(?:[ \t\r]*+\n)++")
"""Empty lines. Each of them may begin a command, so that patterns would go over all that follow."""


def language_commands(name: str, words: Sequence[str], inputs: Sequence[str]) -> Iterator[InnerCommand]:
    """What the program runs or writes, because of its arguments or what it reads."""
    return limit_commands(_commands_in(name, words, inputs), _MAX_FOUND)


def _commands_in(name: str, words: Sequence[str], inputs: Sequence[str]) -> Iterator[InnerCommand]:
    texts = [_EMPTY_LINES.sub("\\n", text) for text in (*words[1:], *inputs)]
    if name in ("sed", "gsed", "ssed"):
        for text in texts:
            yield from _sed_commands(text.removeprefix("--expression="))
        if any(map(_SED_RUNS_INPUT.search, texts)):
            yield from (InnerCommand(code=text) for text in inputs)
            if inputs and any(map(_SUBSTITUTION.search, texts)):
                yield InnerCommand(code=MADE_TEXT)
    elif name.endswith("awk"):
        for text in texts:
            yield from _awk_commands(text)
    elif name in ("ssh", "scp", "sftp", "autossh", "slogin", "sshfs", "mosh"):
        yield from _ssh_commands(words)
    else:
        for pattern in LANGUAGES[name]:
            yield from (InnerCommand(code=code) for text in texts for code in _groups(pattern, text))
        files = FILES.get(name)
        if files is not None:
            yield from (InnerCommand(("tee", file)) for text in texts for file in _groups(files, text))
        if name in ("make", "gmake", "bmake"):
            yield from _make_variables(words)


def _groups(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        if code := next((group for group in found.groups() if group), ""):
            yield code.rstrip("'\"")


_SUBSTITUTION: Final = lazy_pattern(
    r"(?<![A-Za-z])s([!-/:-@\[\]-`{-~])((?:\\.|(?!\1)[^\\\n])*)\1((?:\\.|(?!\1)[^\\])*)\1([gpiIm0-9]*)([eM]?[gpiIm0-9]*)(?:w\s*([^\n;}]+))?"
)
_ADDRESS: Final = r"(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:\\.|[^/\\\n])*/[IM]*)"
_SED_COMMAND: Final = lazy_pattern(
    rf"(?:\A|[;{{}}\n])[ \t]*(?:{_ADDRESS}(?:[ \t]*,[ \t]*{_ADDRESS})?[ \t!]*)?(?:e\s+([^\n]+)|[wW]\s+([^\n;}}]+)|[rR]\s*([^\n;}}]+))"
)


_SED_RUNS_INPUT: Final = lazy_pattern(
    rf"(?:\A|[;{{\n=])[ \t]*(?:{_ADDRESS}(?:[ \t]*,[ \t]*{_ADDRESS})?[ \t!]*)?e[ \t]*(?:[;}}\n]|\Z)|([^\w\s\\])[gpiIm0-9]*e[gpiIm0-9]*(?:[\s;}}]|\Z)"
)  # `e`, and `s/x//e`: the line itself is run


def _sed_commands(script: str) -> Iterator[InnerCommand]:
    """`e command`, `s/x/command/e`, `w file` and `s/x/y/w file`."""
    for found in _SUBSTITUTION.finditer(script):
        if "e" in found[5]:
            yield InnerCommand(code=found[3])
        if found[6]:
            yield InnerCommand(("tee", found[6].strip()))
    for found in _SED_COMMAND.finditer(script):
        if found[1]:
            yield InnerCommand(code=found[1].rstrip("}"))
        elif found[2] or "/" in found[3]:
            yield InnerCommand(("tee", found[2].strip()) if found[2] else ("cat", found[3].strip()))


_AWK_FILE: Final = lazy_pattern(r">>?\s*\"((?:[^\"\\\n]|\\.)+)\"")
_AWK_INPUT: Final = lazy_pattern(r"getline(?:(?!getline)[^<;}\n])*<\s*\"((?:[^\"\\\n]|\\.)+)\"")
_AWK_PIPES: Final = (
    lazy_pattern(r"\|&?\s*\"((?:[^\"\\\n]|\\.)+)\""),
    lazy_pattern(r"(?<!\\)\"((?:[^\"\\\n]|\\.)+)\"\s*\|&?\s*getline"),
    lazy_pattern(r"printf?\s*\(?\s*\"((?:[^\"\\\n]|\\.)+)\"(?:(?!printf?\s*\(?\s*\")[^|\n;}])*\|\s*\"[^\"\n]*sh\b"),
)


def _awk_commands(program: str) -> Iterator[InnerCommand]:
    for pattern in _AWK_PIPES:
        yield from (InnerCommand(code=code) for code in _groups(pattern, program))
    yield from (InnerCommand(("tee", file)) for file in _groups(_AWK_FILE, program))
    yield from (InnerCommand(("cat", file)) for file in _groups(_AWK_INPUT, program))


_SSH_COMMAND: Final = lazy_pattern(r"(?is)(?:-o)?\s*(?:proxy|local|remote|knownhosts)command\s*[=\s]\s*(.+)")


def _ssh_commands(words: Sequence[str]) -> Iterator[InnerCommand]:
    for at, word in enumerate(words[1:], 1):
        if setting := _SSH_COMMAND.fullmatch(word):
            yield InnerCommand(code=setting[1])
        elif word == "-S" and words[0].rsplit("/", 1)[-1] in ("scp", "sftp"):
            yield from (InnerCommand(code=code) for code in words[at + 1 : at + 2])


def _make_variables(words: Sequence[str]) -> Iterator[InnerCommand]:
    """`make SHELL=x CC=y`: make runs the values."""
    for word in words[1:]:
        name, has_value, value = word.partition("=")
        if has_value and value and (CODE_VARIABLES.fullmatch(name) or name == ".SHELLFLAGS"):
            yield InnerCommand(code=value.removeprefix("-c ").strip("\"' "))
