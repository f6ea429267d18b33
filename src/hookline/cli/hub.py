"""`hookline hub`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookline.cli.async_runner import run_async
from hookline.cli.options import Verb
from hookline.cli.output import out
from hookline.errors import HooklineError
from hookline.project.private_file import state_directory

if TYPE_CHECKING:
    from hookline.hub.context.running_hub import Hub


class _HubVerb(Verb, click.Group):
    """Serves the hub without a command of its own."""


@click.group(
    "hub", cls=_HubVerb, invoke_without_command=True, short_help="Serve the console, the API and browser agents."
)
@click.option("--host", default=None, metavar="ADDRESS", help="Listen here.  [default: 127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=None, help="Listen here; 0: any free one.  [default: 8765]"
)
@click.option("--store", default=None, metavar="URL", help="The database.  [default: that of `hookline run`]")
@click.option(
    "--workspace",
    "workspaces",
    multiple=True,
    type=click.Path(),
    metavar="DIR",
    help="Run agents here; can be repeated.",
)
@click.option("--open", "opens", is_flag=True, help="Open the console in your browser.")
@click.pass_context
def verb(
    context: click.Context,
    host: str | None,
    port: int | None,
    store: str | None,
    workspaces: tuple[str, ...],
    opens: bool,
) -> None:
    """Serve the hub until you interrupt it: decisions of all agents, live and explained.

    \b
    hookline hub --open
    """
    if context.invoked_subcommand is not None:
        return
    _require_extra()
    from hookline.hub.config.hub_config import HubConfig
    from hookline.hub.hub_server import run_hub

    given = {"host": host, "port": port, "store": store}
    config = HubConfig(
        state=state_directory(),
        workspaces=tuple(Path(each) for each in workspaces),
        **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]
    )

    async def on_ready(hub: Hub, link: str) -> None:
        out(f"hookline hub: {hub.config.url}")
        out(f"Sign in within 5 minutes, once: {link}")
        out("`hookline hub open` prints a new link. Ctrl-C ends the hub.")
        if opens:
            click.launch(link)

    run_async(run_hub(config, on_ready))


def _require_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import socketio  # noqa: F401
    except ImportError as error:
        raise HooklineError("the hub needs more packages: pip install 'hookline[hub]'") from error
