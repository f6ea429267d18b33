"""A call is decided about with the defaults of its tool, and the tool is given what it was given before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.frameworks.agent_run import AgentRun, CallAnswer, FrameworkCall
from hookline.frameworks.decided_call import DecidedCall
from hookline.frameworks.framework_hooks import FrameworkHooks
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, function_defaults

PAUSING = FrameworkSupport("made-up", "Made up", "made-up", "made-up", "1", "…", ALL_EVENTS, pauses=True)


def write_file(content: str, path: str = ".env", force: bool = True) -> None: ...


DEFAULTS = function_defaults(write_file)
SHOWN = {"content": "x", "path": ".env", "force": True}


def call(**given: Any) -> FrameworkCall:
    return FrameworkCall("write_file", {"content": "x", **given}, "c1", DEFAULTS)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Any]:
    opened: list[FrameworkHooks] = []

    def begin(*hooks: str, **options: Any) -> AgentRun:
        file = tmp_path / "hookline.yaml"
        file.write_text("\n".join(["hooks:", *(f"  - {{{hook}}}" for hook in hooks)]))
        opened.append(FrameworkHooks(PAUSING, {"config": file, **options}))
        return opened[-1].new_run()

    yield begin
    for each in opened:
        each.close()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The input in each event about a tool."""
    from hookline.hosts.python.session import Session

    fired: list[tuple[str, Any]] = []
    fire = Session.fire

    async def spy(self: Session, event: str, facts: dict[str, Any]) -> Any:
        if "tool" in facts:
            fired.append((event, facts["tool"]["input"]))
        return await fire(self, event, facts)

    monkeypatch.setattr(Session, "fire", spy)
    return fired


def decide(run: AgentRun, asked: FrameworkCall, **more: Any) -> CallAnswer:
    return asyncio.run(run.before_tool(asked, **more))


NO_ENV = r"id: no-env, on: tool.before, when: {input: {path: '\.env$'}}, then: {deny: Not this file.}"
NO_FORCE = "id: no-force, on: tool.before, when: {input: {force: true}}, then: {deny: No force.}"


@pytest.mark.parametrize(("hook", "given"), [(NO_ENV, {"path": "a"}), (NO_FORCE, {"force": False})])
def test_a_guard_on_a_default_holds(begin: Any, hook: str, given: dict[str, Any]) -> None:
    assert decide(begin(hook), call()).refusal is not None
    assert decide(begin(hook), call(**given)).input == {"content": "x", **given}


def test_a_tool_that_hooks_do_not_change_gets_what_it_was_given(begin: Any) -> None:
    answer = decide(begin(), call(force=True))
    assert (answer.input, answer.is_changed) == ({"content": "x", "force": True}, False)


def test_a_tool_gets_the_default_that_hooks_changed(begin: Any, seen: list[Any]) -> None:
    run = begin("id: move, on: tool.before, then: {set: {input.path: moved}}")
    answer = decide(run, call())
    assert (answer.input, answer.is_changed) == ({"content": "x", "path": "moved"}, True)
    asyncio.run(run.after_tool(call(), "written", input=answer.input))
    assert seen == [("tool.before", SHOWN), ("tool.after", {**SHOWN, "path": "moved"})]


def test_a_tool_that_hooks_change_elsewhere_puts_its_defaults_in(begin: Any) -> None:
    answer = decide(begin("id: change, on: tool.before, then: {set: {input.content: y}}"), call())
    assert (answer.input, answer.is_changed) == ({"content": "y"}, True)


def test_a_default_that_is_removed_is_decided_about(begin: Any, seen: list[Any]) -> None:
    """The tool would run with its default in the place of what hooks removed."""
    unsafe = "id: unsafe, on: tool.before, when: {input: {path: /etc}}, then: {remove: input.path}"
    answer = decide(begin(unsafe), call(path="/etc/passwd"))
    assert (answer.input, answer.is_changed) == ({"content": "x"}, True)
    assert seen == [("tool.before", {**SHOWN, "path": "/etc/passwd"}), ("tool.before", SHOWN)]
    answer = decide(begin(unsafe, NO_ENV), call(path="/etc/passwd"))
    assert (answer.refusal or "").startswith("Not this file.")


@pytest.mark.parametrize("given", [{}, {"path": "a"}])
def test_a_default_that_is_always_removed_is_a_refusal(begin: Any, given: dict[str, Any]) -> None:
    answer = decide(begin("id: remove, on: tool.before, then: {remove: input.path}"), call(**given))
    assert (answer.refusal or "").startswith(
        "Not run: a hook removed path from the input of write_file, which has a default."
    )


def test_an_input_that_is_replaced_by_one_without_defaults_is_a_refusal(begin: Any) -> None:
    answer = decide(begin("id: replace, on: tool.before, then: {set: {input: {content: y}}}"), call())
    assert answer.refusal is not None
    assert "removed path, force" in answer.refusal


def test_an_argument_without_a_default_can_be_removed(begin: Any) -> None:
    answer = decide(begin("id: remove, on: tool.before, then: {remove: input.mode}"), call(mode="w"))
    assert answer.input == {"content": "x"}


def test_an_ask_about_what_was_removed_stays(begin: Any) -> None:
    hooks = (
        "id: ask, on: tool.before, when: {input: {path: /etc}}, then: {ask: Really?}",
        "id: remove, on: tool.before, when: {input: {path: /etc}}, then: {remove: input.path}",
    )
    run = begin(*hooks)
    answer = decide(run, call(path="/etc/passwd"))
    assert answer.question is not None
    assert (answer.question.reason.startswith("Really?"), answer.question.input) == (True, SHOWN)
    assert decide(run, call(path="/etc/passwd"), approved=True).input == {"content": "x"}


def test_a_denied_call_is_decided_once(begin: Any, seen: list[Any]) -> None:
    decide(begin("id: remove, on: tool.before, then: {remove: input.path}", NO_FORCE), call())
    assert len(seen) == 1


def test_a_person_reads_the_defaults(begin: Any) -> None:
    asked: list[Any] = []
    ask = "id: ask, on: tool.before, then: {ask: Really?}"
    run = begin(ask, ask=lambda question: asked.append(question.input) or True)
    assert decide(run, call()).input == {"content": "x"}
    assert asked == [SHOWN]
    question = decide(begin(ask), call()).question
    assert question is not None
    assert question.input == SHOWN


@pytest.mark.parametrize("again", [call(), call(path=".env"), call(**SHOWN), FrameworkCall("write_file", SHOWN, "c1")])
def test_a_call_is_the_same_with_its_defaults_and_without(begin: Any, seen: list[Any], again: FrameworkCall) -> None:
    ask = "id: ask, on: tool.before, then: {ask: Really?}"
    run = begin(ask)
    assert call().key == again.key
    assert decide(run, call()).question is not None
    assert decide(run, again, approved=True).input == again.input
    assert [event for event, _ in seen] == ["tool.before", "approval.request"]
    for decided in (DecidedCall(run, call(), call().input), DecidedCall(run, again, again.input)):
        for reached in (call(), again):
            assert asyncio.run(decided.answer(reached)).input == reached.input
    assert len(seen) == 2


@pytest.mark.parametrize("again", [call(path="a"), call(force=1), FrameworkCall("write_file", {"content": "x"}, "c1")])
def test_a_call_with_another_value_is_another_call(begin: Any, seen: list[Any], again: FrameworkCall) -> None:
    run = begin("id: ask, on: tool.before, then: {ask: Really?}")
    assert call().key != again.key
    assert decide(run, call()).question is not None
    assert decide(run, again, approved=True).question is not None
    assert asyncio.run(DecidedCall(run, call(), call().input).answer(again)).input is None


def test_another_tool_with_other_defaults_is_decided_about(begin: Any) -> None:
    run = begin(NO_ENV)
    given = {"content": "x"}
    safe = FrameworkCall("write_file", given, "c1", function_defaults(lambda content, path="a": None))
    assert decide(run, safe).input == given
    decided = DecidedCall(run, safe, given)
    assert asyncio.run(decided.answer(safe)).input == given
    assert asyncio.run(decided.answer(call())).refusal is not None


def test_a_call_after_a_halt_is_recorded_with_its_defaults(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin("id: halt, on: tool.before, then: {halt: Stop.}")
    kept: list[Any] = []
    monkeypatch.setattr(run.hooks.session, "record_after_halt", lambda facts, reason: kept.append(facts["tool"]))
    decide(run, call())
    assert decide(run, call()).halts
    assert [each["input"] for each in kept] == [SHOWN]


def test_hooks_cannot_change_the_default_itself(begin: Any) -> None:
    paths = ["a"]
    listed = FrameworkCall("list", {}, "c1", function_defaults(lambda paths=paths: None))
    answer = decide(begin("id: change, on: tool.before, then: {set: {input.paths.0: b}}"), listed)
    assert (answer.input, paths) == ({"paths": ["b"]}, ["a"])


def test_without_a_tool_nothing_is_added(begin: Any, seen: list[Any]) -> None:
    unknown = FrameworkCall("unknown", {"a": 1}, "c1")
    assert unknown.defaults is NO_DEFAULTS
    assert decide(begin(), unknown).input == {"a": 1}
    assert seen == [("tool.before", {"a": 1})]
