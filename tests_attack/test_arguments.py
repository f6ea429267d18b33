"""A value in a list of arguments, or in a variable, that tries to run: refused when the file is read, or a literal."""

import itertools
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attempts import Attempt

from hookline.errors import ConfigError
from hookline.testing import fire

CANARY = "canary"
VALUES = {
    "shell": (
        f"$(touch {CANARY})",
        f"';touch {CANARY};'",
        f'";touch {CANARY};"',
        f"x\ntouch {CANARY}\n",
        f"`touch {CANARY}`",
    ),
    "python": (f"open('{CANARY}', 'w')", f"');open('{CANARY}', 'w');('", f"-copen('{CANARY}', 'w')"),
    "perl": (
        f"system('touch {CANARY}')",
        f"-esystem('touch {CANARY}')",
        f"'.system('touch {CANARY}').'",
        f"touch {CANARY}|",
    ),
    "awk": (f'BEGIN {{system("touch {CANARY}")}}', f'x/; BEGIN {{system("touch {CANARY}")}} /'),
    "sed": (f"1e touch {CANARY}", f"-e1e touch {CANARY}", f"x/e;1e touch {CANARY}\n#"),
    "program": ("./evil", "PATH=. evil", "-S./evil", "--split-string=./evil"),
}
SHELL_CODE = (
    "{}",
    "echo {}",
    "echo '{}'",
    'echo "{}"',
    'echo "$(echo {})"',
    "[[ {} == x ]]",
    "case x in {}) ;; esac",
    "test -f {}",
)
PREFIXES = ((), ("env", "A=1"), ("nohup",), ("timeout", "5"), ("env", "-i", "PATH=/bin:/usr/bin"), ("nice", "-n", "1"))
ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "python": (
        ("python3", "-c", "{}"), ("python3", "-c", "print('{}')"), ("python3", "{}"), ("python3", "-c{}"),
        ("python3", "-uc", "{}"), ("python3", "-W", "{}", "-c", "1"), ("python3", "-m", "timeit", "{}"), ("python3", "-B", "{}"),
    ),
    "perl": (
        ("perl", "-e", "{}"), ("perl", "-e", "print '{}'"), ("perl", "{}"), ("perl", "-ne", "1", "{}"), ("perl", "-e", "1", "-e", "{}"),
        ("perl", "-w", "{}"), ("perl", "-pe", "1", "{}", "/dev/null"), ("perl", "-pe", "1", "--", "{}"),
    ),
    "awk": (("awk", "{}"), ("awk", "/{}/", "/dev/null"), ("awk", "-v", "x=1", "{}"), ("awk", "--", "{}")),
    "sed": (("sed", "{}", "f"), ("sed", "s/a/{}/", "f"), ("sed", "-n", "p", "f", "{}"), ("sed", "-e", "{}", "f"), ("sed", "-n", "{}", "f")),
    "program": (
        ("{}",), ("env", "{}"), ("env", "{}", "true"), ("env", "A=1", "{}"), ("nohup", "{}"), ("timeout", "5", "{}"), ("xargs", "{}"),
        ("setarch", "-R", "{}"), ("linux64", "{}"), ("prlimit", "{}"), ("setpriv", "{}"), ("uv", "run", "{}"), ("run-parts", "{}"),
        ("wget", "--use-askpass={}", "http://127.0.0.1:1/"), ("gcc", "-wrapper", "{}", "f"), ("pipx", "run", "{}"),
        ("nice", "{}"), ("find", ".", "-maxdepth", "0", "-exec", "{}", ";"), ("git", "-c", "alias.x=!{}", "x"), ("setsid", "{}"),
    ),
}  # fmt: skip
VARIABLES = (
    "BASH_ENV",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "PATH",
    "LD_PRELOAD",
    "BASH_FUNC_true%%",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {CANARY}\n", encoding="utf-8")
    evil.chmod(0o755)
    (tmp_path / "f").write_text("a\n", encoding="utf-8")
    return tmp_path


def runs(then: dict[str, Any], value: str) -> bool:
    """Whether the value ran."""
    config = {"hooks": [{"id": "h", "on": "tool.before", "then": {"stdin": "none", **then}, "on_error": "closed"}]}
    cwd = os.getcwd()
    with suppress(ConfigError):  # refused when the file is read
        fire(config, {"name": "tool.before", "cwd": cwd, "tool": {"name": "bash", "input": {"v": value}}})
    if not os.path.exists(CANARY):
        return False
    os.unlink(CANARY)
    return True


def test_a_value_in_the_code_of_a_shell(attempt: Attempt) -> None:
    shells = [shell for shell in ("bash", "sh", "dash", "zsh", "ksh") if shutil.which(shell)]
    for shell, prefix, code, value in itertools.product(shells, PREFIXES[:2], SHELL_CODE, VALUES["shell"][:3]):
        argv = [*prefix, shell, "-c", code.format("{{input.v}}")]
        attempt("value in the code of a shell", runs({"run": argv}, value), f"{argv} with {value!r}")


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_a_value_where_a_program_takes_code(kind: str, attempt: Attempt) -> None:
    for prefix, arguments, value in itertools.product(PREFIXES, ARGUMENTS[kind], VALUES[kind]):
        argv = [*prefix, *(word.format("{{input.v}}") for word in arguments)]
        attempt("value as an argument that is code", runs({"run": argv}, value), f"{argv} with {value!r}")
        then = {"run": "true", "only_if": argv}
        attempt("value as an argument that is code", runs(then, value), f"only_if {argv} with {value!r}")


def test_a_value_in_a_variable_that_programs_obey(attempt: Attempt) -> None:
    values = (
        f"$(touch {CANARY})",
        "./evil",
        ".",
        f"() {{ touch {CANARY}; }}",
        f"-Mvars;system('touch {CANARY}')",
        "xtrace",
    )
    programs: tuple[Any, ...] = ("true", ["bash", "-c", "true"], ["bash", "-xc", "evil"], ["perl", "-e", "1"], ["evil"])
    for name, value, program in itertools.product(VARIABLES, values, programs):
        then = {"run": program, "env": {name: "{{input.v}}"}}
        attempt("value in a variable that programs obey", runs(then, value), f"{then} with {value!r}")
