"""`hookline serve`"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

import click

from hookline.cli.async_runner import run_async
from hookline.cli.bridge_model import ask_user_model
from hookline.cli.context import home
from hookline.cli.options import Verb
from hookline.cli.output import err
from hookline.errors import HooklineError


@click.command("serve", cls=Verb, short_help="Run the local engine that answers the bridge.")
@click.option(
    "--idle",
    type=click.FloatRange(min=0.1),
    default=1800,
    show_default=True,
    metavar="SECONDS",
    help="Stop after this time without a call.",
)
@click.option("--detached", is_flag=True, help="Log to bridge.log in the state directory instead of stderr.")
def verb(idle: float, detached: bool) -> int:
    """Answer the calls of coding agents from one process, so that no call has to load the hooks first.

    \b
    hookline serve --idle 600

    `hookline bridge` starts it when needed. Each user has one, on a socket that only this user can reach. It reads
    changed files again, so you never have to restart it.
    """
    if sys.platform == "win32":
        raise HooklineError("hookline serve does not work on Windows yet")
    from hookline.hosts.bridge import client
    from hookline.hosts.bridge.log_file import log_to_file, truncate_log
    from hookline.hosts.bridge.protocol import AgentCall
    from hookline.hosts.bridge.server import serve

    if detached:
        log_to_file(AgentCall("", "", b"", "", dict(os.environb)).user_directories.hookline_state)
    directory = client.run_directory({"HOME": str(home()), **os.environ})
    tidy = truncate_log if detached else None
    if not run_async(serve(Path(directory), timedelta(seconds=idle), tidy, ask_user_model)):
        err("hookline: an engine is already running")
    return 0
