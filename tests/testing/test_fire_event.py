"""One event fired from a Python test, and case files as pytest tests."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.errors import ConfigError, HooklineError
from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.testing import ScriptedHost, fire, hook_cases

DENIES = "{hooks: [{id: a, on: tool.before, when: {tool: bash}, then: {deny: no}}]}"
CALL = "{name: PreToolUse, tool: {name: bash, input: {command: ls}}}"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def expecting(expect: str, config: str = DENIES, event: str = CALL) -> str:
    return f"config: {config}\nevent: {event}\nexpect: {expect}\n"


def test_fire_takes_text_a_mapping_or_a_file(tmp_path):
    event = {"name": "PreToolUse", "tool": {"name": "Bash"}}
    config = {"hooks": [{"id": "a", "on": "tool.before", "when": {"tool": "bash"}, "then": {"deny": "no"}}]}
    for given in (DENIES, "hooks:\n  - {id: a, on: tool.before, when: {tool: bash}, then: {deny: no}}\n", config):
        assert fire(given, event).reason == "no"
    assert fire(write(tmp_path / "hooks.yaml", DENIES), Event("tool.before", {"tool": {"name": "bash"}})).by == "a"


def test_fire_refuses_a_config_with_an_error_and_an_event_that_is_none():
    with pytest.raises(ConfigError, match="there is no event"):
        fire("{hooks: [{id: a, on: nowhere, then: deny}]}", {"name": "stop"})
    with pytest.raises(HooklineError, match="there is no event 'nowhere'"):
        fire(DENIES, {"name": "nowhere"})


def test_fire_works_inside_of_a_running_loop():
    async def test() -> str:
        return fire(DENIES, {"name": "tool.before", "tool": {"name": "bash"}}).reason

    assert asyncio.run(test()) == "no"


def test_fire_asks_the_host_that_it_is_given():
    host = ScriptedHost({"other": ToolResult("found")})
    calls = "{hooks: [{id: a, on: stop, then: {call: other, with: {x: 1}, tell: always}, on_error: open}]}"
    assert [note.text for note in fire(calls, {"name": "stop"}, host=host).notes] == ["found"]
    assert [(call.tool, call.input) for call in host.called] == [("other", {"x": 1})]


def test_cases_become_pytest_tests_by_one_import(tmp_path):
    write(tmp_path / "hooks/good.yaml", expecting("{verdict: deny}"))
    write(tmp_path / "hooks/bad.yaml", expecting("{verdict: allow}"))
    write(tmp_path / "hooks/odd.yaml", expecting("{verdikt: allow}"))
    write(tmp_path / "test_it.py", "from hookline.testing import hook_cases\ntest_hooks = hook_cases('hooks')\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "2 failed, 1 passed" in done.stdout
    assert "test_hooks[bad.yaml]" in done.stdout
    assert "expected  allow" in done.stdout
    assert "Did you mean verdict?" in done.stdout


def test_no_cases_are_no_tests(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(HooklineError, match="there are no cases"):
        hook_cases(tmp_path / "empty")
    with pytest.raises(HooklineError, match="neither here nor beside"):
        hook_cases("there/is/no/such/place")
