"""The builder's actions keep to the workspace."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.digitorn import builder
from hookline.hooks.event import Event
from hookline.hooks.outcome import NOT_APPLIED, ActionError, Outcome
from hookline.testing import ScriptedHost
from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step


def write_event(workspace: Path, path: str, **tool: Any) -> Event:
    return Event(
        "tool.after", {"workspace": str(workspace), "tool": {"name": "write_file", "input": {"path": path}, **tool}}
    )


def compile_file(event: Event) -> Outcome:
    return asyncio.run(builder.compile_yaml(builder.NoParams(), event, ScriptedHost()))


def test_a_broken_file_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text("runtime: {hooks: [\n")
    outcome = compile_file(write_event(tmp_path, "app.yaml"))
    assert "app.yaml:" in outcome.notes[0].text
    state = json.loads((tmp_path / "_state/compile.json").read_text())
    assert (state["status"], state["error_count"]) == ("error", len(state["errors"]))


@pytest.mark.parametrize(
    "path", ["../app.yaml", "link.yaml", "/etc/app.yaml", "a\0.yaml", "gone.yaml", "directory.yaml"]
)
def test_nothing_outside_of_the_workspace_is_read(tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "inside"
    workspace.mkdir()
    (tmp_path / "app.yaml").write_text("runtime: {hooks: [{}]}")
    (workspace / "link.yaml").symlink_to(tmp_path / "app.yaml")
    (workspace / "directory.yaml").mkdir()
    assert compile_file(write_event(workspace, path)) == NOT_APPLIED
    assert not (workspace / "_state").exists()


def test_a_state_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "inside", tmp_path / "elsewhere"
    workspace.mkdir()
    elsewhere.mkdir()
    (workspace / "_state").symlink_to(elsewhere)
    (workspace / "app.yaml").write_text("runtime: {hooks: [{}]}")
    with pytest.raises(ActionError, match="_state is a link"):
        compile_file(write_event(workspace, "app.yaml"))
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[", "3", "[" * 100_000, '{"status": "error", "errors": 3}'])
def test_damaged_state_never_raises(tmp_path: Path, text: str) -> None:
    (tmp_path / "_state").mkdir()
    for name in ("compile.json", "tests.json", "reminders.json"):
        (tmp_path / "_state" / name).write_text(text)
    event = Event("turn.end", {"workspace": str(tmp_path)})
    host = ScriptedHost()
    asyncio.run(builder.enforce_compile_fix(builder.CompileFixParams(), event, host))
    asyncio.run(builder.enforce_phase6(builder.Phase6Params(), event, host))


def test_without_a_workspace_there_is_nothing_to_do() -> None:
    for facts in ({}, {"workspace": None}, {"workspace": "/nonexistent"}):
        event = Event("turn.end", {**facts, "tool": {"name": "app.deploy", "input": {"path": "a.yaml"}}})
        host = ScriptedHost()
        assert asyncio.run(builder.compile_yaml(builder.NoParams(), event, host)) == NOT_APPLIED
        assert asyncio.run(builder.auto_test_deploy(builder.SmokeTestParams(), event, host)) == NOT_APPLIED
        assert asyncio.run(builder.enforce_phase6(builder.Phase6Params(), event, host)) == NOT_APPLIED
        assert asyncio.run(builder.enforce_compile_fix(builder.CompileFixParams(), event, host)) == NOT_APPLIED


def test_a_smoke_test_that_nobody_can_send_has_failed(tmp_path: Path) -> None:
    event = Event("tool.after", {"workspace": str(tmp_path), "tool": {"name": "app.deploy", "input": {}, "ok": True}})
    outcome = asyncio.run(builder.auto_test_deploy(builder.SmokeTestParams(), event, ScriptedHost()))
    assert "failed" in outcome.notes[0].text
    (test,) = json.loads((tmp_path / "_state/tests.json").read_text())
    assert test["passed"] is False


def test_an_agent_of_ours_is_reminded_of_a_deploy_that_nobody_tested(tmp_path: Path) -> None:
    hooks = "runtime: {hooks: [{id: remind, on: turn_end, action: {type: enforce_phase6}}]}"

    def deploy_app() -> str:
        """Deploys."""
        return "deployed"

    async def work() -> None:
        settings: dict[str, Any] = {"file": "digitorn.yaml", "tools": (deploy_app,)}
        async with open_runtime(tmp_path, hooks, [tool_call_step(("deploy_app", {})), "done"], **settings) as (
            runtime,
            model,
        ):
            await send_prompt(await runtime.start(), "deploy it")
            assert isinstance(model, RecordingModel)
            assert "no smoke test has passed" in str(model.requests[1].messages)

    run_async(work)
