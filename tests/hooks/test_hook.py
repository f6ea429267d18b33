"""Which events a hook is limited to, and what it may do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engine.hook_factories import ALLOW, DENY, make_hook, returning_action
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.event import Event
from hookline.hooks.hook import UNLIMITED, Limit, Scope
from hookline.hooks.outcome import Note, Outcome, Verdict

FACTS = {"agent": {"id": "a1", "name": "coder", "prompt": "main"}, "session": {"id": "s"}}


@pytest.mark.parametrize(
    ("scope", "covers"),
    [
        (Scope(), True),
        (Scope(agent="a1"), True),
        (Scope(agent="coder"), True),
        (Scope(agent="main"), False),
        (Scope(prompt="main", session="s"), True),
        (Scope(agent="coder", session="other"), False),
        (Scope(prompt="other"), False),
    ],
)
def test_a_scope_covers_an_event_that_fits_every_part(scope: Scope, covers: bool) -> None:
    assert scope.covers(Event("stop", FACTS)) is covers


@pytest.mark.parametrize("facts", [{}, {"agent": "a1", "session": "s"}, {"agent": None}])
def test_an_event_without_the_fact_is_only_covered_by_every_scope(facts: dict[str, Any]) -> None:
    assert Scope().covers(Event("stop", facts))
    assert not any(scope.covers(Event("stop", facts)) for scope in (Scope("a1"), Scope(prompt="p"), Scope(session="s")))


def test_a_limit_reads_what_it_counts_by() -> None:
    assert UNLIMITED.reads() == ()
    assert Limit(max_fires=1).reads() == (("session", "id"),)
    assert Limit(cooldown=timedelta(seconds=1), cooldown_turns=2).reads() == (("session", "id"), ("turn", "number"))


def test_only_an_instant_action_that_can_only_stop_is_a_guard() -> None:
    assert make_hook(DENY).guards
    assert not make_hook(ALLOW).guards
    assert not make_hook(DENY, on_error=Outcome(Verdict.ALLOW)).guards
    assert not make_hook(returning_action(Outcome(Verdict.DENY))).guards
    assert not make_hook(FixedAnswer(Outcome(notes=(Note("x"),)))).guards


def test_what_a_hook_may_do_includes_its_on_error() -> None:
    assert make_hook(ALLOW).only_allows
    assert not make_hook(DENY).only_allows
    assert make_hook(FixedAnswer(Outcome()), on_error=Outcome(Verdict.DENY)).may_stop
    assert not make_hook(ALLOW).may_stop
    assert make_hook(FixedAnswer(Outcome(changes=((("prompt",), "x"),)))).may_change


def test_a_halt_stops_only_where_the_event_can_be_denied() -> None:
    halt = FixedAnswer(Outcome(halt=True))
    assert make_hook(halt).may_stop
    assert not make_hook(halt, event="tool.after").may_stop
