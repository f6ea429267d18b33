from __future__ import annotations

from pathlib import Path

import pytest

from cli.recorded_events import HOOKS, write_hooks
from hookline.cli.record_options import the_record
from hookline.cli.recorded_hooks import RecordedHooks
from hookline.errors import ConfigError


def test_named_files_count_for_every_record(project: Path) -> None:
    write_hooks()
    hooks = RecordedHooks(the_record(), ["hookline.yaml"])
    assert hooks.now({"facts": {"cwd": "/"}}) is hooks.now({})
    assert [hook.id for hook in hooks.now({}).hooks] == ["no-rm", "ask-push", "hint"]


def test_a_named_file_with_errors_is_refused(project: Path) -> None:
    Path("bad.yaml").write_text("hooks: [{on: nowhere, then: deny}]")
    with pytest.raises(ConfigError):
        RecordedHooks(the_record(), ["bad.yaml"])


def test_today_is_the_directory_in_which_the_agent_worked(project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "hookline.yaml").write_text(HOOKS.replace("no-rm", "other"))
    write_hooks()
    hooks = RecordedHooks(the_record())
    assert "no-rm" in [hook.id for hook in hooks.now({"facts": {"cwd": str(project)}}).hooks]
    assert "other" in [hook.id for hook in hooks.now({"facts": {"cwd": str(other)}}).hooks]


def test_hooks_that_the_agent_runs_itself_are_left_out(project: Path) -> None:
    settings = Path(".claude/settings.json")
    settings.parent.mkdir()
    entry = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}'
    settings.write_text(f'{{"hooks": {{"PreToolUse": [{entry}]}}}}')
    facts = {"cwd": str(project)}
    hooks = RecordedHooks(the_record())
    assert not hooks.now({"host": "claude-code", "facts": facts}).hooks
    assert hooks.now({"host": "codex", "facts": facts}).hooks


def test_texts_that_are_not_kept_any_more(project: Path) -> None:
    assert RecordedHooks(the_record()).then({"hooks": "0" * 64}).hooks == ()
