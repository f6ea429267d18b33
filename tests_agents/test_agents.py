"""One and the same `hookline.yaml`, in every coding agent: the real program, a model that follows a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from agents import AGENTS, Agent
from runs import SCRIPT, Ran, end_engine, hookline, new_place, run

from hookline.hosts.agents import get_agent as coding_agent
from hookline.hosts.agents.agent_event import Ability
from hookline.hosts.doctor.fake_model import FINAL_TEXT, ModelServer

PLAIN = {"denied": "secret", "changed": "plain", "noted": "noted", "reported": "reported", "passed": "passed"}


@dataclass(frozen=True)
class Story:
    """An agent's runs of the script before hookline was installed, with it, and when it was taken out again."""

    agent: Agent
    before: Ran
    hooked: Ran
    after: Ran
    settings: Mapping[str, bytes | None]  # every file that the installation changed or made, as it was
    restored: Mapping[str, bytes | None]  # the same, as they are in the end

    @property
    def ability(self) -> Ability:
        """What our own table says that this agent can be told before a tool."""
        return next(each.ability for each in coding_agent(self.agent.name).events if each.event == "tool.before")


@pytest.fixture(scope="module", params=AGENTS, ids=lambda agent: agent.name)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Story:
    agent: Agent = request.param
    place = new_place(tmp_path_factory.mktemp(agent.name))
    with ModelServer(list(SCRIPT.values())) as model:
        agent.move_in(place)
        before = run(agent, place, model)
        hookline(place, "trust", "--yes")
        found = _files(place.root)
        hookline(place, "install", agent.name, agent.scope)
        settings = {path: found.get(path) for path, content in _files(place.root).items() if found.get(path) != content}
        hooked = run(agent, place, model)
        hookline(place, "uninstall", agent.name, agent.scope)
        left = _files(place.root)
        after = run(agent, place, model)
    end_engine(place)
    return Story(agent, before, hooked, after, settings, {path: left.get(path) for path in settings})


def _files(root: Path) -> dict[str, bytes]:
    """All but what hookline remembers for itself."""
    paths = (path for path in root.rglob("*") if path.is_file() and "node_modules" not in path.parts)
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return {path: content for path, content in found.items() if "/hookline/" not in path}


def test_agent_runs_every_command_without_hookline(story: Story) -> None:
    assert story.before.files == PLAIN, story.before.output


def test_denied_command_does_not_run_and_the_model_is_told_why(story: Story) -> None:
    assert "denied" not in story.hooked.files
    assert "Secrets are not written to files in this project" in story.hooked.result("denied"), story.hooked.output


def test_changed_command_runs_as_changed_or_is_denied_with_the_suggestion(story: Story) -> None:
    if story.ability.change:
        assert story.hooked.files.get("changed") == "altered"
    else:
        assert "changed" not in story.hooked.files
        assert "echo altered > changed.txt" in story.hooked.result("changed")


def test_model_is_told_what_a_hook_adds_before_a_command(story: Story) -> None:
    """With the result, in an agent that cannot tell it before."""
    assert story.hooked.files.get("noted") == "noted"
    assert "The owner wants short notes" in story.hooked.told("noted")
    assert "The owner wants short notes" not in story.hooked.told("changed")


def test_model_is_told_what_a_hook_adds_after_a_command(story: Story) -> None:
    assert story.hooked.files.get("reported") == "reported"
    assert "The owner reads every report" in story.hooked.told("reported")
    assert "The owner reads every report" not in story.hooked.told("noted")


def test_everything_else_passes(story: Story) -> None:
    assert story.hooked.files.get("passed") == "passed"
    assert FINAL_TEXT in story.hooked.output
    assert story.hooked.exit_code == 0


def test_hooks_that_the_user_had_go_on(story: Story) -> None:
    assert story.before.neighbour, story.before.output
    assert story.hooked.neighbour
    assert story.after.neighbour


def test_agent_works_as_before_once_hookline_is_taken_out(story: Story) -> None:
    assert story.after.files == PLAIN, story.after.output
    assert story.settings, "the installation changed nothing"
    assert story.restored == story.settings
