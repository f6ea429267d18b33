"""`hookline serve`: the warm engine behind the bridge."""

from __future__ import annotations

import os
import socket
import sys
from datetime import timedelta
from pathlib import Path

import click

from hookline.cli.output import err
from hookline.cli.place import home
from hookline.cli.running import run
from hookline.cli.verb import Verb
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
@click.option("--kept", is_flag=True, hidden=True)
@click.option("--listening", type=click.IntRange(min=3), hidden=True)
def verb(idle: float, detached: bool, kept: bool, listening: int | None) -> int:
    """Serve the calls of coding agents, so that none of them has to start an engine of its own.

    \b
    hookline serve --idle 600

    `hookline bridge` starts it when it is needed. There is one for each user, on a socket that only the user can
    reach; files that change are read again, and so nothing has to be restarted by hand. Where an agent calls HTTP
    hooks (`hookline install --http`), it listens on 127.0.0.1 too, and stays.
    """
    if sys.platform == "win32":
        raise HooklineError("hookline does not serve on Windows yet")
    from hookline.hosts.bridge.call import Call
    from hookline.hosts.bridge.log_file import log_to_file

    state = Call("", "", b"", "", dict(os.environb)).place.kept
    if detached:
        log_to_file(state)
    if not kept:
        code = _keep(state, idle, detached, listening)
        if code is not None:
            return code
    return _serve(state, idle, detached, listening)


def _serve(state: Path, idle: float, detached: bool, listening: int | None) -> int:
    from hookline.hosts.bridge import client
    from hookline.hosts.bridge.address import address_in
    from hookline.hosts.bridge.keeper import OUTDATED
    from hookline.hosts.bridge.log_file import shorten_log
    from hookline.hosts.bridge.server import Http, Served, serve

    directory = client.run_directory({"HOME": str(home()), **os.environ})
    address = address_in(state) if listening is not None else None
    http = Http(address, socket.socket(fileno=listening)) if address is not None else None
    tidy = shorten_log if detached else None
    served = run(serve(Path(directory), state, timedelta(seconds=idle), http, tidy))
    if served is Served.ALREADY:
        err("hookline: an engine serves already")
    return OUTDATED if served is Served.OUTDATED and listening is not None else 0


def _keep(state: Path, idle: float, detached: bool, held: int | None) -> int | None:
    """As the keeper of an engine for HTTP hooks; None where there are none, or somebody else has the port."""
    from hookline.hosts.bridge import client
    from hookline.hosts.bridge.address import address_in, bound
    from hookline.hosts.bridge.keeper import OUTDATED, become, keep

    address = address_in(state)
    if address is None:
        return None
    options = [f"--idle={idle}", *(["--detached"] if detached else [])]
    try:
        listening = bound(address) if held is None else socket.socket(fileno=held)
    except OSError as error:
        err(f"hookline: HTTP hooks cannot be answered at {address.host}: {error.strerror}")
        return None
    if listening.getsockname()[1] != address.port:
        listening.close()
        return _keep(state, idle, detached, None)
    code = keep(listening, client.command("serve", *options, "--kept", "--listening"))
    if code == OUTDATED and address_in(state) is not None:
        become(client.command("serve", *options, "--listening"), listening)
    return 0
