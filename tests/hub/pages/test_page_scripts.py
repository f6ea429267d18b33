from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.host import CurrentHook, NullHost, ScriptCall, ToolResult, current_hook
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.hub.pages.attached_page import MAX_SCRIPTS, PageGoneError
from hookline.hub.pages.page_scripts import MAX_CALLS, MAX_LINES, run_script_in_page
from hub.hub_sandbox import async_test, eventually
from hub.pages.page_stand_in import Answer, PageStandIn, returning

SCRIPT = ScriptCall("return 1", {"toolName": "bash", "when": float("nan")}, timedelta(seconds=20))


class ToolHost(NullHost):
    def __init__(self) -> None:
        self.callers: list[str] = []
        self.ended: list[str] = []

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        asked = current_hook.get()
        self.callers.append(asked.hook if asked else "")
        if name == "missing":
            raise UnavailableError("there is no tool 'missing'")
        if name == "sleep":
            try:
                await asyncio.sleep(3600)
            finally:
                self.ended.append(name)
        return ToolResult({"did": input})


async def run(stand_in: PageStandIn, script: ScriptCall = SCRIPT, host: Any = None) -> Any:
    return await run_script_in_page(stand_in.page, script, host or ToolHost(), sees_document=False)


async def failure_of(answer: Answer, script: ScriptCall = SCRIPT) -> ActionError:
    with pytest.raises(ActionError) as raised:
        await run(PageStandIn("s1", answer), script)
    return raised.value


@async_test
async def test_what_the_script_returned_is_the_answer() -> None:
    stand_in = PageStandIn("s1", returning({"decision": "deny"}))
    assert await run(stand_in) == {"decision": "deny"}
    (data,) = stand_in.of_type("script")
    assert json.loads(data["variables"]) == {"toolName": "bash", "when": None}
    assert 0 < data["timeout"] <= 20_000
    assert stand_in.of_type("kill") == [{"run": data["run"]}]
    assert stand_in.page.runs == {}


@async_test
async def test_failures_are_those_of_the_hub() -> None:
    raised = await failure_of(lambda event, data: {"error": "x is not defined", "kind": "raised"})
    assert (raised.failure.kind, raised.failure.text) == (FailureKind.RAISED, "x is not defined")
    unreadable = await failure_of(lambda event, data: {"error": "a function", "kind": "unreadable"})
    assert unreadable.failure.kind is FailureKind.UNREADABLE_ANSWER
    broken = ScriptCall("return (", {}, timedelta(seconds=20))
    syntax = await failure_of(lambda event, data: {"error": "Unexpected token", "kind": "raised"}, broken)
    assert syntax.failure.kind is FailureKind.CANNOT_START
    late = await failure_of(lambda event, data: {"error": "", "kind": "timeout"})
    assert late.failure.kind is FailureKind.TIMEOUT
    for nonsense in ([], "text", {}, {"returned": 7}, {"returned": "{"}, {"returned": "[" * 100_000}):
        assert (await failure_of(lambda event, data: nonsense)).failure.kind is FailureKind.UNREADABLE_ANSWER  # noqa: B023


@async_test
async def test_no_answer_is_a_timeout_and_the_run_is_ended_in_the_page() -> None:
    stand_in = PageStandIn("s1", lambda event, data: None)
    with pytest.raises(ActionError) as raised:
        await run(stand_in, ScriptCall("for (;;);", {}, timedelta(milliseconds=20)))
    assert raised.value.failure.kind is FailureKind.TIMEOUT
    assert [name for name, _ in stand_in.events] == ["script", "kill"]


@async_test
async def test_a_page_that_leaves_in_the_middle_is_a_failure_and_before_it_is_not() -> None:
    stand_in = PageStandIn("s1", lambda event, data: None)
    running = asyncio.ensure_future(run(stand_in))
    await eventually(lambda: stand_in.page.runs)
    stand_in.page.leave()
    with pytest.raises(ActionError) as raised:
        await running
    assert raised.value.failure.kind is FailureKind.UNAVAILABLE
    with pytest.raises(PageGoneError):
        await run(stand_in)
    with pytest.raises(PageGoneError):
        await run(PageStandIn("s1", returning(1), {"hooks": "hangs"}))


@async_test
async def test_calls_are_made_as_the_hook_and_end_with_the_run() -> None:
    host = ToolHost()
    answers: list[Any] = []

    async def work(stand_in: PageStandIn, data: dict[str, Any]) -> Any:
        script = stand_in.page.runs[data["run"]]
        answers.append(await script.call_tool("bash", {"command": "ls"}))
        answers.append(await script.call_tool("missing", {}))
        asyncio.ensure_future(script.call_tool("sleep", {}))  # noqa: RUF006
        await eventually(lambda: len(host.callers) == 3)
        return {"returned": "null"}

    stand_in = PageStandIn("s1", lambda event, data: work(stand_in, data))
    token = current_hook.set(CurrentHook("no-rm"))
    assert await run(stand_in, host=host) is None
    current_hook.reset(token)
    assert host.callers == ["no-rm"] * 3
    assert host.ended == ["sleep"]
    assert answers == [
        {"content": {"did": {"command": "ls"}}},
        {"content": "there is no tool 'missing'", "is_error": True},
    ]


@async_test
async def test_a_script_calls_and_logs_so_often_and_no_more() -> None:
    async def work(data: dict[str, Any]) -> Any:
        script = stand_in.page.runs[data["run"]]
        answers = [await script.call_tool("bash", {}) for _ in range(MAX_CALLS + 1)]
        lines = [script.cut_line(["line", number]) for number in range(MAX_LINES + 1)]
        return {"returned": json.dumps([answers[-2], answers[-1]["is_error"], lines[-2], lines[-1]])}

    stand_in = PageStandIn("s1", lambda event, data: work(data))
    assert await run(stand_in) == [{"content": {"did": {}}}, True, f"line {MAX_LINES - 1}", None]


@async_test
async def test_so_many_run_at_once_and_nested_ones_do_not_wait_for_them() -> None:
    stand_in = PageStandIn("s1", lambda event, data: None)
    running = [asyncio.ensure_future(run(stand_in)) for _ in range(MAX_SCRIPTS + 3)]
    await eventually(lambda: len(stand_in.page.runs) == MAX_SCRIPTS)
    await asyncio.sleep(0.02)
    assert len(stand_in.page.runs) == MAX_SCRIPTS
    current_hook.set(CurrentHook("inner", callers=("outer",)))
    nested = asyncio.ensure_future(run(stand_in))
    await eventually(lambda: len(stand_in.page.runs) == MAX_SCRIPTS + 1)
    for each in (*running, nested):
        each.cancel()
    await asyncio.gather(*running, nested, return_exceptions=True)
    assert stand_in.page.runs == {}
