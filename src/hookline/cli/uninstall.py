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
from hookline.cli.output import err, out, out_as_is
from hookline.errors import HooklineError
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install import launcher
from hookline.hosts.install.mcp_files import delete_mcp_file, load_mcp_files
from hookline.hosts.install.plan import apply_changes, installed_places, plan_uninstall
from hookline.hosts.install.undo import load_records


@click.command(cls=Verb, short_help="Remove the hooks from a coding agent.")
@agent_argument
@user_option
@project_option
@dry_run_option
@mcp_option
@click.option("--all", "everything", is_flag=True, help="Remove the hooks from every agent, project and MCP file.")
def verb(agent: str | None, user: bool, project: bool, dry_run: bool, servers: str | None, everything: bool) -> int:
    """Remove hookline's entries from a coding agent's file. If the file has not changed since the installation, it is
    restored byte for byte; otherwise only the entries are removed.

    \b
    hookline uninstall claude-code
    hookline uninstall --mcp .mcp.json
    hookline uninstall --all

    Run `hookline uninstall --all` before you remove the package itself.
    """
    if servers is not None:
        from hookline.cli.install import unwrap_file

        return unwrap_file(Path(servers), dry_run)
    here = machine()
    if everything:
        places = list(installed_places(here))
    elif agent is None:
        raise click.UsageError("Name an agent, a file with --mcp, or --all.")
    else:
        places = [(get_agent(agent), here, scope_of(user, project))]
    removed = [_remove_entries(*place, dry_run) for place in places]
    files, unreadable = load_mcp_files(here) if everything else ([], [])
    for record in unreadable:
        err(f"hookline: {record} cannot be read, so the file that it names is left as it is")
    failed = [*unreadable, *(file for file in files if not _restore_mcp_file(file, here, dry_run))]
    if everything and not files and not failed and not any(removed):
        out("No coding agent calls hookline; nothing to do.")
    if not dry_run and next(load_records(here), None) is None:
        launcher.remove_launcher(here.launcher)
    return 1 if failed else 0


def _restore_mcp_file(file: Path, here: Machine, dry_run: bool) -> bool:
    """False if the file cannot be edited."""
    from hookline.cli.install import unwrap_file

    try:
        if file.exists():
            unwrap_file(file, dry_run)
        elif not dry_run:
            delete_mcp_file(file, here)
    except (HooklineError, OSError) as error:
        err(f"hookline: {error}")
        return False
    return True


def _remove_entries(agent: CodingAgent, at: Machine, scope: InstallScope, dry_run: bool) -> bool:
    """False if there was nothing to remove."""
    changes = plan_uninstall(agent, at, scope)
    where = f"in {at.project}" if scope is InstallScope.PROJECT else "for you"
    if dry_run:
        for change in changes:
            out_as_is(change.diff(at).rstrip("\n"))
    else:
        apply_changes(changes, at)
    if not any(change.is_needed for change in changes):
        out(f"{agent.title} does not call hookline {where}; nothing to do.")
        return False
    if not dry_run:
        out(f"{agent.title} no longer calls hookline {where}.")
    return True
