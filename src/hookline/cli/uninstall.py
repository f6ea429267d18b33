"""`hookline uninstall`"""

from __future__ import annotations

from pathlib import Path

import click

from hookline.cli.agent_options import (
    agent_argument,
    dry_run_option,
    machine,
    mcp_option,
    project_option,
    scope_of,
    user_option,
)
from hookline.cli.options import Verb
from hookline.cli.output import out, out_as_is
from hookline.hosts.agents import get_agent as agent_named
from hookline.hosts.install import launcher
from hookline.hosts.install.plan import apply_changes, plan_uninstall
from hookline.hosts.install.undo import load_records


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
        from hookline.cli.install import unwrap_file

        return unwrap_file(Path(servers), dry_run)
    if agent is None:
        raise click.UsageError("Name the agent, or a file with --mcp.")
    spoken, here = agent_named(agent), machine()
    changes = plan_uninstall(spoken, here, scope_of(user, project))
    if dry_run:
        for change in changes:
            out_as_is(change.diff(here).rstrip("\n"))
        return 0
    apply_changes(changes, here)
    if not any(change.is_needed for change in changes):
        out(f"{spoken.title} does not call hookline {'in this project' if project else 'for you'}; nothing to do.")
        return 0
    out(f"{spoken.title} does not call hookline any more.")
    if next(load_records(here), None) is None:
        launcher.remove_launcher(here.launcher)
    return 0
