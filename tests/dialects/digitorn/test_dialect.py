"""The digitorn format: what it recognises, its examples, its schema, registered names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from hookline.config.document import Document
from hookline.config.reader import read_text
from hookline.dialects.dialect import LoadResult, recognise_dialect
from hookline.dialects.digitorn import DIALECT
from hookline.engine.book import Book, Layer, introspect
from hookline.extensions import ACTION_REGISTRY, CONDITION_REGISTRY, register_action, register_condition
from hookline.hooks.event import Event
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import Limit, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import Note, Outcome
from hookline.testing import ScriptedHost

CASES = Path(__file__).parents[2] / "cases" / "digitorn"


def read_document(text: str, file: str = "digitorn.yaml") -> Document:
    found, problems = read_text(text, file)
    assert found is not None, problems
    return found


def load(value: Any) -> LoadResult:
    return DIALECT.load(read_document(value if isinstance(value, str) else json.dumps(value)))


def build_hook(**keys: Any) -> dict[str, Any]:
    return {"runtime": {"hooks": [{"id": "h", "action": {"type": "gate"}, **keys}]}}


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


def test_seconds_and_fires_become_limits() -> None:
    (found,) = load(build_hook(cooldown=1.5, max_fires=3, priority=7)).hooks
    assert found.limit == Limit(3, timedelta(seconds=1.5), is_counted=True)
    assert found.order == -93


def test_a_file_of_something_else_has_no_hooks_and_no_problems() -> None:
    for text in ("[]", "text", "runtime: 3.12", "runtime: {hooks: }", "agents: [{id: a}, text, 3]", "execution: []"):
        assert load(text) == LoadResult(())


@pytest.mark.parametrize("text", ["agents: {a: {hooks: []}}", "runtime: {hooks: {}}", "runtime: {hooks: [text]}"])
def test_a_list_that_is_none_is_a_problem(text: str) -> None:
    assert [problem.code for problem in load(text).problems] == ["wrong-type"]


def test_hostile_values_never_raise() -> None:
    values: list[Any] = [None, True, 0, -1, 10**30, 1e308, "", "x", "{{", [], {}, [None], {"type": None}, {"type": []}]
    keys = ("id", "on", "condition", "action", "cooldown", "max_fires", "priority", "enabled", "tags")
    for key in keys:
        for value in values:
            load(build_hook(**{key: value}))
    for forms, at in ((_all_actions(), "action"), (_all_conditions(), "condition")):
        for form in forms:
            for key in form:
                for value in values:
                    load(build_hook(**{at: {**form, key: value}}))


def test_deep_nesting_is_read_and_decided() -> None:
    condition: dict[str, Any] = {"type": "always"}
    for _ in range(90):
        condition = {"type": "not", "condition": condition}
    (found,) = load(build_hook(on="tool_start", condition=condition)).hooks
    assert found.when.holds(Event("tool.before", {}))


def _all_conditions() -> list[dict[str, Any]]:
    return [
        {"type": "all_of", "conditions": []},
        {"type": "any_of", "conditions": [{"type": "always"}]},
        {"type": "not", "condition": {"type": "unheard_of", "x": 1}},
        {"type": "always"},
        {"type": "never"},
        {"type": "context_pressure", "threshold": 0.75},
        {"type": "turn_count", "threshold": 10},
        {"type": "turn_count", "every": 5},
        {"type": "tool_calls", "threshold": 20},
        {"type": "message_count", "threshold": 50},
        {"type": "tool_name", "match": "Write|Edit"},
        {"type": "tool_name", "match": ["Write", "Edit", "Insert"]},
        {"type": "tool_failed"},
        {"type": "content_contains", "keyword": "x"},
        {"type": "error_type", "match": "rate_limit*"},
        {"type": "expression", "expr": "turn > 5 and pressure > 0.6"},
    ]


def _all_actions() -> list[dict[str, Any]]:
    return [
        {
            "type": "compact_context",
            "strategy": "summarize",
            "keep_recent": 10,
            "summary_max_tokens": 1024,
            "summary_prompt": "Summarize",
            "target_pressure": 0.5,
            "cooldown_turns": 3,
        },
        {"type": "inject_message", "strategy": "auto", "content": "c", "role": "user", "position": "before_last"},
        {
            "type": "module_action",
            "module": "memory",
            "action": "remember",
            "action_params": {"a": "{{tool.params.b}}"},
        },
        {
            "type": "module_action_inject",
            "module": "lsp",
            "action": "d",
            "action_params": {},
            "format": "auto",
            "prefix": "",
        },
        {"type": "log", "message": "m", "level": "info"},
        {
            "type": "shell",
            "command": "x {{tool.params.p}}",
            "cwd": "{{workspace}}",
            "timeout": 30,
            "on_error": "ignore",
        },
        {"type": "gate", "reason": "r"},
        {"type": "transform_params", "transformation": {"set": {"a": 1}, "remove": ["b"]}},
        {"type": "transform_result", "transformation": {"append_to_result": "x", "inject_note": "y"}},
        {"type": "chain", "stop_on_failure": False, "actions": [{"type": "log", "message": "m"}]},
        {"type": "notify", "title": "t", "message": "m", "level": "warning", "tag": "g"},
        {"type": "pipe", "to": "a.b", "map": {"x": "{{tool.result}}"}, "extra": {"y": True}, "on_error": "log"},
        {
            "type": "lsp_diagnose",
            "path_field": ["path", "file_path"],
            "content_field": ["content"],
            "publish": True,
            "inject_result": True,
            "read_from_disk": True,
        },
        {"type": "compile_yaml"},
        {"type": "auto_test_deploy"},
        {"type": "prefetch_ground_truth"},
        {"type": "enforce_phase6"},
        {"type": "enforce_compile_fix"},
    ]


@pytest.mark.parametrize("form", _all_actions(), ids=lambda form: str(form["type"]))
def test_every_action_loads_with_every_key(form: dict[str, Any]) -> None:
    loaded = load(build_hook(action=form))
    assert loaded.problems == ()
    jsonschema.validate(build_hook(action=form), DIALECT.schema())


@pytest.mark.parametrize("form", _all_conditions(), ids=lambda form: str(form["type"]))
def test_every_condition_loads_with_every_key(form: dict[str, Any]) -> None:
    loaded = load(build_hook(condition=form))
    assert len(loaded.hooks) == 1
    jsonschema.validate(build_hook(condition=form), DIALECT.schema())


def _case_configs() -> Iterator[Any]:
    for path in sorted(CASES.glob("*.yaml")):
        whole = read_document(path.read_text(), path.name).value
        for case in whole.get("cases", [whole]):
            config = case.get("config")
            if not isinstance(config, str):
                yield from () if config is None else (config,)
            elif (found := read_text(config, "digitorn.yaml")[0]) is not None:
                yield found.value


BAD_ONLY_IN_MEANING = {"duplicate-id", "bad-template", "bad-params"}
"""Errors that a schema cannot see."""


def test_the_schema_and_the_reader_agree_on_every_case() -> None:
    schema = jsonschema.Draft202012Validator(DIALECT.schema())
    refused = 0
    for config in _case_configs():
        errors = {problem.code for problem in load(config).problems if problem.severity == "error"}
        if errors <= BAD_ONLY_IN_MEANING:
            schema.validate(config)
        else:
            refused += 1
            assert not schema.is_valid(config), config
    assert refused >= 5


WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "", "word", [], [1], {}, {"a": 1})


@pytest.mark.parametrize("form", _all_actions(), ids=lambda form: str(form["type"]))
def test_the_schema_refuses_what_the_reader_refuses_in_an_action(form: dict[str, Any]) -> None:
    _assert_schema_agrees(form, "action")


@pytest.mark.parametrize("form", _all_conditions(), ids=lambda form: str(form["type"]))
def test_the_schema_refuses_what_the_reader_refuses_in_a_condition(form: dict[str, Any]) -> None:
    _assert_schema_agrees(form, "condition")


def _assert_schema_agrees(form: dict[str, Any], at: str) -> None:
    schema = jsonschema.Draft202012Validator(DIALECT.schema())
    without = [{key: value for key, value in form.items() if key != left_out} for left_out in form]
    changed = [{**form, key: wrong} for key in form for wrong in WRONG if key != "type"]
    for variant in (*without, *changed, {**form, "unheard_of": 1}):
        config = build_hook(**{at: variant})
        problems = [problem for problem in load(config).problems if problem.severity == "error"]
        if {problem.code for problem in problems} - BAD_ONLY_IN_MEANING or not problems:
            assert schema.is_valid(config) is not bool(problems), (variant, problems)


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
