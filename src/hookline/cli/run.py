"""`hookline run`: an agent with hooks, in the terminal."""

from __future__ import annotations

import asyncio

import click

from hookline.cli.verb import Verb
from hookline.errors import HooklineError


@click.command("run", cls=Verb, short_help="An agent with hooks, in the terminal.")
@click.option("--demo", is_flag=True, help="A scripted session, offline: it shows what hooks do and ends by itself.")
def verb(demo: bool) -> None:
    """An agent with hooks, in the terminal.

    \b
    hookline run --demo

    The demo needs no key, no server and no network. Its agent is scripted; its hooks, its tool calls and the
    decisions are real, in a scratch directory that is removed afterwards.
    """
    if not demo:
        raise HooklineError("there is no agent to talk to yet: run `hookline run --demo`")
    from rich.console import Console

    from hookline.demo.session import play
    from hookline.demo.timeline import Timeline

    asyncio.run(play(Timeline(Console(highlight=False))))
