"""What a command reads and prints decides what the shell runs next."""

from __future__ import annotations

import pytest

from hookline.shell.command_query import CommandQuery
from hookline.shell.grammar import HAS_UNKNOWN
from hookline.shell.run_commands import read_commands

_PUSH = CommandQuery(("git",), ("push",))


@pytest.mark.parametrize(
    "text",
    [
        "sh <<< 'git push'",
        "echo 'git push' | sh",
        "echo git push | tee log | sh",
        "echo 'git push' | cat | sh",
        "while read line; do $line; done <<< 'git push'",
        "exec 3<<<'git push'; sh <&3",
        "{ echo ls; echo git push; } | sh",
        "git log --format='git push' | sh",
        "python3 -c \"print('git push')\" | sh",
        "find . -printf 'git push' | sh",
        "echo 'git push' > x; cat x | sh",
        "sh <(echo git push)",
    ],
)
def test_what_reaches_a_shell_is_run(text: str) -> None:
    assert any(_PUSH.answer(each) for each in read_commands(text).commands)


@pytest.mark.parametrize(
    "text", ["echo 'git push'", "echo 'git push' | cat", "echo 'git push'; sh y", "sh x | echo 'git push'"]
)
def test_what_reaches_no_shell_is_not_run(text: str) -> None:
    assert not any(_PUSH.answer(each) for each in read_commands(text).commands)


def test_what_only_the_program_knows_may_be_anything() -> None:
    commands = read_commands("make-script | sh").commands
    assert any(HAS_UNKNOWN.search(each.words[0]) for each in commands)
    assert not any(HAS_UNKNOWN.search(each.words[0]) for each in read_commands("make-script | wc").commands)
