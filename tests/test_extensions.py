"""Conditions and actions that other packages register."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from hookline.config.reader import read_text
from hookline.dialects.dialect import LoadResult
from hookline.dialects.native import DIALECT as NATIVE
from hookline.engine.book import Book, Layer
from hookline.errors import HooklineError
from hookline.extensions import ACTION_REGISTRY, CONDITION_REGISTRY, register_action, register_condition
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import FailureKind, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.testing import ScriptedHost


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = dict(CONDITION_REGISTRY._entries), dict(ACTION_REGISTRY._entries)
    yield
    for register, entries in zip((CONDITION_REGISTRY, ACTION_REGISTRY), before, strict=True):
        register._entries.clear()
        register._entries.update(entries)


def load(text: str) -> LoadResult:
    document, problems = read_text(text, "hookline.yaml")
    assert document is not None, problems
    return NATIVE.load(document)


def decide(loaded: LoadResult, facts: dict[str, Any] | None = None) -> Any:
    book = Book([Layer("x", loaded.hooks)], ScriptedHost())
    return asyncio.run(book.decide(Event("tool.before", facts or {"tool": {"name": "x", "input": {"n": [1]}}})))


class Limits(BaseModel):
    most: int


@dataclass(frozen=True)
class Window:
    first: float
    last: float = 18
    zone: str = "UTC"


def test_both_are_usable_from_native() -> None:
    @register_condition("more_than", params=Limits)
    def more_than(params: Limits, event: Event) -> bool:
        return int(event.facts["tool"]["input"]["n"]) > params.most

    @register_action("refuse")
    async def refuse(params: dict[str, Any], event: Event, host: Host) -> Outcome:
        return Outcome(Verdict.DENY, params["words"])

    text = "hooks: [{id: h, on: tool.before, when: {custom: {more_than: {most: 3}}}, then: {custom: {refuse: {words: no}}}, on_error: closed}]"
    loaded = load(text)
    assert loaded.problems == ()
    assert decide(loaded, {"tool": {"name": "x", "input": {"n": 3}}}).verdict is Verdict.SILENT
    assert decide(loaded, {"tool": {"name": "x", "input": {"n": 4}}}).reason == "no"
    written = NATIVE.write(loaded.hooks)
    assert written.not_expressible == ()
    assert written.value["hooks"][0]["when"] == {"custom": {"more_than": {"most": 3}}}
    assert written.value["hooks"][0]["then"] == {"custom": {"refuse": {"words": "no"}}}
    jsonschema.validate(written.value, NATIVE.schema())


def test_params_are_checked_where_they_stand() -> None:
    @register_condition("more_than", params=Limits)
    def more_than(params: Limits, event: Event) -> bool:
        return True

    text = "hooks:\n  - id: h\n    on: tool.before\n    when:\n      custom:\n        more_than:\n          most: many\n    then: deny\n"
    loaded = load(text)
    assert loaded.hooks == ()
    assert [(problem.code, problem.line) for problem in loaded.problems] == [("bad-params", 7)]


def test_params_may_be_a_dataclass() -> None:
    seen: list[Window] = []

    @register_condition("in_window", params=Window)
    def in_window(params: Window, event: Event) -> bool:
        seen.append(params)
        return True

    def load_with(params: str) -> LoadResult:
        return load(f"hooks: [{{id: h, on: tool.before, when: {{custom: {{in_window: {params}}}}}, then: deny}}]")

    decide(load_with("{first: 8}"))
    assert seen == [Window(8)]
    for params, message in (
        ("{last: 8}", "in_window: this parameter is required."),
        ("{first: early}", 'in_window: "early" is not a number.'),
        ("{first: 8, zone: 3}", "in_window: 3 is not text."),
        ("{first: 8, most: 9}", "in_window: unknown parameter. It takes first, last, zone."),
    ):
        (problem,) = load_with(params).problems
        assert problem.code == "bad-params"
        assert problem.what.endswith(message)


@pytest.mark.parametrize(
    ("hook", "code"),
    [
        ("{on: tool.before, when: {custom: {nobody: }}, then: deny}", "unknown-condition"),
        ("{on: tool.before, then: {custom: {nobody: {}}}}", "unknown-action"),
        ("{on: tool.before, then: {custom: {}}}", "no-action"),
        ("{on: tool.before, then: {custom: {compile_yaml: {}, enforce_phase6: {}}}}", "no-action"),
        ("{on: tool.before, then: {custom: {compile_yaml: text}}}", "wrong-type"),
        ("{on: tool.before, when: {custom: text}, then: deny}", "wrong-type"),
    ],
)
def test_what_is_wrong_in_a_file(hook: str, code: str) -> None:
    loaded = load(f"hooks: [{hook}]")
    assert [problem.code for problem in loaded.problems] == [code]
    assert all(isinstance(hook.then, InvalidAction) for hook in loaded.hooks)  # it holds the calls


def test_nothing_that_they_do_to_their_copies_is_seen() -> None:
    params_seen = []

    @register_condition("vandal")
    def vandal(params: Any, event: Event) -> bool:
        event.facts["tool"]["input"]["n"].append(2)
        params["list"].append(2)
        return True

    @register_action("spoil", may=May.NOTHING)
    async def spoil(params: Any, event: Event, host: Host) -> None:
        event.facts["tool"]["input"]["n"].append(3)
        params_seen.append(list(params["list"]))
        params["list"].append(3)

    text = (
        "hooks: [{id: h, on: tool.before, when: {custom: {vandal: {list: [1]}}}, then: {custom: {spoil: {list: [1]}}}}]"
    )
    loaded = load(text)
    for _ in range(2):
        assert decide(loaded).event.facts == {"tool": {"name": "x", "input": {"n": [1]}}}
    assert params_seen == [[1], [1]]


def test_a_guard_whose_condition_raises_holds_and_anything_else_does_not() -> None:
    @register_condition("broken")
    def broken(params: Any, event: Event) -> bool:
        raise RuntimeError("x")

    for then, verdict in (("deny", Verdict.DENY), ("ask", Verdict.ASK), ("allow", Verdict.SILENT)):
        decision = decide(load(f"hooks: [{{id: h, on: tool.before, when: {{custom: {{broken: }}}}, then: {then}}}]"))
        assert decision.verdict is verdict
        assert [failure.text for failure in decision.failures] == [
            "the condition of hook h could not be evaluated: broken raised RuntimeError"
        ]


@pytest.mark.parametrize(
    ("answer", "may", "kind"),
    [
        (42, May.JUDGE, FailureKind.UNREADABLE_ANSWER),
        (Outcome(Verdict.DENY), May.NOTES, FailureKind.NOT_ACCEPTED),
        (Outcome(changes=((("tool", "input", "x"), 1),)), May.JUDGE, FailureKind.NOT_ACCEPTED),
    ],
)
def test_an_answer_that_was_not_declared_is_a_failure(answer: Any, may: May, kind: FailureKind) -> None:
    @register_action("odd", may=may)
    async def odd(params: Any, event: Event, host: Host) -> Any:
        return answer

    decision = decide(load("hooks: [{id: h, on: tool.before, then: {custom: {odd: }}, on_error: closed}]"))
    assert [failure.kind for failure in decision.failures] == [kind]
    assert decision.verdict is Verdict.DENY


def test_what_is_no_function_of_the_right_kind_is_refused() -> None:
    async def waits(params: Any, event: Event) -> bool:
        return True

    def answers_at_once(params: Any, event: Event, host: Host) -> None:
        return None

    with pytest.raises(HooklineError, match="conditions answer at once"):
        register_condition("x")(waits)  # type: ignore[type-var]
    with pytest.raises(HooklineError, match="write async def"):
        register_action("x")(answers_at_once)  # type: ignore[type-var]
    with pytest.raises(HooklineError, match="not a name"):
        register_condition(" ")(lambda params, event: True)


def test_a_name_belongs_to_one_function() -> None:
    def first(params: Any, event: Event) -> bool:
        return True

    def second(params: Any, event: Event) -> bool:
        return False

    register_condition("taken")(first)
    register_condition("taken")(first)
    with pytest.raises(HooklineError, match="already registered by"):
        register_condition("taken")(second)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package with entry points."""
    (tmp_path / "their_hooks.py").write_text(
        "from hookline.extensions import register_condition\n"
        "@register_condition('decorated')\n"
        "def decorated(params, event): return True\n"
        "def plain(params, event): return True\n"
        "async def act(params, event, host): return None\n"
    )
    (tmp_path / "their_broken.py").write_text("raise SystemExit(3)\n")
    info = tmp_path / "their_hooks-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-hooks\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[hookline.conditions]\ndecorated = their_hooks:decorated\nplain = their_hooks:plain\nbroken = their_broken:x\n"
        "[hookline.actions]\nact = their_hooks:act\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("their_hooks", "their_broken"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("package")
def test_a_package_is_imported_when_a_config_names_it() -> None:
    assert load("hooks: [{id: h, on: tool.before, then: deny}]").problems == ()
    assert "their_hooks" not in sys.modules
    assert {"decorated", "plain", "broken"} <= set(CONDITION_REGISTRY.names())
    assert "their_hooks" not in sys.modules
    loaded = load(
        "hooks: [{id: h, on: tool.before, when: {custom: {decorated: , plain: }}, then: {custom: {act: }}, on_error: open}]"
    )
    assert loaded.problems == ()
    assert "their_hooks" in sys.modules
    assert decide(loaded).failures == ()


@pytest.mark.usefixtures("package")
def test_a_package_that_cannot_be_imported_is_a_problem() -> None:
    loaded = load(
        "hooks:\n  - {id: h, on: tool.before, when: {custom: {broken: }}, then: deny}\n  - {id: good, on: tool.before, then: deny}\n"
    )
    assert [(problem.code, problem.line) for problem in loaded.problems] == [("cannot-import", 2)]
    assert [hook.id for hook in loaded.hooks] == ["good"]
