"""What is kept of a call that was not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.updates import DecisionMade
from runtime.scripted_runtime import open_runtime, run_async, send_prompt, tool_call_step

KEEP = "  - {id: keep, on: tool.store, then: {log: kept}}\n"


def stored(tmp_path: Path, hooks: str, wanted: tuple[str, Any], **settings: Any) -> dict[str, Any]:
    """The facts of its tool.store."""

    async def work() -> dict[str, Any]:
        async with open_runtime(tmp_path, f"hooks:\n{KEEP}{hooks}", [tool_call_step(wanted), "done"], **settings) as (
            runtime,
            _,
        ):
            seen = await send_prompt(await runtime.start(), "go")
            told = [
                each.decision.event for each in seen.of_type(DecisionMade) if each.decision.event.name == "tool.store"
            ]
            assert len(told) == 1
            tool: dict[str, Any] = told[0].facts["tool"]
            return tool

    tool = run_async(work)
    assert tool["ok"] is False
    return tool  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("wanted", "name", "kind", "input"),
    [
        (("nope", {"a": 1}), "nope", "other", {"a": 1}),
        (("Bash", {"command": "ls"}), "Bash", "shell", {"command": "ls"}),
        (("bash", "not json"), "bash", "shell", {}),
        (("bash", "[1]"), "bash", "shell", {}),
        (("bash", "[" * 100_000), "bash", "shell", {}),
        (("write_file", {"path": "a"}), "write_file", "write", {"path": "a"}),
    ],
)
def test_a_call_that_cannot_be_run_is_kept_as_it_was_wanted(
    tmp_path: Path, wanted: tuple[str, Any], name: str, kind: str, input: dict[str, Any]
) -> None:
    app = App((Agent("helper", AgentSide(Prompt("main", "You are a helper.", tools=("bash",)))),))
    tool = stored(tmp_path, "", wanted, app=app)
    assert (tool["name"], tool["kind"], tool["input"]) == (name, kind, input)


def test_a_refused_call_is_kept_as_it_was_asked_about(tmp_path: Path) -> None:
    hooks = """
  - {id: a, on: tool.before, then: {ask: sure?}}
  - {id: b, on: tool.before, order: 5, then: {set: {input.command: echo changed}}}
"""
    tool = stored(tmp_path, hooks, ("bash", {"command": "echo orig"}), unattended=True)
    assert tool["input"] == {"command": "echo changed"}


def test_a_result_that_could_not_be_checked_is_an_error_for_the_model(tmp_path: Path) -> None:
    hooks = """
  - {id: redact, on: tool.after, when: {expr: 1 / (max_turns - max_turns) > 0}, then: {replace: {in: result, pattern: x, with: y}}}
"""
    tool = stored(tmp_path, hooks, ("bash", {"command": "echo token 123"}))
    assert tool["error"] == tool["result"] == "[withheld: hook redact could not check it]"
    assert "123" not in str({**tool, "input": None})


@pytest.mark.parametrize(
    "hook",
    [
        "{id: a, on: tool.after, then: {replace: {in: tool.result, pattern: 'sk-[0-9]+', with: '***'}}}",
        "{id: a, on: tool.after, when: {result: 'sk-[0-9]+'}, then: {set: {tool.result: '***'}}}",
        "{id: a, on: tool.store, then: {replace: {in: tool.result, pattern: 'sk-[0-9]+', with: '***'}}}",
    ],
)
def test_what_hooks_remove_from_a_result_is_not_in_its_error_either(tmp_path: Path, hook: str) -> None:
    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "echo sk-123; exit 3"})), "done"]
        async with open_runtime(tmp_path, f"hooks: [{hook}]", steps) as (runtime, model):
            await send_prompt(await runtime.start(), "go")
            assert model.requests[1].messages[-1]["content"] == "Error: exit code 3\n***"

    run_async(work)


def test_the_model_reads_the_output_of_a_failed_command_once(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "echo only-once; exit 3"})), "done"]
        async with open_runtime(tmp_path, "hooks: []", steps) as (runtime, model):
            await send_prompt(await runtime.start(), "go")
            assert model.requests[1].messages[-1]["content"] == "Error: exit code 3\nonly-once"

    run_async(work)


def test_the_calls_in_a_call_are_judged_before_it_runs(tmp_path: Path) -> None:
    ran: list[Any] = []

    def batch(calls: list[dict[str, Any]]) -> str:
        """Makes calls."""
        ran.append(calls)
        return "done"

    def calls_to(path: str) -> tuple[str, dict[str, Any]]:
        return "batch", {"calls": [{"name": "write_file", "input": {"path": path, "content": "x"}}]}

    hooks = "hooks: [{id: env, on: tool.before, when: {tool: write_file, input: {path: '\\.env$'}}, then: {deny: Not there.}}]"

    async def work() -> list[str]:
        steps = [tool_call_step(calls_to("sub/../.env")), tool_call_step(calls_to("a.txt")), "done"]
        async with open_runtime(tmp_path, hooks, steps, tools=(batch,)) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            return [each["content"] for each in await session.main.get_messages() if each["role"] == "tool"]

    assert run_async(work) == ["Error: Not there. (hook env, hookline.yaml:1)", "done"]
    assert len(ran) == 1
