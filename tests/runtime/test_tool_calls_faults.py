"""A tool hangs, a hook crashes or hangs: the agent is told, nothing is left running, and the session goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.runtime.updates import Ending, ExchangeEnded, StatusMessage, ToolCallFinished
from runtime.process_probe import wait_until_gone, wait_until_running
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

HANGS = "sh -c 'sleep 3{marker} & sleep 3{marker}'"


def test_a_tool_that_hangs_ends_at_its_deadline(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": HANGS.format(marker="11.7"), "timeout": 1})), "too slow"]
        async with open_runtime(tmp_path, "", steps) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.text == "too slow"
            assert [(each.ran, each.result.ok) for each in seen.of_type(ToolCallFinished)] == [(True, False)]
            assert [row.ok for row in await runtime.store.calls(session.id)] == [False]
            assert await wait_until_gone("sleep 311.7")

    run_async(work)


@pytest.mark.parametrize("leave", [False, True], ids=["cancel", "leave"])
def test_a_cancelled_tool_leaves_no_process_and_is_not_run_again(tmp_path: Path, leave: bool) -> None:
    marker = f"12.{int(leave)}"

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": f"echo 1 >> ran; {HANGS.format(marker=marker)}"})), "Here."]
        async with open_runtime(tmp_path, "", steps, store=f"sqlite:///{tmp_path}/store.db") as (runtime, model):
            session = await runtime.start()
            talk = asyncio.ensure_future(send_prompt(session, "go"))
            await wait_until_running(f"sleep 3{marker}")
            if leave:
                talk.cancel()
                await asyncio.wait([talk])
            else:
                session.cancel("stopped by you")
                assert (await talk).last_end.text == "stopped by you"
            assert await wait_until_gone(f"sleep 3{marker}")
            assert not session.is_busy
            assert (await send_prompt(session, "still there?")).last_end.text == "Here."
            assert model.requests[-1].messages[-2]["content"] == "Error: bash was cancelled"  # type: ignore[union-attr]
            assert [row.ok for row in await runtime.store.calls(session.id)] == [False]

    run_async(work)
    assert (tmp_path / "ran").read_text() == "1\n"


@pytest.mark.parametrize(
    ("program", "failure"),
    [("kill -9 $$", "signal"), ("sleep 313.3", "timeout"), ("cd /nowhere && exit", "")],
    ids=["crashes", "hangs", "fails"],
)
def test_a_hook_that_breaks_counts_as_it_declared(tmp_path: Path, program: str, failure: str) -> None:
    hooks = f"""
hooks:
  - {{id: guard, on: tool.before, when: {{tool: bash}}, then: {{run: '{program}'}}, timeout: 300ms, on_error: closed}}
  - {{id: watch, on: tool.after, then: {{run: '{program}', tell: agent}}, timeout: 300ms, on_error: open}}
"""

    async def work() -> None:
        steps = [
            tool_call_step(("bash", {"command": "touch made"})),
            tool_call_step(("write_file", {"path": "a", "content": "b"})),
            "ok",
        ]
        async with open_runtime(tmp_path, hooks, steps) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, "ok")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [False, True]
            lines = [each.text for each in seen.of_type(StatusMessage) if each.level == "warning"]
            assert bool(lines) == bool(failure)
            assert all("\n" not in line and "Traceback" not in line for line in lines)
            assert await wait_until_gone("sleep 313.3")

    run_async(work)
    assert not (tmp_path / "made").exists()
    assert (tmp_path / "a").exists()


def test_a_python_hook_that_raises_fails_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "hooks.py").write_text(
        "from hookline.standard_agents import define_agent, define_hook\n"
        '@define_hook(hook="filter_messages", id="broken")\n'
        "async def broken(state, messages):\n"
        '    raise KeyError("a bug\\nof somebody")\n'
        'define_agent(name="helper", hooks=["broken"])\n'
    )

    async def work() -> None:
        from hookline.project import load

        async with open_runtime(tmp_path, load(folder, "standard_agents"), ["ok"]) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert seen.last_end.text == "ok"
            assert [each.text for each in seen.of_type(StatusMessage)]
            assert all("\n" not in each.text for each in seen.of_type(StatusMessage))

    run_async(work)


def test_background_hooks_are_drained_at_the_end(tmp_path: Path) -> None:
    hooks = """
hooks:
  - {id: slow, on: tool.after, then: {run: sleep 0.4; echo done >> drained}, background: true}
"""

    async def work() -> None:
        seen = UpdateRecorder()
        steps = [tool_call_step(("bash", {"command": "echo 1"})), tool_call_step(("bash", {"command": "sleep 30.71"}))]
        async with open_runtime(tmp_path, hooks, steps, watch=seen) as (runtime, _):
            session = await runtime.start()
            talk = asyncio.ensure_future(send_prompt(session, "go"))
            await wait_until_running("sleep 30.71")
            await session.end()
            assert [each.ending for each in seen.of_type(ExchangeEnded)] == [Ending.CANCELLED]
            assert (tmp_path / "drained").read_text() == "done\n"
            await talk

    run_async(work)
