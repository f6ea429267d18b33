"""Packs are found by name or path, never imported, and trusted with the file that extends them."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from hookline import Event, Verdict
from hookline.project.book_watcher import BookWatcher
from hookline.project.loader import load_all, load_file
from hookline.project.packs import own_pack_names
from hookline.project.parsed_file import ParsedFile, read_source
from hookline.project.sources import Source, SourceLayer, named_source
from hookline.project.trust_store import Trust

GUARD = "hooks: [{id: no-word, on: tool.before, when: {tool: bash, input: {command: word}}, then: {deny: no}}]\n"
CALL = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "say word"}}})


def read(directory: Path, text: str, *, project: bool = False) -> ParsedFile:
    path = directory / "hookline.yaml"
    path.write_text(text)
    if project:
        return read_source(Source(path, "hookline.yaml", "native", SourceLayer.PROJECT, directory))
    return read_source(named_source(path))


def said(parsed: ParsedFile) -> str:
    return "\n".join(map(str, parsed.problems))


@pytest.mark.parametrize("name", own_pack_names())
def test_every_pack_of_hookline_loads_without_a_problem(tmp_path: Path, name: str) -> None:
    parsed = read(tmp_path, f"extends: [hookline:{name}]")
    assert said(parsed) == ""
    assert parsed.hooks
    assert {hook.origin.file for hook in parsed.hooks} <= {f"hookline:{each}" for each in own_pack_names()}


def test_a_file_is_found_beside_the_one_that_extends_it(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "base.yaml").write_text(GUARD)
    (tmp_path / "shared" / "team.yaml").write_text("extends: ./base.yaml")
    parsed = read(tmp_path, "extends: [shared/team.yaml]")
    assert [hook.id for hook in parsed.hooks] == ["no-word"]
    assert [os.path.basename(pack.path) for pack in parsed.packs] == ["team.yaml", "base.yaml"]


@pytest.mark.parametrize(
    ("extends", "message"),
    [
        ("./gone.yaml", "./gone.yaml cannot be read."),
        ("hookline:recomended", "Did you mean hookline:recommended?"),
        ("recommended", "Did you mean hookline:recommended?"),
        ("https://example.com/pack.yaml", "Packs are not downloaded"),
        ("nobody:pack", "no package with packs named nobody is installed. Install it."),
        ("hooklin:recommended", "Did you mean hookline:recommended?"),
        ("./hookline.yaml", "extends itself"),
        ("./broken.yaml", "./broken.yaml cannot be read."),
    ],
)
def test_a_pack_that_cannot_be_read_is_an_error_and_the_file_unreadable(
    tmp_path: Path, extends: str, message: str
) -> None:
    (tmp_path / "broken.yaml").write_text("hooks: [")
    parsed = read(tmp_path, f"{{extends: ['{extends}'], hooks: []}}")
    assert message in said(parsed)
    assert parsed.is_unreadable


def test_a_project_extends_nothing_outside_itself(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "team.yaml").write_text(GUARD)
    (project / "link.yaml").symlink_to(tmp_path / "team.yaml")
    for name in ("../team.yaml", str(tmp_path / "team.yaml"), "link.yaml"):
        assert "is outside the project" in said(read(project, f"extends: ['{name}']", project=True))


def test_a_cycle_ends(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("extends: ./b.yaml")
    (tmp_path / "b.yaml").write_text("extends: ./a.yaml")
    assert "./a.yaml extends itself" in said(read(tmp_path, "extends: ./a.yaml"))


def test_files_that_extend_each_other_in_every_combination_are_refused_soon(tmp_path: Path) -> None:
    for level in range(6):
        below = [f"./{level + 1}-{number}.yaml" for number in range(9)] if level < 5 else []
        for number in range(9):
            (tmp_path / f"{level}-{number}.yaml").write_text(f"extends: {below}")
    assert "too many files extend each other" in said(read(tmp_path, "extends: [./0-0.yaml, ./0-1.yaml]"))


def install_acme(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs a distribution whose pack is `acme:base`, and returns the pack's file."""
    (site / "acme_hooks" / "packs").mkdir(parents=True)
    (site / "acme_hooks" / "__init__.py").write_text("raise RuntimeError('imported')")
    pack = site / "acme_hooks" / "packs" / "base.yaml"
    pack.write_text(GUARD)
    information = site / "acme_hooks-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-hooks\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[hookline.packs]\nacme = acme_hooks.packs\n")
    monkeypatch.syspath_prepend(str(site))
    return pack


def test_an_installed_distribution_has_packs_and_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_acme(tmp_path / "site", monkeypatch)
    parsed = read(tmp_path, "extends: [acme:base]")
    assert said(parsed) == ""
    assert [(hook.id, hook.origin.file) for hook in parsed.hooks] == [("no-word", "acme:base")]
    assert "acme_hooks" not in sys.modules
    assert "acme has no pack other. It has base." in said(read(tmp_path, "extends: [acme:other]"))
    assert "acme has no pack bse. Did you mean acme:base?" in said(read(tmp_path, "extends: [acme:bse]"))
    assert "Did you mean acme:base?" in said(read(tmp_path, "extends: [acm:base]"))


class Project:
    """A project that extends a file of its own, and what the user trusts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "project"
        self.directory.mkdir()
        self.team = self.directory / "team.yaml"
        self.team.write_text(GUARD)
        (self.directory / "hookline.yaml").write_text("extends: ./team.yaml\n")
        path = self.directory / "hookline.yaml"
        self.source = Source(path, "hookline.yaml", "native", SourceLayer.PROJECT, self.directory)
        self.trust = Trust(directory / "state" / "trust.json")

    def book(self):
        return load_all([self.source], Trust(self.trust.path))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_before_trust_a_packs_hook_is_restricted_like_the_file(project: Project) -> None:
    project.team.write_text("hooks: [{id: x, on: tool.before, then: {run: 'touch done'}}]")
    assert not project.trust.trusts(project.source)
    (hook,) = project.book().layers[0].hooks
    assert not hook.is_trusted


@pytest.mark.parametrize("change", ["loosen", "empty", "truncate", "delete", "replace by a link", "break"])
def test_a_change_of_a_pack_never_loosens(project: Project, tmp_path: Path, change: str) -> None:
    project.trust.accept([project.source])
    assert project.trust.trusts(project.source)
    if change == "loosen":
        project.team.write_text(GUARD.replace("command: word", "command: other"))
    elif change == "empty":
        project.team.write_text("hooks: []")
    elif change == "truncate":
        project.team.write_text("")
    elif change == "break":
        project.team.write_text("hooks: [")
    else:
        project.team.unlink()
        if change == "replace by a link":
            (tmp_path / "other.yaml").write_text("hooks: []")
            project.team.symlink_to(tmp_path / "other.yaml")
    book = project.book()
    decision = book.decide_now(CALL)
    assert decision.denied
    assert decision.by == "no-word"
    assert any("pack that this file extends was changed" in problem.what for problem in book.problems)
    assert not project.trust.trusts(project.source)
    assert "trusted/team.yaml" in project.trust.diff(project.source)


@pytest.mark.parametrize("removed", ["the pack", "the distribution"])
def test_removing_an_installed_pack_never_loosens(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, removed: str
) -> None:
    pack = install_acme(tmp_path / "site", monkeypatch)
    project.source.path.write_text("extends: acme:base\n")
    project.trust.accept([project.source])
    if removed == "the pack":
        pack.unlink()
    else:
        shutil.rmtree(tmp_path / "site")
        importlib.invalidate_caches()
    decision = project.book().decide_now(CALL)
    assert decision.denied
    assert decision.by == "no-word"


@pytest.mark.parametrize("damaged", ["[1]\n", "version: 9\n" + GUARD, "hooks: {PreToolUse: []}\n", "extends: 5\n"])
def test_every_call_is_held_while_nobody_can_tell_the_hooks_of_a_pack(project: Project, damaged: str) -> None:
    project.team.write_text(damaged)
    book = project.book()
    assert book.decide_now(CALL).verdict is Verdict.ASK
    other = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})
    assert book.decide_now(other).verdict is Verdict.ASK


def test_a_new_guard_of_a_changed_pack_counts_at_once(project: Project) -> None:
    project.trust.accept([project.source])
    project.team.write_text(GUARD.replace("command: word", "command: say"))
    other = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "say less"}}})
    assert project.book().decide_now(other).denied
    assert project.book().decide_now(CALL).denied


def test_the_review_names_the_pack_and_accepting_it_again_takes_the_change(project: Project) -> None:
    project.trust.accept([project.source])
    project.team.write_text("hooks: []")
    review = project.trust.review(project.source)
    assert [pack.shown_as for pack in review.packs] == ["team.yaml"]
    assert review.as_json()["extends"] == ["team.yaml"]


def test_a_watcher_notices_a_change_of_a_pack(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text("hooks: []")
    (tmp_path / "hookline.yaml").write_text("extends: ./team.yaml")
    source = named_source(tmp_path / "hookline.yaml")
    watcher = BookWatcher(lambda: [source], Trust(tmp_path / "state" / "trust.json"))
    assert not watcher.book.decide_now(CALL).denied
    (tmp_path / "team.yaml").write_text(GUARD)
    assert watcher.refresh()
    assert watcher.book.decide_now(CALL).denied


def test_the_kept_texts_of_a_book_include_its_packs(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(GUARD)
    (tmp_path / "hookline.yaml").write_text("extends: [./team.yaml, hookline:recommended]")
    book = load_file(tmp_path / "hookline.yaml")
    (file,) = book.files.files
    assert file.packs[str(tmp_path / "team.yaml")] == GUARD
    assert "hookline:recommended" in file.packs


def test_records_are_explained_with_the_pack_as_it_was(tmp_path: Path) -> None:
    from hookline.hooks.hook_files import HookFiles
    from hookline.record.hooks_then import load_hook_files

    (tmp_path / "team.yaml").write_text(GUARD)
    (tmp_path / "hookline.yaml").write_text("extends: ./team.yaml")
    kept = load_file(tmp_path / "hookline.yaml").files.data
    (tmp_path / "team.yaml").unlink()
    assert load_hook_files(HookFiles.parse(kept)).decide_now(CALL).denied


def test_an_option_that_adds_to_its_default_needs_trust_like_any_change(project: Project) -> None:
    file = project.directory / "hookline.yaml"
    file.write_text("extends: [hookline:recommended]")
    project.trust.accept([project.source])
    file.write_text("extends: [{'hookline:recommended': {build_directories: {add: [src]}}}]")
    assert [project.book().decide_now(_delete(name)).denied for name in ("src", "dist")] == [True, False]
    project.trust.accept([project.source])
    assert [project.book().decide_now(_delete(name)).denied for name in ("src", "dist", "lib")] == [False, False, True]


def _delete(name: str) -> Event:
    tool = {"name": "bash", "input": {"command": f"rm -r {name}"}}
    return Event("tool.before", {"cwd": "/app", "workspace": "/app", "tool": tool})
