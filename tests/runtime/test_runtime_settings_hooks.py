"""What flo, microai and ai_agents say about sessions, in real ones."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.events import DRAIN_TIMEOUT
from hookline.runtime import agent_session
from hookline.runtime.updates import Ending, StatusMessage
from runtime.scripted_runtime import (
    RecordingModel,
    UpdateRecorder,
    open_runtime,
    run_async,
    send_prompt,
    tool_call_step,
)


def _run(
    workspace: Path, file: str, hooks: dict[str, Any], *steps: Any, **options: Any
) -> tuple[UpdateRecorder, RecordingModel]:
    seen, model = UpdateRecorder(), RecordingModel([*steps, "done"])
    stored = options.pop("stored", [])

    async def work() -> None:
        text = json.dumps({"hooks": hooks})
        async with open_runtime(workspace, text, model=model, file=file, watch=seen, **options) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "my password: 123")
            stored.extend(await session.main.get_messages())
            await session.end()

    run_async(work)
    return seen, model


AI_AGENTS, MICROAI, FLO = ".ai_agents/settings.json", ".microai/settings.json", "hub.json"
TOUCH = tool_call_step(("bash", {"command": "touch made"}))


def _group(command: str) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "command": command}]}]


def test_a_blocked_prompt_is_erased_and_only_the_user_sees_why(tmp_path: Path) -> None:
    hooks, stored = {"UserPromptSubmit": _group("echo 'no passwords' >&2; exit 2")}, list[Any]()
    seen, model = _run(tmp_path, AI_AGENTS, hooks, stored=stored)
    assert (seen.last_end.ending, seen.last_end.text) == (
        Ending.REFUSED,
        "no passwords (hook .ai_agents/settings.json:UserPromptSubmit[0], .ai_agents/settings.json:1)",
    )
    assert model.requests == []
    assert stored == []


def test_a_question_with_nobody_to_ask_is_a_no(tmp_path: Path) -> None:
    answer = json.dumps({"decision": "ask", "reason": "sure?"})
    _, model = _run(tmp_path, AI_AGENTS, {"PreToolUse": _group(f"echo '{answer}'")}, TOUCH, unattended=True)
    assert not (tmp_path / "made").exists()
    assert (
        model.requests[1].messages[-1]["content"]
        == "Error: sure? (no one can approve it here) (hook .ai_agents/settings.json:PreToolUse[0], .ai_agents/settings.json:1)"
    )


def test_what_a_tool_s_hook_prints_is_for_the_user(tmp_path: Path) -> None:
    seen, model = _run(tmp_path, AI_AGENTS, {"PostToolUse": _group("echo formatted")}, TOUCH)
    assert "formatted" in [each.text.strip() for each in seen.of_type(StatusMessage)]
    assert "formatted" not in str(model.requests[1].messages)


def test_background_hooks_are_drained_when_the_session_ends(tmp_path: Path) -> None:
    hooks = {"PostToolUse": [{"command": "sleep 0.5; echo $TOOL_NAME >> drained"}]}
    _run(tmp_path, MICROAI, hooks, TOUCH)
    assert (tmp_path / "drained").read_text() == "Bash\n"


def test_a_blocked_tool_has_no_post_hook_and_the_model_reads_why(tmp_path: Path) -> None:
    hooks = {
        "PreToolUse": [{"matcher": "Bash", "command": "echo 'not now' >&2; exit 1", "continueOnFailure": False}],
        "PostToolUse": [{"command": "touch after"}],
        "SessionStart": [{"command": "echo It is Friday."}],
    }
    _, model = _run(tmp_path, MICROAI, hooks, TOUCH)
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "after").exists()
    assert (
        model.requests[1].messages[-1]["content"]
        == "Error: Hook blocked: not now (hook .microai/settings.json:PreToolUse[0], .microai/settings.json:1)"
    )
    assert "It is Friday." in str(model.requests[0].messages[0]["content"])


@pytest.mark.parametrize(
    ("answer", "words"),
    [("return {decision: 'deny', reason: 'More.'}", "More."), ("return {decision: 'deny'}", "Please continue.")],
)
def test_a_denied_stop_goes_on_with_its_reason_at_most_five_times(tmp_path: Path, answer: str, words: str) -> None:
    hooks = {"Stop": [{"action": "script", "script": answer}]}
    _, model = _run(tmp_path, FLO, hooks, *[f"answer {n}" for n in range(8)])
    assert len(model.requests) == 6
    assert model.requests[-1].messages[-1] == {"role": "user", "content": words}


def test_an_agent_starts_and_ends_once_in_a_session(tmp_path: Path) -> None:
    hooks = {name: [{"command": f"echo {name} >> times"}] for name in ("AgentStart", "AgentEnd")}
    _run(tmp_path, FLO, hooks, TOUCH)
    assert (tmp_path / "times").read_text() == "AgentStart\nAgentEnd\n"


def test_the_last_hooks_of_a_session_run_after_those_in_the_background(tmp_path: Path) -> None:
    hooks = {
        "PostToolUse": [{"command": "sleep 0.5; echo $TOOL_NAME >> order"}],
        "SessionEnd": [{"command": "echo end >> order"}],
    }
    _run(tmp_path, MICROAI, hooks, TOUCH)
    assert (tmp_path / "order").read_text() == "Bash\nend\n"


def test_the_last_hooks_of_a_session_do_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert timedelta(seconds=10) == DRAIN_TIMEOUT
    monkeypatch.setattr(agent_session, "DRAIN_TIMEOUT", timedelta(seconds=0.2))
    hooks = {
        "PostToolUse": [{"command": "sleep 60; echo late >> order", "timeout": 120_000}],
        "SessionEnd": [{"command": "echo end >> order"}],
    }
    _run(tmp_path, MICROAI, hooks, TOUCH)
    assert (tmp_path / "order").read_text() == "end\n"


def test_hooks_get_the_agent_s_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "not the agent's")
    env = {"PATH": os.environ["PATH"], "GREETING": "grüß dich"}
    hooks = {"PreToolUse": _group('echo "$GREETING ${OURS-unset} $EDITED_FILE" > heard')}
    _run(tmp_path, AI_AGENTS, hooks, tool_call_step(("write_file", {"path": "a", "content": ""})), env=env)
    assert (tmp_path / "heard").read_text() == "grüß dich unset a\n"


def test_a_failure_that_does_not_block_is_shown_once(tmp_path: Path) -> None:
    seen, model = _run(tmp_path, AI_AGENTS, {"PreToolUse": _group("echo oops >&2; exit 1")}, TOUCH)
    assert (tmp_path / "made").exists()
    assert len([each for each in seen.of_type(StatusMessage) if "oops" in each.text]) == 1
    assert "oops" not in str(model.requests[1].messages)
