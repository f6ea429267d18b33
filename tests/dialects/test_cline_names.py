"""The names of Cline's programs: the events, events of Cline alone, mistyped ones, and files that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.config.problem import Severity
from hookline.dialects.cline_names import is_hook, named_event
from hookline.project import load_for_directory


@pytest.mark.parametrize(
    ("file", "event"),
    [
        ("PreToolUse", "PreToolUse"),
        ("pretooluse.sh", "PreToolUse"),
        ("PreToolUs.py", "PreToolUse"),
        ("pre-tool-use", "PreToolUse"),
        ("TaskError", "TaskError"),
        ("README.md", None),
        ("helpers.sh", None),
        ("tool_names.py", None),
    ],
)
def test_the_event_that_a_program_is_named_after(file: str, event: str | None) -> None:
    assert named_event(file) == event
    assert is_hook(file) == (event is not None)


@pytest.mark.parametrize(
    ("name", "severity", "said"),
    [
        ("PreToolUs.sh", Severity.ERROR, "Rename it to PreToolUse.sh."),
        ("TaskCancel", Severity.WARNING, "other agents have no such event"),
    ],
)
def test_a_program_that_no_agent_would_run_is_named(tmp_path: Path, name: str, severity: Severity, said: str) -> None:
    folder = tmp_path / "project/.clinerules/hooks"
    folder.mkdir(parents=True)
    (folder / name).write_text("#!/bin/sh\n")
    book = load_for_directory(tmp_path / "project", home=tmp_path / "home")
    (problem,) = book.problems
    assert problem.severity is severity
    assert said in str(problem)
    assert book.hooks == ()
