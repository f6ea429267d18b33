from __future__ import annotations

import subprocess

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
    ],
)
def test_verbs_events_dialects_and_options_are_completed(words, incomplete, expected):
    found = BashComplete(cli, {}, "hookline", "_HOOKLINE_COMPLETE").get_completions(words, incomplete)
    assert {item.value for item in found} == expected


def test_all_verbs_are_completed_without_a_word():
    found = BashComplete(cli, {}, "hookline", "_HOOKLINE_COMPLETE").get_completions([], "")
    assert {item.value for item in found} == set(VERBS)
