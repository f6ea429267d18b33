"""A stored session's hooks work again after it is restored."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hookline.engine.book import Book, Layer
from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.hook import Scope
from hookline.hooks.outcome import Verdict
from hookline.runners.local_host import LocalHost
from hookline.runtime.session_hooks import StoredHooksFile, dump_session_hooks, load_session_hooks

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
