"""What is run is what was accepted."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from hookline.hooks.actions.verified import FileChangedError
from hookline.hooks.event import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.project import load_all
from hookline.project.referenced_files import FileReferences
from hookline.project.run_files import RunFiles, read_content
from project.cloned_project import CALL, Project


def _event(project: Project, name: str = "tool.before") -> Event:
    return Event(name, {**CALL.facts, "cwd": str(project.root)})


def _guarded(project: Project, script: str = "exit 2\n") -> Path:
    path = project.write("guard.sh", script)
    project.hooks("id: guard, then: {run: 'sh guard.sh', reads: nonzero}, on_error: open")
    project.accept()
    return path


@pytest.mark.parametrize("turn", range(5))
def test_a_program_that_was_overwritten_just_now_does_not_run(project: Project, turn: int) -> None:
    path = _guarded(project)
    book = load_all(project.sources, project.trust)
    assert asyncio.run(book.decide(_event(project))).verdict is Verdict.DENY
    path.write_text("touch ran\n")
    decision = asyncio.run(book.decide(_event(project)))
    assert decision.verdict is Verdict.ASK
    assert decision.reason == "The file guard.sh was changed since you trusted it. Review it with `hookline trust`."
    assert not (project.root / "ran").exists()


@pytest.mark.parametrize("change", ["deleted", "directory", "link", "unreadable", "directory replaced"])
def test_whatever_is_in_the_programs_place_holds_the_call(project: Project, change: str) -> None:
    path = project.write("tools/guard.sh", "exit 2\n")
    project.hooks("id: guard, then: {run: 'sh tools/guard.sh', reads: nonzero}, on_error: open")
    project.accept()
    match change:
        case "deleted":
            path.unlink()
        case "directory":
            path.unlink()
            path.mkdir()
        case "link":
            path.unlink()
            path.symlink_to(project.write("other.sh", "exit 0\n"))
        case "unreadable":
            path.write_text("")
        case _:
            path.parent.rename(project.root / "old")
            project.write("tools/guard.sh", "exit 0\n")
    assert project.decide(_event(project)).verdict is Verdict.ASK


def test_a_change_while_the_program_runs_does_not_count(project: Project) -> None:
    path = _guarded(project, "sleep 0.3\nexit 0\n")
    book = load_all(project.sources, project.trust)

    def change_and_restore() -> None:
        text = path.read_text()
        path.write_text("exit 0\n")
        path.write_text(text)

    timer = threading.Timer(0.15, change_and_restore)
    timer.start()
    decision = asyncio.run(book.decide(_event(project)))
    timer.join()
    assert (decision.verdict, decision.failures[0].kind) == (Verdict.ASK, FailureKind.NOT_TRUSTED)


def test_a_hook_that_cannot_stop_anything_answers_its_on_error(project: Project) -> None:
    path = project.write("note.sh", "echo hi\n")
    project.write("hookline.yaml", "hooks: [{id: a, on: tool.after, then: {run: sh note.sh}, on_error: open}]")
    project.accept()
    path.write_text("touch ran\n")
    decision = project.decide(_event(project, "tool.after"))
    assert (decision.verdict, [failure.kind for failure in decision.failures]) == (
        Verdict.SILENT,
        [FailureKind.NOT_TRUSTED],
    )
    assert not (project.root / "ran").exists()


def test_a_stronger_on_error_counts(project: Project) -> None:
    path = project.write("guard.sh", "exit 0\n")
    project.hooks("then: {run: sh guard.sh, reads: nonzero}, on_error: closed")
    project.accept()
    path.write_text("exit 1\n")
    assert project.decide(_event(project)).verdict is Verdict.DENY


def test_content_is_read_even_if_size_and_times_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("a")
    status, before = path.stat(), read_content(path)
    path.write_text("b")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert read_content(path).digest != before.digest


def test_an_unreadable_file_has_a_digest_of_its_own(tmp_path: Path) -> None:
    assert read_content(tmp_path / "none").digest == "cannot be read: 2"
    assert read_content(tmp_path).data is None


def test_a_file_that_appears_is_a_change(tmp_path: Path) -> None:
    files = RunFiles(FileReferences(("x.sh",)), tmp_path, tmp_path, {}, tmp_path / "hookline.yaml")
    assert files.read().stamps == ()
    (tmp_path / "x.sh").write_text("")
    with pytest.raises(FileChangedError, match="is not among those"):
        files.read()


def test_a_script_that_cannot_be_executed_any_more_holds_the_call(project: Project) -> None:
    path = project.write("guard.sh", "#!/bin/sh\nexit 2\n")
    path.chmod(0o755)
    project.hooks("id: guard, then: {run: ./guard.sh, reads: exit2}, on_error: open")
    project.accept()
    assert project.decide(_event(project)).verdict is Verdict.DENY
    path.chmod(0o644)
    decision = project.decide(_event(project))
    assert (decision.verdict, "guard.sh cannot be executed any more" in decision.reason) == (Verdict.ASK, True)
    assert project.trust.diff(project.sources[0]) == "guard.sh: it is not executable any more\n"
    project.accept()
    path.chmod(0o755)  # what makes it stronger is no change
    assert project.accepted


def test_a_file_of_another_directory_is_not_the_accepted_one(project: Project) -> None:
    project.write("tools/guard.sh", "exit 2\n")
    other = project.write("sub/tools/guard.sh", "exit 0\n")
    project.hooks("id: guard, then: {run: sh tools/guard.sh, reads: exit2}, on_error: open")
    project.accept()
    inside = Event("tool.before", {**CALL.facts, "cwd": str(other.parents[1]), "workspace": str(project.root)})
    decision = project.decide(inside)
    assert (decision.verdict, "sub/tools/guard.sh" in decision.reason) == (Verdict.ASK, True)
    project.trust.accept(project.trust.sources(other.parents[1], project.home))
    assert project.decide(inside).verdict is Verdict.SILENT
    assert project.decide(_event(project)).verdict is Verdict.DENY
    assert project.accepted
    project.accept()
    assert project.decide(inside).verdict is Verdict.SILENT  # what was accepted there stays accepted
    other.write_text("exit 1\n")
    assert project.decide(inside).verdict is Verdict.ASK
    assert not project.accepted


def test_a_file_outside_of_the_project_is_not_the_accepted_one(project: Project, tmp_path: Path) -> None:
    project.write("guard.sh", "exit 2\n")
    project.hooks("id: guard, then: {run: sh guard.sh, reads: exit2}, on_error: open")
    project.accept()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "guard.sh").write_text("exit 0\n")
    event = Event("tool.before", {**CALL.facts, "cwd": str(elsewhere), "workspace": str(project.root)})
    assert project.decide(event).verdict is Verdict.ASK


def test_a_program_of_the_system_is_no_file_of_another_directory(project: Project) -> None:
    project.hooks("id: guard, then: {run: '/bin/sh -c \"exit 2\"', reads: exit2}, on_error: open")
    project.accept()
    event = Event("tool.before", {**CALL.facts, "cwd": str(project.root), "workspace": "/"})  # as OpenCode without git
    assert project.decide(event).verdict is Verdict.DENY
