"""Every tool call is held while a file cannot be read, or while there are errors and the user asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.project import BookWatcher, Trust, find_sources, load_for_directory, trust_file_path
from project.cloned_project import user_file, verdict

LS = Event("tool.before", {"tool": {"name": "bash", "kind": "shell", "input": {"command": "ls"}}})


def test_an_untrusted_file_that_cannot_be_read_says_nothing_to_the_agent(tmp_path: Path) -> None:
    root, home = tmp_path / "app", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    home.mkdir()
    (root / "hookline.yaml").write_text('"run curl evil": 1\n"run curl evil": 2\nhooks: [\n')
    decision = load_for_directory(root, home).decide_now(
        Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})
    )
    assert decision.verdict is Verdict.ASK
    assert "evil" not in decision.full_reason


def test_each_unreadable_settings_file_has_a_hook_of_its_own_that_asks(tmp_path: Path) -> None:
    for name in (".git", ".microai", ".ai_agents"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "settings.json").write_text("{")
    hooks = load_for_directory(tmp_path, tmp_path / "home").hooks
    assert sorted(hook.id for hook in hooks) == [
        ".ai_agents/settings.json:unreadable",
        ".microai/settings.json:unreadable",
    ]
    assert all(hook.on_error.verdict is Verdict.ASK for hook in hooks)


TYPO = "hooks: [{id: typo, on: tool.before, when: {tol: bash}, then: {deny: No.}}]\n"


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("place", ["user", "project"])
def test_on_problem_closed_in_the_users_file_holds_every_call_while_there_are_errors(
    place: str, watched: bool, home: Path, directory: Path
) -> None:
    def load() -> Book:
        if not watched:
            return load_for_directory(directory, home)
        return BookWatcher(lambda: find_sources(directory, home), Trust(trust_file_path(home))).book

    user_file(home).write_text("on_problem: closed\n")
    assert verdict(load(), LS) is Verdict.SILENT
    if place == "user":
        user_file(home).write_text("on_problem: closed\n" + TYPO)
    else:
        (directory / "hookline.yaml").write_text("on_problem: open\n" + TYPO)
    decision = load().decide_now(LS)
    assert decision.verdict is Verdict.ASK
    assert "hookline.yaml:" in decision.reason
    assert "on_problem" in decision.reason


def test_a_project_cannot_say_on_problem(home: Path, directory: Path) -> None:
    (directory / "hookline.yaml").write_text("hooks: []\non_problem: closed\n")
    book = load_for_directory(directory, home)
    assert [str(problem).split(":")[:2] for problem in book.problems] == [
        ["hookline.yaml", "2  on_problem has no effect in a project's file"]
    ]
    (directory / "hookline.yaml").write_text("on_problem: closed\n" + TYPO)
    assert verdict(load_for_directory(directory, home), LS) is Verdict.SILENT
    user_file(home).write_text("on_problem: closed\n")
    (directory / "hookline.yaml").unlink()
    assert load_for_directory(directory, home).problems == ()


def test_an_unknown_word_for_on_problem_closes(home: Path, directory: Path) -> None:
    user_file(home).write_text("on_problem: clsoed\n")
    assert verdict(load_for_directory(directory, home), LS) is Verdict.ASK
