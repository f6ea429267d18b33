"""What counts instead of a file that cannot be read: its last good version, or else a hook that holds every call."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.config.problem import errors_of
from hookline.config.reader import MAX_FILE_BYTES
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.project import BookWatcher, Trust, find_sources, load_for_directory, trust_file_path
from project.cloned_project import user_file, verdict

GUARD = "hooks:\n  - {id: no-rm, on: tool.before, when: {input: {command: '^rm'}}, then: {deny: Not rm.}}\n"
RM = Event("tool.before", {"tool": {"name": "bash", "kind": "shell", "input": {"command": "rm -rf /"}}})
LS = Event("tool.before", {"tool": {"name": "bash", "kind": "shell", "input": {"command": "ls"}}})


def write(text: str | bytes) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    return damage


def make_directory(file: Path) -> None:
    file.unlink(missing_ok=True)
    file.mkdir()


def make_dangling_link(file: Path) -> None:
    file.unlink(missing_ok=True)
    file.symlink_to("nowhere.yaml")


def make_pipe(file: Path) -> None:
    file.unlink(missing_ok=True)
    os.mkfifo(file)


DAMAGES = {
    "a tab": write(GUARD.replace("  - {", "\t- {")),
    "a NUL": write(GUARD + "\0"),
    "two documents": write(GUARD + "---\nhooks: []\n"),
    "a document before": write("---\nhooks: []\n---\n" + GUARD),
    "a key twice": write(GUARD + "hooks: []\n"),
    "another version": write("version: 99\n" + GUARD),
    "a version as text": write("version: 'one'\n" + GUARD),
    "too large": write(GUARD + "#" * MAX_FILE_BYTES),
    "not UTF-8": write(GUARD.encode() + b"# \xff\n"),
    "UTF-16": write(GUARD.encode("utf-16")),
    "cut": write(GUARD[:-10]),
    "a list": write("- " + GUARD.replace("\n", "\n  ")),
    "a word": write("nothing"),
    "hooks as a mapping": write(GUARD.replace("- {", "x: {")),
    "a directory": make_directory,
    "a dangling link": make_dangling_link,
    "a pipe": make_pipe,
    "too deep": write("hooks: " + "[" * 500 + "]" * 500),
}


@pytest.fixture(params=DAMAGES)
def damage(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    return DAMAGES[request.param]


def test_the_last_good_version_of_the_users_file_stays_in_force(
    damage: Callable[[Path], None], home: Path, directory: Path
) -> None:
    user_file(home).write_text(GUARD)
    load_for_directory(directory, home)
    damage(user_file(home))
    book = load_for_directory(directory, home)
    assert verdict(book, RM) is Verdict.DENY
    assert verdict(book, LS) is Verdict.SILENT
    assert errors_of(book.problems)


def test_without_a_good_version_every_call_is_held(damage: Callable[[Path], None], home: Path, directory: Path) -> None:
    damage(user_file(home))
    book = load_for_directory(directory, home)
    decision = book.decide_now(RM)
    assert decision.verdict is Verdict.ASK
    assert "hookline.yaml:" in decision.reason
    assert decision.failures
    assert errors_of(book.problems)


def test_an_unreadable_file_of_a_project_holds_every_call(
    damage: Callable[[Path], None], home: Path, directory: Path
) -> None:
    (directory / "hookline.yaml").write_text(GUARD)
    assert verdict(load_for_directory(directory, home), RM) is Verdict.DENY
    damage(directory / "hookline.yaml")
    assert verdict(load_for_directory(directory, home), RM) >= Verdict.ASK


def test_a_watcher_does_the_same(damage: Callable[[Path], None], home: Path, directory: Path) -> None:
    damage(user_file(home))
    watched = BookWatcher(lambda: find_sources(directory, home), Trust(trust_file_path(home)))
    assert verdict(watched.book, RM) is Verdict.ASK
    if user_file(home).is_dir():
        user_file(home).rmdir()
    user_file(home).unlink(missing_ok=True)
    user_file(home).write_text(GUARD)
    watched.refresh()
    assert (verdict(watched.book, RM), verdict(watched.book, LS)) == (Verdict.DENY, Verdict.SILENT)
    damage(user_file(home))
    watched.refresh()
    assert (verdict(watched.book, RM), verdict(watched.book, LS)) == (Verdict.DENY, Verdict.SILENT)


def test_a_version_with_errors_does_not_replace_the_good_one(home: Path, directory: Path) -> None:
    user_file(home).write_text(GUARD)
    load_for_directory(directory, home)
    user_file(home).write_text(GUARD.replace("input", "inptu"))
    load_for_directory(directory, home)
    user_file(home).write_text("\tbroken")
    assert verdict(load_for_directory(directory, home), RM) is Verdict.DENY


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "hub.json",
            '{"hooks": {"PreToolUse": [{"action": "deny"}]}}',
            '{"hooks": {"PreToolUse": [{"action": "deny"}]}',
        ),
        ("hub.json", '{"hooks": {"PreToolUse": [{"action": "deny"}]}}', '{"hooks": []}'),
        (
            "hub.json",
            '{"hooks": {"PreToolUse": [{"action": "deny"}]}}',
            '{"hooks": {"PreToolUse": {"action": "deny"}}}',
        ),
        (
            "digitorn.yaml",
            "runtime:\n  hooks:\n    - {id: x, on: tool_start, action: {type: gate}}\n",
            "runtime: [hooks]\n",
        ),
    ],
)
def test_other_dialects_too(name: str, good: str, bad: str, home: Path, directory: Path) -> None:
    (directory / name).write_text(good)
    assert verdict(load_for_directory(directory, home), RM) is Verdict.DENY
    (directory / name).write_text(bad)
    assert verdict(load_for_directory(directory, home), RM) is Verdict.ASK


def test_a_file_of_another_program_holds_nothing(home: Path, directory: Path) -> None:
    (directory / "app.yaml").write_text("name: not digitorn\n")
    assert verdict(load_for_directory(directory, home), RM) is Verdict.SILENT


def test_copies_belong_to_their_owner(home: Path, directory: Path) -> None:
    user_file(home).write_text(GUARD)
    load_for_directory(directory, home)
    [copy] = (home / ".local/state/hookline/readable").iterdir()
    assert copy.read_text() == GUARD
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700


def test_a_state_directory_that_cannot_be_written_has_no_copies(home: Path, directory: Path) -> None:
    (home / ".local").write_text("a file")
    user_file(home).write_text(GUARD)
    assert verdict(load_for_directory(directory, home), RM) is Verdict.DENY
