"""The environment of a program, as the program sees it."""

from __future__ import annotations

import asyncio

import pytest

from hookline.hooks.host import Command, bytecode_directory, inherited_environment
from hookline.runners.process import ProcessLimit, run_program


def seen(command: Command) -> dict[str, str]:
    printed = asyncio.run(run_program(command, slots=ProcessLimit())).stdout
    return dict(entry.split("=", 1) for entry in printed.split("\0") if entry)


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_OURS", "1")
    monkeypatch.setenv("ALSO_OURS", "2")


ENV = ("/usr/bin/env", "-0")


def test_ours_is_inherited_and_added_to() -> None:
    got = seen(Command(argv=ENV, env={"NEW": "it's\n☃", "ALSO_OURS": "changed"}))
    assert (got["OF_OURS"], got["ALSO_OURS"], got["NEW"]) == ("1", "changed", "it's\n☃")


def test_nothing_is_inherited() -> None:
    assert seen(Command(argv=ENV, inherit_env=False, env={"NEW": "x"})) == {"NEW": "x"}


def test_just_these_names_are_inherited() -> None:
    assert seen(Command(argv=ENV, inherit_env=("OF_OURS", "NOT_THERE"))) == {"OF_OURS": "1"}


def test_a_name_of_ours_can_be_kept_from_it() -> None:
    got = seen(Command(argv=ENV, without_env=("OF_OURS", "ALSO_OURS"), env={"ALSO_OURS": "given"}))
    assert "OF_OURS" not in got
    assert got["ALSO_OURS"] == "given"


def test_nul_is_removed_and_impossible_names_are_left_out() -> None:
    given = {"A": "x\0y\ud800", "B=C": "1", "D\0": "2", "": "3"}
    assert seen(Command(argv=ENV, inherit_env=False, env=given)) == {"A": "xy?"}


@pytest.mark.parametrize("letter", ["x", "☃"])
def test_a_long_value_is_cut_and_says_so(letter: str) -> None:
    value = seen(Command(argv=ENV, inherit_env=False, env={"LONG": letter * (1 << 20)}))["LONG"]
    assert 131_000 < len(value.encode()) + len("LONG=") < 131_072
    assert value.endswith(letter + "…[cut]")


def test_a_value_just_short_enough_is_whole() -> None:
    value = "x" * (131_072 - len("LONG=") - 1)
    assert seen(Command(argv=ENV, inherit_env=False, env={"LONG": value}))["LONG"] == value


def test_many_long_values_are_cut_until_they_fit() -> None:
    given = {f"LONG_{number}": "x" * 200_000 for number in range(40)}
    finished = asyncio.run(run_program(Command("env | grep -c '^LONG_.*x…\\[cut]$'", env=given), slots=ProcessLimit()))
    assert finished.stdout == "40\n"


def test_programs_inherit_from_whoever_is_decided_for() -> None:
    token = inherited_environment.set({b"THEIRS": b"\xff", b"PATH": b"/usr/bin:/bin"})
    try:
        command = Command(text='printf %s "${THEIRS}${OF_OURS-none}"')
        assert asyncio.run(run_program(command, slots=ProcessLimit())).stdout == "\ufffdnone"
        assert seen(Command(argv=ENV, inherit_env=("PATH", "OF_OURS"))) == {"PATH": "/usr/bin:/bin"}
    finally:
        inherited_environment.reset(token)


@pytest.mark.parametrize("inherit", [True, False, ("PATH",)])
def test_no_environment_says_where_accepted_modules_are_compiled_to(
    monkeypatch: pytest.MonkeyPatch, inherit: bool | tuple[str, ...]
) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/of/the/agent")
    token = bytecode_directory.set("/private")
    try:
        got = seen(Command(argv=ENV, inherit_env=inherit, env={"PYTHONPYCACHEPREFIX": "/of/the/hook"}))
    finally:
        bytecode_directory.reset(token)
    assert got["PYTHONPYCACHEPREFIX"] == "/private"
