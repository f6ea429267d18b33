from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from hookline.cli.main import VERBS, cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_hookline_itself(hookline, shell):
    result = hookline("completion", shell)
    assert result.exit_code == 0
    assert f"_HOOKLINE_COMPLETE={shell}_complete" in result.stdout


def test_bash_accepts_the_script(hookline):
    script = hookline("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, timeout=30).returncode == 0


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "c", {"check", "convert", "completion"}),
        (["fire"], "tool.b", {"tool.before"}),
        (["fire"], "PreT", {"PreToolUse"}),
        (["schema"], "nat", {"native"}),
        (["list", "--dialect"], "nat", {"native"}),
        (["fire"], "--ex", {"--explain"}),
        (["install"], "claude", {"claude-code"}),
        (["setup", "--agent"], "cod", {"codex"}),
        (["init", "--pack"], "rec", {"recommended"}),
    ],
)
def test_verbs_events_dialects_and_options_are_completed(words, incomplete, expected):
    found = BashComplete(cli, {}, "hookline", "_HOOKLINE_COMPLETE").get_completions(words, incomplete)
    assert {item.value for item in found} == expected


def test_all_verbs_are_completed_without_a_word():
    found = BashComplete(cli, {}, "hookline", "_HOOKLINE_COMPLETE").get_completions([], "")
    assert {item.value for item in found} == set(VERBS)


HOOKS = """\
hooks:
  - {id: no-rm, on: tool.before, then: {deny: No.}}
  - {id: no-push, on: tool.before, then: {ask: Really?}}
  - {id: "no-\\e[2J", on: tool.before, then: {deny: No.}}
"""
SHELLS = {
    "bash": "COMP_WORDS=({words}); COMP_CWORD={last}; _hookline_completion hookline; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
    # instead of zsh's own function that offers the words of an array
    "zsh": "compadd() {{ print -l -- ${{(P)@[-1]}} }}; words=({words}); CURRENT=$(({last} + 1)); _hookline_completion",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fire", "tool.b"], {"tool.before"}),
        (["install", "cod"], {"codex"}),
        (["init", "--pack", "rec"], {"recommended"}),
        (["schema", "nat"], {"native"}),
        (["log", "--hook", "no-"], {"no-rm", "no-push"}),
    ],
)
def test_a_real_shell_completes(hookline, command, project, tmp_path, shell, words, expected):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    Path("hookline.yaml").write_text(HOOKS)
    program = tmp_path / "bin/hookline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    program.chmod(0o755)
    script = hookline("completion", shell).stdout
    asked = SHELLS[shell].format(words=shlex.join(["hookline", *words]), last=len(words))
    begin = "" if shell == "bash" else "compdef() { : }; "
    done = subprocess.run(
        [shell, "-c", f"{begin}{script}\n{asked}"],
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (set(done.stdout.split()), done.stderr) == (expected, "")
