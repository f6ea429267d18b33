"""The words of a command, and which of them may run files that the command does not name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.shell.run_patterns import ShellToken, find_run_patterns, tokenize


def patterns(command: str) -> list[str]:
    return find_run_patterns(tokenize(command))


def test_words_lose_their_quotes_and_operators_are_marked() -> None:
    assert list(tokenize("""cat 'a b'"c\\"d"\\ e|sh>out""")) == [
        ShellToken("cat"),
        ShellToken('a bc\\"d e'),
        ShellToken("|", is_operator=True),
        ShellToken("sh"),
        ShellToken(">", is_operator=True),
        ShellToken("out"),
    ]


@given(st.text("ab'\"\\$;&|()`<> \n{}"))
def test_no_text_is_too_odd_for_it(text: str) -> None:
    assert all(token.text is not None for token in tokenize(text))
    patterns(text)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls src", []),
        ("ruff check src", []),
        ("bash hooks/*.sh", ["hooks/*.sh"]),
        ("sh -e $DIR/check.sh", ["check.sh"]),
        ("python3.12 hooks/$NAME.py", ["hooks/*.py"]),
        ("hooks/check-*", ["hooks/check-*"]),
        ("source ./env.sh", ["./env.sh"]),
        ("run-parts hooks.d", ["hooks.d"]),
        ("X=$Y ls", []),
        ("case $1 in *.py) ls;; *.sh) ls;; esac", []),
    ],
)
def test_what_a_command_runs_by_a_pattern_is_found(command: str, expected: list[str]) -> None:
    assert patterns(command) == expected


@pytest.mark.parametrize("command", ["find hooks | xargs bash", "find hooks | sh", "for f in hooks; do bash $f; done"])
def test_a_shell_that_runs_something_unknown_may_run_any_argument(command: str) -> None:
    assert "hooks" in patterns(command)
