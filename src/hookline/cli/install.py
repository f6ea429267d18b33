"""`hookline install`

The MCP servers that a client's file lists, with the proxy in front of them and without.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.entries import MissingPolicy
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install import launcher
from hookline.hosts.install.installed_agents import is_agent_present
from hookline.hosts.install.plan import (
    BACKUP_SUFFIX,
    FileChange,
    apply_changes,
    installed_entries,
    plan_install,
    unified_diff,
)
from hookline.hosts.install.text_files import file_mode, read_file_text, remove_file, write_atomically
from hookline.hosts.mcp.client_config import NotWrappableError, unwrap_servers, unwrappable_servers, wrap_servers


def wrap_file(file: Path, command: str, dry_run: bool) -> int:
    before, after = _edit_file(file, lambda text: wrap_servers(text, command))
    if before != after and not dry_run:
        write_atomically(_backup_path(file), unwrap_servers(before), file_mode(file))
        write_atomically(file, after)
    _print_file_change(file, before, after, dry_run, "has hooks in front of its servers")
    for name in unwrappable_servers(after):
        out(f"  {name}: this server cannot be wrapped")
    return 0


def unwrap_file(file: Path, dry_run: bool) -> int:
    before, after = _edit_file(file, unwrap_servers)
    if before != after and not dry_run:
        write_atomically(file, after)
        if read_file_text(_backup_path(file)) == after:
            remove_file(_backup_path(file))
    _print_file_change(file, before, after, dry_run, "has no hooks in front of its servers")
    return 0


def _edit_file(file: Path, edit: Callable[[str], str]) -> tuple[str, str]:
    text = read_file_text(file)
    if text is None:
        raise HooklineError(f"{file} does not exist")
    try:
        return text, edit(text)
    except NotWrappableError as error:
        raise HooklineError(f"{file}: {error}") from None


def _print_file_change(file: Path, before: str, after: str, dry_run: bool, state: str) -> None:
    if dry_run and before != after:
        out_as_is(unified_diff(before, after, str(file)).rstrip("\n"))
    elif before == after:
        out(f"{file}: nothing to do")
    else:
        out(f"{file} {state} now.")


def _backup_path(file: Path) -> Path:
    return file.with_name(file.name + BACKUP_SUFFIX)


NOBODY_ANSWERED: Final = 3


@click.command(cls=Verb, short_help="Plug the hooks into a coding agent.")
@agent_argument
@user_option
@project_option
@dry_run_option
@click.option("--yes", is_flag=True, help="Without AGENT: into every agent that is here, without a question.")
@click.option(
    "--missing",
    type=click.Choice([each.value for each in MissingPolicy]),
    default=MissingPolicy.CLOSED.value,
    show_default=True,
    help="Where hookline is not installed: hold everything back, or go on without hooks.",
)
@mcp_option
def verb(
    agent: str | None,
    user: bool,
    project: bool,
    dry_run: bool,
    yes: bool,
    missing: str,
    servers: str | None,
) -> int:
    """Plug the hooks into a coding agent: one entry for each of its events in its own file, where everything else
    stays as it is, and a backup beside it. Without AGENT, you are asked about each agent that is on this machine.

    \b
    hookline install claude-code
    hookline install --yes --dry-run
    hookline install --mcp .mcp.json

    Exit codes: 0 done or nothing to do, 1 a file cannot be edited, 3 somebody must be asked.
    """
    if servers is not None:
        return wrap_file(Path(servers), shutil.which("hookline") or "hookline", dry_run)
    wish = _InstallOptions(scope_of(user, project), dry_run, MissingPolicy(missing))
    if agent is None:
        return _install_found(wish, yes)
    _install_agent(agent, wish)
    return 0


@dataclass(frozen=True, slots=True)
class _InstallOptions:
    scope: InstallScope
    dry_run: bool
    missing: MissingPolicy


def _install_found(wish: _InstallOptions, yes: bool) -> int:
    here = [name for name in AGENT_NAMES if is_agent_present(get_agent(name), machine())]
    if not here:
        out(f"No coding agent was found here. hookline knows {', '.join(AGENT_NAMES)}.")
        return 0
    code = 0
    for name in here:
        if not (yes or wish.dry_run):
            answer = _confirm_agent(name)
            if answer is None:
                err("\nhookline: nobody answered. Try: hookline install --yes, or name the agent.")
                return NOBODY_ANSWERED
            if not answer:
                continue
        try:
            _install_agent(name, wish)
        except HooklineError as error:
            err(f"hookline: {get_agent(name).title}: {error}")
            code = 1
    return code


def _confirm_agent(name: str) -> bool | None:
    """None where nobody answers."""
    try:
        return click.confirm(f"Plug into {get_agent(name).title}?", default=True)
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        return None


def _install_agent(name: str, wish: _InstallOptions) -> None:
    agent, here = get_agent(name), machine()
    _warn_of_other_scope(agent, here, wish.scope)
    changes = plan_install(agent, here, wish.scope, wish.missing)
    needed = [change for change in changes if change.is_needed]
    if wish.dry_run:
        for change in needed:
            out_as_is(change.diff(here).rstrip("\n"))
        out(f"{agent.title}: {len(needed)} {'file' if len(needed) == 1 else 'files'} would change.")
        return
    launcher.install_launcher(here.launcher)
    apply_changes(changes, here)
    _print_installed(agent, here, changes, bool(needed))


def _warn_of_other_scope(agent: CodingAgent, here: Machine, scope: InstallScope) -> None:
    """Two entries for one event: it is decided once, and still one of them is of no use on this machine."""
    other = next((path for found, path, _ in installed_entries(agent, here) if found is not scope), None)
    if other is not None:
        err(f"hookline: {here.display_path(other)} calls hookline too; what both tell of is decided once.")


def _print_installed(agent: CodingAgent, here: Machine, changes: tuple[FileChange, ...], needed: bool) -> None:
    paths = list(
        dict.fromkeys(here.display_path(change.path if len(changes) == 1 else change.path.parent) for change in changes)
    )
    done = "calls hookline now" if needed else "calls hookline already"
    out(f"{agent.title} {done}, on {len(agent.events)} events: {', '.join(paths)}")
    if not agent.verified:
        out("  This is from its documentation: not verified by running.")
    if agent.advice:
        out(f"  {agent.advice}")
    out(f"  Next: hookline doctor {agent.name}")
