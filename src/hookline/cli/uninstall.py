"""`hookline uninstall`"""

from __future__ import annotations

from pathlib import Path

import click

from hookline.cli.agents import (
    agent_argument,
    dry_run_option,
    machine,
    mcp_option,
    project_option,
    scope_of,
    user_option,
)
from hookline.cli.output import out, out_as_is
from hookline.cli.verb import Verb
from hookline.hosts.install import launcher
from hookline.hosts.install.plan import apply, uninstalling
from hookline.hosts.install.records import records
from hookline.hosts.table import agent as agent_named


@click.command(cls=Verb, short_help="Take the hooks out of a coding agent.")
@agent_argument
@user_option
@project_option
@dry_run_option
@mcp_option
def verb(agent: str | None, user: bool, project: bool, dry_run: bool, servers: str | None) -> int:
    """Take our entries out of a coding agent's file. If nobody has changed it since, it is to the byte as it was; else
    exactly our entries go.

    \b
    hookline uninstall claude-code
    hookline uninstall --mcp .mcp.json
    """
    if servers is not None:
        from hookline.cli.mcp_servers import unwrap

        return unwrap(Path(servers), dry_run)
    if agent is None:
        raise click.UsageError("Name the agent, or a file with --mcp.")
    spoken, here = agent_named(agent), machine()
    changes = uninstalling(spoken, here, scope_of(user, project))
    if dry_run:
        for change in changes:
            out_as_is(change.diff(here).rstrip("\n"))
        return 0
    apply(changes, here)
    if not any(change.needed for change in changes):
        out(f"{spoken.title} does not call hookline {'in this project' if project else 'for you'}; nothing to do.")
        return 0
    out(f"{spoken.title} does not call hookline any more.")
    if next(records(here), None) is None:
        launcher.take_away(here.launcher)
    return 0
