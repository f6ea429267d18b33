"""What stops an agent, and what must not make it continue."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import SCRIPT, AgentRun, end_engine, hookline, new_sandbox, run

from hookline.hosts.doctor.fake_model import Json, ModelApi, ModelServer

HALT = """
hooks:
  - {id: seen, on: tool.after, order: -1, then: {run: 'touch "$HOME/seen"'}}
  - {id: enough, on: tool.after, max_fires: 1, then: {halt: Enough}}
"""
NOTE_AND_HALT = """
hooks:
  - {id: note, on: stop, then: {tell: Mind the tests}}
  - {id: end, on: stop, then: {halt: Enough}}
"""
STEPS = ("noted", "passed")
MAX_WAIT = 180.0  # seconds; hooks of a busy machine
FINAL_REQUESTS = {"grok-build": 2}  # it asks once more after its last answer, without hooks too
every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)


class PatientModel(ModelServer):
    """Asks for the second command once hooks have seen the result of the first: Kimi does not wait for them."""

    def __init__(self, commands: Sequence[str], seen: Path) -> None:
        super().__init__(commands)
        self.seen = seen

    def answer(self, api: ModelApi, request: Json) -> Iterator[Json]:
        deadline = time.monotonic() + MAX_WAIT
        while api.results(request) and not self.seen.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return super().answer(api, request)


@every_agent
def test_no_tool_runs_once_a_hook_has_stopped_the_agent(agent: Agent, tmp_path: Path) -> None:
    ran = _run_with_hooks(agent, tmp_path, HALT)
    assert list(ran.files) == list(STEPS[:1]), ran.output


@every_agent
def test_notes_at_a_stop_do_not_make_the_agent_continue(agent: Agent, tmp_path: Path) -> None:
    ran = _run_with_hooks(agent, tmp_path, NOTE_AND_HALT)
    answers = [request for request in ran.requests if len(request.results) == len(STEPS)]
    assert len(answers) == FINAL_REQUESTS.get(agent.name, 1), ran.output


def _run_with_hooks(agent: Agent, root: Path, hooks: str) -> AgentRun:
    sandbox, commands = new_sandbox(root), [SCRIPT[step] for step in STEPS]
    server = PatientModel(commands, sandbox.home / "seen") if hooks is HALT else ModelServer(commands)
    (sandbox.project / "hookline.yaml").unlink()
    users = sandbox.home / ".config" / "hookline" / "hookline.yaml"
    with server as model:
        agent.copy_user_files(sandbox)
        users.parent.mkdir(parents=True, exist_ok=True)
        users.write_text(hooks, "utf-8")
        hookline(sandbox, "install", agent.name, agent.scope)
        ran = run(agent, sandbox, model)
    end_engine(sandbox)
    return ran
