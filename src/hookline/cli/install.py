"""`hookline install`, for coding agents and for the MCP servers that a client's file lists"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
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
from hookline.hosts.install.mcp_files import delete_mcp_file, save_mcp_file
from hookline.hosts.install.plan import (
    BACKUP_SUFFIX,
    FileChange,
    apply_changes,
    installed_entries,
    plan_install,
    unified_diff,
)
from hookline.hosts.install.text_files import file_mode, read_file_text, remove_file, write_atomically, write_backup
from hookline.hosts.mcp.client_config import NotWrappableError, unwrap_servers, unwrappable_servers, wrap_servers
from hookline.lazy_dataclasses import dataclass

NO_ANSWER: Final = 3


@click.command(cls=Verb, short_help="Install the hooks into a coding agent.")
@agent_argument
@user_option
@project_option
@dry_run_option
@click.option("--yes", is_flag=True, help="Without AGENT: install into every agent found, without asking.")
@click.option(
    "--missing",
    type=click.Choice([each.value for each in MissingPolicy]),
    default=MissingPolicy.CLOSED.value,
    show_default=True,
    help="If hookline is missing when the agent calls it: closed blocks every call, open runs it without hooks.",
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
    """Install the hooks into a coding agent: one entry per event in the agent's own settings file. Everything else in
    the file stays as it is, and a backup is written beside it. Without AGENT, it asks about each agent found here.

    \b
    hookline install claude-code
    hookline install --yes --dry-run
    hookline install --mcp .mcp.json

    Exit codes: 0 done or nothing to do, 1 a file cannot be edited, 3 it asked and got no answer.
    """
    if servers is not None:
        return wrap_file(Path(servers), shutil.which("hookline") or "hookline", dry_run)
    options = _InstallOptions(scope_of(user, project), dry_run, MissingPolicy(missing))
    if agent is None:
        return _install_found(options, yes)
    _install_agent(agent, options)
    return 0


@dataclass(frozen=True, slots=True)
class _InstallOptions:
    scope: InstallScope
    dry_run: bool
    missing: MissingPolicy


def _install_found(options: _InstallOptions, yes: bool) -> int:
    found = [name for name in AGENT_NAMES if is_agent_present(get_agent(name), machine())]
    if not found:
        out("No coding agent found on the PATH or in your home directory. Name yours: `hookline install AGENT`.")
        out(f"Agents: {', '.join(AGENT_NAMES)}")
        return 0
    code = 0
    for name in found:
        if not (yes or options.dry_run):
            answer = _confirm_agent(name)
            if answer is None:
                err("\nhookline: no answer. Use `hookline install --yes`, or name an agent.")
                return NO_ANSWER
            if not answer:
                continue
        try:
            _install_agent(name, options)
        except HooklineError as error:
            err(f"hookline: {get_agent(name).title}: {error}")
            code = 1
    return code


def _confirm_agent(name: str) -> bool | None:
    """None if stdin ends without an answer."""
    try:
        return click.confirm(f"Install hooks into {get_agent(name).title}?", default=True)
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        return None


def _install_agent(name: str, options: _InstallOptions) -> None:
    agent, here = get_agent(name), machine()
    changes = plan_install(agent, here, options.scope, options.missing)
    _warn_of_other_scope(agent, here, options.scope)
    needed = [change for change in changes if change.is_needed]
    if options.dry_run:
        for change in needed:
            out_as_is(change.diff(here).rstrip("\n"))
        out(f"{agent.title}: {len(needed)} {'file' if len(needed) == 1 else 'files'} would change.")
        return
    launcher.install_launcher(here)
    apply_changes(changes, here)
    _print_installed(agent, here, changes, bool(needed))


def _warn_of_other_scope(agent: CodingAgent, here: Machine, scope: InstallScope) -> None:
    """An event with two entries is decided once, so one of them is of no use."""
    other = next((path for found, path, _ in installed_entries(agent, here) if found is not scope), None)
    if other is not None:
        err(f"hookline: {here.display_path(other)} calls hookline too. An event that both report is decided once.")


def _print_installed(agent: CodingAgent, here: Machine, changes: tuple[FileChange, ...], needed: bool) -> None:
    paths = list(
        dict.fromkeys(here.display_path(change.path if len(changes) == 1 else change.path.parent) for change in changes)
    )
    state = "now" if needed else "already"
    out(f"{agent.title} {state} calls hookline on {len(agent.events)} events: {', '.join(paths)}")
    if not agent.verified:
        out(f"  Written from its {agent.proof}, not tested by running it: try a hook that denies first.")
    if agent.advice:
        out(f"  {agent.advice}")
    out(f"  Next: hookline doctor {agent.name}")


def wrap_file(file: Path, command: str, dry_run: bool) -> int:
    before, after = _edit_file(file, lambda text: wrap_servers(text, command))
    if not dry_run and unwrap_servers(after) != after:
        save_mcp_file(file, machine())  # first: without it, `uninstall --all` would not find the file
    if before != after and not dry_run:
        write_backup(_backup_path(file), unwrap_servers(before), file_mode(file))
        write_atomically(file, after)
    _print_file_change(file, before, after, dry_run, "hooks are now in front of its servers")
    for name, why in unwrappable_servers(after).items():
        out(f"  {name}: no hooks in front of this server: {why}")
    return 0


def unwrap_file(file: Path, dry_run: bool) -> int:
    before, after = _edit_file(file, unwrap_servers)
    if before != after and not dry_run:
        write_atomically(file, after)
        if read_file_text(_backup_path(file)) == after:
            remove_file(_backup_path(file))
    if not dry_run:
        delete_mcp_file(file, machine())
    _print_file_change(file, before, after, dry_run, "hooks are no longer in front of its servers")
    return 0


def _edit_file(file: Path, edit: Callable[[str], str]) -> tuple[str, str]:
    _refuse_link_to_elsewhere(file)
    text = read_file_text(file)
    if text is None:
        raise HooklineError(f"{file} does not exist")
    try:
        return text, edit(text)
    except NotWrappableError as error:
        raise HooklineError(f"{file}: {error}") from None


def _refuse_link_to_elsewhere(file: Path) -> None:
    """A repository could name one of your own files by a link, or its directory."""
    beside, target = os.path.realpath(file.parent), Path(os.path.realpath(file))
    repositories = (os.path.realpath(each) for each in Path(os.path.abspath(file)).parents if (each / ".git").exists())
    if not all(target.is_relative_to(directory) for directory in (beside, *repositories)):
        raise HooklineError(f"{file} is a link to {target}. Name that file itself if you mean it.")


def _print_file_change(file: Path, before: str, after: str, dry_run: bool, state: str) -> None:
    if dry_run and before != after:
        out_as_is(unified_diff(before, after, str(file)).rstrip("\n"))
    elif before == after:
        out(f"{file}: nothing to do")
    else:
        out(f"{file}: {state}")


def _backup_path(file: Path) -> Path:
    return file.with_name(file.name + BACKUP_SUFFIX)
