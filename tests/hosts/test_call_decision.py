"""The calls in a call are decided with it. Whole sessions: tests/hosts/python/test_session.py."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from engine.hook_factories import make_hook
from hookline.engine.decision import Decision, TraceEntry
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.event import Event
from hookline.hooks.outcome import AskTerms, Compact, Failure, FailureKind, Note, Outcome, Verdict
from hookline.hosts.call_decision import add_inner_decision, decide_inner_calls


def _decision(verdict: Verdict, input: Any, **more: Any) -> Decision:
    return Decision(Event("tool.before", {"tool": {"name": "x", "input": input}}), verdict, **more)


@pytest.mark.parametrize("made", list(Verdict))
@pytest.mark.parametrize("inner", list(Verdict))
def test_the_stricter_decision_counts_and_an_allow_is_needed_for_both(made: Verdict, inner: Verdict) -> None:
    outer = _decision(made, {"calls": []})
    joined = add_inner_decision(outer, _decision(inner, {}), {})
    strictest = max(made, inner)
    assert joined.verdict is (min(made, inner) if strictest is Verdict.ALLOW else strictest)
    assert joined.event is outer.event


def test_a_change_within_is_a_deny_and_notes_are_kept() -> None:
    said = Note("hello")
    joined = add_inner_decision(
        _decision(Verdict.SILENT, {}, notes=(said,)),
        _decision(Verdict.ASK, {"a": 2}, notes=(said, Note("b"))),
        {"a": 1},
    )
    assert joined.denied
    assert add_inner_decision(
        _decision(Verdict.SILENT, {}, notes=(said,)), _decision(Verdict.SILENT, {}, notes=(said, Note("b"))), {}
    ).notes == (said, Note("b"))


def test_what_hooks_did_beside_deciding_is_kept() -> None:
    """Also if the inner call's answer wins."""
    first, second = Failure(FailureKind.RAISED, "first"), Failure(FailureKind.RAISED, "second")
    outer = _decision(Verdict.SILENT, {}, requests=(Compact(),), failures=(first,))
    for verdict in Verdict:
        joined = add_inner_decision(outer, _decision(verdict, {}, requests=(Compact(),), failures=(second,)), {})
        assert joined.requests == (Compact(), Compact())
        assert joined.failures == (first, second)


def test_how_long_an_inner_ask_waits_counts() -> None:
    terms = AskTerms(Verdict.ALLOW, timedelta(minutes=1))
    asked = Outcome(Verdict.ASK, terms=terms)
    inner = _decision(Verdict.ASK, {}, trace=(TraceEntry(make_hook(FixedAnswer(asked)), asked),))
    assert add_inner_decision(_decision(Verdict.SILENT, {}), inner, {}).ask_terms == terms


def test_a_call_within_has_the_name_of_its_server() -> None:
    asked: list[str] = []

    async def decide(tool: dict[str, Any]) -> Decision:
        asked.append(tool["name"])
        return _decision(Verdict.SILENT, tool["input"])

    input = {"calls": [{"name": "send", "input": {}}, {"name": "mcp__mail__send", "input": {}}]}
    for name in ("batch", "mcp__hub__batch"):
        made = Decision(Event("tool.before", {"tool": {"name": name, "input": input}}))
        assert asyncio.run(decide_inner_calls(made, decide)) is made
    assert asked == ["send", "mcp__mail__send", "mcp.hub.send", "mcp__mail__send"]


@pytest.mark.parametrize("calls", ["[" + " " * 1_000_001 + "]", "[" * 100_000])
@pytest.mark.parametrize("made", list(Verdict))
def test_a_call_with_calls_that_cannot_be_read_is_denied(calls: str, made: Verdict) -> None:
    async def decide(tool: dict[str, Any]) -> Decision:
        raise AssertionError("there is no call to decide")

    outer = _decision(made, {"tool_calls": calls}, reason="no" if made is Verdict.DENY else "", by="mine")
    joined = asyncio.run(decide_inner_calls(outer, decide))
    assert joined.denied
    assert joined is outer or joined.by is None
    assert (joined is outer) is (made is Verdict.DENY)
