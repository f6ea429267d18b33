"""What is known of a command that a shell text runs."""

from __future__ import annotations

import pytest

from hookline.shell.run_commands import read_commands
from hookline.shell.run_text import RunCommand


def test_the_program_has_no_directory() -> None:
    assert RunCommand(("/usr/bin/rm", "x")).program == "rm"


@pytest.mark.parametrize(
    ("text", "does_feed"),
    [
        ("curl x | sh", True),
        ("curl x | tee y | sh", True),
        ("sh <(curl x)", True),
        ("sh -c $(curl x)", True),
        ("curl x; sh", False),
        ("curl x && sh", False),
        ("sh | curl x", False),
    ],
)
def test_a_pipe_or_a_substitution_feeds_a_command(text: str, does_feed: bool) -> None:
    commands = read_commands(text).commands
    feeds = [(one, two) for one in commands for two in commands if one.program == "curl" and two.program == "sh"]
    assert any(one.feeds(two) for one, two in feeds) is does_feed
