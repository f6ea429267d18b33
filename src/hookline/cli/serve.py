"""`hookline serve`: the warm engine behind the bridge."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

import click

from hookline.cli.async_runner import run_async
from hookline.cli.context import home
from hookline.cli.options import Verb
from hookline.cli.output import err
from hookline.errors import HooklineError


@click.command("serve", cls=Verb, short_help="The warm local engine behind the bridge.")
@click.option(
    "--idle",
    type=click.FloatRange(min=0.1),
    default=1800,
    show_default=True,
    metavar="SECONDS",
    help="End when nobody called for so long.",
)
@click.option("--detached", is_flag=True, help="Log to bridge.log in the state directory instead of stderr.")
def verb(idle: float, detached: bool) -> int:
    """Serve the calls of coding agents, so that none of them has to start an engine of its own.

    \b
    hookline serve --idle 600

    `hookline bridge` starts it when it is needed. There is one for each user, on a socket that only the user can
    reach; files that change are read again, and so nothing has to be restarted by hand.
    """
    if sys.platform == "win32":
        raise HooklineError("hookline does not serve on Windows yet")
    from hookline.hosts.bridge import client
    from hookline.hosts.bridge.log_file import log_to_file, truncate_log
    from hookline.hosts.bridge.protocol import AgentCall
    from hookline.hosts.bridge.server import serve

    if detached:
        log_to_file(AgentCall("", "", b"", "", dict(os.environb)).user_directories.hookline_state)
    directory = client.run_directory({"HOME": str(home()), **os.environ})
    if not run_async(serve(Path(directory), timedelta(seconds=idle), truncate_log if detached else None)):
        err("hookline: an engine serves already")
    return 0
