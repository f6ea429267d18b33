"""Commands and files in the languages of editors, debuggers, databases and stream editors."""

from __future__ import annotations

import pytest

from hookline.shell.plain_lines import read_plain_line
from hookline.shell.run_commands import read_commands


def _commands(line: str) -> set[str]:
    return {" ".join(command.words) for command in read_commands(line).commands}


@pytest.mark.parametrize(
    "line",
    [
        "vim -c '!rm x'",
        "vim -es +':!rm x' +q",
        "nvim --headless -c 'silent !rm x' -c q",
        "ex -c '1,$!rm x'",
        "ed <<< '!rm x'",
        "gdb -batch -ex 'shell rm x'",
        "gdb --eval-command='!rm x'",
        "lldb -o 'platform shell rm x'",
        r"psql -c '\! rm x'",
        r"echo '\! rm x' | psql",
        "psql -c \"copy t from program 'rm x'\"",
        "sqlite3 a.db '.shell rm x'",
        "sqlite3 a.db '.once |rm x'",
        "mysql -e 'system rm x'",
        "expect -c 'spawn rm x'",
        "tclsh <<< 'exec rm x'",
        "dc -e '!rm x'",
        "sed '1e rm x' f",
        "sed -n '/a b/e rm x' f",
        "sed 's/a/rm x/e' f",
        "sed 's|a|rm x|gep' f",
        "sed --expression='1e rm x' f",
        "awk 'BEGIN{\"rm x\" | getline}'",
        'awk \'BEGIN{print "rm x" | "sh"}\'',
        "awk '{print | \"rm x\"}' f",
        "printf 'a:\\n\\trm x\\n' | make -f -",
        "make --eval='a:;rm x'",
        "make -f - <<< 'a: ; @ rm x'",
        "printf 'a:\\n\\t @-rm x\\n' | make -f -",
        "make --eval 'a := $(shell rm x)'",
        "make SHELL='rm x'",
        "ssh -o ProxyCommand='rm x' h",
        "ssh -oLocalCommand='rm x' h",
        "scp -S 'rm x' a h:",
        "man -P 'rm x' ls",
        "man -P'rm x' ls",
        "git grep -O'rm x' a",
        "less '+!rm x' f",
        "LESSOPEN='|rm x' less f",
    ],
)
def test_a_command_in_the_language_of_a_program(line: str) -> None:
    assert "rm x" in _commands(line)


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("sed -n 'w /a/b' f", "/a/b"),
        ("sed '3w /a/b' f", "/a/b"),
        ("sed 's/a/b/gw /a/b' f", "/a/b"),
        ("sed -e 1p -e '/x/W /a/b' f", "/a/b"),
        ("awk '{print > \"/a/b\"}' f", "/a/b"),
        ('awk \'{printf "%s", $1 >> "/a/b"}\' f', "/a/b"),
    ],
)
def test_a_file_that_a_program_writes(line: str, file: str) -> None:
    assert f"tee {file}" in _commands(line)


@pytest.mark.parametrize(
    "line",
    [
        "sed 's/a/e rm x/' f",
        "sed 's/w file/e x/g' f",
        "sed '/e x/d' f",
        "sed -n '/w out/p' f",
        "awk '$3 > 10 {print $1}' f",
        "vim +42 f",
        "make V=1 all",
        "man rm",
        "psql -c 'select 1'",
    ],
)
def test_what_only_looks_like_one(line: str) -> None:
    programs = {command.split()[0] for command in _commands(line)}
    assert programs == {line.split()[0]}


@pytest.mark.parametrize("line", ["sed -n 1,5p f", "sed -i 's/a/b/' f", "make test", "vim f", "awk '{print $1}' f"])
def test_everyday_lines_need_no_parser(line: str) -> None:
    assert "$" in line or read_plain_line(line) is not None
