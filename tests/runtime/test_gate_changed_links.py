"""A tool acts on the file that hooks judged, also if a link is changed after the decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.updates import ToolCallFinished
from runtime.scripted_runtime import open_runtime, run_async, send_prompt, tool_call_step

HOOKS = """
hooks:
  - {id: guard, on: tool.before, when: {input: {path: '(^|/)\\.env$'}}, then: {deny: secrets}}
  - {id: flip, on: tool.before, order: 1, then: {run: "%s"}, on_error: open}
"""
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "write a file": ("write_file", {"path": "link", "content": "changed"}),
    "write behind a directory": ("write_file", {"path": "dir/.envrc/../link", "content": "changed"}),
    "edit": ("edit_file", {"path": "link", "old_string": "KEY", "new_string": "changed"}),
    "read": ("read_file", {"path": "link"}),
    "read by a module": ("filesystem.read", {"path": "link"}),
    "search": ("grep", {"pattern": "KEY", "path": "link"}),
}


def _make_files(workspace: Path) -> None:
    (workspace / "dir" / ".envrc").mkdir(parents=True)
    (workspace / ".env").write_text("KEY=1\n")
    (workspace / "notes").write_text("KEY of notes\n")
    (workspace / "link").symlink_to("notes")
    (workspace / "dir" / "link").symlink_to("../notes")


def _finished(workspace: Path, flip: str, call: tuple[str, dict[str, Any]]) -> Any:
    async def work() -> Any:
        async with open_runtime(workspace, HOOKS % flip, [tool_call_step(call), "done"]) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            return seen.of_type(ToolCallFinished)[0].result

    return run_async(work)


FLIP = "ln -sfn .env link; ln -sfn ../.env dir/link"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_link_that_changes_after_the_decision_is_not_followed(
    tmp_path: Path, call: tuple[str, dict[str, Any]]
) -> None:
    _make_files(tmp_path)
    result = _finished(tmp_path, FLIP, call)
    assert not result.ok
    assert "KEY=1" not in str(result)
    assert (tmp_path / ".env").read_text() == "KEY=1\n"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_link_that_stays_is_followed(tmp_path: Path, call: tuple[str, dict[str, Any]]) -> None:
    _make_files(tmp_path)
    assert _finished(tmp_path, "true", call).ok


def test_a_directory_that_becomes_another_is_not_deleted_from(tmp_path: Path) -> None:
    for name in ("safe", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
    (tmp_path / "now").symlink_to("safe")
    result = _finished(tmp_path, "ln -sfn kept now", ("filesystem.delete", {"path": "now/x"}))
    assert "led to another file" in result.error
    assert (tmp_path / "kept" / "x").exists()
