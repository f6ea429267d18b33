from __future__ import annotations

import os

import click
import pytest

from hookline.cli.agent_options import AgentName, machine, scope_of
from hookline.hosts.agents import AGENT_NAMES
from hookline.hosts.agents.machine import InstallScope


@pytest.mark.parametrize(
    ("user", "project", "scope"),
    [(False, False, InstallScope.USER), (True, False, InstallScope.USER), (False, True, InstallScope.PROJECT)],
)
def test_the_user_is_the_default_scope(user, project, scope):
    assert scope_of(user, project) is scope


def test_both_scopes_at_once_are_a_usage_error():
    with pytest.raises(click.UsageError, match="either --user or --project"):
        scope_of(user=True, project=True)


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_agent_is_known(name):
    assert AgentName().convert(name, None, None) == name


def test_an_unknown_agent_gets_a_suggestion():
    with pytest.raises(click.BadParameter, match=r"Did you mean claude-code\?"):
        AgentName().convert("claude-cod", None, None)


def test_the_machine_is_the_home_and_the_root_of_the_project(project):
    (project / ".git").mkdir()
    (project / "below").mkdir()
    os.chdir("below")
    here = machine()
    assert (here.home, here.project) == (project.parent / "home", project)
