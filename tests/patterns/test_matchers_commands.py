"""Which programs a shell line starts."""

from __future__ import annotations

import time

import pytest

from hookline.patterns.matchers import command_prefix, shorthand, starts_command
from hookline.patterns.pattern import BadPattern, Pattern
from hookline.shell.command_readings import command_readings


def is_started(line: str, asked: Pattern) -> bool:
    return any(asked.search(text) for texts in command_readings(line) for text in texts)


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        ("rm *", ["rm", "rm -rf x", " rm  x", "a; rm x", "a&&rm x", "a | rm", "$(rm x)", "`rm x`", "{ rm x; }", "A=1 B='c d' rm x", "timeout -k 1 5s rm x", "nohup nice -n 5 rm x", "if rm x; then ls; fi", "ls\nrm x", "rm>x", "xargs rm"], ["rmdir x", "git rm x", "farm x", "echo rm", "rm-rf", ""]),
        ("rm:*", ["rm", "rm x"], ["rmdir"]),
        ("ls*", ["ls", "lsof"], ["als"]),
        ("npm test", ["npm test", "npm  test ", "npm test; ls", "npm test > log", "npm test 2>&1"], ["npm test x", "npm tests", "npm"]),
        ("git * main", ["git push main", "git push origin main"], ["git push main x", "git main2"]),
        ("* --force", ["x --force", "git push --force"], ["x --forced"]),
        ("*", ["", "x"], []),
        ("a.b *", ["a.b c"], ["axb c"]),
        ("é *", ["é x"], ["e x"]),
    ],
)  # fmt: skip
def test_starts_matches_programs(rule: str, yes: list[str], no: list[str]) -> None:
    asked = starts_command(rule)
    assert [text for text in yes if not is_started(text, asked)] == []
    assert [text for text in no if is_started(text, asked)] == []


@pytest.mark.parametrize(
    ("prefix", "yes", "no"),
    [
        (
            "git",
            ["git", "git status", "  git status", "git\tx", "git\nx", "git;ls", "git&&ls", "git|cat"],
            ["gitk", "git-lfs", "my git", "Git", ""],
        ),
        ("git push", ["git push", "git  push -f", "git push;x"], ["git pushx", "git", "git status push"]),
        ("npm run ", ["npm run", "npm run x"], ["npm runner"]),
        ("./a.sh", ["./a.sh x"], ["./axsh"]),
        ("", ["anything", ""], []),
    ],
)
def test_command_prefixes(prefix: str, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not is_started(text, command_prefix(prefix))] == []
    assert [text for text in no if is_started(text, command_prefix(prefix))] == []


@pytest.mark.parametrize("rule", ["rm *", "* a * b * c", "git * main"])
@pytest.mark.timing
def test_no_length_silences_a_rule(rule: str) -> None:
    begun = time.monotonic()
    asked = shorthand("starts", rule).pattern
    assert is_started("a=1 timeout 5 " * 20_000 + "x a b", asked)
    assert not is_started("a=1 timeout 5 " * 500 + "x a b", asked)
    assert time.monotonic() - begun < 10


def test_a_rule_without_end_is_refused() -> None:
    with pytest.raises(BadPattern):
        starts_command("x" * 3_000)
