"""lsp_diagnose: what it reads, and where its words go."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.event import Event
from hookline.hooks.host import Notice, NullHost, ToolResult
from hookline.hooks.outcome import NOT_APPLIED, SILENT, ActionError, NotePlace, Outcome
from hookline.testing import ScriptedHost


def server(found: Any) -> ScriptedHost:
    return ScriptedHost({"lsp.notify_change": ToolResult({}), "lsp.diagnostics": ToolResult(found)})


def after(tool: dict[str, Any], workspace: Path | None = None) -> Event:
    return Event("tool.after", {"tool": {"name": "write_file", **tool}, "workspace": str(workspace or "")})


def run(event: Event, host: Any, action: Diagnose = Diagnose()) -> Outcome:  # noqa: B008 - frozen
    return asyncio.run(action.run(event, host))


WRITE = {"input": {"path": "a.py", "content": "x"}}
ONE = [{"line": 2, "severity": "error", "message": "m", "code": "E1"}]
SAID = "[Diagnostics]\na.py:2: error: m (E1)"


@pytest.mark.parametrize(
    ("result", "changes", "notes"),
    [
        ({"result": "ok"}, ((("tool", "result"), f"ok\n{SAID}"),), ()),
        ({"result": ""}, ((("tool", "result"), SAID),), ()),
        ({}, ((("tool", "result"), SAID),), ()),
        ({"result": {"a": 1}}, ((("tool", "result", "diagnostics"), SAID),), ()),
        ({"result": {"diagnostics": 1}}, (), (SAID,)),
        ({"result": [1]}, (), (SAID,)),
    ],
)
def test_the_result_keeps_its_shape(result: dict[str, Any], changes: Any, notes: Any) -> None:
    outcome = run(after({**WRITE, **result}), server(ONE))
    assert outcome.changes == changes
    assert tuple(note.text for note in outcome.notes) == notes
    assert all(note.place is NotePlace.RESULT for note in outcome.notes)


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        ({"diagnostics": ONE}, ["a.py:2: error: m (E1)"]),
        ({"errors": ["plain", {"message": "n"}]}, ["plain", "a.py: n"]),
        ([{"range": {"start": {"line": 0}}, "message": "n"}], ["a.py:1: n"]),
        ("one\ntwo", ["one", "two"]),
        (
            [{"range": {"start": None}, "message": "n"}, {"range": 3, "line": "x", "message": "o"}, 5],
            ["a.py: n", "a.py: o", "5"],
        ),
        ([{"message": str(n)} for n in range(102)], [*(f"a.py: {n}" for n in range(100)), "… and 2 more"]),
    ],
)
def test_diagnostics_of_any_shape_become_lines(found: Any, lines: list[str]) -> None:
    outcome = run(after({**WRITE, "result": "ok"}), server(found))
    assert outcome.changes[0][1].splitlines()[2:] == lines


@pytest.mark.parametrize("found", [None, {}, [], "", 3, {"diagnostics": []}, {"diagnostics": {"a": 1}}])
def test_nothing_to_report_changes_nothing(found: Any) -> None:
    host = server(found)
    assert run(after({**WRITE, "result": "ok"}), host) == SILENT
    assert [notice.level for notice in host.published] == ["info"]


def test_a_link_does_not_lead_out_of_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "inside"
    workspace.mkdir()
    (tmp_path / "secret").write_text("s")
    (workspace / "link").symlink_to(tmp_path / "secret")
    (workspace / "up").symlink_to(tmp_path)
    host = server([])
    for path in ("link", "up/secret", str(tmp_path / "secret"), "../secret", "a\0b", "", "no/such"):
        assert run(after({"input": {"path": path}}, workspace), host) == NOT_APPLIED
    assert host.called == []


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 2_000_001)
    for path in ("pipe", ".", "large"):
        assert run(after({"input": {"path": path}}, tmp_path), server([])) == NOT_APPLIED


def test_a_file_without_utf8_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff!")
    host = server([])
    run(after({"input": {"path": "a"}}, tmp_path), host)
    assert host.called[0].input == {"path": "a", "content": "\ufffd!"}


def test_a_server_that_fails_is_a_failure() -> None:
    host = ScriptedHost({"lsp.notify_change": ToolResult(None, False, "gone")})
    with pytest.raises(ActionError, match=r"lsp\.notify_change: gone"):
        run(after(WRITE), host)


def test_nobody_has_to_watch() -> None:
    class Deaf(ScriptedHost):
        async def publish(self, notice: Notice) -> None:
            await NullHost().publish(notice)

    host = Deaf({"lsp.notify_change": ToolResult({}), "lsp.diagnostics": ToolResult(ONE)})
    assert run(after({**WRITE, "result": "ok"}), host).changes
