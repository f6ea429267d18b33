"""Programs that a line gives another name."""

from __future__ import annotations

import pytest

from hookline.shell.renamed_programs import renamed_files
from hookline.shell.run_commands import read_commands
from hookline.shell.run_text import UNREADABLE


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cp /bin/git x", [("x", "/bin/git")]),
        ("cp -t d /bin/git", [("d", "/bin/git")]),
        ("ln -s a b", [("b", "a")]),
        ("dd if=a of=b bs=1", [("b", "a")]),
        ("hash -p /bin/git x", [("x", "/bin/git")]),
        ("hash -r", []),
        ("cp x", []),
    ],
)
def test_a_copy_has_its_first_name(command: str, files: list[tuple[str, str]]) -> None:
    words = command.split()
    assert list(renamed_files(words[0], words)) == files


@pytest.mark.parametrize(
    "text",
    [
        "cp $(which git) x; ./x push",
        "ln -s /usr/bin/git /tmp/x && /tmp/x push",
        "cp /usr/bin/git a; mv a b; ./b push",
        "cat /usr/bin/git > x; chmod +x x; ./x push",
        "f() { ./x push; }; cp /bin/git x; f",
    ],
)
def test_a_copied_program_is_the_program(text: str) -> None:
    assert "push" in {command.words[1] for command in read_commands(text).commands if command.program == "git"}


def test_files_that_are_moved_to_and_fro_are_read() -> None:
    found = read_commands("mv a b; ./a; mv b a; ./a; cp a a; ./a")
    assert found is not UNREADABLE
    assert {command.program for command in found.commands} == {"mv", "cp", "a"}
