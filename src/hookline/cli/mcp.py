"""`hookline mcp`"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import uuid
import webbrowser
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click

from hookline.cli.async_runner import run_async
from hookline.cli.context import current_directory, own_record, sources, trust
from hookline.cli.options import Verb, config_option, explain_refusal, keep_going_option, on_problem
from hookline.cli.output import err, out
from hookline.config.problem import errors_of, refuse_errors
from hookline.errors import HooklineError, extra_required
from hookline.formatting import printable
from hookline.hooks.session_facts import login_name
from hookline.hosts.mcp.proxy import Proxy, ProxySession, SessionIdentity
from hookline.hosts.mcp.server_entries import HEADERS_VARIABLE
from hookline.hosts.mcp.upstream import ProcessUpstream
from hookline.project import BookWatcher, Source, load_file, named_source
from hookline.project.private_file import state_directory
from hookline.project.script_lint import script_problems
from hookline.record.recorder import recorder_of
from hookline.runners.pipe_loop import new_pipe_loop
from hookline.runners.server_process import PipeClosedError, Stdio

if TYPE_CHECKING:
    from hookline.hosts.mcp.upstream_http import HttpUpstream

_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([^\r\n\0]*)")


@click.command(cls=Verb, short_help="Put hooks in front of an MCP server.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND…]")
@click.option("--url", metavar="URL", help="URL of the server (streamable HTTP), instead of a command.")
@click.option(
    "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="Send this header with every HTTP request."
)
@click.option("--login", is_flag=True, help="With --url: log in to the server in a browser (OAuth), and exit.")
@click.option(
    "--name", default="", metavar="NAME", help="Name of the server in hooks; by default, the name that it reports."
)
@config_option
@keep_going_option
def verb(
    command: tuple[str, ...],
    url: str | None,
    headers: tuple[str, ...],
    login: bool,
    name: str,
    configs: tuple[str, ...],
    keep_going: bool,
) -> int:
    """Run between an MCP client and a server. Everything passes unchanged, but the active hooks decide about each tool
    call. Configure the client to start this instead of the server.

    \b
    hookline mcp -- npx -y @modelcontextprotocol/server-filesystem .
    hookline mcp --name notes --url http://127.0.0.1:8000/mcp
    hookline mcp --login --url https://issues.example/mcp

    Hooks match a tool as mcp.<server>.<tool>. A denied call returns a tool error with the reason. `ask` shows a form if
    the client supports it, and otherwise denies. Exit codes: 0 the client left, 1 the server failed or the config has
    errors.
    """
    if bool(command) == (url is not None):
        raise click.UsageError("Give either the server's command after -- or --url.")
    if login and url is None:
        raise click.UsageError("--login needs --url.")
    if url is not None:
        _check_url(url)
        with extra_required("hookline mcp --url needs an MCP client", "mcp"):
            import hookline.hosts.mcp.upstream_http  # noqa: F401
    if login and url is not None:
        return _log_in(url)
    parsed = _parse_headers(headers, os.environ.get(HEADERS_VARIABLE, "") if url else "")
    own = own_record() if configs else None
    watched = BookWatcher(_config_sources(configs), trust(), own_record=own)
    with explain_refusal():
        book = watched.book
        refuse_errors((*book.problems, *script_problems(book.hooks)), on_problem(keep_going))
    for problem in sorted(set(watched.book.problems) - set(errors_of(watched.book.problems))):
        err(str(problem))
    with watched:
        failure = run_async(_run_proxy(command, url, parsed, name, watched), new_pipe_loop)
    if failure is None:
        return 0
    err(f"hookline: {failure}")
    return 1


def _config_sources(configs: tuple[str, ...]) -> Callable[[], Iterable[Source]]:
    """Files given with --config must be readable now; files found here may come and go."""
    if not configs:
        return sources
    for path in configs:
        load_file(path, importing=False)
    return lambda: [named_source(path, None) for path in configs]


async def _run_proxy(
    command: tuple[str, ...], url: str | None, headers: Mapping[str, str], name: str, watched: BookWatcher
) -> str | None:
    identity = SessionIdentity(f"mcp-{uuid.uuid4().hex[:12]}", login_name(), current_directory())
    client = await Stdio.claim()
    server = await ProcessUpstream.start(command) if url is None else _connect_url(url, headers)
    try:
        return await Proxy(
            client, server, ProxySession(lambda: watched.book, identity, recorder_of(state_directory())), name
        ).run()
    finally:
        await server.close()
        with suppress(PipeClosedError):
            await client.close()


def _connect_url(url: str, headers: Mapping[str, str]) -> HttpUpstream:
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # keeps its tracebacks out of the log
    from hookline.hosts.mcp.oauth_login import stored_auth
    from hookline.hosts.mcp.upstream_http import HttpUpstream

    has_token = any(name.lower() == "authorization" for name in headers)
    return HttpUpstream(url, headers, None if has_token else stored_auth(url, state_directory()))


def _log_in(url: str) -> int:
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    from hookline.hosts.mcp.oauth_login import log_in

    run_async(log_in(url, state_directory(), _open_link))
    out(f"Logged in to {url}. `hookline mcp --url {url}` uses this login from now on.")
    return 0


async def _open_link(link: str) -> None:
    """A browser that prints or cannot be opened changes nothing: the link is shown."""
    err(f"Log in here, if your browser does not open: {link}")
    await asyncio.to_thread(webbrowser.open, link)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or True)
    except ValueError:
        is_valid = False
    if not is_valid or not url.isprintable():
        raise HooklineError(f"--url: {printable(url)!r} is not an http or https URL")


def _parse_headers(given: Iterable[str], stored: str) -> dict[str, str]:
    """From the environment, where a client's file keeps them out of the command line, and from --header."""
    headers = _parse_stored_headers(stored) if stored else {}
    for text in given:
        found = _HEADER.fullmatch(text)
        if found is None:
            raise HooklineError("--header: write it as 'Name: value'")
        headers[found[1]] = found[2]
    return headers


def _parse_stored_headers(stored: str) -> dict[str, str]:
    try:
        parsed = json.loads(stored)
    except (ValueError, RecursionError):
        parsed = None
    lines = [f"{name}: {value}" for name, value in parsed.items()] if isinstance(parsed, dict) else None
    found = [_HEADER.fullmatch(line) for line in lines] if lines is not None else [None]
    if not all(found):
        raise HooklineError(f"{HEADERS_VARIABLE}: expected a JSON object of header names and values")
    return {each[1]: each[2] for each in found if each}
