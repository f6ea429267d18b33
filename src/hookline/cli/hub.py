"""`hookline hub`"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from hookline.cli.async_runner import run_async
from hookline.cli.context import config_directory
from hookline.cli.hub_join import join, leave, push
from hookline.cli.options import Verb, json_option
from hookline.cli.output import err, flush_output, out, out_json, print_table
from hookline.errors import HooklineError, extra_required
from hookline.project.private_file import state_directory

if TYPE_CHECKING:
    from hookline.hub.access.access import Access
    from hookline.hub.config.hub_config import HubConfig
    from hookline.hub.context.running_hub import Hub
    from hookline.runtime.storage.store import Store

T = TypeVar("T")
_OPTIONS: Final = "hookline.hub.options"
_USER_ROLES: Final = ("viewer", "approver", "editor", "owner")
_KEY_ROLES: Final = ("reporter", *_USER_ROLES)
_MAX_NAME: Final = 100  # characters
_SAME_USER: Final = (
    "An agent with a shell of your user can read and change the hub's database, and your browser's profile.\n"
    "To keep it out, run the hub as another user, in a container or on another machine."
)


class _HubVerb(Verb, click.Group):
    """Serves the hub without a command of its own."""


@click.group(
    "hub", cls=_HubVerb, invoke_without_command=True, short_help="Serve the console, the API and browser agents."
)
@click.option("--config", "config_file", type=click.Path(), metavar="FILE", help="The hub's settings.")
@click.option("--host", default=None, metavar="ADDRESS", help="Listen here.  [default: 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    metavar="PORT",
    help="Listen here; 0: any free one.  [default: 8765]",
)
@click.option("--store", default=None, metavar="URL", help="The database.  [default: that of `hookline run`]")
@click.option("--redis", default=None, metavar="URL", help="Connects several hubs on one PostgreSQL database.")
@click.option(
    "--workspace",
    "workspaces",
    multiple=True,
    type=click.Path(),
    metavar="DIR",
    help="Run agents here; can be repeated.",
)
@click.option("--demo", is_flag=True, help="Show made-up agents at work, in a scratch directory, offline.")
@click.option("--open", "opens", is_flag=True, help="Open the console in your browser.")
@click.pass_context
def verb(
    context: click.Context,
    config_file: str | None,
    host: str | None,
    port: int | None,
    store: str | None,
    redis: str | None,
    workspaces: tuple[str, ...],
    demo: bool,
    opens: bool,
) -> None:
    """Serve the hub until you interrupt it: decisions of all agents, live and explained.

    \b
    hookline hub --open
    hookline hub --demo
    """
    given = {"host": host, "port": port, "store": store, "redis": redis}
    directories = tuple(Path(each).resolve() for each in workspaces)
    chosen = {name: value for name, value in {**given, "workspaces": directories}.items() if value not in (None, ())}
    context.meta[_OPTIONS] = {"config_file": config_file, "given": chosen}
    if context.invoked_subcommand is not None:
        return
    _require_extra()
    if demo:
        _serve_demo(host or "127.0.0.1", 8765 if port is None else port, opens)
    else:
        _serve(_read_config(config_file, chosen), opens)


def _serve(config: HubConfig, opens: bool) -> None:
    from hookline.hub.hub_server import run_hub

    async def on_ready(hub: Hub, link: str) -> None:
        hints = [
            *_hints_of_other_hub(hub.config),
            "`hookline hub open` prints a new link. Ctrl-C ends the hub.",
            _SAME_USER,
        ]
        _announce(hub, link, hints, opens)

    run_async(run_hub(config, on_ready))


def _hints_of_other_hub(config: HubConfig) -> list[str]:
    """If agents on this machine do not ask the hub that starts."""
    from hookline.hosts.hub.running_hubs import find_hub

    asked = find_hub(config.state)
    if asked is not None and asked.reports:
        return [f"Agents here keep asking {asked.url}, which you joined. To ask this hub: `hookline hub leave`."]
    if asked is not None and asked.url != config.local_url:
        return [f"Agents here keep asking {asked.url}, which runs already. They ask this hub when that one ends."]
    return []


def _serve_demo(host: str, port: int, opens: bool) -> None:
    from hookline.demo.hub_demo import demo_config, play_hub_demo
    from hookline.hub.hub_server import run_hub

    async def on_ready(hub: Hub, link: str) -> None:
        hub.run_in_background(play_hub_demo(hub))
        hint = "The agents are made up and work in a scratch directory. Ctrl-C ends the hub and removes it."
        _announce(hub, link, [hint], opens)

    with demo_config(host, port) as config:
        run_async(run_hub(config, on_ready))


def _announce(hub: Hub, link: str, hints: list[str], opens: bool) -> None:
    out(f"hookline hub: {hub.config.url}")
    out(f"Sign in within 5 minutes, once: {link}")
    for each in hints:
        out(each)
    flush_output()  # whoever reads a pipe waits for the link
    if opens:
        click.launch(link)


@verb.command("open", cls=Verb, short_help="Print a new link that signs you in.")
@click.option("--role", type=click.Choice(_USER_ROLES), default=None, help="Sign in with this role at most.")
@click.option("--user", default=None, metavar="NAME", help="Sign in as this user.  [default: the owner]")
@click.option("--launch", is_flag=True, help="Open it in your browser.")
@click.pass_context
def open_link(context: click.Context, role: str | None, user: str | None, launch: bool) -> None:
    """Print a link that signs you in once, within five minutes.

    \b
    hookline hub open
    hookline hub open --role viewer
    """

    async def create(access: Access) -> str:
        from hookline.hooks.session_facts import login_name
        from hookline.hub.access.roles import Role

        found = await access.table.user_named(user) if user else await access.first_owner(login_name() or "owner")
        if found is None:
            raise HooklineError(f"there is no user {user}. `hookline hub users list` shows all.")
        return await access.create_code(found, Role(role) if role else None)

    config = _config_of(context)
    link = f"{_running_url(config)}/#enter={_with_access(config, create)}"
    out(link)
    if launch:
        click.launch(link)


def _check_name(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """As the API does: lists show the name in one line."""
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise click.BadParameter(f"a name has 1 to {_MAX_NAME} characters, in one line")
    return name


@verb.group("users", short_help="List, add and remove users.")
def users() -> None:
    """List, add and remove users.

    \b
    hookline hub users add ann --role approver
    """


@users.command("list", cls=Verb)
@json_option
@click.pass_context
def list_users(context: click.Context, as_json: bool) -> None:
    """List the users and their roles."""
    found = _with_access(_config_of(context), lambda access: access.table.users())
    if as_json:
        out_json([{"id": each.id, "name": each.name, "role": each.role, "created": each.created} for each in found])
        return
    print_table(("name", "role", "since"), [(each.name, each.role, _day(each.created)) for each in found])


@users.command("add", cls=Verb)
@click.argument("name", callback=_check_name)
@click.option("--role", type=click.Choice(_USER_ROLES), default="viewer", show_default=True)
@click.pass_context
def add_user(context: click.Context, name: str, role: str) -> None:
    """Add a user, and print a link that signs them in once, within five minutes."""

    async def create(access: Access) -> str:
        from hookline.hub.access.roles import Role

        return await access.create_code(await access.add_user(name, Role(role)))

    config = _config_of(context)
    out(f"{_running_url(config)}/#enter={_with_access(config, create)}")


@users.command("remove", cls=Verb)
@click.argument("name")
@click.pass_context
def remove_user(context: click.Context, name: str) -> None:
    """Remove a user, and sign them out everywhere."""

    async def remove(access: Access) -> None:
        found = await access.table.user_named(name)
        if found is None:
            raise HooklineError(f"there is no user {name}. `hookline hub users list` shows all.")
        if not await access.table.remove_user(found.id, "owner"):
            raise HooklineError(f"{name} is the only owner. Add another one first.")

    _with_access(_config_of(context), remove)
    out(f"Removed {name}.")


@verb.group("keys", short_help="List, add and remove keys of machines and programs.")
def keys() -> None:
    """List, add and remove keys of machines and programs.

    \b
    hookline hub keys add laptop
    """


@keys.command("list", cls=Verb)
@json_option
@click.pass_context
def list_keys(context: click.Context, as_json: bool) -> None:
    """List the keys: their names, roles and last use."""
    found = _with_access(_config_of(context), lambda access: access.table.credentials("key"))
    if as_json:
        fields = ("id", "name", "role", "created", "used")
        out_json([{name: getattr(each, name) for name in fields} for each in found])
        return
    rows = [(each.name, each.role, _day(each.created), _day(each.used) if each.used else "never") for each in found]
    print_table(("name", "role", "since", "last used"), rows)


@keys.command("add", cls=Verb)
@click.argument("name", callback=_check_name)
@click.option("--role", type=click.Choice(_KEY_ROLES), default="reporter", show_default=True)
@click.pass_context
def add_key(context: click.Context, name: str, role: str) -> None:
    """Add a key and print it. It is not shown again: the hub keeps its hash."""

    async def create(access: Access) -> str:
        from hookline.hub.access.roles import Role

        return (await access.add_key(name, Role(role)))[0]

    out(_with_access(_config_of(context), create))


@keys.command("remove", cls=Verb)
@click.argument("name")
@click.pass_context
def remove_key(context: click.Context, name: str) -> None:
    """Remove all keys with this name."""

    async def remove(access: Access) -> int:
        found = [each for each in await access.table.credentials("key") if each.name == name]
        for each in found:
            await access.table.remove_credential(each.id, "key")
        return len(found)

    count = _with_access(_config_of(context), remove)
    if not count:
        raise HooklineError(f"there is no key {name}. `hookline hub keys list` shows all.")
    out(f"Removed {count} {'key' if count == 1 else 'keys'}.")


@verb.command("verify", cls=Verb, short_help="Check that no record in the hub was changed, removed or inserted.")
@click.pass_context
def verify_records(context: click.Context) -> int:
    """Recompute the chain of every process that has reported, and the columns that searches use.

    \b
    hookline hub verify

    Exit codes: 0 intact, 2 something was changed, removed or inserted.
    """
    from hookline.hub.intake.chain_check import check_chains

    report = _with_store(_config_of(context), lambda store: check_chains(store.database))
    for problem in report.problems:
        out(f"broken: {problem}")
    if not report.problems:
        out(f"intact: {_count(report.records, 'record')} of {_count(report.origins, 'process', 'processes')}")
    if report.missing:
        out(f"  {_count(report.missing, 'more record')} never came, or could not be written by their process")
    return 2 if report.problems else 0


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _config_of(context: click.Context) -> HubConfig:
    """As the options before the command say: `hookline hub --store URL users list`."""
    _require_extra()
    parameters = context.find_root().meta.get(_OPTIONS, {})
    return _read_config(parameters.get("config_file"), parameters.get("given", {}))


def _running_url(config: HubConfig) -> str:
    """Where a hub on this database says it is; else where it would be."""
    from hookline.hosts.hub.running_hubs import local_hubs
    from hookline.hub.store.open_store import store_id

    running = [hub for hub in local_hubs(config.state) if hub.runs and hub.store == store_id(config)]
    if not running and not config.public_url:
        err("hookline: no hub of yours runs on this database here. The link works once `hookline hub` runs.")
    return config.url if config.public_url or not running else running[0].url


def _with_access(config: HubConfig, work: Callable[[Access], Awaitable[T]]) -> T:
    from hookline.hub.access.access import Access
    from hookline.hub.store.user_table import UserTable

    return _with_store(config, lambda store: work(Access(UserTable(store.database))))


def _with_store(config: HubConfig, work: Callable[[Store], Awaitable[T]]) -> T:
    """On the hub's database: the hub need not run."""
    from hookline.hub.store.open_store import open_store

    async def run() -> T:
        store = await open_store(config)
        try:
            return await work(store)
        finally:
            await store.close()

    return run_async(run())


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def _read_config(file: str | None, given: dict[str, Any]) -> HubConfig:
    """The settings of the file, with what the command line says instead. Raises ConfigError."""
    from hookline.hub.config.hub_config import HubConfig
    from hookline.hub.config.hub_config_reader import find_config_file, read_hub_config
    from hookline.lazy_dataclasses import replace

    config = HubConfig(state=state_directory())
    path = Path(file).resolve() if file else find_config_file(config_directory())
    if path is not None:
        config, warnings = read_hub_config(path, config)
        for warning in warnings:
            err(f"hookline: {warning}")
    lines = {field: line for field, line in config.lines.items() if field not in given}
    changed: HubConfig = replace(config, **given, lines=lines)
    return changed


def _require_extra() -> None:
    with extra_required("hookline hub needs FastAPI with Socket.IO", "hub"):
        import fastapi  # noqa: F401
        import socketio  # noqa: F401


for _command in (join, leave, push):
    verb.add_command(_command)
