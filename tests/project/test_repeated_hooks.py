"""A pack that the user's and the project's file extend acts, counts and is listed once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hookline import Event, Verdict
from hookline.engine.book import Book
from hookline.project import BookWatcher, find_sources, load_all
from hookline.project.trust_store import Trust
from hookline.record.hooks_then import load_hook_files

FETCH = Event("tool.before", {"tool": {"name": "WebFetch", "kind": "fetch", "input": {"url": "https://example.com"}}})


class Places:
    def __init__(self, path: Path) -> None:
        self.user = path / "home/.config/hookline/hookline.yaml"
        self.project = path / "app/hookline.yaml"
        self.home, self.trust = path / "home", Trust(path / "state/trust.json")
        self.user.parent.mkdir(parents=True)
        (path / "app/.git").mkdir(parents=True)

    def write(self, user: str, project: str) -> None:
        self.user.write_text(user)
        self.project.write_text(project)

    def load(self, *, trusted: bool = True) -> Book:
        sources = find_sources(self.project.parent, self.home)
        if trusted:
            self.trust.accept(sources)
        return load_all(sources, self.trust)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "not-trusted"])
@pytest.mark.parametrize("pack", ["recommended", "audit", "quality", "budget"])
def test_the_hooks_are_there_once(places: Places, pack: str, trusted: bool) -> None:
    places.write(f"extends: hookline:{pack}", f"extends: [hookline:{pack}]")
    ids = [(hook.id, hook.event) for hook in places.load(trusted=trusted).hooks]
    assert len(ids) == len(set(ids)) > 0


def test_an_action_runs_once(places: Places, tmp_path: Path) -> None:
    log, pack = tmp_path / "log", places.project.with_name("team.yaml")
    action = {"run": f"echo ran >> {log}", "reads": "never"}
    pack.write_text(json.dumps({"hooks": [{"id": "note", "on": "tool.before", "then": action}]}))
    places.write("hooks: []", "extends: ./team.yaml")
    places.project.with_name("hookline.local.yaml").write_text("extends: ./team.yaml")
    book = places.load()
    assert [hook.id for hook in book.hooks] == ["note"]
    assert asyncio.run(book.decide(FETCH)).verdict is Verdict.SILENT
    assert log.read_text() == "ran\n"


def verdicts(book: Book, count: int) -> list[Verdict]:
    return [book.decide_now(FETCH).verdict for _ in range(count)]


def test_events_are_counted_once(places: Places) -> None:
    pack = "extends: [{'hookline:budget': {fetches: 3}}]"
    places.write(pack, pack)
    assert verdicts(places.load(), 4) == [*[Verdict.SILENT] * 3, Verdict.ASK]


def test_hooks_with_other_options_count_for_themselves(places: Places) -> None:
    places.write("extends: [{'hookline:budget': {fetches: 6}}]", "extends: [{'hookline:budget': {fetches: 3}}]")
    book = places.load()
    assert [hook.id for hook in book.hooks].count("few-fetches") == 2
    assert verdicts(book, 4) == [*[Verdict.SILENT] * 3, Verdict.ASK]
    places.write("extends: [{'hookline:budget': {fetches: 3}}]", "extends: [{'hookline:budget': {fetches: 6}}]")
    assert verdicts(places.load(), 4) == [*[Verdict.SILENT] * 3, Verdict.ASK]


def test_an_override_of_the_project_does_not_change_the_users_hook(places: Places) -> None:
    off = "extends: hookline:recommended\noverride: {no-shutdown: {enabled: false}}"
    places.write("extends: hookline:recommended", off)
    hooks = [hook for hook in places.load().hooks if hook.id == "no-shutdown"]
    assert [hook.enabled for hook in hooks] == [True, False]


def test_the_projects_hooks_come_back_when_the_user_stops_extending(places: Places) -> None:
    places.write("extends: hookline:recommended", "extends: hookline:recommended")
    places.load()
    watcher = BookWatcher(lambda: find_sources(places.project.parent, places.home), places.trust)
    before = [hook.id for hook in watcher.book.hooks]
    places.user.write_text("hooks: []")
    assert watcher.refresh()
    assert [hook.id for hook in watcher.book.hooks] == before


def test_the_recorded_hooks_are_the_same(places: Places) -> None:
    places.write("extends: hookline:recommended", "extends: hookline:recommended")
    book = places.load()
    assert [hook.id for hook in load_hook_files(book.files).hooks] == [hook.id for hook in book.hooks]
