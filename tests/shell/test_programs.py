"""The tables of interpreters and wrappers."""

from __future__ import annotations

import pytest

from hookline.shell.programs import INTERPRETERS, CommandWrapper, program_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/usr/bin/python3.12", "python"),
        ("python", "python"),
        ("perl5.38", "perl"),
        ("./bin/bash", "bash"),
        ("sha256sum", "sha256sum"),
        ("7z", "7z"),
        ("tool2", "tool2"),
    ],
)
def test_a_program_is_named_without_its_path_and_an_interpreters_version(path: str, name: str) -> None:
    assert program_name(path) == name


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("-i", 1),
        ("-iv", 1),
        ("--", 1),
        ("-u", 2),
        ("-uroot", 1),
        ("--user=root", 1),
        ("-x", None),
        ("-ix", None),
        ("--user", None),
    ],
)
def test_a_wrappers_option_takes_its_value_along(option: str, words: int | None) -> None:
    assert CommandWrapper(flags="iv", value_options="u").count_option_words(option) == words


@pytest.mark.parametrize(
    ("program", "option"),
    [("python", "-c"), ("python", "-um"), ("perl", "-ne"), ("node", "-e"), ("awk", "-f"), ("sed", "-ne")],
)
def test_the_options_that_take_code_are_known(program: str, option: str) -> None:
    assert INTERPRETERS[program].code.fullmatch(option)


@pytest.mark.parametrize(("program", "option"), [("python", "-u"), ("perl", "-n"), ("sed", "-n")])
def test_a_flag_takes_no_code(program: str, option: str) -> None:
    assert not INTERPRETERS[program].code.fullmatch(option)
    assert INTERPRETERS[program].flags.fullmatch(option)
