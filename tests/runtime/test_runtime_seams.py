"""What a program around several runtimes hands in: a store, hooks, tools and what hooks reach."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hookline.engine.book import Layer
from hookline.hooks.hook_files import HookFile
from hookline.hooks.host import ScriptCall
from hookline.project import load_text
from hookline.runtime.runtime_host import ThreadHost
from hookline.runtime.settings import ExtraHooks
from hookline.runtime.storage.store import Store
from hookline.runtime.tools.function_tool import function_tool
from hookline.runtime.updates import ToolCallFinished
from runtime.scripted_runtime import open_runtime, run_async, send_prompt, tool_call_step

RULES = '{"hooks": {"PreToolUse": [{"id": "no-touch", "matcher": "bash", "action": "deny", "reason": "No."}]}}'


def extra_hooks(text: str, name: str = "rules") -> tuple[ExtraHooks, ...]:
    hooks = load_text(text, "rules/everyone.json", "flo").hooks
    return (ExtraHooks(Layer(name, hooks), (HookFile("rules/everyone.json", "rules", "flo", name, text),)),)


def test_several_runtimes_share_a_store_that_none_of_them_closes(tmp_path: Path) -> None:
    async def work() -> None:
        store = await Store.open("sqlite://")
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            async with open_runtime(tmp_path / name, store=store) as (runtime, _):
                await runtime.start(id=f"session_{name}")
        assert {row.id for row in await store.sessions()} == {"session_one", "session_two"}
        await store.close()

    run_async(work)


def test_hooks_of_no_file_are_in_force_and_follow_a_change(tmp_path: Path) -> None:
    rules: list[tuple[ExtraHooks, ...]] = [()]
    steps = [tool_call_step(("bash", {"command": "echo x >> made"})), "ok"]

    async def work() -> None:
        async with open_runtime(tmp_path, steps=[*steps, *steps, *steps], extra_hooks=lambda: rules[0]) as (runtime, _):
            session = await runtime.start()
            ran = []
            for now in ((), extra_hooks(RULES), ()):
                rules[0] = now
                seen = await send_prompt(session, "go")
                ran += [each.ran for each in seen.of_type(ToolCallFinished)]
                assert runtime.book is runtime.book
            assert ran == [True, False, True]

    run_async(work)
    assert (tmp_path / "made").read_text() == "x\nx\n"


def test_tools_of_a_session_replace_those_of_the_same_name(tmp_path: Path) -> None:
    def bash(command: str) -> str:
        """Not the shell."""
        return f"did not run {command}"

    def dom(selector: str) -> str:
        """A tool that only some sessions have."""
        return f"<p>{selector}</p>"

    given = (function_tool(bash), function_tool(dom))
    steps = [tool_call_step(("bash", {"command": "touch made"}), ("dom", {"selector": "p"})), "ok"]

    async def work() -> None:
        async with open_runtime(tmp_path, steps=steps, tools_for=lambda session: given) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            results = [each.result.content for each in seen.of_type(ToolCallFinished)]
            assert results == ["did not run touch made", "<p>p</p>"]

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_a_host_of_its_own_runs_the_scripts_of_hooks(tmp_path: Path) -> None:
    ran: list[str] = []

    class Elsewhere(ThreadHost):
        async def run_script(self, script: ScriptCall) -> Any:
            ran.append(script.source)
            return {"decision": "deny", "reason": "from elsewhere"}

    hooks = '{"hooks": {"PreToolUse": [{"id": "s", "action": "script", "script": "return null"}]}}'
    steps = [tool_call_step(("bash", {"command": "touch made"})), "ok"]

    async def work() -> None:
        runtime_of = open_runtime(tmp_path, hooks, steps, file="hub.json", host_for=Elsewhere)
        async with runtime_of as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            (finished,) = seen.of_type(ToolCallFinished)
            assert "from elsewhere" in finished.result.error

    run_async(work)
    assert ran == ["return null"]


def test_pydantic_is_only_loaded_for_tools_that_are_python_functions(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from hookline.runtime.runtime import Runtime\nfrom hookline.runtime.settings import Settings\n"
        "async def work():\n"
        "    home = Path(sys.argv[1])\n"
        "    async with Runtime.open(home, Settings(home=home, env={}, store='sqlite://')):\n"
        "        print('pydantic' in sys.modules)\n"
        "asyncio.run(work())\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "False\n", ran.stderr
