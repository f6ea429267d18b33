"""`hookline serve`"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from hookline.cli.async_runner import run_async
from hookline.cli.bridge_model import ask_user_model
from hookline.cli.context import home
from hookline.cli.options import Verb
from hookline.cli.output import err, out
from hookline.errors import HooklineError
from hookline.project.private_file import state_directory

_INSTALL_CHECK_SECONDS: Final = 10.0


@click.command("serve", cls=Verb, short_help="Run the local engine that answers the bridge.")
@click.option(
    "--idle",
    type=click.FloatRange(min=0.1),
    default=1800,
    show_default=True,
    metavar="SECONDS",
    help="Stop after this time without a call.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Answer POST /decide on this port of 127.0.0.1 too; 0 takes a free one.",
)
@click.option(
    "--background", is_flag=True, help="Start the engine if none runs, print the path of its socket, and exit."
)
@click.option("--detached", is_flag=True, help="Log to bridge.log in the state directory instead of stderr.")
def verb(idle: float, port: int | None, background: bool, detached: bool) -> int:
    """Answer the calls of coding agents from one process, so that no call has to load the hooks first. Programs in any
    language ask it over HTTP on the same socket.

    \b
    hookline serve --idle 600
    curl --unix-socket "$(hookline serve --background)" http://hookline/openapi.json

    `hookline bridge` starts it when needed. Each user has one, on a socket that only this user can reach. It reads
    changed files again, so you never have to restart it.
    """
    if sys.platform == "win32":
        raise HooklineError("hookline serve does not work on Windows yet")
    from hookline.hosts.bridge import client
    from hookline.hosts.bridge.log_file import log_to_file, truncate_log
    from hookline.hosts.bridge.protocol import AgentCall
    from hookline.hosts.bridge.server import serve
    from hookline.hosts.protocols.local_api import LocalApi

    if detached:
        log_to_file(AgentCall("", "", b"", "", dict(os.environb)).user_directories.hookline_state)
    directory = client.run_directory({"HOME": str(home()), **os.environ})
    if background:
        _refuse_options_beside_background()
        return _start_in_background(directory)
    tidy = truncate_log if detached else None
    open_api = partial(LocalApi, directory=Path(directory), port=port)
    beside = _push_until_uninstalled if detached else _push_records
    if not run_async(serve(Path(directory), timedelta(seconds=idle), tidy, ask_user_model, open_api, beside)):
        err("hookline: an engine is already running")
        if port is not None:
            raise HooklineError("the running engine does not listen on your --port. End it, then run this again.")
    return 0


def _refuse_options_beside_background() -> None:
    """The background engine starts with its own settings, or runs already."""
    context = click.get_current_context()
    for name in ("idle", "port", "detached"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--background takes no --{name}. Leave --background out.")


async def _push_until_uninstalled() -> None:
    from hookline.hosts.agents.machine import Machine
    from hookline.hosts.install.undo import load_records

    here = Machine(home(), home(), dict(os.environ))
    await asyncio.gather(_push_records(), _end_when_uninstalled(lambda: any(load_records(here))))


async def _end_when_uninstalled(is_installed: Callable[[], bool]) -> None:
    """Ends this process once `hookline uninstall` has removed hookline from the last agent: nobody sees that it runs."""
    was_installed = False
    while (installed := is_installed()) or not was_installed:
        was_installed = was_installed or installed
        await asyncio.sleep(_INSTALL_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


async def _push_records() -> None:
    """To the hub that this user has joined, if it is on another machine."""
    from hookline.hosts.hub.record_push import push_records

    await push_records(state_directory())


def _start_in_background(directory: str) -> int:
    from hookline.hosts.bridge import client

    path = os.path.join(directory, client.SOCKET_NAME)
    connection = client.connect_to_engine(path) if client.is_private(directory) else None
    connection = connection or client.start_and_connect(directory)
    if connection is None:
        raise HooklineError("the engine did not start; run `hookline serve` to see why")
    connection.close()
    out(path)
    return 0
