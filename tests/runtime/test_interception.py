"""Interceptors of AGENT-HOOKS 0.1 and hooks together. The specification's own test kit runs in tests_protocols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookline.errors import Denied
from hookline.hooks.outcome import Compact
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.compaction import compact
from hookline.runtime.updates import Ending, TextDelta, ToolCallFinished
from runtime.scripted_runtime import open_runtime, run_async, send_prompt, tool_call_step

TOUCH = tool_call_step(("bash", {"command": "touch made"}), say="I touch it.")
POINTS_OF_A_CALL = [
    "agent_startup",
    "input",
    "pre_model_call",
    "post_model_call",
    "output",
    "pre_tool_call",
    "post_tool_call",
    "pre_model_call",
    "post_model_call",
    "output",
    "agent_shutdown",
]


@dataclass
class ScriptedEmitter:
    """Denies a point by its name, or changes the target."""

    deny: str = ""
    change: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    error: Exception | None = None
    contexts: list[dict[str, Any]] = field(default_factory=list)

    async def emit_unchecked(self, context: dict[str, Any]) -> Any:
        point = context["interception_point"]
        self.contexts.append(dict(context))
        if self.error is not None:
            raise self.error
        if point in self.change:
            context["target"] = self.change[point](context["target"])
        verdict = SimpleNamespace(reason="test:no", message="Not so.", result_labels=(f"at:{point}",))
        return SimpleNamespace(proceeds=point != self.deny, verdict=verdict)

    @property
    def points(self) -> list[str]:
        return [context["interception_point"] for context in self.contexts]


def shown(seen: Any) -> str:
    return "".join(update.text for update in seen.of_type(TextDelta))


def test_every_point_of_a_session_is_emitted_in_order(tmp_path: Path) -> None:
    emitter = ScriptedEmitter()

    async def work() -> None:
        async with open_runtime(tmp_path, "", [TOUCH, "done"], interceptors=emitter) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            await session.end()
            assert shown(seen) == "I touch it.done"

    run_async(work)
    assert emitter.points == POINTS_OF_A_CALL
    assert [context["sequence"] for context in emitter.contexts] == list(range(len(POINTS_OF_A_CALL)))
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("point", ["input", "pre_model_call", "post_model_call", "output"])
def test_a_denied_text_is_neither_stored_nor_shown(tmp_path: Path, point: str) -> None:
    emitter = ScriptedEmitter(deny=point)

    async def work() -> None:
        async with open_runtime(tmp_path, "", ["the secret"], interceptors=emitter) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            await session.end()
            assert seen.last_end.ending is (Ending.REFUSED if point == "input" else Ending.HALTED)
            assert "Not so. (test:no)" in seen.last_end.text
            assert shown(seen) == ""
            stored = [message["role"] for message in await session.main.get_messages()]
            assert stored == ([] if point == "input" else ["user"])
            assert len(model.requests) == (0 if point in ("input", "pre_model_call") else 1)

    run_async(work)
    assert emitter.contexts[-1]["summary"] == {"reason": "error"}


@pytest.mark.parametrize("point", ["pre_tool_call", "post_tool_call"])
def test_the_model_sees_why_a_call_or_its_result_was_denied(tmp_path: Path, point: str) -> None:
    async def work() -> None:
        step = tool_call_step(("bash", {"command": "touch made; echo SECRET"}))
        emitter = ScriptedEmitter(deny=point)
        async with open_runtime(tmp_path, "", [step, "done"], interceptors=emitter) as (runtime, model):
            session = await runtime.start()
            assert await session.ask("go") == "done"
            result = model.requests[-1].messages[-1]["content"]
            assert "Not so. (test:no)" in result
            assert "SECRET" not in result
            assert all("SECRET" not in str(row) for row in await runtime.store.calls(session.id))

    run_async(work)
    assert (tmp_path / "made").exists() is (point == "post_tool_call")


@pytest.mark.parametrize(
    ("then", "runs"),
    [("{deny: Never.}", False), ("{ask: Really?}", False), ("{set: {input.command: touch third}}", False), ("", True)],
)
def test_hooks_decide_about_the_input_that_interceptors_left(tmp_path: Path, then: str, runs: bool) -> None:
    hooks = f"hooks:\n  - {{id: other, on: tool.before, when: {{input: {{command: other}}}}, then: {then}}}\n"

    async def work() -> None:
        emitter = ScriptedEmitter(change={"pre_tool_call": lambda input: {**input, "command": "touch other"}})
        given = hooks if then else ""
        async with open_runtime(tmp_path, given, [TOUCH, "done"], interceptors=emitter) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert (tmp_path / "other").exists() is runs
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "third").exists()


def test_interceptors_see_what_hooks_left(tmp_path: Path) -> None:
    hooks = "hooks:\n  - {on: tool.before, then: {set: {input.command: touch changed}}}\n"
    emitter = ScriptedEmitter()

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [TOUCH, "done"], interceptors=emitter) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    (context,) = [each for each in emitter.contexts if each["interception_point"] == "pre_tool_call"]
    assert context["tool_call"]["args"] == context["target"] == {"command": "touch changed"}


def test_a_call_that_a_hook_makes_is_asked_about(tmp_path: Path) -> None:
    hooks = "hooks:\n  - {on: turn.end, then: {call: bash, with: {command: touch made}}, max_fires: 1}\n"
    emitter = ScriptedEmitter(deny="pre_tool_call")

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, interceptors=emitter) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [update.ran for update in seen.of_type(ToolCallFinished)] == [False]

    run_async(work)
    assert "pre_tool_call" in emitter.points
    assert not (tmp_path / "made").exists()


def test_changed_targets_are_what_the_agent_uses(tmp_path: Path) -> None:
    def to_answer(response: Any) -> Any:
        return {**response, "content": response["content"].replace("KEY", "***")}

    async def work() -> None:
        change = {
            "input": lambda target: {**target, "content": "better"},
            "pre_model_call": lambda messages: [*messages, {"role": "user", "content": "More."}],
            "post_model_call": to_answer,
            "output": lambda target: {"content": target["content"] + "!"},
        }
        emitter = ScriptedEmitter(change=change)
        async with open_runtime(tmp_path, "", ["a KEY"], interceptors=emitter) as (runtime, model):
            session = await runtime.start()
            assert await session.ask("go") == "a ***!"
            assert [m["content"] for m in await session.main.get_messages()] == ["better", "a ***!"]
            assert model.requests[0].messages[-1]["content"] == "More."

    run_async(work)


@pytest.mark.parametrize("point", ["input", "pre_model_call", "post_model_call", "output", "pre_tool_call"])
def test_a_target_of_the_wrong_shape_is_a_deny(tmp_path: Path, point: str) -> None:
    async def work() -> None:
        emitter = ScriptedEmitter(change={point: lambda target: 7})
        async with open_runtime(tmp_path, "", [TOUCH, "done"], interceptors=emitter) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert point == "pre_tool_call" or seen.last_end.ending in (Ending.REFUSED, Ending.HALTED)

    run_async(work)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("emitter", [ScriptedEmitter(deny="agent_startup"), ScriptedEmitter(error=OSError("gone"))])
def test_a_session_that_interceptors_do_not_permit_does_not_start(tmp_path: Path, emitter: ScriptedEmitter) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, interceptors=emitter) as (runtime, _):
            with pytest.raises(Denied):
                await runtime.start()

    run_async(work)
    assert emitter.points == ["agent_startup", "agent_shutdown"]
    assert emitter.contexts[-1]["summary"] == {"reason": "error"}


def test_a_summary_of_the_history_is_a_model_call(tmp_path: Path) -> None:
    async def work() -> None:
        emitter = ScriptedEmitter()
        async with open_runtime(tmp_path, "", ["one", "two", "summary"], interceptors=emitter) as (runtime, model):
            session = await runtime.start()
            await session.ask("a")
            await session.ask("b")
            emitter.deny = "pre_model_call"
            assert await compact(session.main, Compact("summarize", keep_recent=1), "manual")
            assert len(model.requests) == 2

    run_async(work)


def test_numbers_rise_after_a_resume_in_another_process(tmp_path: Path) -> None:
    first, second = ScriptedEmitter(), ScriptedEmitter()
    store = f"sqlite:///{tmp_path / 'sessions.db'}"

    async def work() -> None:
        async with open_runtime(tmp_path, "", ["one"], store=store, interceptors=first) as (runtime, _):
            session = await runtime.start()
            await session.ask("a")
        async with open_runtime(tmp_path, "", ["two"], store=store, interceptors=second) as (runtime, _):
            await (await runtime.resume(session.id)).ask("b")

    run_async(work)
    numbers = [context["sequence"] for context in (*first.contexts, *second.contexts)]
    assert numbers == sorted(set(numbers))
    assert second.points[0] == "input"


def test_labels_are_stored_with_the_message_that_they_are_about(tmp_path: Path) -> None:
    async def work() -> list[Any]:
        async with open_runtime(tmp_path, "", [TOUCH, "done"], interceptors=ScriptedEmitter()) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            return [message.get("result_labels") for message in await session.main.get_messages()]

    answer = ["at:pre_model_call", "at:post_model_call", "at:output"]
    assert run_async(work) == [["at:input"], answer, ["at:pre_tool_call", "at:post_tool_call"], answer]


def test_labels_of_a_denied_result_are_not_stored(tmp_path: Path) -> None:
    async def work() -> list[Any]:
        emitter = ScriptedEmitter(deny="post_tool_call")
        async with open_runtime(tmp_path, "", [TOUCH, "done"], interceptors=emitter) as (runtime, _):
            session = await runtime.start()
            await session.ask("go")
            messages = await session.main.get_messages()
            return [message.get("result_labels") for message in messages if message["role"] == "tool"]

    assert run_async(work) == [None]


def test_the_result_of_a_tool_that_ends_the_session_is_an_output(tmp_path: Path) -> None:
    app = App((Agent("helper", AgentSide(Prompt("main", ""), session_stop="bash")),))
    step = tool_call_step(("bash", {"command": "echo SECRET"}))
    emitter = ScriptedEmitter(deny="output")

    async def work() -> None:
        async with open_runtime(tmp_path, "", [step], app=app, interceptors=emitter) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert seen.last_end.ending is Ending.SESSION_STOP
            assert seen.last_end.text == "blocked by an interceptor: Not so. (test:no)"

    run_async(work)
    assert emitter.points[-2:] == ["output", "agent_shutdown"]
