"""Every way in which a tool could run goes through a decision, and each that ran has its decision in the record."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hookline.runtime
from hookline.engine.book import Book, Layer
from hookline.engine.nested_calls import MAX_CALL_DEPTH
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.project import load_text
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import App
from hookline.runtime.gate import fingerprint
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.runtime.updates import ApprovalRequested, DecisionMade, Ending, ToolCallFinished, ToolCallStarted
from runtime.scripted_runtime import UpdateRecorder, make_agent, open_runtime, run_async, send_prompt, tool_call_step

DENY_ALL = "hooks: [{id: nothing, on: tool.before, then: {deny: nothing runs}}]"
WRITE = {"path": "made", "content": "x"}

# every way that a hook can call a tool, and the ways of the model, a queue and a sub-agent
WAYS = {
    "the model": ("", tool_call_step(("write_file", WRITE))),
    "a module's name": ("", tool_call_step(("filesystem.write", WRITE))),
    "as models spell it": ("", tool_call_step(("filesystem__write", WRITE))),
    "the shell": ("", tool_call_step(("bash", {"command": "touch made"}))),
    "the thread's files": ("", tool_call_step(("files", {"action": "write", "path": "made", "content": "x"}))),
    "a hook's call": ("hooks: [{id: h, on: turn.end, then: {call: write_file, with: {path: made, content: x}}}]", "hi"),
    "a pipe": (
        "runtime: {hooks: [{id: h, on: turn_end, action: {type: pipe, to: filesystem.write, "
        "map: {path: made}, extra: {content: x}}}]}",
        "hi",
    ),
    "a module action": (
        "runtime: {hooks: [{id: h, on: turn_end, action: {type: module_action, module: filesystem, action: write, "
        "action_params: {path: made, content: x}}}]}",
        "hi",
    ),
    "a script": (
        '{"hooks": {"Stop": [{"action": "script", "script": "await callTool(\'write_file\', {path: \'made\', content: \'x\'})"}]}}',
        "hi",
    ),
}
FILES = {"runtime": "digitorn.yaml", '{"hoo': "hub.json", "hooks:": "hookline.yaml"}


def _book(*texts: str) -> Book:
    layers = []
    for number, text in enumerate(filter(None, texts)):
        file = next(file for begin, file in FILES.items() if text.startswith(begin))
        book = load_text(text, file)
        assert not [each for each in book.problems if str(each.severity) == "error"], book.problems
        layers += [Layer(f"{number}", layer.hooks) for layer in book.layers]
    return Book(layers)


async def _ran(session: AgentSession) -> list[Any]:
    return [row for thread in await session.store.threads(session.id) for row in await session.store.calls(thread.id)]


def test_with_everything_denied_nothing_runs_whoever_asks(tmp_path: Path) -> None:
    for number, (way, (hooks, step)) in enumerate(WAYS.items()):
        place = tmp_path / str(number)
        place.mkdir()

        async def work(place: Path = place, hooks: str = hooks, step: Any = step, way: str = way) -> None:
            async with open_runtime(place, _book(DENY_ALL, hooks), [step, "done"]) as (runtime, _):
                session = await runtime.start()
                await send_prompt(session, "go")
                await session.main.queue_tool("write_file", WRITE)
                await send_prompt(session, "and what was queued")
                result = await session.main.invoke_tool("write_file", WRITE)
                assert not result.ok, way
                assert await _ran(session) == [], way
                assert await session.main.list_files() == [], way

        run_async(work)
        assert not (place / "made").exists(), way


def test_each_of_these_ways_works_where_nothing_is_denied(tmp_path: Path) -> None:
    """Else the test above could not fail."""
    for number, (way, (hooks, step)) in enumerate(WAYS.items()):
        place = tmp_path / str(number)
        place.mkdir()

        async def work(place: Path = place, hooks: str = hooks, step: Any = step, way: str = way) -> None:
            async with open_runtime(place, _book(hooks), [step, "done"]) as (runtime, _):
                session = await runtime.start()
                seen = await send_prompt(session, "go")
                rows = await _ran(session)
                assert len(rows) >= 1, (way, seen.happenings)
                assert all(row.ok for row in rows), (way, rows)
                assert (place / "made").exists() or await session.main.list_files(), way

        run_async(work)


def test_a_sub_agent_has_no_other_way(tmp_path: Path) -> None:
    app = App((make_agent("boss"), make_agent("worker")))
    hooks = "hooks: [{id: n, on: tool.before, when: {not: {tool: agent}}, then: {deny: nothing runs}}]"
    steps = [
        tool_call_step(("agent", {"agent": "worker", "prompt": "write"})),
        tool_call_step(("write_file", WRITE)),
        "child",
        "boss",
    ]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps, app=app) as (runtime, _):
            session = await runtime.start()
            assert await session.ask("go") == "boss"
            assert [row.name for row in await _ran(session)] == ["agent"]

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_each_call_that_ran_has_its_decision_in_the_record(tmp_path: Path) -> None:
    hooks = "hooks: [{id: yes, on: tool.before, when: {tool: write_file}, then: allow}, {id: ask, on: tool.before, when: {tool: bash}, then: {ask: sure}}]"
    steps = [
        tool_call_step(("write_file", WRITE), ("bash", {"command": "true"})),
        tool_call_step(("list_directory", {"path": "."})),
        "ok",
    ]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps) as (runtime, _):
            session, seen = await runtime.start(), UpdateRecorder()
            async for happening in session.say("go"):
                seen(happening)
                if isinstance(happening, ApprovalRequested):
                    await runtime.answer(happening.approval, True)
            rows = await _ran(session)
            assert [(row.name, row.decision["verdict"], row.decision["by"], row.ok) for row in rows] == [
                ("write_file", "allow", "yes", True),
                ("bash", "ask", "ask", True),
                ("list_directory", "silent", None, True),
            ]
            assert rows[0].input_hash == fingerprint("write_file", WRITE)
            assert [row.approval is not None for row in rows] == [False, True, False]

    run_async(work)


def test_a_hooks_call_is_judged_by_the_kind_that_its_tool_has(tmp_path: Path) -> None:
    class Store:
        name, description, kind = "mcp.docs.store_doc", "stores", ToolKind.WRITE
        schema: ClassVar[dict[str, Any]] = {"type": "object"}

        async def perform(self, input: dict[str, Any], place: ToolContext) -> ToolResult:
            (tmp_path / "made").write_text("x")
            return ToolResult("stored")

    hooks = "hooks: [{id: no, on: tool.before, when: {tool: write_file, input: {path: env}}, then: {deny: no}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks) as (runtime, _):
            session = await runtime.start()
            session.runtime._toolbox = runtime.toolbox.with_tools((Store(),))
            result = await session.main.invoke_tool("mcp.docs.store_doc", {"path": ".env", "content": "x"})
            assert (result.ok, result.error) == (False, "no")

    run_async(work)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [('{"command": ' + "[" * 3000 + "]" * 3000 + "}", "nested too deep"), ("[]", "not an object"), ("{", "not JSON")],
)
def test_arguments_that_cannot_be_read_are_an_error_for_the_model(tmp_path: Path, arguments: str, told: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", [tool_call_step(("bash", arguments)), "ok"]) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert told in seen.of_type(ToolCallFinished)[0].result.error
            assert seen.last_end.text == "ok"

    run_async(work)


def test_only_the_gate_executes_tools() -> None:
    root = Path(hookline.runtime.__file__).parent
    callers = [
        str(file.relative_to(root))
        for file in sorted(root.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "perform"
    ]
    assert callers == ["gate.py"]


def test_what_is_decided_about_a_hooks_own_call_is_told(tmp_path: Path) -> None:
    asks = "hooks: [{id: asks, on: turn.end, then: {call: write_file, with: {path: made, content: x}}}]"
    no = "hooks: [{id: no, on: tool.before, when: {tool: write_file}, then: {deny: not that}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, _book(asks, no), ["done"]) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            decided = [
                each.decision for each in seen.of_type(DecisionMade) if each.decision.event.name == "tool.before"
            ]
            assert [(each.by, each.reason) for each in decided] == [("no", "not that")]
            calling, called = seen.of_type(ToolCallStarted)[0], seen.of_type(ToolCallFinished)[0]
            assert (calling.call.caller, calling.call.name, calling.decision) == ("asks", "write_file", decided[0])
            assert (called.call, called.ran, called.result.error) == (calling.call, False, "not that")

    run_async(work)


def test_a_hooks_own_call_that_runs_is_told_with_its_result(tmp_path: Path) -> None:
    asks = "hooks: [{id: asks, on: turn.end, then: {call: write_file, with: {path: made, content: x}}}]"
    other = "hooks: [{id: other, on: tool.before, then: {set: {input.path: other}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, _book(asks, other), ["done"]) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            calling, called = seen.of_type(ToolCallStarted)[0], seen.of_type(ToolCallFinished)[0]
            assert calling.call.input["path"] == "made"
            assert calling.decision.event.read(("tool", "input", "path")) == "other"
            assert (called.ran, called.result.ok, called.call.input["path"]) == (True, True, "other")

    run_async(work)
    assert (tmp_path / "other").exists()


@pytest.mark.parametrize("on", ["turn.start", "tool.before", "message.create"])
def test_all_that_is_decided_about_a_hooks_own_call_is_obeyed(tmp_path: Path, on: str) -> None:
    asks = f"hooks: [{{id: asks, on: {on}, when: {{not: {{tool: read_file}}}}, max_fires: 1, then: {{call: read_file, with: {{path: a}}}}}}]"
    halt = "hooks: [{id: tells, on: tool.before, when: {tool: read_file}, then: {tell: Look at the manual.}}, {id: halt, on: tool.before, when: {tool: read_file}, then: {halt: no more}}]"

    async def work() -> None:
        async with open_runtime(
            tmp_path, _book(asks, halt), [tool_call_step(("bash", {"command": "true"})), "done"]
        ) as (runtime, _):
            session = await runtime.start()
            ended = (await send_prompt(session, "go")).last_end
            assert (ended.ending, ended.text) == (Ending.HALTED, "no more (hook halt, hookline.yaml:1)")
            assert [each.text for each in await session.main.injections()] == ["Look at the manual."]

    run_async(work)


def test_hooks_hear_who_makes_a_call_and_under_which_id(tmp_path: Path) -> None:
    asks = "hooks: [{id: asks, on: turn.end, then: {call: list_directory, with: {path: .}}}]"
    see = "hooks: [{id: see, on: tool.before, then: {log: x}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, _book(asks, see), ["done"]) as (runtime, _):
            session, seen = await runtime.start(), UpdateRecorder()
            await send_prompt(session, "go", seen)
            session.watch(seen)
            await session.main.invoke_tool("list_directory", {"path": "."})
            about = [each.decision.event for each in seen.of_type(DecisionMade)]
            told = [
                (event.read(("tool", "caller")), event.read(("tool", "id")))
                for event in about
                if event.name == "tool.before"
            ]
            rows = await runtime.store.calls(session.id)
            assert told == [(row.caller, row.call) for row in rows]
            assert [row.caller for row in rows] == ["asks", "agent"]

    run_async(work)


def test_tools_that_call_tools_end(tmp_path: Path) -> None:
    """A tool's code may call itself, with or without a hook in between."""
    results: list[ToolResult] = []

    async def again(place: ToolContext) -> str:
        """Calls itself."""
        results.append(await place.thread.invoke_tool("again", {}))
        return "done"

    async def work() -> None:
        async with open_runtime(tmp_path, steps=[tool_call_step(("again", {})), "done"], tools=(again,)) as (
            runtime,
            _,
        ):
            session = await runtime.start()
            await send_prompt(session, "go")
            assert len(await runtime.store.calls(session.id)) == 1 + MAX_CALL_DEPTH

    run_async(work)
    assert [result.ok for result in results] == [False, *[True] * MAX_CALL_DEPTH]
    assert results[0].error == f"hooks and tools call each other more than {MAX_CALL_DEPTH} levels deep"
