"""The digitorn format: what it recognises, its examples, its schema, registered names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from dialects.digitorn.digitorn_app import all_actions, all_conditions, build_hook, load, read_document
from hookline.config.problem import errors_of
from hookline.config.reader import read_text, salvage_text
from hookline.dialects.dialect import LoadResult, recognise_dialect
from hookline.dialects.digitorn import DIALECT
from hookline.engine.book import Book, Layer, introspect
from hookline.extensions import ACTION_REGISTRY, CONDITION_REGISTRY, register_action, register_condition
from hookline.hooks.event import Event
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import Limit, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import Note, Outcome
from hookline.project.lint import lint_hooks
from hookline.testing import ScriptedHost


@pytest.fixture
def doors() -> Iterator[None]:
    """Whatever a test registers is gone after it."""
    before = dict(CONDITION_REGISTRY._entries), dict(ACTION_REGISTRY._entries)
    yield
    for register, entries in zip((CONDITION_REGISTRY, ACTION_REGISTRY), before, strict=True):
        register._entries.clear()
        register._entries.update(entries)


@pytest.mark.parametrize(
    ("file", "text", "ours"),
    [
        ("digitorn.yaml", "runtime: {}", True),
        ("app.yaml", "agents: []", True),
        ("app.yaml", "services: {}", False),
        ("x.yaml", "runtime: {hooks: []}", True),
        ("x.json", '{"execution": {"hooks": []}}', True),
        ("x.yaml", "agents: [{id: a, hooks: []}]", True),
        ("x.yaml", "agents: [{id: a}]", False),
        ("x.yaml", "runtime: python", False),
        ("hookline.yaml", "agents: [{id: a, hooks: []}]", False),
        (".hookline/a.yaml", "runtime: {hooks: []}", False),
        ("x.yaml", "[]", False),
    ],
)
def test_a_file_is_recognised(file: str, text: str, ours: bool) -> None:
    assert DIALECT.recognises(read_document(text, file)) is ours


def test_an_app_file_is_nobody_else_s() -> None:
    assert recognise_dialect(read_document("runtime: {hooks: []}", "shop.yaml")) is DIALECT


def test_there_are_15_events() -> None:
    assert len(events_by_name("digitorn")) == 15


def test_a_hook_without_anything_has_the_defaults() -> None:
    (found,) = load(build_hook()).hooks
    assert (found.event, found.order, found.enabled, found.tags, found.scope) == ("turn.end", 0, True, (), Scope())
    assert found.limit == Limit(is_counted=True)
    assert (found.group, found.origin.dialect, found.origin.line) == ("digitorn", "digitorn", 1)


def load_app(text: str) -> LoadResult:
    document, _ = read_text(text, "app.yaml")
    assert document is not None
    return DIALECT.load(document)


def test_seconds_and_fires_become_limits() -> None:
    (found,) = load(build_hook(cooldown=1.5, max_fires=3, priority=7)).hooks
    assert found.limit == Limit(3, timedelta(seconds=1.5), is_counted=True)
    assert found.order == -93


def test_a_file_of_something_else_has_no_hooks_and_no_problems() -> None:
    for text in ("[]", "text", "runtime: 3.12", "runtime: {hooks: }", "agents: [{id: a}, text, 3]", "execution: []"):
        assert load_app(text) == LoadResult(())


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "text",
        "runtime: 3.12",
        "runtime: text",
        "runtim_: {hooks: [{id: a, action: {type: gate}}]}",
        "re: {hooks: [{id: a, action: {type: gate}}]}",
        "runtime: {hookkks: [{id: a, action: {type: gate}}]}",
        "x: [{id: a, action: {type: gate}}]",
    ],
)
def test_nothing_that_could_be_a_guard_is_passed_over(text: str) -> None:
    assert errors_of(load(text).problems)


@pytest.mark.parametrize("text", ["agents: {a: {hooks: []}}", "runtime: {hooks: {}}", "runtime: {hooks: [text]}"])
def test_a_list_that_is_none_is_a_problem(text: str) -> None:
    assert [problem.code for problem in load(text).problems] == ["wrong-type"]


def test_hostile_values_never_raise() -> None:
    values: list[Any] = [None, True, 0, -1, 10**30, 1e308, "", "x", "{{", [], {}, [None], {"type": None}, {"type": []}]
    keys = ("id", "on", "condition", "action", "cooldown", "max_fires", "priority", "enabled", "tags")
    for key in keys:
        for value in values:
            load(build_hook(**{key: value}))
    for forms, at in ((all_actions(), "action"), (all_conditions(), "condition")):
        for form in forms:
            for key in form:
                for value in values:
                    load(build_hook(**{at: {**form, key: value}}))


@pytest.mark.usefixtures("doors")
def test_registered_names_are_usable_from_yaml() -> None:
    class Hours(BaseModel):
        start: int
        end: int = 17

    @register_condition("business_hours", params=Hours)
    def business_hours(params: Hours, event: Event) -> bool:
        return params.start <= event.facts["hour"] < params.end

    @register_action("greet")
    async def greet(params: dict[str, Any], event: Event, host: Host) -> Outcome:
        return Outcome(notes=(Note(f"{params['words']} {event.facts['hour']}"),))

    config = build_hook(
        condition={"type": "not", "condition": {"type": "business_hours", "start": 9}},
        action={"type": "greet", "words": "hi"},
    )
    loaded = load(config)
    assert loaded.problems == ()
    jsonschema.validate(config, DIALECT.schema())
    book = Book([Layer("x", loaded.hooks)], ScriptedHost())
    notes = [asyncio.run(book.decide(Event("turn.end", {"hour": hour}))).notes for hour in (8, 9, 16, 17)]
    assert [[note.text for note in each] for each in notes] == [["hi 8"], [], [], ["hi 17"]]


@pytest.mark.usefixtures("doors")
def test_params_are_checked_with_their_lines() -> None:
    class Hours(BaseModel):
        start: int

    @register_condition("business_hours", params=Hours)
    def business_hours(params: Hours, event: Event) -> bool:
        return True

    text = "runtime:\n  hooks:\n    - id: h\n      condition:\n        type: business_hours\n        start: nine\n      action: {type: gate}\n"
    (problem,) = load(text).problems
    assert (problem.code, problem.line) == ("bad-params", 6)
    assert "valid integer" in problem.what


def test_introspection_shows_tags_and_fires() -> None:
    config = {
        "runtime": {
            "hooks": [
                {"id": "a", "on": "turn_end", "tags": ["qa"], "cooldown": 5, "action": {"type": "log", "message": "x"}}
            ]
        }
    }
    config |= {"agents": [{"id": "r", "hooks": [{"id": "b", "enabled": False, "action": {"type": "gate"}}]}]}
    host = ScriptedHost()
    book = Book([Layer("x", load(config).hooks)], host)
    asyncio.run(book.decide(Event("turn.end", {"session": {"id": "s"}})))
    first, second = introspect(book, host.limits, "s")
    assert (first["id"], first["event_as_written"], first["tags"], first["fires"]) == ("a", "turn_end", ["qa"], 1)
    assert (first["last_fire"], first["cooldown"], first["max_fires"]) == (host.clock.now(), 5.0, None)
    assert (second["agent"], second["enabled"], second["fires"], second["last_fire"]) == ("r", False, 0, None)
    assert introspect(book, host.limits, "another")[0]["fires"] == 0


LOG = {"type": "log", "message": "x"}


@pytest.mark.parametrize(
    ("hook", "code"),
    [
        ({"On": "tool_start", "action": LOG}, "unknown-key"),
        ({"event": "tool_start", "action": LOG}, "unknown-key"),
        ({"condition": {"type": "expression", "expr": "turns > 5"}, "action": LOG}, "bad-expression"),
        ({"condition": {"type": "all_of", "conditions": [{"type": "moon_phase"}]}, "action": LOG}, "unknown-condition"),
    ],
)
def test_a_mistake_in_a_hook_is_one_problem(hook: dict[str, Any], code: str) -> None:
    loaded = load({"runtime": {"hooks": [{"id": "h", **hook}]}})
    assert [each.code for each in (*loaded.problems, *lint_hooks(loaded.hooks))] == [code]


GATE = "[{id: h, on: tool_start, action: {type: gate}}]"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"runtime: {{hook: {GATE}}}", "unknown-key"),
        (f"runtime: {{settings: {{hooks: {GATE}}}}}", "not-read"),
        (f"agents: {{reviewer: {{hooks: {GATE}}}}}", "wrong-type"),
        (
            "runtime: {hooks: [{id: h, on: tool_end, action: {type: shell, command: {{tool.params.path}}}}]}",
            "key-not-text",
        ),
    ],
)
def test_a_mistake_in_a_file_is_one_problem(text: str, code: str) -> None:
    document, _ = salvage_text(text, "digitorn.yaml")
    assert document is not None
    loaded = DIALECT.load(document)
    assert [each.code for each in (*loaded.problems, *lint_hooks(loaded.hooks))] == [code]
