"""Fires one event from a Python test, and turns case files into pytest tests."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.event import Event
from hookline.hooks.events import event_named
from hookline.hooks.host import Host
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.hosts.call_decision import decide_without_record
from hookline.project import load_file, load_text
from hookline.testing.case import Case, load_cases
from hookline.testing.case_runner import (
    SESSION_ID,
    USER_NAME,
    config_text,
    default_file_name,
    run_case,
    run_sync,
)
from hookline.testing.scripted_host import ScriptedHost


def fire(
    config: Book | Path | str | Mapping[str, Any],
    event: Event | Mapping[str, Any],
    *,
    dialect: str | None = None,
    host: Host | None = None,
    explain: bool = False,
) -> Decision:
    """Returns the decision about `event`, with the facts that a session in the current directory would add.

    A Path is a file. Text or a mapping is the config itself, in the native format unless `dialect` says otherwise. An event may
    be written as in a case file: `{"name": "PreToolUse", "tool": {…}}`. A config error raises ConfigError. Without a host,
    programs run on this machine, and there are no tools and no model.
    """
    book = book_from_config(config, dialect)
    errors = [problem for problem in book.problems if problem.severity == "error"]
    if errors:
        raise ConfigError(errors)
    return run_sync(_decide_event(book, _build_event(event, dialect), host, explain))


def book_from_config(config: Book | Path | str | Mapping[str, Any], dialect: str | None) -> Book:
    if isinstance(config, Book):
        return config
    if isinstance(config, Path):
        return load_file(config, dialect)
    spoken = dialect or "native"
    return load_text(config_text(config), default_file_name(spoken), spoken)


def _build_event(event: Event | Mapping[str, Any], dialect: str | None) -> Event:
    if isinstance(event, Event):
        name, given = event.name, event.facts
    else:
        name, given = str(event.get("name", "")), {key: value for key, value in event.items() if key != "name"}
    found = event_named(name, dialect)
    if found is None:
        raise HooklineError(f"there is no event {name!r}")
    return Event(found, given)


async def _decide_event(book: Book, event: Event, host: Host | None, explain: bool) -> Decision:
    if host is not None:
        return await decide_without_record(book, _with_session_facts(event, host.clock.wall()), host, explain)
    alone = ScriptedHost(book=book)
    decision = await decide_without_record(book, _with_session_facts(event, alone.time.wall()), alone, explain)
    await alone.settle(decision)
    return decision


def _with_session_facts(event: Event, wall: float) -> Event:
    return Event(
        event.name, session_facts(event.name, event.facts, SessionInfo(SESSION_ID, USER_NAME, Path.cwd(), wall))
    )


def hook_cases(*paths: str | Path) -> Callable[..., None]:
    """Returns a test function, parametrized with each case below these paths: `test_hooks = hook_cases("tests/hooks")`.

    A path is looked up from the current directory, then from the calling file. An unreadable file becomes a failing test.
    """
    import pytest

    caller = inspect.stack()[1].filename
    found = [each for path in paths for each in _collect_cases(_find_existing(Path(path), Path(caller).parent))]
    if not found:
        raise HooklineError(f"there are no cases in {', '.join(map(str, paths))}")

    @pytest.mark.parametrize("case", [case for _, case in found], ids=[name for name, _ in found])
    def test(case: Case | ConfigError) -> None:
        if isinstance(case, ConfigError):
            pytest.fail(str(case), pytrace=False)
        result = run_case(case)
        if not result.ok:
            pytest.fail(str(result), pytrace=False)

    return test


def _find_existing(path: Path, beside: Path) -> Path:
    for each in (path, beside / path):
        if each.exists():
            return each
    raise HooklineError(f"there is no {path}, neither here nor beside the test file")


def _collect_cases(path: Path) -> list[tuple[str, Case | ConfigError]]:
    files = sorted((*path.rglob("*.yaml"), *path.rglob("*.yml"))) if path.is_dir() else [path]
    root = path if path.is_dir() else path.parent
    return [entry for file in files for entry in _collect_file_cases(file, str(file.relative_to(root)))]


def _collect_file_cases(file: Path, name: str) -> list[tuple[str, Case | ConfigError]]:
    try:
        cases = load_cases(file)
    except ConfigError as error:
        return [(name, error)]
    return [(name if len(cases) == 1 else f"{name}:{case.line}", case) for case in cases]
