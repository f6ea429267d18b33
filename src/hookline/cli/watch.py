"""`hookline watch`"""

from __future__ import annotations

import sys

import click

from hookline.cli.options import Verb
from hookline.cli.record_options import the_record
from hookline.cli.waiting_approvals import WaitingApprovals
from hookline.errors import HooklineError, extra_required
from hookline.project.private_file import state_directory


@click.command(cls=Verb, short_help="Watch decisions as they are made, and answer waiting approvals.")
@click.option("--store", metavar="URL", help="Where `hookline run` stores sessions: sqlite:///FILE or postgresql://…")
def verb(store: str | None) -> None:
    """Watch what the hooks of every agent on this machine decide, as it happens. Enter explains a decision, / finds
    decisions with a word in them, and a answers a call of hookline's own agent that waits for approval.

    \b
    hookline watch
    hookline watch --store postgresql://localhost/agents
    """
    with extra_required("hookline watch needs textual", "watch"):
        from hookline.cli.watch_app import WatchApp
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise HooklineError("this is not a terminal. `hookline log --follow` prints decisions as they are made.")
    WatchApp(the_record(), WaitingApprovals(store, state_directory())).run()
