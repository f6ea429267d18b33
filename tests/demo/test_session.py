"""The demo is a real session: its hooks decide, and its tools really run or do not."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from hookline.demo.script import Call, Stop
from hookline.demo.session import Session, demo_hooks, play, scratch
from hookline.demo.timeline import Timeline
from hookline.engine.account import Decision
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Verdict
from hookline.project import load_text


class Recorder:
    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.calls: list[tuple[Call, Decision]] = []
        self.results: list[tuple[ToolResult, Decision]] = []
        self.stops: list[Decision] = []
        self.answers: list[bool] = []
        self.after_deny: bool | None = None

    def prompt(self, text: str, decision: Decision) -> None:
        self.prompted = decision

    def call(self, call: Call, decision: Decision) -> None:
        self.calls.append((call, decision))
        if len(self.calls) == 2:
            self.after_deny = (self.workspace / "old_build/report.txt").exists()

    def answer(self, yes: bool) -> None:
        self.answers.append(yes)

    def result(self, result: ToolResult, decision: Decision) -> None:
        self.results.append((result, decision))

    def stop(self, stop: Stop, decision: Decision) -> None:
        self.stops.append(decision)


def test_each_hook_of_the_demo_does_what_it_says() -> None:
    with scratch() as workspace:
        seen = Recorder(workspace)
        book = load_text(demo_hooks(), "hookline.yaml")
        assert not book.problems
        asyncio.run(Session(book, workspace, seen).run())
        by = [decision.by for _, decision in seen.calls]
        assert by[0] == "no-recursive-delete"
        assert seen.after_deny is True
        assert (workspace / "trash/old_build/report.txt").exists()
        texts = [str(result.content) for result, _ in seen.results]
        assert "deploy --dry-run" in texts
        assert "deploy to production" not in texts
        assert seen.answers == [False]
        assert any("[redacted key]" in text for text in texts)
        assert not any("sk-live" in text for text in texts)
        assert any("SyntaxError" in note.text for _, decision in seen.results for note in decision.notes)
        assert [decision.verdict for decision in seen.stops] == [Verdict.DENY, Verdict.SILENT]
        assert "tests passed" in texts


def test_the_timeline_names_each_hook_with_its_line() -> None:
    out = io.StringIO()
    asyncio.run(play(Timeline(Console(file=out, width=200))))
    assert "no-recursive-delete (hookline.yaml:8) because tool matches bash" in out.getvalue()


def test_the_command_ends_by_itself() -> None:
    code = "from hookline.cli.main import main; main()"
    ended = subprocess.run([sys.executable, "-c", code, "run", "--demo"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "goes on: Run the tests before you stop." in ended.stdout
