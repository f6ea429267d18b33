import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.hooks.event import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.project import BookWatcher, Trust, find_sources

CALL = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})
DEADLINE = 5.0  # seconds


class Place:
    def __init__(self, path: Path) -> None:
        self.root, self.home = path / "app", path / "home"
        (self.root / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.trust = Trust(path / "state" / "hookline" / "trust.json")

    def write(self, name: str, *hooks: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("hooks:\n" + "".join(f"  - {{on: tool.before, {hook}}}\n" for hook in hooks))
        return path

    def watched(self) -> BookWatcher:
        return BookWatcher(lambda: self.trust.sources(self.root, self.home), self.trust)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def hook_ids(watched: BookWatcher) -> list[str]:
    return [hook.id for hook in watched.book.hooks]


def becomes_true(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.01)
    return False


def test_the_hooks_are_there_before_anyone_watches(place: Place) -> None:
    place.write("hookline.yaml", "id: a, then: {deny: a}")
    watched = place.watched()
    assert watched.book.decide_now(CALL).by == "a"
    assert not watched.refresh()


def test_an_edit_comes_into_force_by_itself(place: Place) -> None:
    place.write("hookline.yaml", "id: a, then: {deny: a}")
    with place.watched() as watched:
        place.write("hookline.yaml", "id: b, then: {deny: b}")
        assert becomes_true(lambda: watched.book.decide_now(CALL).by == "b")


def test_a_file_replaced_by_renaming_another_is_noticed(place: Place) -> None:
    path = place.write("hookline.yaml", "id: a, then: {deny: a}")
    status = path.stat()
    with place.watched() as watched:
        new = place.write("new", "id: b, then: {deny: b}")
        os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        new.replace(path)
        assert becomes_true(lambda: hook_ids(watched) == ["b"])


def test_files_that_come_and_go_are_noticed(place: Place) -> None:
    with place.watched() as watched:
        assert hook_ids(watched) == []
        path = place.write(".hookline/new.yaml", "id: new, then: {deny: new}")
        assert becomes_true(lambda: hook_ids(watched) == ["new"])
        user = place.home / ".config/hookline/hookline.yaml"
        user.parent.mkdir(parents=True)
        user.write_text("hooks: [{id: mine, on: stop, then: {log: bye}}]")
        assert becomes_true(lambda: hook_ids(watched) == ["mine", "new"])
        path.unlink()
        assert becomes_true(lambda: hook_ids(watched) == ["mine"])


def test_a_broken_edit_keeps_the_last_good_version_and_says_so(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    path = place.write("hookline.yaml", "id: a, then: {deny: a}", "id: b, then: {deny: b}")
    watched = place.watched()
    for broken in (
        "hooks: [",
        "hooks: [{id: a, on: tool.befor, then: {deny: a}}]",
        "hooks: [{id: a, on: stop, then: {deny: a}}, {id: b, on: stop, on: stop, then: {deny: b}}]",
    ):
        caplog.clear()
        path.write_text(broken)
        with caplog.at_level(logging.WARNING, "hookline"):
            assert watched.refresh()
        assert hook_ids(watched) == ["a", "b"]
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert [problem.line for problem in watched.book.problems] != []
        assert not watched.refresh()
    place.write("hookline.yaml", "id: c, then: {deny: c}")
    assert watched.refresh()
    assert (hook_ids(watched), watched.book.problems) == (["c"], ())


def test_a_file_that_was_never_good_is_used_as_far_as_it_can_be(place: Place) -> None:
    path = place.write("hookline.yaml", "id: a, then: {dany: a}")
    watched = place.watched()
    place.write("hookline.yaml", "id: a, then: {dany: a}", "id: b, then: {deny: b}")
    assert watched.refresh()
    assert hook_ids(watched) == ["a", "b"]
    place.write("hookline.yaml", "id: a, then: {deny: a}, then: {deny: b}", "id: c, then: {deny: c}")
    assert watched.refresh()
    assert hook_ids(watched) == ["a", "c"]
    path.unlink()
    assert watched.refresh()
    assert (hook_ids(watched), watched.book.problems) == ([], ())


def test_damage_to_what_is_not_ours_does_not_hold_back_an_edit(place: Place) -> None:
    path = place.root / "hub.json"
    path.write_text('{"hooks": {"PreToolUse": [{"id": "a", "action": "deny"}]}}')
    watched = place.watched()
    path.write_text('{"other": {"x": 1, "x": 2}, "hooks": {"PreToolUse": [{"id": "b", "action": "deny"}]}}')
    assert watched.refresh()
    assert hook_ids(watched) == ["b"]
    assert [str(problem.severity) for problem in watched.book.problems] == ["warning"]


def test_only_the_changed_layer_is_compiled_again(place: Place) -> None:
    place.write("hookline.yaml", "id: a, then: {deny: a}")
    place.write("hookline.local.yaml", "id: b, then: {deny: b}")
    watched = place.watched()
    project, local = watched.book.layers
    host = watched.book.host
    place.write("hookline.local.yaml", "id: c, then: {deny: c}")
    watched.refresh()
    assert watched.book.layers[0] is project
    assert watched.book.layers[1] is not local
    assert watched.book.host is host


def test_a_reload_keeps_the_counts(place: Place) -> None:
    place.write("hookline.yaml", "id: once, then: {deny: once}, max_fires: 1")
    watched = place.watched()
    assert watched.book.decide_now(CALL).verdict is Verdict.DENY
    place.write("hookline.yaml", "id: once, then: {deny: once}, max_fires: 1", "id: other, then: {log: hi}")
    assert watched.refresh()
    assert watched.book.decide_now(CALL).verdict is Verdict.SILENT


def test_a_changed_text_waits_and_the_accepted_one_stays(place: Place) -> None:
    place.write("hookline.yaml", "id: yes, then: allow")
    with place.watched() as watched:
        assert watched.book.decide_now(CALL).verdict is Verdict.SILENT
        place.trust.accept(find_sources(place.root, place.home))
        assert becomes_true(lambda: watched.book.decide_now(CALL).verdict is Verdict.ALLOW)
        place.write("hookline.yaml", "id: ask, then: {ask: sure?}")
        assert becomes_true(lambda: watched.book.decide_now(CALL).verdict is Verdict.ASK)
        assert "yes" in hook_ids(watched)
        place.trust.accept(find_sources(place.root, place.home))
        assert becomes_true(lambda: hook_ids(watched) == ["ask"])


@pytest.mark.parametrize("there_before", [True, False])
@pytest.mark.parametrize("broken_edit", [True, False])
def test_a_changed_script_holds_the_call_without_a_reload(place: Place, there_before: bool, broken_edit: bool) -> None:
    script = place.root / "guard.sh"
    if there_before:
        script.write_text("exit 0\n")
    path = place.write("hookline.yaml", "id: runs, then: {run: sh ./guard.sh}, on_error: open")
    place.trust.accept(find_sources(place.root, place.home))
    watched = place.watched()
    script.write_text("touch ran\n")
    if broken_edit:
        path.write_text("hooks: [")
        watched.refresh()
    decision = asyncio.run(watched.book.decide(Event(CALL.name, {**CALL.facts, "cwd": str(place.root)})))
    assert decision.verdict is Verdict.ASK
    assert "guard.sh" in decision.reason
    assert "hookline trust" in decision.reason
    assert [failure.kind for failure in decision.failures] == [FailureKind.NOT_TRUSTED]
    assert not (place.root / "ran").exists()


def test_stopping_ends_the_thread_and_it_can_start_again(place: Place) -> None:
    place.write("hookline.yaml", "id: a, then: {deny: a}")
    watched = place.watched()
    threads = threading.active_count()
    watched.start()
    assert threading.active_count() == threads + 1
    watched.stop()
    assert threading.active_count() == threads
    with watched:
        place.write("hookline.yaml", "id: b, then: {deny: b}")
        assert becomes_true(lambda: hook_ids(watched) == ["b"])
