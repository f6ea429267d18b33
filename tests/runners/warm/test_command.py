"""Which commands only run a Python file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hookline.hooks.host import Command
from hookline.runners.warm.command import PythonFile, encode_for_process, parse_python_command

PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(PYTHON)
    (tmp_path / "hook.py").write_text("print()")
    (tmp_path / "my hook.py").write_text("print()")
    return tmp_path


def parse(folder: Path, command: str | list[str], **variables: str) -> PythonFile | None:
    env = {b"PATH": os.fsencode(folder / "bin"), **{name.encode(): value.encode() for name, value in variables.items()}}
    if isinstance(command, str):
        return parse_python_command(Command(command, cwd=str(folder)), env)
    return parse_python_command(Command(argv=tuple(command), cwd=str(folder)), env)


@pytest.mark.parametrize(
    ("command", "script", "arguments"),
    [
        ("python3 hook.py", "hook.py", ()),
        ("  python3\thook.py --file=a.b 'x  y' ", "hook.py", ("--file=a.b", "x  y")),
        ('python3 "my hook.py" ""', "my hook.py", ("",)),
        ("python3 ./hook.py a'b'\"c\"", "./hook.py", ("abc",)),
        (["python3", "hook.py", "$x; `y`"], "hook.py", ("$x; `y`",)),
        ([PYTHON, "hook.py"], "hook.py", ()),
    ],
)
def test_a_command_that_only_runs_a_file_is_recognised(
    folder: Path, command: str | list[str], script: str, arguments: tuple[str, ...]
) -> None:
    found = parse(folder, command)
    assert found is not None
    assert (found.script, found.arguments, found.shell) == (script, arguments, isinstance(command, str))
    assert found.file == (f"{os.path.realpath(folder)}/{script}")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "python3",
        "python3 none.py",
        "python3 -u hook.py",
        "python3 -c hook.py",
        "python3 hook.py | cat",
        "python3 hook.py; ls",
        "python3 hook.py > out",
        "python3 $HOOK",
        "python3 *.py",
        "python3 hook.py ~",
        "python3 hook.py # x",
        "X=1 python3 hook.py",
        "exec python3 hook.py",
        "python3 hook.py\nls",
        "python3 hook.py \\x",
        "python2 hook.py",
        "ruby hook.py",
    ],
)
def test_any_other_command_is_left_to_a_shell(folder: Path, command: str) -> None:
    assert parse(folder, command) is None


@pytest.mark.parametrize(
    ("variables", "plain"),
    [
        ({"PYTHONUNBUFFERED": "1"}, True),
        ({"PYTHONPATH": "/x"}, False),
        ({"PYTHONHOME": "/x"}, False),
        ({"BASH_ENV": "/x"}, False),
        ({"IFS": "x"}, False),
    ],
)
def test_an_environment_that_could_change_python_or_bash_is_not_plain(
    folder: Path, variables: dict[str, str], plain: bool
) -> None:
    assert (parse(folder, "python3 hook.py", **variables) is not None) is plain


def test_without_a_shell_its_variables_do_not_matter(folder: Path) -> None:
    assert parse(folder, ["python3", "hook.py"], BASH_ENV="/x") is not None


@pytest.mark.parametrize(
    ("first_line", "found"),
    [
        ("#!/usr/bin/env python3", True),
        ("#!{python}", True),
        ("#!/usr/bin/env -S python3 -u", False),
        ("#!/bin/sh", False),
        ("print()", False),
    ],
)
def test_an_executable_file_is_read_by_its_shebang(folder: Path, first_line: str, found: bool) -> None:
    hook = folder / "hook.py"
    hook.write_text(first_line.format(python=folder / "bin" / "python3") + "\n")
    assert parse(folder, "./hook.py") is None
    hook.chmod(0o755)
    assert (parse(folder, "./hook.py") is not None) is found
    assert parse(folder, "hook.py") is None


def test_a_wrapper_script_is_not_an_interpreter(folder: Path) -> None:
    (folder / "bin" / "python3").unlink()
    (folder / "bin" / "python3").write_text("#!/bin/sh\n")
    (folder / "bin" / "python3").chmod(0o755)
    assert parse(folder, "python3 hook.py") is None


def test_bash_variables_are_set_as_bash_would(folder: Path) -> None:
    found = parse(folder, "python3 hook.py", PWD="/")
    assert found is not None
    assert found.env[b"PWD"] == os.fsencode(os.path.realpath(folder))
    assert found.env[b"_"] == os.fsencode(folder / "bin" / "python3")


def test_a_value_is_encoded_without_what_no_process_can_get() -> None:
    assert encode_for_process("ü\0\ud800") == "ü?".encode()
