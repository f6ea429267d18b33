"""Agents that call HTTP hooks: the same decisions, and what they do when nobody answers."""

from __future__ import annotations

import socket
from dataclasses import dataclass

import pytest
from agents import AGENTS, Agent, Place
from runs import SCRIPT, Ran, end_engine, hookline, new_place, run

from hookline.hosts.bridge.address import Address, address_in
from hookline.hosts.doctor.model_server import ModelServer
from hookline.hosts.table import agent as coding_agent

BY_NAME = {agent.name: agent for agent in AGENTS}


@dataclass(frozen=True)
class Story:
    agent: Agent
    hooked: Ran
    alone: Ran  # when no engine runs, and none can be started
    restored: bool


@pytest.fixture(scope="module", params=["claude-code", "qwen-code"])
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Story:
    agent = BY_NAME[request.param]
    place = new_place(tmp_path_factory.mktemp(f"http-{agent.name}"))
    with ModelServer(list(SCRIPT.values())) as model:
        agent.move_in(place)
        run(agent, place, model)  # an agent may rewrite its settings when it first starts
        before = _settings(place)
        hookline(place, "trust", "--yes")
        hookline(place, "install", agent.name, "--http")
        hooked = run(agent, place, model)
        alone = _without_engine(agent, place, model)
        hookline(place, "uninstall", agent.name)
    return Story(agent, hooked, alone, _settings(place) == before)


def _settings(place: Place) -> dict[str, bytes]:
    found = (path for name in (".claude", ".qwen") for path in (place.home / name).glob("settings.json*"))
    return {path.name: path.read_bytes() for path in found}


def _without_engine(agent: Agent, place: Place, model: ModelServer) -> Ran:
    """The engine is gone, and the commands that a session begins with find no place to start another."""
    kept = place.home / ".local/state/hookline"
    address = address_in(kept)
    assert address is not None
    launcher = place.home / ".local/share/hookline/bridge"
    held = launcher.read_bytes()
    launcher.write_text("#!/bin/sh\nexit 0\n")
    text = (kept / "http.json").read_text()
    end_engine(place)
    _until_free(address)
    ran = run(agent, place, model)
    launcher.write_bytes(held)
    assert (kept / "http.json").read_text() == text
    return ran


def _until_free(address: Address) -> None:
    for _ in range(200):
        with socket.socket() as trying:
            trying.settimeout(0.1)
            if trying.connect_ex(("127.0.0.1", address.port)) != 0:
                return
    raise AssertionError("the engine does not end")


def test_denied_command_does_not_run_and_the_model_is_told_why(story: Story) -> None:
    assert "denied" not in story.hooked.files
    assert "Secrets are not written to files in this project" in story.hooked.result("denied"), story.hooked.output


def test_changed_command_runs_as_changed_or_is_denied(story: Story) -> None:
    changes = next(e.ability.change for e in coding_agent(story.agent.name).events if e.event == "tool.before")
    assert story.hooked.files.get("changed") == ("altered" if changes else None)
    assert changes or "echo altered > changed.txt" in story.hooked.result("changed")


def test_model_is_told_what_hooks_add(story: Story) -> None:
    assert "The owner wants short notes" in story.hooked.told("noted")
    assert "The owner reads every report" in story.hooked.told("reported")


def test_everything_else_passes(story: Story) -> None:
    assert story.hooked.files.get("passed") == "passed", story.hooked.output


def test_when_nobody_answers_each_does_what_install_said(story: Story) -> None:
    if story.agent.name == "claude-code":
        assert story.alone.files == {}, story.alone.output
    else:
        assert story.alone.files.get("denied") == "secret", "it has become safer: say so in setups.py"


def test_settings_are_restored_to_the_byte(story: Story) -> None:
    assert story.restored
