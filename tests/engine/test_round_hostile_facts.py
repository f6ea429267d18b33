"""Facts of any shape in any place: a decision, never a traceback."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.hook_factories import (
    ASK,
    DENY,
    FakeHost,
    changing_action,
    decide,
    instant_action,
    make_book,
    make_hook,
    tool_call_event,
)
from hookline.engine.book import Book
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.change import Append, ChangeFacts, Remove, Replace, Set
from hookline.hooks.conditions.logic import ALWAYS, All, AnyOf, Not
from hookline.hooks.conditions.numbers import COMPARISONS, Comparison, ExpressionCondition, MultipleOf
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, RecentMessagesContain, ShellCommands
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import Event, parse_path
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Limit, Scope
from hookline.hooks.outcome import Note, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Condition
from hookline.hooks.templates import DataTemplate, parse_template
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import VOCABULARIES, ToolKind
from hookline.patterns.expressions import expression
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import pattern

pytestmark = pytest.mark.slow


PLACES = [
    "tool", "tool.name", "tool.kind", "tool.input", "tool.input.path", "tool.input.command", "tool.result", "session",
    "session.id", "agent", "agent.id", "agent.name", "agent.prompt", "messages", "messages.0", "turn", "turn.number",
    "metadata", "prompt", "host", "host.name", "cwd", "workspace", "context.pressure", "time",
]  # fmt: skip


def _deep(depth: int) -> Any:
    value: Any = "bottom"
    for n in range(depth):
        value = {"a": value} if n % 2 else [value]
    return value


ODD: list[Any] = [
    None, True, False, 0, -1, 5, 10**400, 10**5000, math.nan, math.inf, -math.inf, 1.5, "", "text", "\ud800", "\x00",
    "x" * 10_000, [], {}, [[]], {"a": None}, [1, "a", None], {"name": [], "input": "x"}, {5: "five", None: 1, (1,): 2},
    {"id": {"id": []}}, OrderedDict(name="bash"), defaultdict(list, name="bash"), ("a", "tuple"), b"bytes", {"a", "set"},
    object(), _deep(100), _deep(20_000), {"content": {"text": 5}}, {"number": True}, {"number": "x"}, {"number": 10**400},
]  # fmt: skip


def _everything() -> list[Any]:
    """One hook for every condition, and for every action that answers at once."""
    names = PlaceholderResolver(VOCABULARIES["claude_code"])
    paths = [parse_path(place) for place in [*PLACES, "tool.input.list.0.x", "tool.input.-1"]]
    conditions: list[Condition] = [
        Matches(ToolName(vocabulary), pattern("a|b")) for vocabulary in VOCABULARIES.values()
    ]
    conditions += [
        Matches(subject, pattern("a")) for path in paths for subject in (Fact(path), ToolField(path[2:] or ("path",)))
    ]
    conditions += [Matches(ShellCommands(ToolField(("command",))), shorthand("starts", "rm *"))]
    conditions += [Equals(path, value) for path in paths for value in (True, 1, {"a": True}, [[]], None, "text")]
    conditions += [Exists(path) for path in paths]
    conditions += [Comparison(path, word, 3) for path in paths for word in COMPARISONS]
    conditions += [MultipleOf(path, 3) for path in paths]
    conditions += [ToolKindIs(kind) for kind in ToolKind]
    conditions += [RecentMessagesContain("a"), ALWAYS]
    places = tuple(zip(("turn", "tokens"), paths[:2], strict=True))
    conditions += [ExpressionCondition(expression("turn * 2 > tokens", frozenset({"turn", "tokens"})), places)]
    conditions += [Not(condition) for condition in conditions[:20]] + [AnyOf(tuple(conditions)), All(tuple(conditions))]
    watch = FixedAnswer(Outcome(notes=(Note("seen"),)))
    hooks = [make_hook(watch, condition) for condition in conditions]
    hooks += [make_hook(watch, scope=scope) for scope in (Scope("a"), Scope(prompt="p"), Scope(session="s"))]
    hooks += [make_hook(watch, limit=Limit(5, cooldown_turns=2))]
    texts = [
        parse_template(f"{{{{{name}}}}}", names)
        for name in ("event", "tool.name", "input", "input.path", "messages", "turn")
    ]
    hooks += [make_hook(TemplateAnswer(Outcome(), text)) for text in texts]
    input = ("tool", "input")
    edits = [
        Set((*input, "x", 0), DataTemplate({"a": texts[0]})),
        Remove((*input, "path")),
        Remove((*input, "list", 0)),
    ]
    more = [Append((*input, "path"), texts[1]), Replace(input, pattern("a"), "b")]
    hooks += [make_hook(ChangeFacts((edit,))) for edit in (*edits, *more)]
    return hooks


BOOK = make_book(*_everything())


def _odd_event(place: str, odd: Any) -> Event:
    facts = {
        "tool": {"name": "bash", "input": {"path": "a", "list": [{"x": 1}]}},
        "messages": [{"content": "a"}],
        "turn": {"number": 3},
    }
    return Event("tool.before", facts).with_changes(((parse_path(place), odd),))


@pytest.mark.parametrize("place", PLACES)
def test_any_value_in_any_place_is_decided(place: str) -> None:
    for odd in ODD:
        for explain in (False, True):
            decision = BOOK.decide_now(_odd_event(place, odd), FakeHost(), explain)
            assert decision.verdict is Verdict.SILENT
            assert decision.as_json()["event"] == "tool.before"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["bash", "shell"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "kind", "input", "path", "id", "number", "content", "x"]), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["tool", "session", "agent", "turn", "messages", "host", "prompt"]), _JSON, max_size=6
    )
)
def test_any_json_is_decided_and_the_decision_is_json(facts: dict[str, Any]) -> None:
    event = Event("tool.before", {}).with_changes(tuple(((name,), value) for name, value in facts.items()))
    decision = BOOK.decide_now(event, FakeHost(), explain=True)
    json.dumps(decision.as_json())
    assert decision.verdict is Verdict.SILENT


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_without_any_facts_is_decided(name: str) -> None:
    hooks = [make_hook(one.then, one.when, event=name, scope=one.scope) for one in BOOK.hooks[::7]]
    assert decide(make_book(*hooks), Event(name, {}), FakeHost(), explain=True).event.name == name


def test_a_very_deep_change_is_made_or_fails_but_never_raises() -> None:
    deep = changing_action(("tool.input.x", _deep(20_000)))
    copies = instant_action(
        lambda event: Outcome(changes=((("tool", "input", "y"), event.facts["tool"]["input"].get("x")),))
    )
    decision = decide(make_book(make_hook(deep), make_hook(copies), make_hook(deep), make_hook(ASK)), tool_call_event())
    assert decision.verdict is Verdict.ASK


def test_a_guard_holds_beside_any_odd_fact() -> None:
    held: Book = make_book(make_hook(DENY, Matches(ToolField(("command",)), pattern("rm"))))
    for place in PLACES:
        if not place.startswith("tool"):
            for odd in ODD:
                event = tool_call_event("rm").with_changes(((parse_path(place), odd),))
                assert held.decide_now(event).denied, (place, odd)
