from __future__ import annotations

import json

import pytest

from hookline.cli.doctor import print_diagnoses
from hookline.hosts.doctor.finding import Diagnosis
from install_sandbox import running_engine

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("claude_settings")]


def test_doctor_tells_what_is_wrong_and_what_to_do(hookline, claude_settings, monkeypatch):
    assert hookline("doctor").exit_code == 1
    hookline("init")
    with running_engine(claude_settings.parents[1]) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        hookline("install", "codex")
        result = hookline("doctor")
    assert result.exit_code == 1
    assert "!!  trust: not trusted: SessionStart" in result.stdout
    assert "ok  answer: a test call was denied" in result.stdout
    assert "ask-before-push  on tool.before  hookline.yaml:16" in result.stdout
    assert "not calling hookline: claude-code" in result.stdout


def test_doctor_for_programs(hookline, claude_settings, monkeypatch):
    with running_engine(claude_settings.parents[1]) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        hookline("install", "claude-code")
        result = hookline("doctor", "claude-code", "--json")
    assert result.exit_code == 0, result.stdout
    (agent,) = json.loads(result.stdout)["agents"]
    assert (agent["agent"], agent["good"], agent["hooks"]) == ("claude-code", True, [])
    assert agent["round_trip_ms"] > 0


def test_an_agent_that_never_called_hookline_is_one_problem(hookline):
    result = hookline("doctor", "cursor")
    assert result.exit_code == 1
    problems = [line for line in result.stdout.splitlines() if line.startswith("  !!  ")]
    assert problems[-1] == "  !!  entry: its files do not call hookline"
    assert "launcher" not in result.stdout
    assert "proof" not in result.stdout


def test_the_same_hooks_of_several_agents_are_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = {"one": ("a", "b"), "two": ("a", "b"), "three": ("a",), "four": (), "five": ()}
    print_diagnoses([Diagnosis(name, name, True, (), each) for name, each in hooks.items()], [])
    assert capsys.readouterr().out.split("\n") == [
        *("one", "  2 hooks apply here:", "    a", "    b"),
        *("two", "  2 hooks apply here, the same as above."),
        *("three", "  1 hook applies here:", "    a"),
        *("four", "  No hook applies here.", "five", "  No hook applies here.", ""),
    ]


def test_hooks_that_never_run_in_an_agent_are_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    never = {"one": ("a", "b"), "two": ("a", "b"), "three": ()}
    print_diagnoses([Diagnosis(name, name, True, (), silent_hooks=each) for name, each in never.items()], [])
    assert capsys.readouterr().out.split("\n") == [
        *(
            "one",
            "  No hook applies here.",
            "  Never run here, because one does not have their events:",
            "    a",
            "    b",
        ),
        *("two", "  No hook applies here."),
        "  Never run here, because two does not have their events, the same as above.",
        *("three", "  No hook applies here.", ""),
    ]
