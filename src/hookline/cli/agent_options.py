"""Options of the verbs about coding agents, and the machine that they work on."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from hookline.cli.context import current_directory, home
from hookline.cli.options import NameParameter
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.project import project_directories


class AgentName(NameParameter):
    name = "agent"

    def known_names(self) -> Iterable[str]:
        from hookline.hosts.agents import AGENT_NAMES

        return AGENT_NAMES

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.known_names():
            self.fail_unknown(value, f"The agents are {', '.join(self.known_names())}.", (param, ctx))
        return value


agent_argument = click.argument("agent", type=AgentName(), required=False)
user_option = click.option("--user", is_flag=True, help="For you, in every project (the default).")
project_option = click.option("--project", is_flag=True, help="For everyone who works in this project.")
mcp_option = click.option(
    "--mcp",
    "servers",
    metavar="FILE",
    type=click.Path(),
    help="Instead of an agent: the MCP servers listed in this file.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the changes without making them.")


def machine() -> Machine:
    return Machine(home(), project_directories(current_directory(), home())[0], dict(os.environ))


def scope_of(user: bool, project: bool) -> InstallScope:
    if user and project:
        raise click.UsageError("Give either --user or --project, not both.")
    return InstallScope.PROJECT if project else InstallScope.USER
