"""A stored session's hooks work again after it is restored."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.book import Book, Layer
from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.hook import Scope
from hookline.hooks.outcome import Verdict
from hookline.project import find_sources
from hookline.project.trust_store import Trust, trust_file_path
from hookline.record.hooks_then import load_hook_files, read_hook_files
from hookline.record.record_reader import read_records
from hookline.record.replayer import ReplayBook, ReplayDifference, compare
from hookline.record.segment import record_directory
from hookline.runners.local_host import LocalHost
from hookline.runtime.apps.app import App
from hookline.runtime.runtime import Runtime
from hookline.runtime.session_hooks import StoredHooksFile, dump_session_hooks, load_session_hooks
from hookline.runtime.settings import Settings
from runtime.scripted_runtime import RecordingModel, make_agent, open_runtime, run_async, send_prompt, tool_call_step

HUB = """{"hooks": {"PreToolUse": [
  {"id": "deny", "matcher": "^bash$", "action": "deny", "reason": "no"},
  {"id": "script", "matcher": "^files$", "action": "script", "script": "return {decision: 'deny', reason: toolName}"}
]}}"""
NATIVE = "hooks: [{id: native, on: tool.before, when: {tool: fetch}, then: {deny: native}}]"
SKILL = "---\nallowedTools: [grep]\n---\nSearch."
PARTS = (
    StoredHooksFile("flo", "hub.json", HUB),
    StoredHooksFile("native", "hookline.yaml", NATIVE),
    StoredHooksFile("flo", "SKILL.md", SKILL, Scope(session="s1")),
)


def answer(value: Any, tool: str, session: str = "s1") -> tuple[Verdict, str]:
    book = Book([Layer("stored", load_session_hooks(value).hooks)], LocalHost(FireCounts()))
    event = Event("tool.before", {"tool": {"name": tool, "input": {}}, "session": {"id": session}})
    decision = asyncio.run(book.decide(event))
    return decision.verdict, decision.reason


def test_every_hook_works_after_a_session_is_restored() -> None:
    value = json.loads(json.dumps(dump_session_hooks(PARTS)))
    assert load_session_hooks(value).problems == ()
    assert answer(value, "bash") == (Verdict.DENY, "no")
    assert answer(value, "files") == (Verdict.DENY, "files")
    assert answer(value, "fetch") == (Verdict.DENY, "native")


def test_a_skills_hooks_keep_their_session() -> None:
    value = dump_session_hooks(PARTS)
    assert answer(value, "grep") == (Verdict.ALLOW, "")
    assert answer(value, "grep", session="s2") == (Verdict.SILENT, "")


def test_places_are_kept() -> None:
    (first, *_) = load_session_hooks(dump_session_hooks(PARTS)).hooks
    assert (first.origin.file, first.origin.line, first.origin.dialect) == ("hub.json", 2, "flo")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "wrong-type"),
        ([], "wrong-type"),
        ({"files": []}, "unknown-version"),
        ({"version": 2, "files": []}, "unknown-version"),
        ({"version": True, "files": []}, "unknown-version"),
        ({"version": 1, "files": 5}, "wrong-type"),
        ({"version": 1, "files": [5]}, "wrong-type"),
        ({"version": 1, "files": [{"dialect": "flo", "file": "hub.json"}]}, "missing-key"),
        ({"version": 1, "files": [{"dialect": "pickle", "file": "x", "text": ""}]}, "unknown-word"),
        ({"version": 1, "files": [{"dialect": "flo", "file": "hub.json", "text": "{"}]}, None),
        ({"version": 1, "more": 1}, "unknown-key"),
    ],
)
def test_what_was_not_stored_by_us_is_a_problem_and_no_hook(value: Any, code: str | None) -> None:
    found = load_session_hooks(value)
    assert found.hooks == ()
    assert found.problems
    assert code is None or code in [problem.code for problem in found.problems]


def test_a_scope_that_cannot_be_read_never_becomes_wider() -> None:
    value = dump_session_hooks(PARTS[2:])
    value["files"][0]["scope"] = {"session": 5}
    assert load_session_hooks(value).hooks == ()


RULES = """{"hooks": {"PreToolUse": [
  {"id": "deny", "matcher": "^bash$", "action": "deny", "reason": "no"},
  {"id": "script", "matcher": "^write_file$", "action": "script", "script": "return {decision: 'deny', reason: 'no ' + toolInput.path}"}
]}}"""
CALLS = (
    tool_call_step(("bash", {"command": "touch made"})),
    tool_call_step(("write_file", {"path": "a", "content": ""})),
)


def results(model: RecordingModel) -> list[str]:
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


@asynccontextmanager
async def runtime_in(workspace: Path, *steps: Any) -> AsyncIterator[tuple[Runtime, RecordingModel]]:
    model = RecordingModel([*steps, "done"])
    settings = Settings(
        home=workspace.parent / "home",
        env={"PATH": os.environ["PATH"]},
        app=App((make_agent(),)),
        model=model,
        store=f"sqlite:///{workspace.parent / 'sessions.db'}",
    )
    async with Runtime.open(workspace, settings) as runtime:
        yield runtime, model


def write_rules(workspace: Path, text: str, file: str = ".flo/hooks.json") -> None:
    path = workspace / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    trust = Trust(trust_file_path(workspace.parent / "home"))
    trust.accept(find_sources(workspace, workspace.parent / "home"))


def stored_session(workspace: Path) -> str:
    """A session that this process has left."""

    async def work() -> str:
        async with runtime_in(workspace) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "hello")
            return session.id

    return run_async(work)


def results_after_resuming(workspace: Path, id: str, verb: str = "resume") -> list[str]:
    async def work() -> list[str]:
        async with runtime_in(workspace, *CALLS) as (runtime, model):
            session = await getattr(runtime, verb)(id)
            await send_prompt(session, "go")
            return results(model)

    return run_async(work)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    return place


def test_a_session_carries_its_agent_s_rules(workspace: Path) -> None:
    write_rules(workspace, RULES)
    id = stored_session(workspace)
    shutil.rmtree(workspace / ".flo")
    shutil.rmtree(workspace.parent / "home", ignore_errors=True)  # nothing but the session remembers them
    assert [text.partition(" (")[0] for text in results_after_resuming(workspace, id)] == ["Error: no", "Error: no a"]


def test_the_present_text_of_the_file_counts(workspace: Path) -> None:
    write_rules(workspace, RULES)
    id = stored_session(workspace)
    write_rules(workspace, RULES.replace('"no"', '"changed"').replace("^write_file$", "^nothing$"))
    first, second = results_after_resuming(workspace, id)
    assert first.startswith("Error: changed")
    assert not second.startswith("Error")


def test_rules_of_a_file_that_the_session_has_too_run_once(workspace: Path) -> None:
    write_rules(workspace, '{"hooks": {"PreToolUse": [{"matcher": "^bash$", "command": "echo once >> count"}]}}')
    results_after_resuming(workspace, stored_session(workspace))
    assert (workspace / "count").read_text() == "once\n"


def test_a_hub_s_rules_are_not_part_of_a_session(workspace: Path) -> None:
    write_rules(workspace, RULES, "hub.json")
    id = stored_session(workspace)
    (workspace / "hub.json").unlink()
    shutil.rmtree(workspace.parent / "home", ignore_errors=True)
    assert not any(text.startswith("Error") for text in results_after_resuming(workspace, id))


def test_rules_of_a_file_that_changes_meanwhile_are_stored(workspace: Path) -> None:
    async def work() -> str:
        async with runtime_in(workspace, "one", "two") as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "hello")
            write_rules(workspace, RULES)
            runtime._watched.refresh()
            await send_prompt(session, "again")
            return session.id

    id = run_async(work)
    shutil.rmtree(workspace / ".flo")
    shutil.rmtree(workspace.parent / "home", ignore_errors=True)
    assert results_after_resuming(workspace, id)[0].startswith("Error: no")


def test_rules_that_were_set_for_the_agent_outlast_a_reopened_session_and_those_of_a_skill_do_not(
    workspace: Path,
) -> None:
    async def work() -> str:
        async with runtime_in(workspace) as (runtime, _):
            session = await runtime.start()
            await session.add_hooks((StoredHooksFile("flo", "console", RULES, Scope(agent="helper")),))
            skill = RULES.replace("write_file", "glob").replace(
                '"deny", "matcher": "^bash$"', '"x", "matcher": "^write"'
            )
            await session.add_hooks((StoredHooksFile("flo", "SKILL.md", skill, Scope(session=session.id)),))
            await send_prompt(session, "hello")
            await session.end()
            return session.id

    id = run_async(work)
    assert [text.partition(" (")[0] for text in results_after_resuming(workspace, id, "reopen")] == [
        "Error: no",
        "Error: no a",
    ]


def test_the_text_of_a_file_that_nobody_trusts_is_not_stored(workspace: Path) -> None:
    (workspace / ".flo").mkdir()
    (workspace / ".flo/hooks.json").write_text(RULES)
    id = stored_session(workspace)
    shutil.rmtree(workspace / ".flo")
    assert not any(text.startswith("Error") for text in results_after_resuming(workspace, id))


def test_the_record_keeps_the_hooks_of_a_skill(workspace: Path) -> None:
    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "ls"})), "done"]
        async with open_runtime(workspace, steps=steps) as (runtime, _):
            session = await runtime.start()
            before = session.book.files.hash
            await session.add_hooks((StoredHooksFile("flo", "skill.json", RULES, Scope(session=session.id)),))
            assert session.book.files.hash != before
            await send_prompt(session, "hello")
            directory = record_directory(runtime.state_directory)
            denied = [row for row in read_records(directory) if row.get("verdict") == "deny"]
            assert [(row["tool"], row["file"]) for row in denied] == [("bash", "skill.json")]
            then = ReplayBook(load_hook_files(read_hook_files(directory, denied[0]["hooks"])))
            assert [hook.scope for hook in then.book.hooks] == [Scope(session=session.id)] * len(then.book.hooks)
            assert compare(denied[0], await then.decide(denied[0], then.hooks)) is ReplayDifference.SAME

    run_async(work)
