"""What a field of a shell's call is for, by the words of its name."""

from __future__ import annotations

import pytest

from hookline.hooks.field_roles import FieldRole, role_of


@pytest.mark.parametrize(
    ("role", "names"),
    [
        (FieldRole.LINE, ["command", "cmd", "Command", "command-line", "ｃommand", "com\u200bmand", "script", "commandToRun", "code"]),
        (FieldRole.PROGRAM, ["program", "executable", "binary", "entrypoint", "program_path", "shell"]),
        (FieldRole.ARGUMENTS, ["args", "Args", "argv", "extra_args", "extraArgs", "arg1", "ArgumentList", "options", "flags"]),
        (FieldRole.COMMANDS, ["commands", "cmds", "steps", "pipeline", "post_commands", "then"]),
        (FieldRole.TYPED, ["stdin", "input", "keys", "stdinText", "standard_input"]),
        (FieldRole.ENVIRONMENT, ["env", "environment", "env_vars", "variables"]),
        (FieldRole.ENCODING, ["encoding", "is_base64", "stdin_encoding"]),
        (FieldRole.OTHER, ["description", "cwd", "timeout", "command_id", "", "命令", 5]),
    ],
)  # fmt: skip
def test_the_role_of_a_name(role: FieldRole, names: list[object]) -> None:
    assert {name: role_of(name) for name in names} == dict.fromkeys(names, role)


def test_a_long_name_is_read_by_its_ends() -> None:
    assert role_of("x" * 10_000 + "_args") is FieldRole.ARGUMENTS
