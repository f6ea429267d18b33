from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from hookline.cli.logging_setup import start_log
from hookline.cli.verb_group import VERBS, cli, handle_error
from hookline.errors import HooklineError


def test_help_names_every_verb_and_the_exit_codes(hookline):
    result = hookline("--help")
    assert result.exit_code == 0
    assert all(f"\n  {verb} " in result.stdout for verb in VERBS)
    assert "3 a person must approve" in " ".join(result.stdout.split())


def test_without_a_verb_the_help_is_shown(hookline):
    assert hookline().stdout == hookline("--help").stdout


def test_help_imports_no_verb_and_nothing_heavy():
    source = (
        "import sys; from hookline.cli.main import cli; cli.main(['--help'], standalone_mode=False);"
        "heavy = {'pydantic', 're2', 'rich', 'yaml', 'watchfiles', 'asyncio'} | {'hookline.cli.fire', 'hookline.project'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "[]"


@pytest.mark.timing
def test_help_comes_quickly(process):
    begun = time.perf_counter()
    assert process("--help").returncode == 0
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_shows_its_short_help_and_an_example(hookline, verb):
    result = hookline(verb, "--help")
    assert result.exit_code == 0
    assert f"\n  hookline {verb}" in result.stdout
    assert "--debug" in result.stdout
    found = cli.get_command(click.Context(cli), verb)
    assert found is not None
    assert found.short_help == VERBS[verb][1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek"], "Did you mean check?"),
        (["zzzzz"], "The commands are"),
        (["--jsn"], "No such option"),
        (["list", "--jsn"], "--json"),
        (["fire"], "EVENT"),
        (["fire", "tool.befor"], "Did you mean tool.before?"),
        (["fire", "nothing-like-it-at-all"], "The events are"),
        (["schema", "nativ"], "Did you mean native?"),
        (["convert", "a.yaml"], "--to"),
        (["completion", "csh"], "bash"),
    ],
)
def test_a_wrong_call_is_exit_1_with_a_hint(hookline, arguments, said):
    result = hookline(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stdout == ""


def test_a_hookline_error_is_one_line_and_exit_1(capsys):
    assert handle_error(HooklineError("write it so")) == 1
    assert capsys.readouterr().err == "hookline: write it so\n"


def test_a_bug_is_one_line_unless_debugging(capsys):
    start_log()
    assert handle_error(ZeroDivisionError("a\nb")) == 1
    said = capsys.readouterr().err
    assert said.startswith("hookline: this is a bug in hookline: ZeroDivisionError: a b")
    assert said.count("\n") == 1


def test_a_bug_has_its_traceback_while_debugging(capsys):
    start_log(debug=True)
    try:
        raise ZeroDivisionError("here")
    except ZeroDivisionError as bug:
        handle_error(bug)
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_is_not_an_error(project, command):
    script = 'set -o pipefail; "$@" schema | head -c 1; echo " ${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", script, "sh", *command], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout == "{ 0\n"


def test_a_closed_stdout_does_not_change_the_exit_code(project, command):
    Path("hookline.yaml").write_text("hooks: [{id: a, on: stop, then: deny}]")
    script = '"$@" fire stop --config hookline.yaml >&-'
    done = subprocess.run(["bash", "-c", script, "sh", *command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_quietly_and_its_programs_with_it(project, command, number, code):
    config = "hooks: [{id: slow, on: stop, then: {run: 'echo $$ > pid; sleep 60'}, on_error: open}]"
    Path("slow.yaml").write_text(config)
    running = subprocess.Popen(
        [*command, "fire", "stop", "--config", "slow.yaml"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        pid = _read_pid(Path("pid"))
        running.send_signal(number)
        _, said = running.communicate(timeout=30)
    finally:
        running.kill()
    assert running.returncode == code
    assert "Traceback" not in said
    assert _is_gone(pid)


def _read_pid(path: Path) -> int:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError("the program never started")


def _is_gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "hookline", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.startswith("hookline ")) == (0, True)
