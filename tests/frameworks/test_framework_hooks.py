"""Options, conversations and runs of an adapter."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import ConfigError, HooklineError
from hookline.frameworks import framework_hooks
from hookline.frameworks.agent_run import FrameworkCall
from hookline.frameworks.framework_hooks import FrameworkHooks
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport

SUPPORT = FrameworkSupport("made-up", "Made up", "made-up", "made-up", "1", "…", ALL_EVENTS)


def make(tmp_path: Path, text: str = "hooks: []", **options: Any) -> FrameworkHooks:
    (tmp_path / "hookline.yaml").write_text(text)
    return FrameworkHooks(SUPPORT, {"config": tmp_path / "hookline.yaml", **options})  # type: ignore[typeddict-item]


def test_options_are_checked(tmp_path: Path) -> None:
    with pytest.raises(HooklineError, match="'confg' is not an option"):
        make(tmp_path, confg="x")
    with pytest.raises(HooklineError, match="'shel' is not a kind of tool"):
        make(tmp_path, kinds={"x": "shel"})
    with pytest.raises(ConfigError):
        make(tmp_path, "hooks: [{id: a, on: tool.befor, then: {deny: x}}]")


def test_kinds_of_tools(tmp_path: Path) -> None:
    hooks = make(tmp_path, kinds={"launch": "shell"})
    assert (hooks.kind_of("launch"), hooks.kind_of("read_file"), hooks.kind_of("x")) == ("shell", "read", "other")


def test_an_unknown_tool_is_guarded_by_what_its_input_says(tmp_path: Path) -> None:
    hooks = make(tmp_path, "hooks: [{id: no, on: tool.before, when: {kind: shell}, then: {deny: No.}}]")
    call = FrameworkCall("do_it", {"command": "ls"})
    assert asyncio.run(hooks.new_run().before_tool(call)).refusal is not None


def test_hooks_may_call_the_tools_of_the_program(tmp_path: Path) -> None:
    called: list[str] = []

    def lookup(word: str) -> str:
        called.append(word)
        return "found"

    hooks = make(
        tmp_path,
        "hooks: [{id: look, on: tool.before, then: {call: lookup, with: {word: x}}}]",
        tools=[lookup],
    )
    asyncio.run(hooks.new_run().before_tool(FrameworkCall("bash", {"command": "ls"})))
    assert called == ["x"]


ORDER = """
hooks:
  - {{id: slow, on: tool.after, background: true, then: {{run: 'sleep 0.3; echo slow >> {0}/order', stdin: none}}}}
  - {{id: last, on: session.end, then: {{run: 'echo last >> {0}/order', stdin: none}}}}
"""


async def _call_a_tool(hooks: FrameworkHooks) -> None:
    run, call = hooks.new_run(), FrameworkCall("bash", {"command": "ls"})
    await run.start("Go.")
    await run.before_tool(call)
    await run.after_tool(call, "done")


def test_the_last_hooks_of_a_conversation_run_after_those_in_the_background(tmp_path: Path) -> None:
    hooks = make(tmp_path, ORDER.format(tmp_path))
    hooks.run_sync(_call_a_tool(hooks))
    hooks.close()
    assert (tmp_path / "order").read_text() == "slow\nlast\n"


def test_the_last_hooks_of_an_async_conversation_run_after_those_in_the_background(tmp_path: Path) -> None:
    hooks = make(tmp_path, ORDER.format(tmp_path))

    async def work() -> None:
        await _call_a_tool(hooks)
        await hooks.aclose()

    asyncio.run(work())
    assert (tmp_path / "order").read_text() == "slow\nlast\n"


def test_the_oldest_conversation_ends_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framework_hooks, "_MAX_CONVERSATIONS", 2)
    hooks = make(tmp_path)
    for thread in ("a", "b", "c"):
        asyncio.run(hooks.new_run(thread=thread).start("Go."))
    deadline = time.monotonic() + 10
    while "a" in hooks.session.threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert set(hooks.session.threads) == {"b", "c"}


def test_a_run_is_found_by_its_key(tmp_path: Path) -> None:
    hooks = make(tmp_path)
    run = hooks.new_run(key="r1")
    assert hooks.find_run("r1") is run
    assert hooks.run_of("r1") is run
    asyncio.run(run.finish())
    assert hooks.find_run("r1") is None
    assert hooks.run_of("r1") is not run


PROGRAM = """
import asyncio, sys
from hookline.frameworks.framework_hooks import FrameworkHooks
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
hooks = FrameworkHooks(FrameworkSupport("made-up", "", "", "", "", "", ALL_EVENTS), {"config": "hookline.yaml"})
asyncio.run(hooks.new_run().start("Go."))
"""


def test_the_sessions_end_with_the_program(tmp_path: Path) -> None:
    (tmp_path / "hookline.yaml").write_text("hooks: [{id: end, on: session.end, then: {run: touch ended}}]")
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "ended").exists()


def test_the_sessions_end_when_nobody_holds_the_adapter(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    hooks = make(tmp_path, f"hooks: [{{id: end, on: session.end, then: {{run: [touch, {ended}]}}}}]")
    asyncio.run(hooks.new_run().start("Go."))
    del hooks
    gc.collect()
    deadline = time.monotonic() + 20
    while not ended.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert ended.exists()


def test_the_program_waits_for_the_sessions_of_an_adapter_that_nobody_holds(tmp_path: Path) -> None:
    hooks = "hooks: [{id: end, on: session.end, then: {run: sleep 0.5; touch ended}}]"
    (tmp_path / "hookline.yaml").write_text(hooks)
    subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}import gc\ndel hooks\ngc.collect()\n"], cwd=tmp_path, check=True, timeout=60
    )
    assert (tmp_path / "ended").exists()


def test_closed_from_async_code(tmp_path: Path) -> None:
    async def go() -> None:
        hooks = make(tmp_path)
        await hooks.new_run().start("Go.")
        await hooks.aclose()
        assert hooks.session.threads == {}

    asyncio.run(go())
