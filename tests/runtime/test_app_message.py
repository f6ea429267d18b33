"""A message to the app itself, as a hook sends it after a deploy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step


async def deploy() -> str:
    """Deploys the app."""
    return "deployed"


HOOKS = {
    "runtime": {
        "hooks": [
            {"id": "smoke", "on": "tool_end", "action": {"type": "auto_test_deploy", "message": "ping"}},
            {"id": "truth", "on": "session_start", "action": {"type": "prefetch_ground_truth"}},
        ]
    }
}


def _deploy(tmp_path: Path, hooks: dict[str, Any], model: RecordingModel) -> int:
    """The number of open sessions at the end."""

    async def work() -> int:
        text = json.dumps(hooks)
        async with open_runtime(tmp_path, text, model=model, file="digitorn.yaml", tools=(deploy,)) as (runtime, _):
            await send_prompt(await runtime.start(), "deploy it")
            return len(runtime.sessions)

    sessions: int = run_async(work)
    return sessions


def _run(tmp_path: Path, *steps: Any) -> tuple[RecordingModel, list[dict[str, Any]]]:
    model = RecordingModel([tool_call_step(("deploy", {})), *steps])
    assert _deploy(tmp_path, HOOKS, model) == 1  # the session of the test is over
    return model, json.loads((tmp_path / "_state/tests.json").read_text())


def test_a_deploy_is_tested_by_a_message_to_the_app(tmp_path: Path) -> None:
    model, tests = _run(tmp_path, "pong", "done")
    assert [(test["passed"], test.get("answer")) for test in tests] == [(True, "pong")]
    assert model.requests[1].messages[-1]["content"].startswith("ping")
    assert "Smoke test after deploy passed: pong" in str(model.requests[2].messages)


def test_a_test_that_deploys_starts_no_other_test(tmp_path: Path) -> None:
    _, tests = _run(tmp_path, tool_call_step(("deploy", {})), "pong", "done")
    assert [test["passed"] for test in tests] == [True]


def test_the_ground_truth_lists_what_a_hook_can_call(tmp_path: Path) -> None:
    model, _ = _run(tmp_path, "pong", "done")
    system = str(model.requests[0].messages[0]["content"])
    modules = next(line for line in system.splitlines() if line.startswith("Modules: "))
    names = modules.removeprefix("Modules: ").split(", ")
    assert {"shell.run", "web.fetch", "filesystem.write", "memory.remember", "app.send_message"} <= set(names)
    assert not {"web.search", "agent_spawn", "bash"} & set(names)


def test_models_are_not_offered_it(tmp_path: Path) -> None:
    model, _ = _run(tmp_path, "pong", "done")
    assert not [tool.name for tool in model.requests[0].tools if "send_message" in tool.name]


def test_a_deploy_after_one_that_was_tested_needs_a_test_of_its_own(tmp_path: Path) -> None:
    """Whether it was tested in this session or an earlier one: ids of calls repeat."""
    _run(tmp_path, "pong", "done")
    remind = {"id": "remind", "on": "turn_end", "action": {"type": "enforce_phase6"}}
    untested = {"runtime": {"hooks": [remind]}}
    for hooks, reminded in ((untested, True), ({"runtime": {"hooks": [*HOOKS["runtime"]["hooks"], remind]}}, False)):
        model = RecordingModel([tool_call_step(("deploy", {})), "done", "done"])
        _deploy(tmp_path, hooks, model)
        assert ("no smoke test has passed" in str(model.requests[-1].messages)) is reminded
