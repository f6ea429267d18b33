"""The demo is a real session of the runtime: hooks of every format act on it, and its tools really run or do not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hookline.demo.demo import demo_project, run_demo
from hookline.engine.decision import Decision
from hookline.project import load_for_directory
from hookline.runtime.updates import (
    ApprovalAnswered,
    DecisionMade,
    HistoryCompacted,
    Notification,
    ToolCallFinished,
    ToolCallStarted,
    Update,
)


@dataclass
class Recorder:
    happenings: list[Update] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def __call__(self, happening: Update) -> None:
        self.happenings.append(happening)

    def show_prompt(self, text: str) -> None:
        self.prompts.append(text)

    def say(self, text: str) -> None:
        assert text

    def calls(self) -> list[ToolCallStarted]:
        return [each for each in self.happenings if isinstance(each, ToolCallStarted)]

    def results(self) -> list[ToolCallFinished]:
        return [each for each in self.happenings if isinstance(each, ToolCallFinished)]

    def decisions(self, event: str) -> list[Decision]:
        found = [each.decision for each in self.happenings if isinstance(each, DecisionMade)]
        return [decision for decision in found if decision.event.name == event]


@pytest.fixture(scope="module")
def seen() -> Recorder:
    recorder = Recorder()
    asyncio.run(asyncio.wait_for(run_demo(recorder), 60))
    return recorder


def test_hooks_of_every_format_act(seen: Recorder) -> None:
    decisions = [each.decision for each in seen.happenings if isinstance(each, DecisionMade)]
    acted = {each.hook.origin.dialect for decision in decisions for each in decision.trace if each.applied}
    assert acted == {"native", "flo", "microai", "ai_agents", "digitorn", "standard_agents"}


def test_what_is_denied_does_not_run(seen: Recorder) -> None:
    denied = {str(each.call.input["command"]): each.decision.by for each in seen.calls() if each.decision.denied}
    assert denied == {
        "rm -rf old_build": "no-recursive-delete",
        "git push origin main": ".microai/settings.json:PreToolUse[0]",
    }
    ran = {each.call.id for each in seen.results() if each.ran}
    assert not ran & {each.call.id for each in seen.calls() if each.decision.denied}


def test_javascript_changes_an_input_before_it_runs(seen: Recorder) -> None:
    assert "deploy staging --dry-run" in [each.result.content for each in seen.results()]


def test_a_question_is_answered_by_the_demo_itself(seen: Recorder) -> None:
    assert [each.yes for each in seen.happenings if isinstance(each, ApprovalAnswered)] == [False]
    assert "deploy production" not in [each.result.content for each in seen.results()]


def test_the_agent_hears_what_a_linter_says(seen: Recorder) -> None:
    notes = [note.text for decision in seen.decisions("tool.after") for note in decision.notes]
    assert len(notes) == 1
    assert "SyntaxError" in notes[0]


def test_python_keeps_a_key_out_of_the_history(seen: Recorder) -> None:
    texts = [str(each.result.content) for each in seen.results()]
    assert any("[redacted key]" in text for text in texts)
    assert not any("sk-live" in text for text in texts)


def test_the_history_is_compacted_once_and_the_end_is_told(seen: Recorder) -> None:
    assert len([each for each in seen.happenings if isinstance(each, HistoryCompacted)]) == 1
    assert [each.notice.title for each in seen.happenings if isinstance(each, Notification)] == ["Session over"]


def test_the_agent_stops_only_after_the_tests(seen: Recorder) -> None:
    assert [decision.denied for decision in seen.decisions("stop")] == [True]
    assert seen.results()[-1].result.content == "tests passed"


def test_its_files_have_no_problems_and_leave_nothing_behind() -> None:
    with demo_project() as (workspace, _):
        book = load_for_directory(workspace, workspace.parent / "home")
        assert not book.problems
        assert len(book.hooks) == 11
    assert not workspace.exists()


def test_the_command_ends_by_itself_and_names_each_hook_with_its_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from hookline.cli.main import main; main()", "run", "--demo"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert not ended.stderr
    assert "no-recursive-delete (hookline.yaml:7) because input.command runs rm with r" in ended.stdout
    assert "stop  denied: Run the tests before you stop." in ended.stdout
    assert not list(tmp_path.iterdir())
