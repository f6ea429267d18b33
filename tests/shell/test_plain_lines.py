"""The short way for plain lines finds what the parser finds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from hookline.shell.plain_lines import SPECIAL_WORDS, read_plain_line
from hookline.shell.programs import CODE_BUILTINS, CODE_PROGRAMS, COMMAND_WRAPPERS, INTERPRETERS, PROGRAM_RUNNERS
from hookline.shell.run_commands import parse_text, read_commands
from hookline.shell.wrappers import SUBCOMMANDS, WRAPPERS

_PROGRAMS = sorted(
    {
        *("git", "rm", "ls", "cp", "/bin/rm", "./x", "../y.sh", "~/z", "python3.12", "Git.exe", "a.b", "1", "-x", "x-y", ":"),
        *("printf", "getopts", "at", "batch", "newgrp", "alias", "cd", "exit", "test", "kill", "BASH", "Fish", "bash5.2"),
        *("node20", "PWSH.exe", "/usr/bin/env", "a=b", "echo", "cat", "find", "sort", "tee", "[", "]", "[[", "]]", "%1"),
        *SPECIAL_WORDS,
        *CODE_BUILTINS,
        *CODE_PROGRAMS,
        *COMMAND_WRAPPERS,
        *INTERPRETERS,
        *PROGRAM_RUNNERS,
        *WRAPPERS,
    }
)  # fmt: skip
_WORDS = (
    *("a", "-r", "-rf", "--force", "--x=y", "-c", "-C", "--", "-", "-e", "b.py", "src/c.py", "~", "~/d", "a=~/b", "e=f", "=", "1"),
    *("-exec", "-S", "-v", "{}", "x,y", "^g", "a^b", "h:i", "@j", "%k", "+l", "push", "rm", "if", "in", "do", "sh", "time", "alias.p=push"),
    *("'q r'", "''", '""', '"s t"', "u'v'w", "'*'", '"?"', "'[z]'", "'{a,b}'", '"{c,d}"', "'$x'", "'a;b'", '"c|d"', "'#e'", "'f\"g'", '"h\'i"'),
    *("a\\b", "$m", '"$n"', "`o`", "*.py", "{a,b}", "#p", "!q", "&", "(", ")", "'a\nb'", "é", "2", "x2", ">", "<", "-c=a", "core.pager=x"),
    *("'a  b'", '"c   d"', "'~'", '"~/e"', "'a'=b", "'-r'", '"--force"', "'!'", '"!a"', "a'", 'b"', "'%s'", "'a=b'", "~root/x", "a:~/b"),
    *(word for words in SUBCOMMANDS.values() for word in sorted(words)),
)  # fmt: skip
_OPERATORS = (" && ", " || ", " | ", "; ", ";", "|", "&&", " ; ", " |& ", " & ", ";;", "\n", "||")
_ENDS = (
    " 2>&1",
    " 2>/dev/null",
    " > /dev/null",
    " >/dev/null",
    ">/dev/null",
    " > /dev/null 2>&1",
    " 2>&1 >/dev/null",
    " > x",
    " 2> /dev/nullx",
)


def _random_line(choose: random.Random) -> str:
    return "".join(_random_parts(choose))


def _random_parts(choose: random.Random) -> Iterator[str]:
    for number in range(choose.choice((1, 1, 1, 2, 3))):
        if number:
            yield choose.choice(_OPERATORS[:8] if choose.random() < 0.9 else _OPERATORS)
        yield choose.choice(
            _PROGRAMS if choose.random() < 0.5 else _PROGRAMS[:1] + ["git", "ls", "rm", "docker", "npm"]
        )
        for _ in range(choose.randrange(5)):
            yield choose.choice((" ", " ", " ", "  "))
            yield choose.choice(_WORDS)
        if choose.random() < 0.2:
            yield choose.choice(_ENDS)
    if choose.random() < 0.1:
        yield choose.choice((" ", ";", " ;", " &", "\n", " &&", "|"))


def test_finds_what_the_parser_finds() -> None:
    choose = random.Random(20)
    plain = 0
    for _ in range(20_000):
        line = _random_line(choose)
        if line.isascii() and read_plain_line(line) is not None:
            plain += 1
            assert read_commands(line) == parse_text(line), line
            assert [each.operator for each in read_commands(line).commands] == [
                each.operator for each in parse_text(line).commands
            ], line
    assert plain > 2_000


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "git log --oneline -n 5",
        "git add a.py && git commit -m 'Change it'",
        'grep -rn "a b" src | head -20',
        "cd x; ls -l || echo no",
        "python -m pytest -q 2>&1 | tail -5",
        "ls -l > /dev/null 2>&1",
        "npm run build --workspace=a",
        "/usr/bin/git status",
    ],
)
def test_reads_everyday_lines(line: str) -> None:
    assert read_plain_line(line) is not None
    assert read_commands(line) == parse_text(line)


@pytest.mark.parametrize(
    "line",
    [
        *("", " ls", "ls $x", "ls `x`", "ls $(x)", "ls *", "a=b ls", "ls {a,b}", "ls #x", "ls > x", "ls < x", "(ls)", "ls &"),
        *("sudo ls", "sh -c ls", "eval ls", "xargs rm", "find . -delete", "npm exec x", "git -c alias.p=push p", "git rebase x"),
        *("if ls", "! ls", "time ls", "f() { ls", "ls \\\n-l", "ls\nls", 'ls "$x"', "printf -v x rm", "ls |& sh", "ls &&"),
    ],
)  # fmt: skip
def test_leaves_the_rest_to_the_parser(line: str) -> None:
    assert read_plain_line(line) is None
