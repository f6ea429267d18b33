"""The same `hookline.yaml` in every coding agent: the real program, with a scripted model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import SCRIPT, AgentRun, end_engine, hookline, new_sandbox, run, steps_of

from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent_event import Ability
from hookline.hosts.doctor.fake_model import FINAL_TEXT, ModelServer

SILENT_AGENTS = {"deepagents-code"}  # it prints only text that the model streams in parts, and the fake one does not
PLAIN = {"denied": "secret", "changed": "plain", "noted": "noted", "reported": "reported", "passed": "passed"}


@dataclass(frozen=True)
class Runs:
    """An agent's runs of the script: before hookline is installed, with it, and after it is removed."""

    agent: Agent
    before: AgentRun
    hooked: AgentRun
    after: AgentRun
    settings: Mapping[str, bytes | None]  # the files that the installation changed or created, as they were
    restored: Mapping[str, bytes | None]  # the same files after the removal

    @property
    def ability(self) -> Ability:
        """What the agent supports before a tool, according to its module."""
        return next(each.ability for each in get_agent(self.agent.name).events if each.event == "tool.before")

    @property
    def carries_context(self) -> bool:
        """Whether the agent takes text for the model with a tool call. Otherwise it comes with the next prompt."""
        tools = [each for each in get_agent(self.agent.name).events if each.event in ("tool.before", "tool.after")]
        return any(each.ability.context for each in tools)


@pytest.fixture(scope="module", params=AGENTS, ids=lambda agent: agent.name)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    agent: Agent = request.param
    sandbox = new_sandbox(tmp_path_factory.mktemp(agent.name))
    with ModelServer([SCRIPT[step] for step in steps_of(agent)]) as model:
        agent.copy_user_files(sandbox)
        before = run(agent, sandbox, model)
        hookline(sandbox, "trust", "--yes")
        found = _files(sandbox.root)
        hookline(sandbox, "install", agent.name, agent.scope)
        settings = {
            path: found.get(path) for path, content in _files(sandbox.root).items() if found.get(path) != content
        }
        hooked = run(agent, sandbox, model)
        hookline(sandbox, "uninstall", agent.name, agent.scope)
        left = _files(sandbox.root)
        after = run(agent, sandbox, model)
    end_engine(sandbox)
    return Runs(agent, before, hooked, after, settings, {path: left.get(path) for path in settings})


def _files(root: Path) -> dict[str, bytes]:
    """All files except hookline's own records."""
    paths = (path for path in root.rglob("*") if path.is_file() and "node_modules" not in path.parts)
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    own = re.compile(r"home/\.(local/\w+|config|cache)/hookline/")
    return {path: content for path, content in found.items() if not own.match(path)}


def test_agent_runs_every_command_without_hookline(runs: Runs) -> None:
    assert runs.before.files == PLAIN, runs.before.output


def test_denied_command_does_not_run_and_the_model_reads_why(runs: Runs) -> None:
    assert "denied" not in runs.hooked.files
    if runs.agent.deny_ends_run:
        assert len(runs.hooked.requests) == len(runs.hooked.steps), runs.hooked.output
        return
    assert "Secrets are not written to files in this project" in runs.hooked.result("denied"), runs.hooked.output


def test_changed_command_runs_as_changed_or_is_denied_with_the_suggestion(runs: Runs) -> None:
    if runs.ability.change:
        assert runs.hooked.files.get("changed") == "altered"
    else:
        assert "changed" not in runs.hooked.files
        assert "echo altered > changed.txt" in runs.hooked.result("changed")


def test_model_reads_what_a_hook_adds_before_a_command(runs: Runs) -> None:
    """With the result, if the agent takes no context before a tool."""
    assert runs.hooked.files.get("noted") == "noted"
    assert ("The owner wants short notes" in runs.hooked.known_after("noted")) is runs.carries_context
    assert "The owner wants short notes" not in runs.hooked.known_after("changed")


def test_model_reads_what_a_hook_adds_after_a_command(runs: Runs) -> None:
    assert runs.hooked.files.get("reported") == "reported"
    assert ("The owner reads every report" in runs.hooked.known_after("reported")) is runs.carries_context
    assert "The owner reads every report" not in runs.hooked.known_after("noted")


def test_everything_else_runs(runs: Runs) -> None:
    assert runs.hooked.files.get("passed") == "passed"
    if not runs.agent.deny_ends_run:
        assert len(runs.hooked.requests[-1].results) == len(SCRIPT)
        assert FINAL_TEXT in runs.hooked.output or runs.agent.name in SILENT_AGENTS
    assert runs.hooked.exit_code == 0


def test_hooks_that_the_user_had_still_run(runs: Runs) -> None:
    assert runs.before.neighbour, runs.before.output
    assert runs.hooked.neighbour
    assert runs.after.neighbour


def test_agent_works_as_before_once_hookline_is_removed(runs: Runs) -> None:
    assert runs.after.files == PLAIN, runs.after.output
    assert runs.settings, "the installation changed nothing"
    assert runs.restored == runs.settings
