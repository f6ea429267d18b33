"""The commands that code in another language starts."""

from __future__ import annotations

import pytest

from hookline.shell.embedded_code import embedded_commands, has_call
from hookline.shell.run_commands import parse_text, read_commands


def found(code: str) -> list[str]:
    return [" ".join(inner.words) if inner.code is None else inner.code for inner in embedded_commands([code])]


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.system('rm -r x')",
        'subprocess.run(["rm", "-r", "x"], check=True)',
        "subprocess.check_output('rm -r x', shell=True)",
        'system("rm -r x")',
        'system "rm", "-r", "x"',
        "`rm -r x`",
        "%x(rm -r x)",
        "qx{rm -r x}",
        "require('child_process').execSync('rm -r x')",
        "spawn('rm', ['-r', 'x'])",
        "execFileSync(`rm`, [`-r`, `x`])",
        'BEGIN { system("rm -r x") }',
        'do shell script "rm -r x"',
        'shell_exec("rm -r x");',
        r"os.system(\"rm -r x\")".replace("\\", ""),
    ],
)
def test_a_call_that_starts_a_program_is_found(code: str) -> None:
    assert has_call([code])
    assert "rm -r x" in found(code)


@pytest.mark.parametrize("code", ["print('rm -r x')", "{print $1}", "x = 'system'", "import json", "run = 1"])
def test_other_code_starts_nothing(code: str) -> None:
    assert found(code) == []


@pytest.mark.parametrize(
    "line",
    [
        """python3 -c 'import os; os.system("rm -r x")'""",
        """echo 'import os; os.system("rm -r x")' | python3""",
        "python3 <<'END'\nimport os\nos.system('rm -r x')\nEND\n",
        """awk 'BEGIN{system("rm -r x")}'""",
        """sudo perl -e 'system("rm -r x")'""",
    ],
)
def test_it_is_a_command_of_the_line(line: str) -> None:
    assert ("rm", "-r", "x") in [command.words for command in read_commands(line).commands]
    assert read_commands(line).commands == parse_text(line).commands


def test_hostile_code_ends_soon() -> None:
    assert len(found("system('x')" * 1_000)) <= 200
    found("system(" + "'" * 50_000)
    found("run([" + "'a', " * 20_000)
    found("qx{" * 20_000 + "`" * 20_001)
