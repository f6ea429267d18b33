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
from hookline.hosts.agents import get_agent
from hookline.hosts.install import launcher
from hookline.hosts.install.plan import apply_changes, plan_uninstall
from hookline.hosts.install.undo import load_records


@click.command(cls=Verb, short_help="Remove the hooks from a coding agent.")
@agent_argument
@user_option
@project_option
@dry_run_option
@mcp_option
def verb(agent: str | None, user: bool, project: bool, dry_run: bool, servers: str | None) -> int:
    """Remove hookline's entries from a coding agent's file. If the file has not changed since the installation, it is
    restored byte for byte; otherwise only the entries are removed.

    \b
    hookline uninstall claude-code
    hookline uninstall --mcp .mcp.json
    """
    if servers is not None:
        from hookline.cli.install import unwrap_file

        return unwrap_file(Path(servers), dry_run)
    if agent is None:
        raise click.UsageError("Name an agent, or a file with --mcp.")
    found, here = get_agent(agent), machine()
    changes = plan_uninstall(found, here, scope_of(user, project))
    if dry_run:
        for change in changes:
            out_as_is(change.diff(here).rstrip("\n"))
        return 0
    apply_changes(changes, here)
    if not any(change.is_needed for change in changes):
        out(f"{found.title} does not call hookline {'in this project' if project else 'for you'}; nothing to do.")
        return 0
    out(f"{found.title} no longer calls hookline.")
    if next(load_records(here), None) is None:
        launcher.remove_launcher(here.launcher)
    return 0
