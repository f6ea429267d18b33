"""The shell commands in the code of another language: `python -c "os.system('rm -r x')"`, `perl -e`, `awk`.

It finds the calls that start programs, and reads the texts in quotes that they are given, or that a variable has. Code that
writes files counts as the command `tee`, with every path that it has in quotes; code that reads a file or directory, as `cat`.
Code that puts its text together is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.filters import MADE_TEXT
from hookline.shell.grammar import HAS_UNKNOWN
from hookline.shell.wrappers import InnerCommand, limit_commands

INTERPRETERS: Final = frozenset(
    (
        *("python", "pypy", "ipython", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "Rscript"),
        *(
            "awk",
            "gawk",
            "mawk",
            "nawk",
            "osascript",
            "R",
            "julia",
            "guile",
            "racket",
            "elixir",
            "iex",
            "erl",
            "groovy",
        ),
        *(
            "scala",
            "jshell",
            "swipl",
            "sbcl",
            "clisp",
            "ocaml",
            "ghc",
            "irb",
            "octave",
            "gnuplot",
            "emacs",
            "emacsclient",
        ),
        *("vim", "vi", "nvim", "ex", "view", "gdb", "lldb", "luajit", "tsx", "ts-node", "rake"),
    )
)
CODE_SUFFIXES: Final = {
    **dict.fromkeys(("python", "pypy", "ipython"), (".py",)),
    **dict.fromkeys(("node", "nodejs", "deno", "bun", "tsx", "ts-node"), (".js", ".mjs", ".cjs", ".ts", ".mts")),
    "perl": (".pl", ".pm"),
    "ruby": (".rb",),
    "php": (".php",),
    **dict.fromkeys(("lua", "luajit"), (".lua",)),
}
"""How the files of a language end, which code may import."""
_MAX_COMMANDS: Final = 500  # of one program's code; where there are more, they may be any
_MAX_PARTS: Final = 200  # texts in quotes that code may put together
_CALL: Final = lazy_pattern(
    r"\b(?:system2?|popen[234]?|Popen|exec\w{0,8}|spawn\w{0,6}|run|call|check_call|check_output|getoutput|getstatusoutput"
    r"|shell_exec|passthru|proc_open|capture2e?|capture3|do shell script|qx|create_subprocess_(?:shell|exec)"
    r"|(?:async-)?shell-command(?:-to-string)?|start-process(?:-shell-command)?|call-process(?:-shell-command)?|run-program"
    r"|execute|cmd|command|shell|systemlist)"
    r"\s*+(?:[({]\s*+)?(?:[\w.]{1,40}\s*+,\s*+)?(?=[\[\"'`])|%x[({\[]|\bqx[({\[/|]|\$(?=`)"
    r"|[\"'](?:-\||\|-)[\"']\s*+,\s*+(?=[\"'])|\bposix_spawnp?\s*+\(\s*+(?=[\"'])"
    r"|\bsh(?:\s++|\s*+\(\s*+)(?=[\"'])"  # of rake
)
_NAMED_CALL: Final = lazy_pattern(
    r"\b(?:system|popen[234]?|Popen|exec\w{0,8}|spawn\w{0,6}|run|call|check_call|check_output|getoutput|shell_exec|passthru)"
    r"\s*+\(\s*+([A-Za-z_$]\w{0,60})\s*+[,)]"
)
_STARTS_PROGRAMS: Final = lazy_pattern(
    r"\{\s*+(?:exec|execSync|spawn|spawnSync)\s*+:|\bimport\s++(?:system|popen|run|call|check_\w+|Popen|getoutput)\s++as\b"
    r"|=\s*+(?:os|subprocess|child_process|cp)\.\w+\s*(?:[;,\n]|\Z)|\brequire\(.child_process.\)\.\w+\s*(?:[;,\n]|\Z)"
)  # a call that starts programs gets another name
_COMPUTED_CALL: Final = lazy_pattern(
    r"\b(?:system2?|popen[234]?|Popen|exec[lv]{0,1}[pe]{0,2}|execFile(?:Sync)?|execSync|execa|spawn[lv]{0,1}[pe]{0,2}|spawnSync|posix_spawnp?|run|call"
    r"|check_call|check_output|getoutput|getstatusoutput|shell_exec|passthru|proc_open|os\.execute|startfile)\b\s*+"
    r"(?:\(\s*+)?(?:[\"'][^\"'\n]*+[\"']\s*+[+.%\w]|\"[^\"\n]*\$\w|[$@]"
    r"|[A-Za-z_]\w{0,60}(?:\s*+[\[\"'+.,(){};%]|\s++[A-Za-z_\"'])|shift)"
    r"|\|\s*+\"[^\"\n]*\bsh\b|/[gimsx]*e[gimsxe]*\b"
)
"""A call that starts a program whose name the code puts together, reads or is given."""
_RUNS_CODE: Final = lazy_pattern(
    r"\b(?:exec|eval|compile|Function|loadstring|system|popen|Popen|run|call|check_output|execSync|spawnSync|assert)\b"
)
_DECODES: Final = lazy_pattern(
    r"fromhex|unhexlify|b(?:64|32|85)decode|a85decode|\bchr\(|fromCharCode|\batob\b|Buffer\.from|\bunpack\b|\bpack\b|rot.?13"
    r"|decompress|marshal|\[::-1\]|\breverse"
)
_LOOKS_UP: Final = lazy_pattern(
    r"\bgetattr\s*+\(\s*+(?:os|subprocess|__import__|builtins|__builtins__)|\bglobals\(\)\s*+\[|\b(?:os|subprocess|__builtins__)\.__dict__"
    r"|\bprocess\.binding|\brequire\s*+\(\s*+[^\"'\`\s)]|\b__import__\s*+\(\s*+[^\"'\s)]"
)
"""Code that runs what it looks up by a name that it makes."""
_STATEMENT_END: Final = lazy_pattern(r"[;\n]")
_ADJACENT: Final = lazy_pattern(r"\"\s*+(?:[+.]\s*+)?\"|'\s*+(?:[+.]\s*+)?'")
_ASSIGNED_TEXT: Final = lazy_pattern(
    r"\b([A-Za-z_]\w{0,60})\s*+:?=\s*+(?:\"([^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+)\"|'([^'\\\n]*+(?:\\.[^'\\\n]*+)*+)')"
)
_METHOD: Final = lazy_pattern(r"([\"'])([^\"'\n]++)\1\s*+\.\s*+(?:execute\b|!!?(?!=))")
_WRITING: Final = lazy_pattern(
    r"""\bio\.open"""
    r"""|\b(?:write_text|write_bytes|writeFile|appendFile|writeTextFile|createWriteStream|outputFile|file_put_contents|fopen|fputs)"""
    r"""|\b(?:mkdir|makedirs|mkdirSync|mkdir_p|mkpath|touch)\b|\bBun\.write|\b(?:File|IO|FileUtils|Deno|os|shutil|fs|fsp|Path)\s*+\.\s*+(?:write\w*|delete|rename\w*|replace|remove\w*"""
    r"""|unlink\w*|truncate\w*|symlink\w*|link\w*|chmod\w*|copy\w*|move|mv|cp\w*|rm\w*|open)\b|\.(?:unlink|touch|rename|replace)\(\s*\)"""
    r"""|\b(?:unlink|rename|copyFile|rm|symlink|truncate|ftruncate|chmod)(?:Sync)?\b\s*[(\s]|\b(?:writefile|write-region|delete-file)\b"""
)
_DELETING: Final = lazy_pattern(
    r"""\b(?:rmtree|remove_tree|rm_rf?|rmSync|rmdirSync|removeSync)\s*+\(\s*+(["'])([\w.*@+/-]++)\1\s*[,)]"""
)  # every such call that `ask-before-deletes-in-code` leaves to this pattern
_WRITE_MODE: Final = lazy_pattern(r"""[,(=]\s*+["'][rbt]{0,2}[wax+][bt+]{0,2}["']|["']\s*+\+?>{1,2}\s*+[\w./~$"']""")
_READING: Final = lazy_pattern(
    r"\b(?:open|fopen|file|file_get_contents|readfile|readFile(?:Sync)?|readdir(?:Sync)?|opendir(?:Sync)?|createReadStream"
    r"|readTextFile(?:Sync)?|readDir(?:Sync)?|listdir|scandir|walk|chdir|i?glob|Path|expanduser|(?:File|Dir|IO)\.\w{1,12}|Bun\.file"
    r"|require|dofile|loadfile|readLines|slurp|read_csv|read_json|loadtxt|run_path|copy\w{0,8}|io\.lines)"
    r"\s*+(?:(?:\(\s*+)?|\(?[\w$\s]{0,20},\s*+(?:[\"']<[\"'],\s*+)?)[rbu]?([\"'`])([^\"'`\n]++)\1"
    r"|\bgetline\s*+(?:\w{1,20}\s*+)?<\s*+([\"'])([^\"'\n]++)\3"
)
_HOME: Final = lazy_pattern(
    r"\bPath\.home\(\)\s*+(?:/|\.\s*+(?:iterdir|glob|rglob|joinpath|walk))|\b(?:read\w{1,20}|join|open)\s*+\([^;\n]{0,60}\bhomedir\(\)|\bDir\.home\b"
)
_SECRET_NAMES: Final = frozenset(("credentials", "authorized_keys"))
_PATH: Final = lazy_pattern(r"[<>+|\s]*+([\w.~$@%+/:-]++)")
_LITERAL: Final = lazy_pattern(
    r"(?<!\\)(?:\"([^\"\\]*+(?:\\[\s\S][^\"\\]*+)*+)\"|'([^'\\]*+(?:\\[\s\S][^'\\]*+)*+)'|`([^`\\]*+(?:\\[\s\S][^`\\]*+)*+)`)"
)
"""A quote behind a backslash begins no text: so one that never ends is looked for once."""
_ARGUMENTS: Final = lazy_pattern(r"[\s,\[(]*+(?:\w++\s*+=\s*(?![\"'`]))?[\s,\[(]*+")
_PERCENT: Final = lazy_pattern(r"(?:%x|\bqx)[({\[/|]([^)}\]/|]++)")
_BACKTICKS: Final = lazy_pattern(r"`([^`]++)`")
_QW: Final = lazy_pattern(r"\b(?:system|exec)\s*+(?:\(\s*+)?qw\s*+[({\[/|]([^)}\]/|]++)")
_ESCAPE: Final = lazy_pattern(r"\\([\"'`\\$])")
_PROGRAM: Final = lazy_pattern(r"[\w@%+=:,./-]++")
_ASSIGNED: Final = lazy_pattern(r"\b([A-Za-z_]\w*+)\s*+:?=\s*+(?:\[\s*+)?(?=[\"'`])")


def embedded_commands(texts: Sequence[str]) -> Iterator[InnerCommand]:
    """What the code in these texts, arguments or input of an interpreter, gives to a shell or starts."""
    return limit_commands(chain.from_iterable(map(_commands_of_code, texts)), _MAX_COMMANDS)


def _commands_of_code(text: str) -> Iterator[InnerCommand]:
    if _has_quotes(text):
        for call in _CALL.finditer(text):
            words = tuple(_literals_from(text, call.end()))
            if words:
                yield InnerCommand(code=words[0])
            if len(words) > 1:
                yield InnerCommand(words)
            if len(words) > 2 and words[0] == words[1]:  # execvp('git', ['git', 'push']): the program and its own name
                yield InnerCommand(words[1:])
        yield from _named_commands(text)
        if _STARTS_PROGRAMS.search(text):
            yield from _possible_commands(text)
        yield from _written_files(text)
        yield from _deleted_directories(text)
        yield from _read_files(text)
        yield from _piped_commands(text)
    if _HOME.search(text):
        yield InnerCommand(("cat", "~"))
    for pattern in (_PERCENT, _BACKTICKS, _QW):
        yield from (InnerCommand(code=found[1]) for found in pattern.finditer(text))


def computed_commands(
    words: Sequence[str], scripts: Sequence[str], inputs: Sequence[str], values: Sequence[str]
) -> Iterator[InnerCommand]:
    """What code may run if it does not name it in one piece: a text that it puts together, an argument, its input, the
    value of a variable.
    """
    given = [*inputs, *values]
    codes = [text for text in (*words[1:], *scripts, *inputs) if _computes_command(text)]
    if not codes:
        return
    if any(map(_makes_code, codes)) or any(text not in codes and not HAS_UNKNOWN.search(text) for text in inputs):
        yield InnerCommand(code=MADE_TEXT)
    for text in codes:
        yield from _joined_literals(_ADJACENT.sub("", text))
    arguments = [word for word in words[1:] if word not in codes]
    if len(arguments) > _MAX_PARTS:
        yield InnerCommand(code=MADE_TEXT)
    for at, word in enumerate(arguments[:_MAX_PARTS]):
        if not word.startswith("-"):
            yield InnerCommand(tuple(arguments[at:]))
        yield InnerCommand(code=word.partition("=")[2] or word)
    yield from (InnerCommand(code=text) for text in given if text not in codes and not HAS_UNKNOWN.search(text))


def _computes_command(text: str) -> bool:
    return _COMPUTED_CALL.search(text) is not None or _makes_code(text)


def _makes_code(text: str) -> bool:
    """Whether the code runs what it decodes or looks up."""
    if _LOOKS_UP.search(text) is not None:
        return True
    if _DECODES.search(text) is None:
        return False
    for statement in _STATEMENT_END.split(text):
        runs = _RUNS_CODE.search(statement)
        if runs is not None and _DECODES.search(statement, runs.end()):
            return True
    return False


def _joined_literals(code: str) -> Iterator[InnerCommand]:
    yield from _possible_commands(code)
    texts = list(_literals(code))
    if len(texts) > _MAX_PARTS:
        yield InnerCommand(code=MADE_TEXT)
    texts = texts[:_MAX_PARTS]
    yield InnerCommand(code="".join(texts))
    yield from (InnerCommand(tuple(texts[at:])) for at in range(len(texts)) if _PROGRAM.fullmatch(texts[at]))
    values = {found[1]: found[2] or found[3] or "" for found in _ASSIGNED_TEXT.finditer(code)}
    for text in texts:
        filled = re.sub(r"[$#]?\{?\b([A-Za-z_]\w*)\b\}?", lambda name: values.get(name[1], name[0]), text)
        if filled != text:
            yield InnerCommand(code=filled)


def _possible_commands(text: str) -> Iterator[InnerCommand]:
    """Texts of several words, in code that can start programs: the call may have another name."""
    yield from (InnerCommand(code=_ESCAPE.sub(r"\1", code)) for code in _literals(text) if " " in code.strip())


def _named_commands(text: str) -> Iterator[InnerCommand]:
    """`c = 'rm x'; os.system(c)`, and `"rm x".execute()`."""
    called = {call[1].lstrip("$") for call in _NAMED_CALL.finditer(text)}
    for assigned in _ASSIGNED.finditer(text) if called else ():
        if assigned[1] not in called:
            continue
        words = tuple(_literals_from(text, assigned.end()))
        yield from (InnerCommand(code=word) for word in words[:1])
        if len(words) > 1:
            yield InnerCommand(words)
    yield from (InnerCommand(code=method[2]) for method in _METHOD.finditer(text))


def _written_files(text: str) -> Iterator[InnerCommand]:
    """Every path in quotes, if the code writes, moves or deletes a file: which one of them is not known."""
    if paths := _paths(text) if _writes(text) else []:
        yield InnerCommand(("tee", *paths))


def _paths(text: str) -> list[str]:
    return [path for path in _names(text) if "/" in path or "." in path or path in _SECRET_NAMES]


def _names(text: str) -> dict[str, None]:
    return dict.fromkeys(path[1] for path in map(_PATH.fullmatch, _literals(text)) if path is not None)


def printed_literals(words: Sequence[str]) -> list[str]:
    """Texts of several words that code in these words may print: `python -c "print('rm x')"`."""
    found = (_ESCAPE.sub(r"\1", text) for word in words[1:] if _has_quotes(word) for text in _literals(word))
    return list(islice(dict.fromkeys(text for text in found if " " in text.strip()), _MAX_PARTS))


def written_texts(code: str) -> tuple[dict[str, None], dict[str, None]]:
    """The files that the code may write, and its texts of several words, which it may write there."""
    if not _has_quotes(code) or not _writes(code):
        return {}, {}
    texts = (_ESCAPE.sub(r"\1", text).replace("\\n", "\n") for text in _literals(code) if " " in text.strip())
    return _names(code), dict.fromkeys(texts)


def _deleted_directories(text: str) -> Iterator[InnerCommand]:
    """`shutil.rmtree("dist")`: the command `rmtree`, whatever the language calls it."""
    yield from (InnerCommand(("rmtree", call[2])) for call in _DELETING.finditer(text))


def _read_files(text: str) -> Iterator[InnerCommand]:
    found = dict.fromkeys((call[2] or call[4]).lstrip("< \t") for call in _READING.finditer(text))
    paths = [path for path in found if "/" in path or path.startswith((".", "~"))]
    if paths:
        yield InnerCommand(("cat", *paths))


def _piped_commands(text: str) -> Iterator[InnerCommand]:
    """Perl's `open(F, "ls |")`."""
    if "|" not in text or "open" not in text:
        return
    for literal in _literals(text):
        piped = literal.strip()
        if piped.startswith("|") or piped.endswith("|"):
            yield InnerCommand(code=piped.strip("|"))


def _writes(text: str) -> bool:
    return _WRITING.search(text) is not None or ("open" in text and _WRITE_MODE.search(text) is not None)


def _has_quotes(text: str) -> bool:
    return "'" in text or '"' in text or "`" in text


def has_call(words: Sequence[str]) -> bool:
    """Whether one of the words may be code that starts a program."""
    text = " ".join(words)
    if _HOME.search(text) is not None:
        return True
    if not _has_quotes(text) and not any(each in text for each in ("%x", "qx", "qw")):
        return _computes_command(text)  # nothing is quoted
    return (
        "`" in text
        or _CALL.search(text) is not None
        or _NAMED_CALL.search(text) is not None
        or _writes(text)
        or _READING.search(text) is not None
        or _METHOD.search(text) is not None
        or _QW.search(text) is not None
        or next(_piped_commands(text), None) is not None
        or _DELETING.search(text) is not None
        or _STARTS_PROGRAMS.search(text) is not None
        or _computes_command(text)
    )


def _literals(text: str) -> Iterator[str]:
    """The texts in quotes."""
    return (next(each for each in found.groups() if each is not None) for found in _LITERAL.finditer(text))


def _literals_from(text: str, at: int) -> Iterator[str]:
    """The texts in quotes that follow each other: `'rm', ['-r', 'x']`."""
    while True:
        between = _ARGUMENTS.match(text, at)
        found = _LITERAL.match(text, between.end() if between else at)
        if found is None:
            return
        yield _ESCAPE.sub(r"\1", next(each for each in found.groups() if each is not None))
        at = found.end()
