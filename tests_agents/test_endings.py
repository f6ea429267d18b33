"""What stops an agent, and what must not make it go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import SCRIPT, Ran, end_engine, hookline, new_place, run

from hookline.hosts.doctor.fake_model import ModelServer

HALT = "hooks:\n  - {id: enough, on: tool.after, max_fires: 1, then: {halt: Enough}}\n"
WORDS = """
hooks:
  - {id: note, on: stop, then: {tell: Mind the tests}}
  - {id: end, on: stop, then: {halt: Enough}}
"""
STEPS = ("noted", "passed")
every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)


@every_agent
def test_no_tool_runs_once_a_hook_has_stopped_the_agent(agent: Agent, tmp_path: Path) -> None:
    ran = _ran(agent, tmp_path, HALT)
    assert list(ran.files) == list(STEPS[:1]), ran.output


@every_agent
def test_words_at_a_stop_do_not_make_the_agent_go_on(agent: Agent, tmp_path: Path) -> None:
    ran = _ran(agent, tmp_path, WORDS)
    assert len(ran.asked) == len(STEPS) + 1, ran.output


def _ran(agent: Agent, root: Path, hooks: str) -> Ran:
    place = new_place(root)
    (place.project / "hookline.yaml").unlink()
    users = place.home / ".config" / "hookline" / "hookline.yaml"
    with ModelServer([SCRIPT[step] for step in STEPS]) as model:
        agent.move_in(place)
        users.parent.mkdir(parents=True, exist_ok=True)
        users.write_text(hooks, "utf-8")
        hookline(place, "install", agent.name, agent.scope)
        ran = run(agent, place, model)
    end_engine(place)
    return ran
