from __future__ import annotations

from datetime import timedelta

import pytest

from hookline.dialects.claude_code.names import (
    EVENTS,
    default_timeout,
    failure_outcome,
    hook_environment,
    is_plugin_file,
    plugin_root,
)
from hookline.dialects.claude_stdin import stdin_template
from hookline.dialects.settings_json import CLAUDE_ONLY_EVENTS
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_a_stdin_with_its_own_name(name: str) -> None:
    facts = {"session": {"id": "s"}, "cwd": "/p"}
    stdin = stdin_template(name).render(Event(EVENTS[name], facts))
    assert (stdin["hook_event_name"], stdin["session_id"], stdin["cwd"]) == (name, "s", "/p")


def test_an_event_is_supported_or_not() -> None:
    assert not set(EVENTS) & set(CLAUDE_ONLY_EVENTS)


def test_a_failure_blocks_only_if_asked_and_never_keeps_an_agent_from_stopping() -> None:
    assert failure_outcome("PreToolUse", "block").verdict is Verdict.DENY
    assert failure_outcome("PreToolUse", "continue").verdict is Verdict.SILENT
    assert failure_outcome("Stop", "block").verdict is Verdict.SILENT


@pytest.mark.parametrize(
    ("event", "handler", "seconds"),
    [
        ("PreToolUse", "command", 600),
        ("UserPromptSubmit", "command", 30),
        ("SessionEnd", "command", 1.5),
        ("PreToolUse", "prompt", 30),
        ("PreToolUse", "agent", 60),
    ],
)
def test_the_default_timeout_depends_on_event_and_handler(event: str, handler: str, seconds: float) -> None:
    assert default_timeout(event, handler) == timedelta(seconds=seconds)


def test_only_a_plugins_hooks_know_its_root() -> None:
    file = "/plugins/a/hooks/hooks.json"
    assert (is_plugin_file(file), plugin_root(file)) == (True, "/plugins/a")
    assert not is_plugin_file(".claude/settings.json")
    assert "CLAUDE_PLUGIN_ROOT" in dict(hook_environment(file))
    assert "CLAUDE_PLUGIN_ROOT" not in dict(hook_environment(".claude/settings.json"))
