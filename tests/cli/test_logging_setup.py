from __future__ import annotations

import logging
from pathlib import Path

import pytest

from hookline.cli.logging_setup import start_log

LOGS = """
hooks:
  - {id: says, on: tool.before, then: {log: "ran {{input.command}}"}}
  - {id: runs, on: tool.before, then: {run: "echo out; echo token=abcdef123456 >&2"}, on_error: open}
"""


@pytest.fixture(autouse=True)
def _config(project):
    Path("logs.yaml").write_text(LOGS)


def fire(hookline, *more: str, text: str = "ls"):
    return hookline(
        *more, "fire", "tool.before", "--config", "logs.yaml", "--tool", "bash", "--input", f'{{"command": "{text}"}}'
    )


def test_each_line_has_its_level_and_the_hooks_id(hookline):
    result = fire(hookline)
    assert "info: [says] ran ls\n" in result.stderr
    assert "debug:" not in result.stderr


def test_what_an_agent_says_cannot_begin_a_line_or_move_the_cursor(hookline):
    result = fire(hookline, text="a\\nwarning: [x] b\\u001b[2J")
    assert "info: [says] ran a\\nwarning: [x] b\\x1b[2J\n" in result.stderr


@pytest.mark.parametrize(("name", "value"), [("HOOKLINE_LOG", "debug"), ("DIGITORN_LOGGING__LEVEL", "DEBUG")])
def test_the_environment_switches_debugging_on(hookline, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert "debug: " in fire(hookline).stderr


def test_debug_before_or_after_the_verb_shows_commands_and_hides_secrets(hookline):
    for result in (fire(hookline, "--debug"), hookline("fire", "tool.before", "--config", "logs.yaml", "--debug")):
        assert "debug: " in result.stderr
        assert "echo out" in result.stderr
        assert "abcdef123456" not in result.stderr


def test_the_value_of_a_secret_of_the_environment_is_hidden_wherever_it_stands(hookline, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "correct-horse-battery")
    monkeypatch.setenv("GREETING", "good-morning")
    Path("logs.yaml").write_text(
        "hooks: [{id: runs, on: tool.before, then: {run: 'echo the $DEPLOY_TOKEN, $GREETING; echo \"$DEPLOY_TOKEN\" >&2'}}]"
    )
    result = fire(hookline, "--debug", text="echo correct-horse-battery")
    assert "debug: [runs] stdout the ***, good-morning" in result.stderr
    assert "correct-horse-battery" not in result.stderr


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_where_an_error_was_raised_is_shown_for_debugging(capsys, monkeypatch, level):
    """Line by line, so that a text in it cannot begin one."""
    monkeypatch.setenv("DEPLOY_TOKEN", "correct-horse-battery")
    log = logging.getLogger("hookline")
    before = log.handlers, log.level, log.propagate
    try:
        start_log(debug=level == logging.DEBUG)
        try:
            raise ValueError("correct-horse-battery\x1b[2J")
        except ValueError as error:
            log.error("it stopped", exc_info=error)
    finally:
        log.handlers, log.level, log.propagate = before
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "error: it stopped"
    assert all(line.startswith("  ") for line in lines[1:])
    assert lines[-1] == ("  ValueError: ***\\x1b[2J" if level == logging.DEBUG else "error: it stopped")
