from __future__ import annotations

from hookline.dialects.claude_stdin import stdin_template, stdin_templates


def test_the_event_comes_after_the_keys_that_every_event_has() -> None:
    keys = list(stdin_template("PreToolUse").value)
    common = ["session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "hook_event_name"]
    assert keys[: len(common)] == common
    assert set(keys) == {*stdin_templates("PreToolUse"), "hook_event_name"}
