"""The check of an app file that an agent wrote: what `hookline check` says, so does the builder's action."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.scripted_runtime import open_runtime, run_async, send_prompt, tool_call_step

HOOKS = "runtime: {hooks: [{id: compile, on: tool_end, action: {type: compile_yaml}}]}"
APP = """runtime:
  hooks: [{id: x, on: tool_start, condition: {type: tool_name, match: "^Write$"}, action: {type: gate}}]
agents:
  - {id: boss, role: coordinator}
  - {id: boss, role: specialist}
mcp: {servers: {git: {}}}
triggers: [{id: nightly, cron: "0 9 * *", prompt: go}]
"""


def compile_app(tmp_path: Path, file: str, text: str) -> dict[str, object]:
    async def work() -> None:
        steps = [tool_call_step(("write_file", {"path": file, "content": text})), "done"]
        async with open_runtime(tmp_path, HOOKS, steps, file="digitorn.yaml") as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    state: dict[str, object] = json.loads((tmp_path / "_state/compile.json").read_text())
    return state


def test_an_app_does_not_compile_if_its_agents_servers_triggers_or_guards_are_wrong(tmp_path: Path) -> None:
    state = compile_app(tmp_path, "app.yaml", APP)
    errors = state["errors"]
    assert isinstance(errors, list)
    assert sorted(error.partition("  ")[0] for error in errors) == [f"app.yaml:{line}" for line in (2, 5, 6, 7)]
    assert state["error_count"] == 4


@pytest.mark.parametrize("text", ["agents: [{id: boss}]\nruntime: {}\n", APP[:9] + " {}\n"])
def test_an_app_without_errors_compiles(tmp_path: Path, text: str) -> None:
    assert compile_app(tmp_path, "app.yaml", text) == {"status": "ok", "errors": [], "error_count": 0}


def test_a_file_of_our_own_format_is_an_app_too(tmp_path: Path) -> None:
    state = compile_app(tmp_path, "hookline.yaml", "hooks: []\nagent: {promt: You help.}\n")
    assert 'agent: "promt" is not a key of an agent. Did you mean prompt?' in str(state["errors"])


def test_an_error_is_named_once_on_the_line_of_its_value(tmp_path: Path) -> None:
    text = "hooks:\n  - id: a\n    on: tool.before\n    when:\n      tool: bsh\n    then: deny\n"
    errors = compile_app(tmp_path, "hookline.yaml", text)["errors"]
    assert isinstance(errors, list)
    assert [error.partition("  ")[0] for error in errors] == ["hookline.yaml:5"]
