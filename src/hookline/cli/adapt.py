"""`hookline adapt`"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from hookline.cli.async_runner import run_async
from hookline.cli.bridge import read_call, write_reply
from hookline.cli.bridge_model import ask_user_model
from hookline.cli.options import DialectName, Verb
from hookline.errors import ConfigError, HooklineError
from hookline.lazy_dataclasses import replace

if TYPE_CHECKING:
    from hookline.engine.book import Book
    from hookline.hosts.agents.agent import Reply


@click.command("adapt", cls=Verb, short_help="Run one agent's hook as a hook of another agent.")
@click.argument("agent")
@click.argument("event")
@click.argument("dialect", type=DialectName())
@click.argument("hooks", metavar="JSON")
@click.option("--file", metavar="NAME", help="The file that the hooks are from, if its name says how they are read.")
@click.option(
    "--timeout", type=click.IntRange(min=1), metavar="SECONDS", help="The agent ends this call after this time."
)
def verb(agent: str, event: str, dialect: str, hooks: str, file: str | None, timeout: int | None) -> None:
    """Run a hook that was written for one agent as a hook of another. `hookline convert` writes such commands where the
    two agents send a hook different input or read its answer differently.

    \b
    hookline adapt claude-code PreToolUse cursor '{"hooks": {"beforeShellExecution": [{"command": "./guard.sh"}]}}'

    AGENT calls this at its EVENT, with its payload on stdin. JSON is a hooks file of DIALECT. Its hooks get what their own
    agent would send them, and the reply is their answer in AGENT's format. No other hooks decide, and no file is read.
    """
    if sys.platform == "win32":
        raise HooklineError("coding agents cannot call hookline on Windows yet")
    from hookline.hosts.bridge import client

    stderr = os.dup(2)
    try:
        limit = None if timeout is None else timedelta(seconds=timeout)
        reply = _reply(agent, event, load_hooks(dialect, hooks, file), limit)
    except Exception as error:  # a guard that cannot be asked must not let a tool run
        client.exit_without_answer(event, error, stderr)
    write_reply(reply, stderr)
    os._exit(reply.exit_code)


def load_hooks(dialect: str, hooks: str, file: str | None = None) -> Book:
    """Raises HooklineError if there are none, or one of them cannot be read."""
    import zlib

    from hookline.config.problem import errors_of
    from hookline.config.reader import FileFormat, read_text
    from hookline.dialects.dialect import get_dialect
    from hookline.engine.book import Book, Layer
    from hookline.hooks.record_settings import RecordSettings

    name = f"adapt-{zlib.crc32(hooks.encode('utf-8', 'replace')):08x}"  # two hooks never share a count
    document, problems = read_text(hooks, file or name, FileFormat.JSON)
    if document is None:
        raise ConfigError(problems)
    loaded = get_dialect(dialect).load(document)
    errors = errors_of(loaded.problems)
    if errors or not loaded.hooks:
        raise ConfigError(errors) if errors else HooklineError("the JSON has no hooks")
    not_recorded = RecordSettings(enabled=False)  # as any hook that the agent itself runs
    named = [replace(hook, id=f"{name}:{hook.id}") if file else hook for hook in loaded.hooks]
    return Book([Layer(dialect, named)], record=not_recorded)


def _reply(agent: str, event: str, book: Book, timeout: timedelta | None) -> Reply:
    from hookline.hosts.agents import event_timeout, get_agent
    from hookline.hosts.bridge.hook_cache import GivenHooks
    from hookline.hosts.bridge.responder import respond_directly

    if get_agent(agent).find_event(event) is None:
        raise HooklineError(f"{event!r} is not an event of {agent}, so no hook was asked")
    call = replace(read_call(agent, event), entry_timeout=timeout or event_timeout(agent, event))
    return run_async(respond_directly(call, GivenHooks(book, ask_user_model)))
