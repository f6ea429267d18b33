"""`hookline install`"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
from hookline.cli.output import err, out, out_as_is
from hookline.cli.verb import Verb
from hookline.errors import HooklineError
from hookline.hosts.agent import CodingAgent
from hookline.hosts.install import launcher
from hookline.hosts.install.command import Missing
from hookline.hosts.install.found import is_here
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import Change, apply, installed, installing
from hookline.hosts.install.setups import SETUPS
from hookline.hosts.table import NAMES, agent

NOBODY_ANSWERED: Final = 3


@click.command(cls=Verb, short_help="Plug the hooks into a coding agent.")
@agent_argument
@user_option
@project_option
@dry_run_option
@click.option("--yes", is_flag=True, help="Without AGENT: into every agent that is here, without a question.")
@click.option(
    "--missing",
    type=click.Choice([each.value for each in Missing]),
    default=Missing.CLOSED.value,
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
        from hookline.cli.mcp_servers import wrap

        return wrap(Path(servers), shutil.which("hookline") or "hookline", dry_run)
    wish = _Wish(scope_of(user, project), dry_run, Missing(missing))
    if agent is None:
        return _install_those_here(wish, yes)
    _install(agent, wish)
    return 0


@dataclass(frozen=True, slots=True)
class _Wish:
    scope: Scope
    dry_run: bool
    missing: Missing


def _install_those_here(wish: _Wish, yes: bool) -> int:
    here = [name for name in NAMES if is_here(name, machine())]
    if not here:
        out(f"No coding agent was found here. hookline knows {', '.join(NAMES)}.")
        return 0
    code = 0
    for name in here:
        if not (yes or wish.dry_run):
            answer = _asked(name)
            if answer is None:
                err("\nhookline: nobody answered. Try: hookline install --yes, or name the agent.")
                return NOBODY_ANSWERED
            if not answer:
                continue
        try:
            _install(name, wish)
        except HooklineError as error:
            err(f"hookline: {agent(name).title}: {error}")
            code = 1
    return code


def _asked(name: str) -> bool | None:
    """None where nobody answers."""
    try:
        return click.confirm(f"Plug into {agent(name).title}?", default=True)
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        return None


def _install(name: str, wish: _Wish) -> None:
    spoken, here = agent(name), machine()
    _tell_of_other(spoken, here, wish.scope)
    changes = installing(spoken, here, wish.scope, wish.missing)
    needed = [change for change in changes if change.needed]
    if wish.dry_run:
        for change in needed:
            out_as_is(change.diff(here).rstrip("\n"))
        out(f"{spoken.title}: {len(needed)} {'file' if len(needed) == 1 else 'files'} would change.")
        return
    launcher.put(here.launcher)
    apply(changes, here)
    _tell(spoken, here, changes, bool(needed))


def _tell_of_other(spoken: CodingAgent, here: Machine, scope: Scope) -> None:
    """Two entries for one event: it is decided once, and still one of them is of no use on this machine."""
    other = next((path for found, path, _ in installed(spoken, here) if found is not scope), None)
    if other is not None:
        err(f"hookline: {here.shown(other)} calls hookline too; what both tell of is decided once.")


def _tell(spoken: CodingAgent, here: Machine, changes: tuple[Change, ...], needed: bool) -> None:
    paths = list(
        dict.fromkeys(here.shown(change.path if len(changes) == 1 else change.path.parent) for change in changes)
    )
    done = "calls hookline now" if needed else "calls hookline already"
    out(f"{spoken.title} {done}, on {len(spoken.events)} events: {', '.join(paths)}")
    if not spoken.verified:
        out("  This is from its documentation: not verified by running.")
    if SETUPS[spoken.name].advice:
        out(f"  {SETUPS[spoken.name].advice}")
    out(f"  Next: hookline doctor {spoken.name}")
