"""The commands that code in another language starts."""

from __future__ import annotations

import pytest

from hookline.shell.embedded_code import embedded_commands, has_call
from hookline.shell.filters import MADE_TEXT
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


@pytest.mark.parametrize(
    "line",
    [
        "python3 -c \"open('a/b', 'w')\"",
        "python3 -c \"import os; open(os.path.expanduser('a/b'), mode='a')\"",
        "python3 -c \"Path('a/b').write_text('')\"",
        "python3 -c \"os.remove('a/b')\"",
        "python3 - <<'E'\nopen('a/b', 'wb')\nE",
        "node -e \"fs.writeFileSync('a/b', '')\"",
        "perl -e 'open(F, \">a/b\")'",
        "perl -e 'unlink \"a/b\"'",
        'ruby -e \'File.write("a/b", "")\'',
        'php -r \'file_put_contents("a/b", "");\'',
    ],
)
def test_code_that_writes_a_file_counts_as_tee(line: str) -> None:
    assert ("tee", "a/b") in {command.words for command in read_commands(line).commands}


@pytest.mark.parametrize(
    "line",
    [
        """python3 -c "print(open('a/b').read())\"""",
        """python3 -c "import os; os.chdir('a/b')\"""",
        """python3 -c "from pathlib import Path; Path('a/b').read_text()\"""",
        """node -e "require('fs').readFileSync('a/b')\"""",
        """ruby -e 'puts File.read("a/b")'""",
        """perl -e 'open(my $f, "<", "a/b")'""",
        """php -r 'readfile("a/b");'""",
        """awk 'BEGIN{getline l < "a/b"}'""",
        """python3 <<'X'\nprint(open('a/b').read())\nX""",
    ],
)
def test_code_that_reads_a_file_counts_as_cat(line: str) -> None:
    assert ("cat", "a/b") in {command.words for command in read_commands(line).commands}


@pytest.mark.parametrize("line", ["python3 -c \"print(open('a/b').read())\"", "node -p \"require('./a/b').x\""])
def test_code_that_only_reads_writes_nothing(line: str) -> None:
    assert "tee" not in {command.program for command in read_commands(line).commands}


@pytest.mark.parametrize(
    "line",
    [
        "python3 -c \"c = 'rm x'; os.system(c)\"",
        "awk 'BEGIN{c=\"rm x\"; system(c)}'",
        "emacs --batch --eval '(shell-command \"rm x\")'",
        "groovy -e '\"rm x\".execute()'",
        'elixir -e \'System.cmd("rm", ["x"])\'',
        "nvim -c 'lua os.execute(\"rm x\")'",
    ],
)
def test_a_command_in_a_variable_or_another_language(line: str) -> None:
    assert ("rm", "x") in {command.words for command in read_commands(line).commands}


@pytest.mark.parametrize("before", [33, 100, 249])
@pytest.mark.parametrize(
    ("harmless", "last"),
    [
        ('os.system("true {}");', 'os.system("rm -r x")'),
        ('subprocess.run(["true", "{}"]);', 'subprocess.run(["rm", "-r", "x"])'),
        ('c{} = "true {}"; system(c{});', 'd = "rm -r x"; system(d)'),
        ("`true {}`;", "`rm -r x`"),
    ],
)
def test_a_command_behind_many_others_is_found(harmless: str, last: str, before: int) -> None:
    assert "rm -r x" in found("".join(harmless.replace("{}", str(number)) for number in range(before)) + last)


def test_of_too_many_commands_the_rest_may_be_any() -> None:
    code = "".join(f'os.system("true {number}");' for number in range(2_000)) + 'os.system("rm -r x")'
    assert found(code)[-1] == MADE_TEXT


def test_paths_have_no_limit() -> None:
    code = "".join(f'open("./a{number}", "w");' for number in range(2_000)) + 'open("/etc/x", "w")'
    assert found(code)[-1].endswith("/etc/x")
    assert sum(command.startswith("tee ") for command in found(code)) == 1


@pytest.mark.parametrize("padding", [100, 5_000])
@pytest.mark.parametrize(
    "code",
    [
        'os.system("true;{}rm -r x")',
        "`true;{}rm -r x`",
        "%x(true;{}rm -r x)",
        'open(F,{}"rm -r x |")',
        'system({}"rm -r x")',
        'c ={}"rm -r x"; system(c)',
    ],
)
def test_padding_hides_no_command(code: str, padding: int) -> None:
    assert any(each.rstrip().endswith("rm -r x") for each in found(code.replace("{}", " " * padding)))


def test_a_line_goes_on_in_the_next() -> None:
    assert "rm \\\n-r x" in found('os.system("rm \\\n-r x")')
